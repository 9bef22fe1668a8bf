/**
 * Compare with another file: how well both agree, what they confuse, and the sentences that differ.
 * In the tree, what agrees is grey, and what differs has two colours.
 */

import { element } from "../dom.js";
import { save } from "../save.js";
import { textOfRow } from "./blocks.js";
import { readBlock } from "./conllu.js";
import { Refused, Unreachable, ask } from "./server.js";

/** @typedef {Map<number, {head: number, deprel: string}>} Arcs */

const NAMES = /** @type {[string, string][]} */ ([
  ["uas", "heads agree (UAS)"],
  ["las", "heads and labels agree (LAS)"],
  ["labels", "labels agree"],
  ["upos", "UPOS agrees"],
  ["kappa_heads", "Cohen's kappa of heads"],
  ["kappa_labels", "Cohen's kappa of labels"],
  ["kappa_upos", "Cohen's kappa of UPOS"],
]);

/**
 * Find the arcs of another block that differ.
 *
 * @param {import("./conllu.js").Sentence} sentence
 * @param {string} other
 * @returns {Arcs}
 */
export function otherArcs(sentence, other) {
  const theirs = readBlock(other).words;
  if (theirs.length !== sentence.words.length) return new Map();
  const pairs = sentence.words.map((word, index) => ({ word, their: theirs[index] }));
  return new Map(
    pairs
      .filter(
        ({ word, their }) =>
          their.head !== null && (their.head !== word.head || their.deprel !== word.deprel),
      )
      .map(({ word, their }) => [word.id, { head: their.head ?? 0, deprel: their.deprel }]),
  );
}

/**
 * @param {HTMLDialogElement} dialog
 * @param {{rows: () => import("./blocks.js").Row[], onOpen: (at: number, words: number[]) => void,
 *          onTurn: (isOn: boolean) => void}} context
 */
export function compareDialog(dialog, { rows, onOpen, onTurn }) {
  const body = element("div", { class: "wb-compare" });
  const close = element(
    "button",
    { type: "button", class: "quiet wb-close", "aria-label": "Close" },
    "✕",
  );
  const turn = element("input", { type: "checkbox", id: "compare-on" });
  const label = element("label", { for: "compare-on" }, turn, " Show the other file in the tree");
  dialog.append(element("header", {}, element("h2", {}, "Compare"), close), label, body);
  close.addEventListener("click", () => dialog.close());
  turn.addEventListener("change", () => onTurn(turn.checked));

  /** @param {string | null} other the name of the other file */
  async function open(other) {
    dialog.showModal();
    label.hidden = other === null;
    if (other === null) {
      body.replaceChildren(
        element("p", {}, "There is no other file yet. Start the workbench with it:"),
        element("pre", {}, "headwise annotate FILE --compare OTHER"),
      );
      return;
    }
    body.replaceChildren(element("p", { class: "facts" }, "Comparing …"));
    try {
      show(other, await ask("compare"));
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
      body.replaceChildren(element("p", {}, error.message));
    }
  }

  /** @param {string} other @param {any} answer */
  function show(other, answer) {
    const { summary, confusions, sentences } = answer;
    const n = summary.n_unmatched;
    const unmatched = n ? `; it lacks ${n.toLocaleString("en")} of this file` : "";
    const figures = NAMES.filter(([key]) => typeof summary[key] === "number").map(([key, name]) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, name),
        element("td", { class: "number" }, figure(key, summary[key])),
      ),
    );
    const confused = confusions
      .slice(0, 20)
      .map((/** @type {[string, string, number]} */ [mine, theirs, n]) =>
        element(
          "tr",
          {},
          element("td", {}, mine),
          element("td", {}, theirs),
          element("td", { class: "number" }, String(n)),
        ),
      );
    const hits = sentences
      .slice(0, 500)
      .map((/** @type {{sentence: number, words: number[]}} */ one) => hit(one));
    const exported = element("button", { type: "button" }, "Save as JSON");
    exported.addEventListener("click", () =>
      save(
        new Blob([JSON.stringify(answer, null, 1)], { type: "application/json" }),
        "agreement.json",
      ),
    );
    const heads = ["this file", other, "words"].map((name) =>
      element("th", { scope: "col" }, name),
    );
    body.replaceChildren(
      element(
        "p",
        { class: "facts" },
        `With ${other}: ${summary.n_words.toLocaleString("en")} words in ${summary.n_sentences.toLocaleString("en")} sentences${unmatched}. `,
        exported,
      ),
      element("table", {}, element("tbody", {}, ...figures)),
      element("h3", {}, "Labels that are confused"),
      confused.length
        ? element(
            "table",
            {},
            element("thead", {}, element("tr", {}, ...heads)),
            element("tbody", {}, ...confused),
          )
        : element("p", {}, "None."),
      element(
        "h3",
        {},
        sentences.length === 1 ? "1 sentence differs" : `${sentences.length} sentences differ`,
      ),
      element("ul", { class: "wb-hits" }, ...hits),
    );
  }

  /** @param {{sentence: number, words: number[]}} one */
  function hit({ sentence, words }) {
    const button = element(
      "button",
      { type: "button" },
      element("span", { class: "wb-row-number" }, String(sentence + 1)),
      element("bdi", {}, textOfRow(rows()[sentence])),
      element("small", {}, words.length === 1 ? "1 word" : `${words.length} words`),
    );
    button.addEventListener("click", () => {
      dialog.close();
      turn.checked = true;
      onTurn(true);
      onOpen(sentence, words);
    });
    return element("li", {}, button);
  }

  return { open };
}

/** @param {string} key @param {number} value */
function figure(key, value) {
  if (key.startsWith("kappa")) return value.toFixed(3);
  return `${value.toFixed(1)}%`;
}
