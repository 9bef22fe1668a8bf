/**
 * What the repair changed (Sec. 3.3): the heads selected word by word (Eq. 8) beside the tree.
 */

import { element } from "./dom.js";
import { markArcs } from "./picture.js";
import { readSvg } from "./tree.js";

/** @typedef {import("./tree.js").Sentence} Sentence */
/** @typedef {import("./tree.js").Picture} Picture */

/** @type {Record<string, string>} */
const NAMES = { mst: "Chu-Liu-Edmonds", eisner: "Eisner’s algorithm" };

/** @param {Sentence} sentence */
function nameOf(sentence) {
  return NAMES[sentence.how ?? ""] ?? sentence.how ?? "";
}

/**
 * Find the positions of the words whose head the repair changed.
 *
 * @param {Sentence} sentence
 * @returns {number[]}
 */
export function changedWords(sentence) {
  const { greedy, how, words } = sentence;
  if (!how || how === "greedy" || !greedy) return [];
  return words
    .map((_, index) => index + 1)
    .filter((position) => greedy[position - 1] !== words[position - 1].head);
}

/**
 * Explain which algorithm repaired what, and why.
 *
 * @param {Sentence} sentence
 */
function repairInWords(sentence) {
  const { forms } = sentence;
  const changed = changedWords(sentence);
  const name = (/** @type {number | undefined} */ head) =>
    head ? `“${forms[head - 1]}” (${head})` : "ROOT";
  const moves = changed.map((position) => {
    const [from, to] = [sentence.greedy?.[position - 1], sentence.words[position - 1].head];
    return `“${forms[position - 1]}” (${position}) from ${name(from)} to ${name(to)}`;
  });
  const why = fault(sentence.greedy ?? []);
  const best = sentence.how === "eisner" ? "the best tree without crossing arcs" : "the best tree";
  return `The heads that the words selected are ${why}. ${nameOf(sentence)} found ${best} and moved ${moves.join("; ")}.`;
}

/**
 * Explain why heads, from position 1, are not the tree that was asked for.
 *
 * @param {number[]} heads
 */
function fault(heads) {
  const reached = (/** @type {number} */ position) => {
    let [at, steps] = [position, 0];
    while (at && steps++ <= heads.length) at = heads[at - 1];
    return at === 0;
  };
  if (!heads.every((_, index) => reached(index + 1)))
    return "not a tree: some of them form a cycle";
  const roots = heads.filter((head) => head === 0).length;
  return roots > 1 ? `not a single tree: ${roots} words selected ROOT` : "a tree whose arcs cross";
}

/**
 * Show both side by side, or below each other where there is no room.
 *
 * @param {Sentence} sentence
 * @param {Picture} picture the heads selected word by word
 * @param {HTMLElement} repaired the view of the tree
 * @returns {HTMLElement}
 */
export function repairView(sentence, picture, repaired) {
  const title = "Selected word by word";
  const svg = readSvg(picture.svg);
  svg.setAttribute("aria-label", `${title}. ${svg.querySelector("desc")?.textContent}`);
  markArcs(svg, picture, changedWords(sentence), "gone");
  const greedy = element(
    "div",
    {
      class: "scroll",
      tabindex: 0,
      role: "group",
      "aria-label": title,
      dir: sentence.isRightToLeft ? "rtl" : null,
    },
    svg,
  );
  scrollTogether(greedy, repaired);
  return element(
    "div",
    { class: "repair" },
    element("p", { class: "note" }, repairInWords(sentence)),
    element(
      "div",
      { class: "pair" },
      figure(greedy, "gone", title),
      figure(repaired, "new", `Repaired by ${nameOf(sentence)}`),
    ),
  );
}

/**
 * Keep the same words in view in both.
 *
 * @param {HTMLElement} one
 * @param {HTMLElement} other
 */
function scrollTogether(one, other) {
  one.addEventListener("scroll", () => (other.scrollLeft = one.scrollLeft), { passive: true });
  other.addEventListener("scroll", () => (one.scrollLeft = other.scrollLeft), { passive: true });
}

/**
 * @param {HTMLElement} picture
 * @param {string} mark
 * @param {string} title
 */
function figure(picture, mark, title) {
  const made = element(
    "figure",
    {},
    element("figcaption", {}, element("span", { class: `sample ${mark}` }), title),
    picture,
  );
  made.style.setProperty(
    "--width",
    picture.querySelector("svg")?.style.getPropertyValue("--width") ?? "",
  );
  return made;
}
