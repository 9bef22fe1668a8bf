/**
 * The tree as a table of words, the best view for screen readers.
 */

import { element } from "./dom.js";
import { isUncertain } from "./tree.js";

const COLUMNS = ["", "Word", "UPOS", "XPOS", "Label", "Head", "Probability"];

/**
 * @param {import("./tree.js").Sentence} sentence
 * @returns {HTMLElement}
 */
export function wordsView(sentence) {
  const { forms, percents } = sentence;
  const rows = sentence.words.map(({ head, upos, xpos, deprel }, index) => {
    const percent = percents[index];
    return element(
      "tr",
      { class: isUncertain(percent) ? "unsure" : null },
      element("td", { class: "number" }, String(index + 1)),
      element("th", { scope: "row" }, element("bdi", {}, forms[index])),
      element("td", {}, upos ?? ""),
      element("td", {}, xpos ?? ""),
      element("td", {}, deprel ?? ""),
      element("td", {}, ...(head ? [element("bdi", {}, forms[head - 1]), ` (${head})`] : ["ROOT"])),
      element("td", { class: "number" }, (percent ?? "") + (isUncertain(percent) ? " ?" : "")),
    );
  });
  const names = COLUMNS.map((name) =>
    name ? element("th", { scope: "col" }, name) : element("td", {}),
  );
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
