/**
 * One sentence on the page: its text, a view of its tree, and the distribution of a chosen word.
 */

import { isUnsure } from "./arcs.js";
import { isRightToLeft, visible } from "./cells.js";
import { distributionInWords, distributionPanel } from "./distribution.js";
import { element } from "./dom.js";
import { matrixView } from "./matrix.js";
import { interactive } from "./picture.js";
import { changedWords, repairView } from "./repair.js";
import { pngOf, save, svgOf } from "./save.js";
import { wordsView } from "./words.js";

/** @typedef {import("./arcs.js").Sentence} Sentence */
/** @typedef {"tree" | "matrix" | "words"} View */

/**
 * @typedef {object} Context what a sentence needs of the page
 * @property {(message: string) => void} speak
 * @property {(trouble: unknown) => void} complain
 * @property {(number: number, position: number | null) => void} onChoice
 */

/**
 * @typedef {object} Card
 * @property {HTMLElement} root
 * @property {(view: View) => void} show
 * @property {(position: number) => void} choose
 */

/**
 * Make the card of a sentence; `number` is its place in the text, from 1.
 *
 * @param {Sentence} sentence
 * @param {number} number
 * @param {View} first
 * @param {Context} context
 * @returns {Card}
 */
export function sentenceCard(sentence, number, first, context) {
  const body = element("div", { class: "body" });
  const panel = element("div", {});
  /** @type {import("./picture.js").Picture | null} */
  let picture = null;

  /** @param {number | null} position */
  function onChoice(position) {
    picture?.show(position);
    panel.replaceChildren(
      ...(position === null ? [] : [distributionPanel(sentence, position, close)]),
    );
    if (position !== null) context.speak(distributionInWords(sentence, position));
    context.onChoice(number, position);
  }

  function close() {
    onChoice(null);
    picture?.rest();
  }

  /** @param {View} view */
  function show(view) {
    panel.replaceChildren();
    picture = view === "tree" ? pictureOf(sentence, number, onChoice) : null;
    if (picture) body.replaceChildren(treeView(sentence, picture));
    else body.replaceChildren(view === "matrix" ? matrixView(sentence) : wordsView(sentence));
  }

  show(first);
  const line = element("div", {}, facts(sentence), downloads(sentence, number, context));
  const header = element("header", {}, title(sentence, number), line);
  const names = { class: "sentence", "aria-label": `Sentence ${number}` };
  return {
    root: element("article", names, header, body, panel),
    show,
    choose: (position) => picture?.focus(Math.min(position, sentence.words.length)),
  };
}

/**
 * @param {Sentence} sentence
 * @param {number} number
 * @param {(position: number | null) => void} onChoice
 */
function pictureOf(sentence, number, onChoice) {
  const marks = new Map(changedWords(sentence).map((position) => [position, "new"]));
  return interactive(sentence, marks, `Sentence ${number}: tree`, onChoice);
}

/**
 * Put a picture into a box that scrolls from where the sentence starts.
 *
 * @param {Sentence} sentence
 * @param {import("./picture.js").Picture} picture
 */
function treeView(sentence, picture) {
  const dir = isRightToLeft(sentence.text) ? "rtl" : null;
  const box = element("div", { class: "scroll", tabindex: -1, dir }, picture.root);
  return changedWords(sentence).length ? repairView(sentence, box) : box;
}

/**
 * @param {Sentence} sentence
 * @param {number} number
 */
function title(sentence, number) {
  return element(
    "h3",
    { dir: isRightToLeft(sentence.text) ? "rtl" : null },
    element("span", { class: "hidden" }, `Sentence ${number}: `),
    element("bdi", {}, visible(sentence.text)),
  );
}

/** @param {Sentence} sentence */
function facts(sentence) {
  const doubtful = sentence.words.filter((word) => isUnsure(word.probability)).length;
  const told = [sentence.words.length === 1 ? "1 word" : `${sentence.words.length} words`];
  if (doubtful) told.push(doubtful === 1 ? "1 uncertain arc" : `${doubtful} uncertain arcs`);
  if (changedWords(sentence).length) told.push("repaired");
  return element("p", { class: "facts" }, told.join(" · "));
}

/**
 * @param {Sentence} sentence
 * @param {number} number
 * @param {Context} context
 */
function downloads(sentence, number, context) {
  /** @type {(form: string, make: () => Promise<Blob>) => HTMLElement} */
  const button = (form, make) => {
    const made = element(
      "button",
      { type: "button", class: "quiet", "aria-label": `Save sentence ${number} as ${form}` },
      form,
    );
    made.addEventListener("click", () => {
      make().then(
        (blob) => save(blob, `sentence-${number}.${form.toLowerCase()}`),
        context.complain,
      );
    });
    return made;
  };
  return element(
    "div",
    { class: "downloads" },
    button("SVG", async () => svgOf(sentence)),
    button("PNG", () => pngOf(sentence)),
  );
}
