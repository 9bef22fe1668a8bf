/**
 * A tree that reacts: each word can be reached by pointer and keyboard, and shows its distribution
 * over heads (Eq. 5) as weighted arcs in place of the tree.
 */

import { element, shape } from "./dom.js";
import { explanationOf } from "./labels.js";
import { explain } from "./tip.js";
import { isUncertain, percent, readSvg } from "./tree.js";

/** @typedef {import("./tree.js").Sentence} Sentence */
/** @typedef {import("./tree.js").Picture} Picture */

const FAINT = 0.01;
const MOST_ARCS = 8;
const LEVEL = 24;
const ROOT_RISE = 0.75;
const MARGIN = 18;
const END_GAP = 7;
const CORNER = 8;
const ARROW = 5;

/**
 * @typedef {object} Interactive
 * @property {SVGSVGElement} root
 * @property {(position: number | null) => void} show mark a word and draw its distribution
 * @property {(position: number) => void} focus
 * @property {() => void} refocus return to the word chosen last, without choosing it again
 */

/**
 * Give the arcs of a picture by the position of their dependents; `changed` ones get a class.
 *
 * @param {SVGSVGElement} root
 * @param {Picture} picture
 * @param {number[]} changed
 * @param {string} mark
 * @returns {Map<number, Element>}
 */
export function markArcs(root, picture, changed, mark) {
  const arcs = [...root.querySelectorAll(".arc")];
  const byDependent = new Map(picture.arcs.map(({ dependent }, index) => [dependent, arcs[index]]));
  for (const position of changed) byDependent.get(position)?.classList.add(mark);
  return byDependent;
}

/**
 * Make a picture whose words can be chosen.
 *
 * @param {Sentence} sentence
 * @param {Picture} picture
 * @param {number[]} changed words whose arcs are marked as new
 * @param {string} name
 * @param {(position: number | null) => void} onChoice
 * @returns {Interactive}
 */
export function interactive(sentence, picture, changed, name, onChoice) {
  const root = readSvg(picture.svg);
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", name);
  const words = wordList(root, sentence, picture, onChoice);
  const arcs = markArcs(root, picture, changed, "new");
  for (const [position, arc] of arcs) {
    arc.addEventListener("click", () => words.choose(position));
    explainArc(arc, sentence.words[position - 1].deprel);
  }
  const tree = shape("g", { class: "tree", "aria-hidden": "true" }, ...arcs.values());
  const weights = shape("g", { class: "weights", "aria-hidden": "true" });
  root.append(tree, weights, words.root);

  /** @param {number | null} position */
  function show(position) {
    words.mark(position);
    const row = position === null ? undefined : sentence.distribution?.[position - 1];
    root.classList.toggle("weighted", row !== undefined);
    weights.replaceChildren(
      ...(row && position ? weighted(picture, position, row, sentence.isRightToLeft) : []),
    );
  }

  return { root, show, focus: words.choose, refocus: words.refocus };
}

/**
 * Explain the label of an arc in a tip, in place of the plain one of the picture.
 *
 * @param {Element} arc
 * @param {string | undefined} label
 */
function explainArc(arc, label) {
  const title = arc.querySelector("title");
  const plain = title?.textContent ?? "";
  title?.remove();
  explain(arc, () => [element("p", { class: "facts" }, plain), ...explanationOf(label)]);
}

/**
 * Make the words a list with one tab stop: arrow keys move from word to word, focus chooses.
 *
 * @param {SVGSVGElement} root
 * @param {Sentence} sentence
 * @param {Picture} picture
 * @param {(position: number | null) => void} onChoice
 */
function wordList(root, sentence, picture, onChoice) {
  const height = root.viewBox.baseVal.height - picture.floor - 4;
  const options = Array.from(root.querySelectorAll(".word"), (word, index) =>
    option(word, sentence, picture, index, height),
  );
  const names = { role: "listbox", "aria-label": "Words", "aria-orientation": "horizontal" };
  const list = shape("g", names, ...options);
  let isRefocusing = false;

  /** @param {number} position */
  function choose(position) {
    const chosen = options[position - 1];
    setTabStop(position);
    if (document.activeElement === chosen) onChoice(position);
    else chosen.focus();
  }

  function refocus() {
    isRefocusing = true;
    options.find((one) => one.getAttribute("tabindex") === "0")?.focus();
    isRefocusing = false;
  }

  /** @param {number} position */
  function setTabStop(position) {
    setEach(options, "tabindex", (at) => (at === position ? "0" : "-1"));
  }

  /** @param {number | null} position */
  function mark(position) {
    setEach(options, "aria-selected", (at) => String(at === position));
    if (position !== null) setTabStop(position);
  }

  options.forEach((one, index) => {
    one.addEventListener("click", () => choose(index + 1));
    one.addEventListener("focus", () => isRefocusing || onChoice(index + 1));
  });
  list.addEventListener("keydown", (event) => {
    if (event.key === "Escape") onChoice(null);
    const at = options.findIndex((one) => one === event.target);
    const next = target(event.key, at, options.length, sentence.isRightToLeft);
    if (next === null || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    choose(next + 1);
  });
  return { root: list, choose, refocus, mark };
}

/**
 * Set an attribute of each word by its position.
 *
 * @param {SVGElement[]} options
 * @param {string} name
 * @param {(position: number) => string} value
 */
function setEach(options, name, value) {
  options.forEach((one, index) => one.setAttribute(name, value(index + 1)));
}

/**
 * Find the word that a key leads to, from 0; null for keys without a meaning here.
 *
 * @param {string} key
 * @param {number} at
 * @param {number} count
 * @param {boolean} isRightToLeft
 */
function target(key, at, count, isRightToLeft) {
  const right = isRightToLeft ? -1 : 1;
  const to = {
    ArrowRight: at + right,
    ArrowLeft: at - right,
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: count - 1,
    Enter: at,
    " ": at,
  }[key];
  return to === undefined ? null : Math.min(Math.max(to, 0), count - 1);
}

/**
 * Wrap a word and the lines below it so that they can be chosen; the name says what they show.
 *
 * @param {Element} word
 * @param {Sentence} sentence
 * @param {Picture} picture
 * @param {number} index from 0
 * @param {number} height of the box around them
 */
function option(word, sentence, picture, index, height) {
  const { head, deprel } = sentence.words[index];
  const lines = linesBelow(word);
  const name = [
    sentence.forms[index],
    ...lines.map((line) => line.textContent),
    head ? `${deprel} of ${sentence.forms[head - 1]}` : deprel,
    sentence.percents[index],
    isUncertain(sentence.percents[index]) ? "uncertain" : "",
  ];
  const { x, width } = picture.words[index];
  const box = {
    x: fixed(x - width / 2 - 5),
    y: fixed(picture.floor + 1),
    width: fixed(width + 10),
  };
  return shape(
    "g",
    {
      class: "choice",
      role: "option",
      tabindex: index ? "-1" : "0",
      "aria-selected": "false",
      "aria-label": name.filter(Boolean).join(", "),
    },
    shape("rect", { class: "box", ...box, height: fixed(height), rx: 6 }),
    word,
    ...lines,
  );
}

/**
 * Find the tag, lemma and other lines that follow a word.
 *
 * @param {Element} word
 * @returns {Element[]}
 */
function linesBelow(word) {
  const lines = [];
  for (let next = word.nextElementSibling; next?.matches(".tag"); next = next.nextElementSibling)
    lines.push(next);
  return lines;
}

/**
 * Draw the likeliest heads of a word as arcs, the heavier the likelier, within the tree's height.
 *
 * The arcs have one end in common, so they nest: on each side, the level of an arc is its rank by
 * length. At the word they end, from left to right: those to the left, shortest first, ROOT,
 * those to the right, longest first.
 *
 * @param {Picture} picture
 * @param {number} position
 * @param {number[]} row
 * @param {boolean} isRightToLeft
 * @returns {SVGGElement[]}
 */
function weighted({ floor, words }, position, row, isRightToLeft) {
  const direction = isRightToLeft ? -1 : 1;
  const likeliest = row
    .map((probability, head) => ({ head, probability, end: head ? 1 / (head - position) : 0 }))
    .filter(({ head, probability }) => probability >= FAINT && head !== position)
    .sort((a, b) => b.probability - a.probability)
    .slice(0, MOST_ARCS)
    .sort((a, b) => a.end - b.end);
  const nLeft = likeliest.filter(({ end }) => end < 0).length;
  const nRight = likeliest.filter(({ end }) => end > 0).length;
  const highest = Math.max(1, nLeft, nRight);
  const step = Math.min(LEVEL, (floor - MARGIN) / (highest + ROOT_RISE));
  const word = words[position - 1];
  const gap = Math.min(END_GAP, (word.width + MARGIN / 2) / likeliest.length);
  return likeliest.map(({ head, probability }, rank) => {
    const level = !head
      ? highest + ROOT_RISE
      : head < position
        ? rank + 1
        : likeliest.length - rank;
    const end = word.x + direction * gap * (rank - (likeliest.length - 1) / 2);
    const start = head ? words[head - 1].x : end;
    const label = head ? percent(probability) : `ROOT ${percent(probability)}`;
    const arc = drawArc(start, end, floor, floor - step * level, label);
    arc.style.setProperty("--p", String(probability));
    return arc;
  });
}

/**
 * Draw one arc: up from the head, across, and down to the dependent; from ROOT, straight down.
 *
 * @param {number} start
 * @param {number} end
 * @param {number} floor
 * @param {number} top
 * @param {string} label
 * @returns {SVGGElement}
 */
function drawArc(start, end, floor, top, label) {
  const corner = Math.min(CORNER, Math.abs(end - start) / 2);
  const side = Math.sign(end - start);
  const across =
    start === end
      ? `M${fixed(end)},${fixed(top)}`
      : `M${fixed(start)},${fixed(floor)}V${fixed(top + CORNER)}` +
        `q0,${-CORNER} ${fixed(side * corner)},${-CORNER}H${fixed(end - side * corner)}` +
        `q${fixed(side * corner)},0 ${fixed(side * corner)},${CORNER}`;
  const tip = `M${fixed(end)},${fixed(floor)}l${1 - ARROW},${-ARROW - 2}h${2 * ARROW - 2}z`;
  return shape(
    "g",
    { class: "arc" },
    shape("path", { class: "line", d: `${across}V${fixed(floor - ARROW)}` }),
    shape("path", { class: "head", d: tip }),
    shape("text", { class: "label", x: fixed((start + end) / 2), y: fixed(top - 5.5) }, label),
  );
}

/** @param {number} value */
function fixed(value) {
  return value.toFixed(1);
}
