/**
 * Search the document: words by form, lemma, tag, label or head. A hit opens its sentence and marks
 * its words.
 */

import { element } from "../dom.js";
import { textOfRow } from "./blocks.js";
import { Refused, Unreachable, ask } from "./server.js";

const WAIT = 200;
const MOST = 200;

/**
 * @param {HTMLDialogElement} dialog
 * @param {{rows: () => import("./blocks.js").Row[], onOpen: (at: number, words: number[]) => void}} context
 */
export function searchDialog(dialog, { rows, onOpen }) {
  const input = element("input", {
    type: "text",
    id: "search-query",
    "aria-describedby": "search-help",
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
  });
  const help = element(
    "p",
    { id: "search-help", class: "facts" },
    "A form or lemma, or form: lemma: upos: xpos: deprel: feats: with * for any letters; head. for the head, as in ",
    element("code", {}, "deprel:nsubj head.lemma:be"),
    ".",
  );
  const count = element("p", { class: "facts", role: "status" });
  const list = element("ul", { class: "wb-hits" });
  const close = element(
    "button",
    { type: "button", class: "quiet wb-close", "aria-label": "Close" },
    "✕",
  );
  dialog.append(
    element("header", {}, element("h2", { id: "search-title" }, "Search"), close),
    element("label", { for: "search-query", class: "hidden" }, "What to search for"),
    input,
    help,
    count,
    list,
  );
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let request = 0;

  async function search() {
    const mine = ++request;
    const query = input.value.trim();
    if (!query) return show([], "");
    try {
      const { hits, more } = await ask(`search?q=${encodeURIComponent(query)}&limit=${MOST}`);
      if (mine !== request) return;
      const words = hits.reduce(
        (/** @type {number} */ sum, /** @type {any} */ hit) => sum + hit.words.length,
        0,
      );
      const said = more
        ? `the first ${hits.length} sentences`
        : `${hits.length === 1 ? "1 sentence" : `${hits.length} sentences`}`;
      show(
        hits,
        hits.length ? `${words === 1 ? "1 word" : `${words} words`} in ${said}` : "Nothing found.",
      );
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
      if (mine === request)
        show([], [error.message, error instanceof Refused ? error.hint : ""].join(" "));
    }
  }

  /** @param {{sentence: number, words: number[]}[]} hits @param {string} message */
  function show(hits, message) {
    count.textContent = message;
    const made = hits.map(({ sentence, words }) => {
      const button = element(
        "button",
        { type: "button" },
        element("span", { class: "wb-row-number" }, String(sentence + 1)),
        element("bdi", {}, textOfRow(rows()[sentence])),
      );
      button.addEventListener("click", () => {
        dialog.close();
        onOpen(sentence, words);
      });
      return element("li", {}, button);
    });
    list.replaceChildren(...made);
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, WAIT);
  });
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const buttons = [...list.querySelectorAll("button")];
    if (event.key === "Enter" && event.target === input) {
      clearTimeout(timer);
      search().then(() => list.querySelector("button")?.focus());
    } else if (step) {
      const now = buttons.findIndex((one) => one === document.activeElement);
      const next = now + step;
      (next < 0 ? input : buttons[Math.min(next, buttons.length - 1)])?.focus();
    } else return;
    event.preventDefault();
  });
  close.addEventListener("click", () => dialog.close());

  return {
    open() {
      dialog.showModal();
      input.focus();
      input.select();
    },
  };
}
