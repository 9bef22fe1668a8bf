/**
 * P_head of one word (Eq. 5) as a small table: head, probability, bar.
 */

import { element } from "./dom.js";
import { explanationOf } from "./labels.js";
import { spaced } from "./words.js";

/** @typedef {import("./tree.js").Sentence} Sentence */

const FEWEST_ROWS = 3;
const MOST_ROWS = 8;
const FAINT = 0.005;

/**
 * @typedef {object} Row
 * @property {string} head
 * @property {string} place
 * @property {number} probability
 * @property {string} note
 */

/**
 * Show the distribution of the word at `position`.
 *
 * @param {Sentence} sentence
 * @param {number} position
 * @param {() => void} onClose
 * @returns {HTMLElement}
 */
export function distributionPanel(sentence, position, onClose) {
  const form = sentence.forms[position - 1];
  const title = element("h4", {}, "Which head for “", element("bdi", {}, form), "”?");
  const close = element("button", { type: "button", class: "quiet" }, "Close");
  close.addEventListener("click", onClose);
  const panel = element("section", { class: "distribution", "aria-label": `Heads of ${form}` });
  panel.append(element("div", { class: "panel-top" }, title, close));
  const analysis = analysisOf(sentence.words[position - 1]);
  if (analysis) panel.append(element("p", { class: "facts" }, element("bdi", {}, analysis)));
  const row = sentence.distribution?.[position - 1];
  panel.append(
    row
      ? table(rowsOf(sentence, position, row))
      : element(
          "p",
          {},
          "Distributions are left out for long texts. Parse fewer or shorter sentences to see them.",
        ),
  );
  const explained = explanationOf(sentence.words[position - 1].deprel);
  if (explained.length) panel.append(element("div", { class: "explained" }, ...explained));
  return panel;
}

/**
 * Say what else the model found about a word: lemma, tags and features.
 *
 * @param {import("./tree.js").Word} word
 */
function analysisOf({ lemma, upos, xpos, feats }) {
  return [lemma, upos, xpos, spaced(feats)].filter(Boolean).join(" · ");
}

/**
 * List the likeliest heads in one line, for screen readers.
 *
 * @param {Sentence} sentence
 * @param {number} position
 */
export function distributionInWords(sentence, position) {
  const row = sentence.distribution?.[position - 1];
  if (!row) return "";
  const rows = rowsOf(sentence, position, row).slice(0, FEWEST_ROWS);
  const heads = rows.map(({ head, place, probability }) => `${head}${place} ${exact(probability)}`);
  return `Heads of ${sentence.forms[position - 1]}: ${heads.join(", ")}`;
}

/**
 * The likeliest heads first, then the sum of all others.
 *
 * @param {Sentence} sentence
 * @param {number} position
 * @param {number[]} row
 * @returns {Row[]}
 */
function rowsOf(sentence, position, row) {
  const { forms } = sentence;
  const order = row
    .map((probability, head) => ({ probability, head }))
    .sort((a, b) => b.probability - a.probability);
  const isShown = (/** @type {number} */ rank) =>
    rank < FEWEST_ROWS || (rank < MOST_ROWS && order[rank].probability >= FAINT);
  const shown = order.filter((_, rank) => isShown(rank));
  const rest = order.slice(shown.length);
  const rows = shown.map(({ probability, head }) => ({
    // Eq. 5 is over all words, the word itself included.
    head: head === position ? "itself" : head ? forms[head - 1] : "ROOT",
    place: head && head !== position ? ` (${head})` : "",
    probability,
    note: noteOf(sentence, position, head),
  }));
  if (!rest.length) return rows;
  const probability = rest.reduce((sum, other) => sum + other.probability, 0);
  const others = rest.length === 1 ? "1 other" : `${rest.length} others`;
  return [...rows, { head: others, place: "", probability, note: "" }];
}

/**
 * @param {Sentence} sentence
 * @param {number} position
 * @param {number} head
 */
function noteOf(sentence, position, head) {
  const isInTree = sentence.words[position - 1].head === head;
  const isGreedy = sentence.greedy !== undefined && sentence.greedy[position - 1] === head;
  if (isInTree) return "in the tree";
  return isGreedy ? "selected first, then repaired" : "";
}

/** @param {Row[]} rows */
function table(rows) {
  const names = ["Head", "Probability"].map((name) => element("th", { scope: "col" }, name));
  const sum = rows.reduce((total, { probability }) => total + probability, 0);
  const total = [
    element("th", { scope: "row" }, "Sum"),
    element("td", { class: "number sum" }, sum.toFixed(2)),
  ];
  return element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...names, element("td", {}))),
    element("tbody", {}, ...rows.map(tableRow)),
    element("tfoot", {}, element("tr", {}, ...total, element("td", {}))),
  );
}

/** @param {Row} row */
function tableRow({ head, place, probability, note }) {
  const bar = element("span", { class: "bar" });
  bar.style.setProperty("--p", String(probability));
  const remark = note ? element("small", {}, ` ${note}`) : "";
  return element(
    "tr",
    { "data-probability": probability, class: note === "in the tree" ? "chosen" : null },
    element("th", { scope: "row" }, element("bdi", {}, head), place, remark),
    element("td", { class: "number" }, exact(probability)),
    element("td", { class: "track", "aria-hidden": "true" }, bar),
  );
}

/**
 * Write a probability with four decimals, but never as exactly 0 or 1.
 *
 * @param {number} probability
 */
export function exact(probability) {
  if (probability >= 0.99995) return ">0.9999";
  return probability < 0.00005 ? "<0.0001" : probability.toFixed(4);
}
