/**
 * The tree as a table of words, the best view for screen readers.
 */

import { element } from "./dom.js";
import { explanationOf, relationOf } from "./labels.js";
import { explain } from "./tip.js";
import { isUncertain } from "./tree.js";

/** @type {{name: string, key: "lemma" | "upos" | "xpos" | "feats"}[]} */
const COLUMNS = [
  { name: "Lemma", key: "lemma" },
  { name: "UPOS", key: "upos" },
  { name: "XPOS", key: "xpos" },
  { name: "Features", key: "feats" },
];

/**
 * @param {import("./tree.js").Sentence} sentence
 * @returns {HTMLElement}
 */
export function wordsView(sentence) {
  const { forms, percents } = sentence;
  const columns = COLUMNS.filter(({ key }) => sentence.words.some((word) => word[key]));
  const rows = sentence.words.map((word, index) => {
    const { head, deprel } = word;
    const percent = percents[index];
    return element(
      "tr",
      { class: isUncertain(percent) ? "unsure" : null },
      element("td", { class: "number" }, String(index + 1)),
      element("th", { scope: "row" }, element("bdi", {}, forms[index])),
      ...columns.map(({ key }) => element("td", {}, element("bdi", {}, spaced(word[key])))),
      element("td", {}, labelCell(deprel)),
      element("td", {}, ...(head ? [element("bdi", {}, forms[head - 1]), ` (${head})`] : ["ROOT"])),
      element("td", { class: "number" }, (percent ?? "") + (isUncertain(percent) ? " ?" : "")),
    );
  });
  const shown = ["Word", ...columns.map(({ name }) => name), "Label", "Head", "Probability"];
  const names = [element("td", {}), ...shown.map((name) => element("th", { scope: "col" }, name))];
  return element(
    "div",
    { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table of words" },
    element(
      "table",
      { class: "words" },
      element("thead", {}, element("tr", {}, ...names)),
      element("tbody", {}, ...rows),
    ),
  );
}

/**
 * Write a label; if it is known, pointer or focus explain it.
 *
 * @param {string | undefined} label
 */
function labelCell(label) {
  if (!label || !relationOf(label)) return label ?? "";
  const button = element(
    "button",
    { type: "button", class: "term", "aria-describedby": "tip" },
    label,
  );
  explain(button, () => explanationOf(label));
  return button;
}

/**
 * Let a line break after each feature.
 *
 * @param {string | undefined} value
 */
export function spaced(value) {
  return (value ?? "").replaceAll("|", "|\u200b");
}
