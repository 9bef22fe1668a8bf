/**
 * One sentence on the page: its text, a view of its tree, and the distribution of a chosen word.
 */

import { conlluView } from "./conllu.js";
import { distributionInWords, distributionPanel } from "./distribution.js";
import { counted, element } from "./dom.js";
import { matrixView } from "./matrix.js";
import { interactive } from "./picture.js";
import { changedWords, repairView } from "./repair.js";
import { pngFile, save, svgFile } from "./save.js";
import { isUncertain, readSentence } from "./tree.js";
import { wordsView } from "./words.js";

/** @typedef {import("./tree.js").Sentence} Sentence */
/** @typedef {"tree" | "matrix" | "words" | "conllu"} View */

/**
 * @typedef {object} Context what a sentence needs from the page
 * @property {(message: string) => void} speak
 * @property {(error: unknown) => void} showError
 * @property {(number: number, position: number | null) => void} onChoice
 * @property {(number: number) => Promise<string>} conlluOf
 * @property {boolean} isOnly whether the text has no other sentence
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
 * @param {import("./tree.js").Answer} answer
 * @param {number} number
 * @param {View} first
 * @param {Context} context
 * @returns {Card}
 */
export function sentenceCard(answer, number, first, context) {
  const sentence = readSentence(answer);
  const body = element("div", { class: "body" });
  const panel = element("div", {});
  /** @type {import("./picture.js").Interactive | null} */
  let tree = null;

  /** @param {number | null} position */
  function onChoice(position) {
    tree?.show(position);
    panel.replaceChildren(
      ...(position === null ? [] : [distributionPanel(sentence, position, close)]),
    );
    if (position !== null) context.speak(distributionInWords(sentence, position));
    context.onChoice(number, position);
  }

  function close() {
    onChoice(null);
    tree?.refocus();
  }

  /** @param {View} view */
  function show(view) {
    panel.replaceChildren();
    tree = null;
    if (view === "matrix") body.replaceChildren(matrixView(sentence));
    else if (view === "words") body.replaceChildren(wordsView(sentence));
    else if (view === "conllu")
      body.replaceChildren(conlluView(context.conlluOf(number), context.showError));
    else if (!sentence.picture) {
      const note =
        "Trees are left out at the end of long texts. Parse a part of the text to see them.";
      body.replaceChildren(element("p", { class: "note" }, note), wordsView(sentence));
    } else {
      const name = `Sentence ${number}: tree`;
      tree = interactive(sentence, sentence.picture, changedWords(sentence), name, onChoice);
      body.replaceChildren(treeView(sentence, tree.root));
    }
  }

  show(first);
  const line = element("div", {}, facts(sentence, context.isOnly), downloads(sentence, number, context));
  const header = element("header", {}, title(sentence, number), line);
  const names = { class: "sentence", "aria-label": `Sentence ${number}` };
  return {
    root: element("article", names, header, body, panel),
    show,
    choose: (position) => tree?.focus(Math.min(position, sentence.words.length)),
  };
}

/**
 * Put a picture into a box that scrolls from where the sentence starts.
 *
 * @param {Sentence} sentence
 * @param {SVGSVGElement} svg
 */
function treeView(sentence, svg) {
  const dir = sentence.isRightToLeft ? "rtl" : null;
  const box = element("div", { class: "scroll", tabindex: -1, dir }, svg);
  return sentence.greedy_picture ? repairView(sentence, sentence.greedy_picture, box) : box;
}

/**
 * @param {Sentence} sentence
 * @param {number} number
 */
function title(sentence, number) {
  return element(
    "h3",
    { dir: "auto" },
    // With a direction of its own, it does not count for that of the heading.
    element("span", { class: "hidden", dir: "ltr" }, `Sentence ${number}: `),
    element("span", {}, sentence.title),
  );
}

/**
 * Sum a sentence up; the words of an only one are counted above it.
 *
 * @param {Sentence} sentence
 * @param {boolean} isOnly
 */
function facts(sentence, isOnly) {
  const nUncertain = sentence.percents.filter(isUncertain).length;
  const parts = isOnly ? [] : [counted(sentence.words.length, "word")];
  if (nUncertain) parts.push(counted(nUncertain, "uncertain arc"));
  if (changedWords(sentence).length) parts.push("repaired");
  return element("p", { class: "facts" }, parts.join(" · "));
}

/**
 * @param {Sentence} sentence
 * @param {number} number
 * @param {Context} context
 */
function downloads({ picture }, number, context) {
  const buttons = element("div", { class: "downloads" });
  if (!picture) return buttons;
  /** @type {(format: string, makeFile: (svg: string) => Blob | Promise<Blob>) => void} */
  const add = (format, makeFile) => {
    const button = element(
      "button",
      { type: "button", class: "quiet", "aria-label": `Save sentence ${number} as ${format}` },
      format,
    );
    button.addEventListener("click", async () => {
      try {
        save(await makeFile(picture.svg), `sentence-${number}.${format.toLowerCase()}`);
      } catch (error) {
        context.showError(error);
      }
    });
    buttons.append(button);
  };
  add("SVG", svgFile);
  add("PNG", pngFile);
  return buttons;
}
