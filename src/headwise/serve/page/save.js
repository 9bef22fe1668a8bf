/**
 * Downloads: a picture as SVG or PNG, and CoNLL-U as the server wrote it.
 */

import { element } from "./dom.js";
import { STYLE } from "./tree.js";

const SCALE = 2;
const LONGEST_SIDE = 16000;
const SVG_TYPE = "image/svg+xml";

/**
 * Download a file.
 *
 * @param {Blob} content
 * @param {string} name
 */
export function save(content, name) {
  const address = URL.createObjectURL(content);
  const link = element("a", { href: address, download: name });
  link.click();
  // The browser reads the address after this function returns.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/**
 * Make the file that `headwise parse --format svg` writes.
 *
 * @param {string} svg
 */
export function svgFile(svg) {
  return new Blob([svg, "\n"], { type: SVG_TYPE });
}

/**
 * Paint a picture, always light, at twice its size.
 *
 * @param {string} svg
 * @returns {Promise<Blob>}
 */
export async function pngFile(svg) {
  const image = new Image();
  const address = URL.createObjectURL(svgFile(withoutDarkScheme(svg)));
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

/** @param {string} svg */
function withoutDarkScheme(svg) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE.exec(svg)?.[1] ?? "");
  const light = [...sheet.cssRules].filter((rule) => !(rule instanceof CSSMediaRule));
  return svg.replace(STYLE, `<style>${light.map((rule) => rule.cssText).join("")}</style>`);
}
