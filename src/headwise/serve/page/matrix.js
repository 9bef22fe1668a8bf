/**
 * P_head of a whole sentence (Eq. 5) as a table: dependents in rows, heads in columns.
 */

import { element } from "./dom.js";
import { exact } from "./distribution.js";
import { changedWords } from "./repair.js";
import { percent } from "./tree.js";

/** @typedef {import("./tree.js").Sentence} Sentence */

const MOST_WORDS = 60;
const FAINT = 0.01;
const KEY = [0.01, 0.1, 0.5, 0.99];

/**
 * @param {Sentence} sentence
 * @returns {HTMLElement}
 */
export function matrixView(sentence) {
  if (!sentence.distribution) {
    return note(
      "Distributions are left out for long texts. Parse fewer or shorter sentences to see them.",
    );
  }
  if (sentence.words.length > MOST_WORDS) {
    return note(
      `This sentence has ${sentence.words.length} words; the matrix is shown for up to ${MOST_WORDS}.`,
    );
  }
  const box = element("div", {
    class: "scroll",
    tabindex: 0,
    role: "group",
    "aria-label": "Matrix of head probabilities",
    dir: sentence.isRightToLeft ? "rtl" : null,
  });
  box.append(matrix(sentence, sentence.distribution));
  return element("div", { class: "matrix-view" }, box, key(changedWords(sentence).length > 0));
}

/** @param {string} text */
function note(text) {
  return element("p", { class: "note" }, text);
}

/**
 * @param {Sentence} sentence
 * @param {number[][]} rows
 */
function matrix(sentence, rows) {
  const names = ["ROOT", ...sentence.forms];
  const columns = names.map((name) =>
    element("th", { scope: "col" }, element("span", {}, element("bdi", {}, name))),
  );
  const arrow = sentence.isRightToLeft ? "←" : "→";
  const corner = element("td", { class: "corner" }, `dependent ↓ head ${arrow}`);
  return element(
    "table",
    { class: "matrix", dir: sentence.isRightToLeft ? "rtl" : "ltr" },
    element(
      "caption",
      { class: "hidden" },
      "Probability that the word of the row selects the word of the column as its head, in percent",
    ),
    element("thead", {}, element("tr", {}, corner, ...columns)),
    element("tbody", {}, ...rows.map((row, index) => matrixRow(sentence, row, index, names))),
  );
}

/**
 * @param {Sentence} sentence
 * @param {number[]} row
 * @param {number} index
 * @param {string[]} names
 */
function matrixRow(sentence, row, index, names) {
  const cells = row.map((probability, head) => {
    const isInTree = sentence.words[index].head === head;
    const isReplaced =
      !isInTree && sentence.greedy !== undefined && sentence.greedy[index] === head;
    const mark = isInTree ? ", in the tree" : isReplaced ? ", selected first, then repaired" : "";
    return cell(
      probability,
      `${names[index + 1]} ← ${names[head]}: ${exact(probability)}${mark}`,
      isInTree ? "in-tree" : isReplaced ? "replaced" : "",
    );
  });
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, element("bdi", {}, names[index + 1])),
    ...cells,
  );
}

/**
 * @param {number} probability
 * @param {string} title
 * @param {string} mark
 */
function cell(probability, title, mark) {
  // A faint cell stays empty, so that the heads stand out; its title has the number.
  const shown = probability >= FAINT ? percent(probability).slice(0, -1) : "";
  const made = element(
    "td",
    { title, class: `${mark} ${depthOf(probability)}`.trim() || null },
    shown,
  );
  made.style.setProperty("--p", String(probability));
  return made;
}

/**
 * Classify how deep the shade is, so that numbers on it are readable in both schemes.
 *
 * @param {number} probability
 */
function depthOf(probability) {
  if (probability < 0.345) return "";
  return probability < 0.495 ? "mid" : "deep";
}

/**
 * Explain the shades and marks.
 *
 * @param {boolean} isRepaired
 */
function key(isRepaired) {
  const shades = KEY.map((probability) => {
    const made = element("span", { class: `shade ${depthOf(probability)}` }, percent(probability));
    made.style.setProperty("--p", String(probability));
    return made;
  });
  return element(
    "p",
    { class: "key" },
    "Each row adds up to one. ",
    ...shades,
    element("span", { class: "shade in-tree" }, "in the tree"),
    isRepaired ? element("span", { class: "shade replaced" }, "selected first, then repaired") : "",
  );
}
