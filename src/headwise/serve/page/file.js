/**
 * A file that the reader opens or drops: text in UTF-8, read in the browser.
 */

import { RequestError } from "./api.js";

const MOST_BYTES = 4_000_000;

/**
 * Read a file as text.
 *
 * @param {File} file
 * @returns {Promise<string>}
 */
export async function readText(file) {
  if (file.size > MOST_BYTES) {
    const hint = "On the command line, headwise parse reads files of any size.";
    throw new RequestError(`${file.name} is larger than 4 MB.`, hint);
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    if (!text.includes("\0")) return text;
  } catch {
    // Told below, as for a file with zero bytes.
  }
  const hint = "Choose a text or a CoNLL-U file, and save it as UTF-8 first if need be.";
  throw new RequestError(`${file.name} is not a text in UTF-8.`, hint);
}

/**
 * Let files be dropped on an element.
 *
 * @param {HTMLElement} target
 * @param {(file: File) => void} onFile
 */
export function acceptFiles(target, onFile) {
  target.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    target.classList.add("dropping");
  });
  target.addEventListener("dragleave", () => target.classList.remove("dropping"));
  target.addEventListener("drop", (event) => {
    target.classList.remove("dropping");
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    onFile(file);
  });
}
