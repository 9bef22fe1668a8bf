/**
 * A sentence as shapes: the same picture as `headwise.render.to_svg`, in pieces that can be put
 * together to one that is saved (`save.js`) or one that answers to clicks and keys (`picture.js`).
 */

import { shape } from "./dom.js";
import { isRightToLeft, short, textLength, visible } from "./cells.js";
import { MARGIN, levels, mirror, place, spanOf } from "./layout.js";

/** @typedef {import("./layout.js").Arc} Arc */

/**
 * @typedef {object} Word
 * @property {number} id
 * @property {string} form
 * @property {string} [upos]
 * @property {string} [xpos]
 * @property {number} [head]
 * @property {string} [deprel]
 * @property {number} [probability]
 */

/**
 * @typedef {object} Sentence a sentence as the server answers it
 * @property {string} text
 * @property {Word[]} words
 * @property {string} [how]
 * @property {number[]} [greedy]
 * @property {number[][]} [distribution]
 */

/**
 * @typedef {object} Scene where everything in the picture of a sentence is
 * @property {string} text
 * @property {string[]} forms
 * @property {string[]} tags
 * @property {Arc[]} arcs those that are drawn
 * @property {number[]} heights the level of each arc
 * @property {number[]} wordLengths
 * @property {import("./layout.js").Places} places
 * @property {number} floor
 * @property {number} height
 */

const WORD_SIZE = 16;
const SMALL_SIZE = 11;
export const LEVEL = 24;
const ROOT_RISE = 0.75;
const CORNER = 8;
const ARROW = 5;
const LONGEST_WORD = 60;
const LONGEST_LABEL = 30;
const LONGEST_TITLE = 1000;
const UNDER_WORDS = 48;
const UNSURE = 0.5;

/**
 * Write a probability for people, rounded down: 100% would say certainty, which a softmax has not.
 *
 * @param {number} probability
 */
export function percent(probability) {
  return `${Math.min(99, Math.floor(probability * 100 + 1e-9))}%`;
}

/** @param {number | null | undefined} probability */
export function isUnsure(probability) {
  return typeof probability === "number" && probability < UNSURE;
}

/**
 * Give the arc into each word, in order.
 *
 * @param {Sentence} sentence
 * @returns {Arc[]}
 */
export function arcsOf(sentence) {
  return sentence.words.map((word, index) => ({
    dependent: index + 1,
    head: word.head ?? index + 1,
    label: short(word.deprel ?? "_", LONGEST_LABEL),
    probability: word.probability ?? null,
  }));
}

/**
 * Say the tree in words: `Kids: nsubj of love; love: root; ...`.
 *
 * @param {Sentence} sentence
 */
export function inWords(sentence) {
  const forms = formsOf(sentence);
  return arcsOf(sentence)
    .map(({ dependent, head, label }) => {
      const of = head ? ` of ${forms[head - 1]}` : "";
      return `${forms[dependent - 1]}: ${label}${of}`;
    })
    .join("; ");
}

/** @param {Sentence} sentence */
export function formsOf(sentence) {
  return sentence.words.map((word) => short(word.form, LONGEST_WORD));
}

/**
 * Lay out a sentence; with `arcs`, those instead of its own.
 *
 * @param {Sentence} sentence
 * @param {Arc[]} [arcs]
 * @returns {Scene}
 */
export function layOut(sentence, arcs = arcsOf(sentence)) {
  const forms = formsOf(sentence);
  const tags = sentence.words.map((word) => short(word.upos ?? "", LONGEST_LABEL));
  const drawn = arcs.filter((arc) => arc.head !== arc.dependent);
  const wordLengths = forms.map((form, index) => {
    const own = Math.max(textLength(form, WORD_SIZE), textLength(tags[index], SMALL_SIZE));
    const isRoot = arcs[index].head === 0;
    return isRoot ? Math.max(own, textLength(arcs[index].label, SMALL_SIZE)) : own;
  });
  const labelLengths = drawn.map((arc) => textLength(arc.label, SMALL_SIZE));
  const straight = place(wordLengths, drawn, labelLengths);
  const text = Array.from(sentence.text).slice(0, LONGEST_TITLE).join("");
  const places = isRightToLeft(text) ? mirror(straight) : straight;
  const heights = heightsOf(drawn);
  const floor = MARGIN + LEVEL * Math.max(heights.length ? 0 : 1, ...heights);
  const height = floor + UNDER_WORDS;
  return {
    text: visible(text),
    forms,
    tags,
    arcs: drawn,
    heights,
    wordLengths,
    places,
    floor,
    height,
  };
}

/**
 * Give each arc its level; those from ROOT start above all others.
 *
 * @param {Arc[]} drawn
 */
function heightsOf(drawn) {
  const between = levels(drawn.filter((arc) => arc.head).map(spanOf));
  const heights = drawn.map((arc) => (arc.head ? (between.shift() ?? 0) : 0));
  const above = Math.max(0, ...heights) + ROOT_RISE;
  return heights.map((height) => height || above);
}

/**
 * Draw all arcs of a scene. The highest come first: only lines of higher arcs can cross a label,
 * which then covers them.
 *
 * @param {Scene} scene
 * @returns {SVGGElement[]}
 */
export function drawArcs(scene) {
  return scene.arcs
    .map((arc, index) => ({ arc, index, level: scene.heights[index] }))
    .sort((a, b) => b.level - a.level || a.index - b.index)
    .map(({ arc, index, level }) => {
      const [start, end] = scene.places.legs[index];
      const from = arc.head ? scene.forms[arc.head - 1] : "ROOT";
      const sure = arc.probability === null ? "" : `, ${percent(arc.probability)}`;
      const drawn = drawArc(start, end, scene.floor, scene.floor - LEVEL * level, arc.label);
      const title = `${arc.label}: ${from} → ${scene.forms[arc.dependent - 1]}${sure}`;
      drawn.prepend(shape("title", {}, title));
      if (isUnsure(arc.probability)) drawn.classList.add("unsure");
      return drawn;
    });
}

/**
 * Draw one arc: up from the head, over, and down to the dependent; from ROOT, straight down.
 *
 * @param {number} start
 * @param {number} end
 * @param {number} floor
 * @param {number} top
 * @param {string} label
 * @returns {SVGGElement}
 */
export function drawArc(start, end, floor, top, label) {
  const wing = ARROW - 1;
  const tip = `M${fixed(end)},${fixed(floor)}l-${wing},-${ARROW + 2}h${2 * wing}z`;
  const middle = start === end ? end : (start + end) / 2;
  return shape(
    "g",
    { class: "arc" },
    shape("path", { class: "line", d: lineOf(start, end, floor, top) }),
    shape("path", { class: "head", d: tip }),
    shape("text", { class: "label", x: fixed(middle), y: fixed(top - 5.5) }, label),
  );
}

/**
 * @param {number} start
 * @param {number} end
 * @param {number} floor
 * @param {number} top
 */
function lineOf(start, end, floor, top) {
  const down = `V${fixed(floor - ARROW)}`;
  if (start === end) return `M${fixed(end)},${fixed(top)}${down}`;
  const corner = Math.min(CORNER, Math.abs(end - start) / 2) * Math.sign(end - start);
  return (
    `M${fixed(start)},${fixed(floor)}V${fixed(top + CORNER)}` +
    `Q${fixed(start)},${fixed(top)} ${fixed(start + corner)},${fixed(top)}` +
    `H${fixed(end - corner)}Q${fixed(end)},${fixed(top)} ${fixed(end)},${fixed(top + CORNER)}${down}`
  );
}

/**
 * Draw a word and its tag.
 *
 * @param {Scene} scene
 * @param {number} index from 0
 * @returns {SVGTextElement[]}
 */
export function drawWord(scene, index) {
  const x = fixed(scene.places.centres[index]);
  const form = scene.forms[index];
  const direction = isRightToLeft(form) ? "rtl" : null;
  const word = shape("text", { class: "word", x, y: fixed(scene.floor + 20), direction }, form);
  if (!scene.tags[index]) return [word];
  return [word, shape("text", { class: "tag", x, y: fixed(scene.floor + 38) }, scene.tags[index])];
}

/**
 * Write a coordinate with one decimal, a tie to the even one as Python does.
 *
 * @param {number} value
 */
export function fixed(value) {
  return (value % 1 === 0.25 ? value - 0.05 : value).toFixed(1);
}
