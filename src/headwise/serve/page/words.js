/**
 * The tree as a table of words: the plainest view, and the one that reads aloud best.
 */

import { arcsOf, formsOf, isUnsure, percent } from "./arcs.js";
import { element } from "./dom.js";

const COLUMNS = ["", "Word", "UPOS", "XPOS", "Label", "Head", "Probability"];

/**
 * @param {import("./arcs.js").Sentence} sentence
 * @returns {HTMLElement}
 */
export function wordsView(sentence) {
  const forms = formsOf(sentence);
  const rows = arcsOf(sentence).map(({ dependent, head, label, probability }) => {
    const word = sentence.words[dependent - 1];
    const isDoubtful = isUnsure(probability);
    return element(
      "tr",
      { class: isDoubtful ? "unsure" : null },
      element("td", { class: "number" }, String(dependent)),
      element("th", { scope: "row" }, element("bdi", {}, forms[dependent - 1])),
      element("td", {}, word.upos ?? ""),
      element("td", {}, word.xpos ?? ""),
      element("td", {}, label),
      element("td", {}, ...(head ? [element("bdi", {}, forms[head - 1]), ` (${head})`] : ["ROOT"])),
      element(
        "td",
        { class: "number" },
        probability === null ? "" : percent(probability) + (isDoubtful ? " ?" : ""),
      ),
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
