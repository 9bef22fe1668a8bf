/**
 * The tree of a sentence. Words are elements that wrap like text, or stand below each other; arcs are
 * drawn over them, from line to line where needed. So nothing is cut off, and right-to-left scripts
 * run as the browser runs them.
 */

import { element, setAttribute, setText, shape } from "../dom.js";
import { percent } from "../tree.js";
import { drawLines, drawVertical, painter } from "./arcs.js";

/** @typedef {import("./conllu.js").Sentence} Sentence */
/** @typedef {import("./conllu.js").Word} Word */

/**
 * @typedef {object} Look how a sentence is shown
 * @property {(number | null)[]} probabilities of the arcs, by word
 * @property {Set<number>} changed words whose arc has just changed
 * @property {Map<number, {head: number, deprel: string}>} others arcs of someone else that differ
 * @property {Set<number>} found words that a search found
 * @property {Map<number, string>} faults by word
 */

/** @typedef {"lines" | "vertical"} Direction */

const NARROW = 600;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const LETTER = /\p{L}/gu;

/** @param {Word[]} words */
export function isRightToLeft(words) {
  const letters =
    words
      .map((word) => word.form)
      .join("")
      .match(LETTER) ?? [];
  return letters.filter((letter) => RIGHT_TO_LEFT.test(letter)).length > letters.length / 2;
}

/**
 * Write a probability; one that is small is not none.
 *
 * @param {number} probability
 */
export function chance(probability) {
  return probability < 0.01 ? "<1%" : percent(probability);
}

/**
 * Say an arc in words.
 *
 * @param {Word} word
 * @param {Word[]} words
 */
export function arcInWords({ head, deprel }, words) {
  if (head === null) return "no head yet";
  return head ? `${deprel} of ${words[head - 1]?.form ?? head}` : deprel;
}

/**
 * Make the view of a tree inside `root`.
 *
 * @param {HTMLElement} root
 * @param {{onChoice: (id: number) => void, onLabel: (id: number) => void,
 *          onTurn: (direction: Direction) => void}} events
 */
export function treeView(root, events) {
  const list = element("div", { class: "wb-words", role: "listbox", "aria-label": "Words" });
  const canvas = shape("svg", { class: "wb-arcs", "aria-hidden": "true" });
  root.append(list, canvas);
  const paint = painter(canvas);
  /** @type {HTMLElement[]} */
  let options = [];
  /** @type {{sentence: Sentence, look: Look} | null} */
  let shown = null;
  let forms = "";
  /** @type {"auto" | Direction} */
  let wanted = "auto";

  list.addEventListener("focusin", (event) => {
    const option = event.target instanceof Element && event.target.closest(".wb-word");
    if (option instanceof HTMLElement) events.onChoice(Number(option.dataset.id));
  });
  canvas.addEventListener("click", (event) => {
    const arc = event.target instanceof Element && event.target.closest("[data-id]");
    if (arc) events.onLabel(Number(arc.getAttribute("data-id")));
  });

  /** @param {Sentence} sentence @param {Look} look */
  function show(sentence, look) {
    shown = { sentence, look };
    const key = sentence.words.map((word) => word.form).join("\t");
    if (key !== forms) {
      options = sentence.words.map((word) => optionOf(word));
      list.replaceChildren(...options);
      forms = key;
    }
    for (const [index, word] of sentence.words.entries())
      dress(options[index], word, sentence.words, look);
    setAttribute(list, "dir", isRightToLeft(sentence.words) ? "rtl" : "ltr");
    draw();
  }

  /** @returns {Direction} */
  function direction() {
    return wanted === "auto" ? (root.clientWidth < NARROW ? "vertical" : "lines") : wanted;
  }

  function draw() {
    if (!shown) return;
    const now = direction();
    root.classList.toggle("vertical", now === "vertical");
    events.onTurn(now);
    const drawn = arcsOf(shown.sentence, shown.look);
    const describe = now === "vertical" ? drawVertical : drawLines;
    const drawings = describe(root, list, options, drawn);
    // Sizes are read before anything is written, so that the page is laid out once.
    const [width, height] = [root.clientWidth, list.offsetTop + list.offsetHeight];
    setAttribute(canvas, "width", String(width));
    setAttribute(canvas, "height", String(height));
    paint(drawings);
  }

  /** @param {number | null} id */
  function mark(id) {
    for (const option of options)
      setAttribute(option, "aria-selected", String(Number(option.dataset.id) === id));
    for (const arc of canvas.querySelectorAll("[data-id]"))
      arc.classList.toggle("selected", Number(arc.getAttribute("data-id")) === id);
  }

  /** @param {number} id */
  function focus(id) {
    options[id - 1]?.focus({ preventScroll: true });
    options[id - 1]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  let width = 0;
  new ResizeObserver(() => {
    if (root.clientWidth !== width) draw();
    width = root.clientWidth;
  }).observe(root);

  return {
    show,
    mark,
    focus,
    draw,
    direction,
    canvas,
    /** Whether the next word is to the left. */
    isReversed: () => list.dir === "rtl" && direction() === "lines",
    /** What has just changed is no longer new. */
    calm() {
      for (const one of root.querySelectorAll(".changed")) one.classList.remove("changed");
    },
    /** @param {"auto" | Direction} next */
    turn(next) {
      wanted = next;
      draw();
    },
  };
}

/** @param {Word} word */
function optionOf(word) {
  return element(
    "div",
    { class: "wb-word", role: "option", tabindex: 0, "data-id": word.id, "aria-selected": "false" },
    element("span", { class: "wb-grip", "aria-hidden": "true" }, "⠿"),
    element("span", { class: "wb-number" }, String(word.id)),
    element("bdi", { class: "wb-form" }, word.form),
    element("span", { class: "wb-tag" }),
    element("span", { class: "wb-lemma" }),
    element("span", { class: "wb-arc-name", dir: "ltr" }),
  );
}

/** @param {HTMLElement} option @param {Word} word @param {Word[]} words @param {Look} look */
function dress(option, word, words, look) {
  const probability = look.probabilities[word.id - 1];
  const sure = probability === null || probability === undefined ? "" : percent(probability);
  const fault = look.faults.get(word.id) ?? "";
  const tag = word.upos === "_" ? "" : word.upos;
  const lemma = word.lemma === "_" || word.lemma === word.form ? "" : word.lemma;
  const arc = arcInWords(word, words);
  const isFixed = word.fixed.has("head");
  const kinds = [
    "wb-word",
    look.found.has(word.id) && "found",
    look.changed.has(word.id) && "changed",
    fault && "faulty",
    word.fixed.has("upos") && "tag-fixed",
  ];
  const said = [`${word.id} ${word.form}`, tag, arc, isFixed ? "fixed" : sure, fault];
  const [, , , tagBox, lemmaBox, arcBox] = option.children;
  setText(tagBox, tag);
  setText(lemmaBox, lemma);
  setText(arcBox, `${isFixed ? "🔒 " : ""}${arc}`);
  setAttribute(option, "class", kinds.filter(Boolean).join(" "));
  setAttribute(
    option,
    "title",
    fault || (word.feats === "_" ? "" : word.feats.replaceAll("|", "\n")),
  );
  setAttribute(option, "aria-label", said.filter(Boolean).join(", "));
  // An arc to the neighbour needs room for its label.
  const isNear = word.head && Math.abs(word.head - word.id) === 1;
  const room = `${isNear ? word.deprel.length + 2 : 0}ch`;
  if (option.style.getPropertyValue("--label") !== room) option.style.setProperty("--label", room);
}

/**
 * @typedef {object} DrawnArc
 * @property {number} dependent
 * @property {number} head
 * @property {string} label
 * @property {string} kind classes
 * @property {number} p
 * @property {boolean} isLocked
 * @property {string} headForm
 */

/**
 * @param {Sentence} sentence
 * @param {Look} look
 * @returns {DrawnArc[]}
 */
function arcsOf({ words }, look) {
  const arcs = words
    .filter((word) => word.head !== null && word.head <= words.length)
    .map((word) => {
      const isLocked = word.fixed.has("head");
      const p = isLocked ? 1 : (look.probabilities[word.id - 1] ?? 1);
      const kinds = ["own", isLocked ? "fixed" : "guess"];
      if (p < 0.5) kinds.push("unsure");
      if (look.changed.has(word.id)) kinds.push("changed");
      if (look.others.size) kinds.push(look.others.has(word.id) ? "mine" : "agreed");
      return arc(word.id, word.head ?? 0, word.deprel, kinds.join(" "), p, isLocked);
    });
  const others = [...look.others].map(([id, { head, deprel }]) =>
    arc(id, head, deprel, "theirs", 1, false),
  );
  return [...others, ...arcs];

  /**
   * @param {number} dependent
   * @param {number} head
   * @param {string} label
   * @param {string} kind
   * @param {number} p
   * @param {boolean} isLocked
   * @returns {DrawnArc}
   */
  function arc(dependent, head, label, kind, p, isLocked) {
    return { dependent, head, label, kind, p, isLocked, headForm: words[head - 1]?.form ?? "" };
  }
}
