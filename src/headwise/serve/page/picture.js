/**
 * A tree that answers: each word can be reached by pointer and keyboard, and shows its
 * distribution over heads (Eq. 5) as weighted arcs in place of the tree's own.
 */

import {
  LEVEL,
  arcsOf,
  drawArc,
  drawArcs,
  drawWord,
  fixed,
  inWords,
  isUnsure,
  layOut,
  percent,
} from "./arcs.js";
import { shape } from "./dom.js";
import { MARGIN, legOffsets, legsOf, levels, spanOf } from "./layout.js";

/** @typedef {import("./arcs.js").Sentence} Sentence */
/** @typedef {import("./arcs.js").Scene} Scene */
/** @typedef {import("./layout.js").Arc} Arc */

const FAINT = 0.01;
const MOST_ARCS = 8;

/**
 * @typedef {object} Picture
 * @property {SVGSVGElement} root
 * @property {(position: number | null) => void} show mark a word and draw its distribution
 * @property {(position: number) => void} focus
 * @property {() => void} rest go back to the word that was chosen last, without choosing it again
 */

/**
 * Draw a picture that only shows; `marks` gives classes to the arcs into some words.
 *
 * @param {Sentence} sentence
 * @param {Arc[]} arcs
 * @param {Map<number, string>} marks
 * @param {string} name
 * @returns {SVGSVGElement}
 */
export function still(sentence, arcs, marks, name) {
  const scene = layOut(sentence, arcs);
  const drawn = new Map(arcGroups(scene));
  for (const [position, mark] of marks) drawn.get(position)?.classList.add(mark);
  const words = scene.forms.flatMap((_, index) => drawWord(scene, index));
  return frame(scene, { role: "img", "aria-label": name }, [...drawn.values(), ...words]);
}

/**
 * Draw a picture whose words can be chosen.
 *
 * @param {Sentence} sentence
 * @param {Map<number, string>} marks
 * @param {string} name
 * @param {(position: number | null) => void} onChoice
 * @returns {Picture}
 */
export function interactive(sentence, marks, name, onChoice) {
  const scene = layOut(sentence);
  const words = wordList(scene, arcsOf(sentence), onChoice);
  const tree = shape("g", { class: "tree", "aria-hidden": "true" });
  for (const [position, arc] of arcGroups(scene)) {
    const mark = marks.get(position);
    if (mark) arc.classList.add(mark);
    arc.addEventListener("click", () => words.choose(position));
    tree.append(arc);
  }
  const weights = shape("g", { class: "weights", "aria-hidden": "true" });
  const told = shape("desc", {}, inWords(sentence));
  const root = frame(scene, { role: "group", "aria-label": name }, [
    told,
    tree,
    weights,
    words.root,
  ]);

  /** @param {number | null} position */
  function show(position) {
    words.mark(position);
    const row = position === null ? undefined : sentence.distribution?.[position - 1];
    root.classList.toggle("weighted", row !== undefined);
    weights.replaceChildren(...(row && position ? weighted(scene, position, row) : []));
  }

  return { root, show, focus: words.choose, rest: words.rest };
}

/**
 * Make the words, one stop for Tab: arrow keys go from word to word, and to be there is to choose.
 *
 * @param {Scene} scene
 * @param {Arc[]} arcs
 * @param {(position: number | null) => void} onChoice
 */
function wordList(scene, arcs, onChoice) {
  const options = arcs.map((arc) => option(scene, arc));
  const names = { role: "listbox", "aria-label": "Words", "aria-orientation": "horizontal" };
  const root = shape("g", names, ...options);
  let isResting = false;

  /** @param {number} position */
  function choose(position) {
    const chosen = options[position - 1];
    stopAt(position);
    if (document.activeElement === chosen) onChoice(position);
    else chosen.focus();
  }

  function rest() {
    isResting = true;
    options.find((one) => one.getAttribute("tabindex") === "0")?.focus();
    isResting = false;
  }

  /** @param {number} position */
  function stopAt(position) {
    setEach(options, "tabindex", (at) => (at === position ? "0" : "-1"));
  }

  /** @param {number | null} position */
  function mark(position) {
    setEach(options, "aria-selected", (at) => String(at === position));
    if (position !== null) stopAt(position);
  }

  options.forEach((one, index) => {
    one.addEventListener("click", () => choose(index + 1));
    one.addEventListener("focus", () => isResting || onChoice(index + 1));
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") onChoice(null);
    const at = options.findIndex((one) => one === event.target);
    const next = target(event.key, at, options.length, isMirrored(scene));
    if (next === null || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    choose(next + 1);
  });
  return { root, choose, rest, mark };
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

/** @param {Scene} scene */
function isMirrored({ places: { centres } }) {
  return centres[0] > (centres.at(-1) ?? 0);
}

/**
 * Say which word a key leads to, from 0; null for keys that mean nothing here.
 *
 * @param {string} key
 * @param {number} at
 * @param {number} count
 * @param {boolean} isReversed
 */
function target(key, at, count, isReversed) {
  const right = isReversed ? -1 : 1;
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
 * @param {Scene} scene
 * @returns {[number, SVGGElement][]} pairs of the position of a dependent and its arc
 */
function arcGroups(scene) {
  const order = scene.arcs
    .map((arc, index) => ({ arc, index }))
    .sort((a, b) => scene.heights[b.index] - scene.heights[a.index] || a.index - b.index);
  return drawArcs(scene).map((drawn, rank) => [order[rank].arc.dependent, drawn]);
}

/**
 * @param {Scene} scene
 * @param {import("./dom.js").Attributes} attributes
 * @param {Node[]} parts
 */
function frame(scene, attributes, parts) {
  const [width, height] = [scene.places.width.toFixed(0), scene.height.toFixed(0)];
  return shape(
    "svg",
    { class: "headwise", viewBox: `0 0 ${width} ${height}`, width, height, ...attributes },
    ...parts,
  );
}

/**
 * Make a word that can be chosen; its name says what the picture shows of it.
 *
 * @param {Scene} scene
 * @param {Arc} arc the one into the word
 */
function option(scene, { dependent, head, label, probability }) {
  const index = dependent - 1;
  const name = [
    scene.forms[index],
    scene.tags[index],
    head ? `${label} of ${scene.forms[head - 1]}` : label,
    probability === null ? "" : percent(probability),
    isUnsure(probability) ? "uncertain" : "",
  ];
  const half = scene.wordLengths[index] / 2 + 5;
  const box = {
    x: fixed(scene.places.centres[index] - half),
    y: fixed(scene.floor + 1),
    width: fixed(2 * half),
    height: 44,
    rx: 6,
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
    shape("rect", { class: "box", ...box }),
    ...drawWord(scene, index),
  );
}

/**
 * Draw the likeliest heads of a word as arcs, the heavier the likelier, within the tree's height.
 *
 * @param {Scene} scene
 * @param {number} position
 * @param {number[]} row
 * @returns {SVGGElement[]}
 */
function weighted(scene, position, row) {
  const arcs = row
    .map((probability, head) => ({
      dependent: position,
      head,
      label: percent(probability),
      probability,
    }))
    .filter((arc) => arc.probability >= FAINT && arc.head !== position)
    .sort((a, b) => b.probability - a.probability)
    .slice(0, MOST_ARCS);
  const between = levels(arcs.filter((arc) => arc.head).map(spanOf));
  const highest = Math.max(1, ...between);
  const step = Math.min(LEVEL, (scene.floor - MARGIN) / (highest + 0.75));
  const offsets = legOffsets(scene.wordLengths, arcs);
  const side = isMirrored(scene) ? -1 : 1;
  return arcs.map((arc, index) => {
    const level = arc.head ? (between.shift() ?? 1) : highest + 0.75;
    // The candidates share one end only, so the others stand in the middle of their words.
    const [start, end] = legsOf(arc, scene.places.centres, (at) =>
      at === position ? side * (offsets[index].get(at) ?? 0) : 0,
    );
    const label = arc.head ? arc.label : `ROOT ${arc.label}`;
    const drawn = drawArc(start, end, scene.floor, scene.floor - step * level, label);
    drawn.style.setProperty("--p", String(arc.probability));
    return drawn;
  });
}
