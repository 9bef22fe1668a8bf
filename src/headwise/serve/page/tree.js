/**
 * A sentence as the server answers it. Its pictures are drawn by `headwise.render` on the server;
 * here they become elements, and all other views take words and percentages from them.
 */

/**
 * @typedef {object} Word
 * @property {number} id
 * @property {string} form
 * @property {string} [lemma]
 * @property {string} [upos]
 * @property {string} [xpos]
 * @property {string} [feats]
 * @property {number} [head]
 * @property {string} [deprel]
 * @property {number} [probability]
 */

/**
 * @typedef {object} Picture an SVG, and where its parts are in pixels
 * @property {string} svg
 * @property {number} floor the height at which arcs end
 * @property {{dependent: number, percent: string | null}[]} arcs as ordered in the SVG
 * @property {{x: number, width: number}[]} words
 */

/**
 * @typedef {object} Answer a sentence in the answer of the server
 * @property {string} text
 * @property {Word[]} words
 * @property {string} [how]
 * @property {number[]} [greedy]
 * @property {number[][]} [distribution]
 * @property {Picture} [picture]
 * @property {Picture} [greedy_picture]
 */

/**
 * @typedef {object} Shown what the views add: texts as the picture shows them, and its direction
 * @property {string} title
 * @property {string[]} forms
 * @property {(string | null)[]} percents
 * @property {boolean} isRightToLeft
 */

/** @typedef {Answer & Shown} Sentence */

const UNCERTAIN = 50;

/** The style of a picture; texts are escaped, so the first one is it. */
export const STYLE = /<style>(.*?)<\/style>/s;

/** @type {CSSStyleSheet | null} */
let style = null;

/** @param {string} svg */
function parseSvg(svg) {
  // Even in a document of its own, a style element breaks the page's policy.
  return new DOMParser().parseFromString(svg.replace(STYLE, ""), "image/svg+xml");
}

/**
 * Turn an SVG from the server into elements, without background and tooltip.
 *
 * Its style rules become a style sheet of the page, in a layer, so that the page's own rules win.
 *
 * @param {string} svg
 * @returns {SVGSVGElement}
 */
export function readSvg(svg) {
  const root = parseSvg(svg).documentElement;
  if (!(root instanceof SVGSVGElement)) throw new Error("The server sent a damaged picture.");
  if (!style) {
    style = new CSSStyleSheet();
    style.replaceSync(`@layer picture { ${STYLE.exec(svg)?.[1]} }`);
    document.adoptedStyleSheets.push(style);
  }
  for (const part of root.querySelectorAll(":scope > :is(title, .ground)")) part.remove();
  root.style.setProperty("--width", `${root.getAttribute("width")}px`);
  return document.adoptNode(root);
}

/**
 * @param {Answer} answer
 * @returns {Sentence}
 */
export function readSentence(answer) {
  const { picture, words } = answer;
  const percents = words.map(({ probability }) =>
    probability === undefined ? null : percent(probability),
  );
  if (!picture) {
    const forms = words.map((word) => word.form);
    return { ...answer, title: answer.text, forms, percents, isRightToLeft: false };
  }
  // Not from the probability of the word, which is rounded.
  for (const arc of picture.arcs) percents[arc.dependent - 1] = arc.percent;
  const svg = parseSvg(picture.svg);
  return {
    ...answer,
    title: svg.querySelector("title")?.textContent ?? "",
    forms: Array.from(svg.querySelectorAll(".word"), (word) => word.textContent ?? ""),
    percents,
    isRightToLeft: picture.words[0].x > (picture.words.at(-1)?.x ?? 0),
  };
}

/**
 * Write a probability like `headwise.render`: rounded down, and never as certain.
 *
 * @param {number} probability
 */
export function percent(probability) {
  return `${Math.min(99, Math.floor(probability * 100 + 1e-9))}%`;
}

/** @param {string | null} shown a percentage */
export function isUncertain(shown) {
  return shown !== null && parseInt(shown) < UNCERTAIN;
}
