/**
 * Downloads: a picture as SVG or PNG, and whatever the server wrote.
 */

import { drawArcs, drawWord, inWords, layOut } from "./arcs.js";
import { element, shape } from "./dom.js";

/** @typedef {import("./arcs.js").Sentence} Sentence */

const SCALE = 2;
const LONGEST_SIDE = 16000;

/**
 * Hand a file to the reader.
 *
 * @param {Blob} content
 * @param {string} name
 */
export function save(content, name) {
  const address = URL.createObjectURL(content);
  const link = element("a", { href: address, download: name });
  link.click();
  // The browser reads the address after this turn.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/**
 * Make the picture that `headwise parse --format svg` makes.
 *
 * @param {Sentence} sentence
 * @param {{isLight?: boolean}} [options] light whatever the reader's scheme
 * @returns {Blob}
 */
export function svgOf(sentence, { isLight = false } = {}) {
  const scene = layOut(sentence);
  const [width, height] = [scene.places.width.toFixed(0), scene.height.toFixed(0)];
  const root = shape(
    "svg",
    { class: "headwise", role: "img", viewBox: `0 0 ${width} ${height}`, width, height },
    shape("title", {}, scene.text),
    shape("desc", {}, inWords(sentence)),
  );
  const ground = shape("rect", { class: "ground", width: "100%", height: "100%" });
  const words = scene.forms.flatMap((_, index) => drawWord(scene, index));
  root.append(ground, ...drawArcs(scene), ...words);
  // As text, since the policy of this page allows no style elements. The rules are our own, and
  // whatever the sentence says is escaped, so the first end of a description is the real one.
  const [before, ...after] = new XMLSerializer().serializeToString(root).split("</desc>");
  const file = `${before}</desc><style>${rules(isLight)}</style>${after.join("</desc>")}`;
  return new Blob([file], { type: "image/svg+xml" });
}

/**
 * Read the rules of `picture.css` back from the page.
 *
 * @param {boolean} isLight
 */
function rules(isLight) {
  const sheet = [...document.styleSheets].find(({ href }) => href?.includes("picture.css"));
  return [...(sheet?.cssRules ?? [])]
    .filter((rule) => !(isLight && rule instanceof CSSMediaRule))
    .map((rule) => rule.cssText)
    .join("");
}

/**
 * Paint the picture, light, at twice its size.
 *
 * @param {Sentence} sentence
 * @returns {Promise<Blob>}
 */
export async function pngOf(sentence) {
  const image = new Image();
  const address = URL.createObjectURL(svgOf(sentence, { isLight: true }));
  try {
    image.src = address;
    await image.decode();
    const scale = Math.min(SCALE, LONGEST_SIDE / Math.max(image.width, image.height));
    const canvas = element("canvas", {
      width: Math.round(image.width * scale),
      height: Math.round(image.height * scale),
    });
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) =>
        blob ? resolve(blob) : reject(new Error("The browser could not paint this picture.")),
      );
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}
