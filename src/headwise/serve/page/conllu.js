/**
 * A sentence as CoNLL-U, as the server writes it.
 */

import { element } from "./dom.js";

/**
 * Split CoNLL-U into its sentences; a block without words is none.
 *
 * @param {string} written
 * @returns {string[]}
 */
export function splitConllu(written) {
  return written
    .split(/\r?\n(?:[ \t]*\r?\n)+/)
    .filter((block) => /^[0-9]+\t/m.test(block))
    .map((block) => `${block}\n`);
}

/**
 * Show a block as soon as it is there.
 *
 * @param {Promise<string>} block
 * @param {(error: unknown) => void} showError
 * @returns {HTMLElement}
 */
export function conlluView(block, showError) {
  const names = { class: "scroll conllu", tabindex: 0, role: "group", "aria-label": "CoNLL-U" };
  const pane = element("pre", names, "…");
  block.then((lines) => (pane.textContent = lines), showError);
  return pane;
}
