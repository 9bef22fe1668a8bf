/**
 * What each key does, in one table: the page follows it, and the help shows it.
 */

import { element } from "../dom.js";

/** @type {[string, [string, string, string][]][]} group: key, action, what it does */
export const KEYS = [
  [
    "Words",
    [
      ["ArrowRight", "right", "next word in reading direction"],
      ["ArrowLeft", "left", "word before"],
      ["ArrowDown", "next-word", "next word"],
      ["ArrowUp", "previous-word", "word before"],
      ["Home", "first-word", "first word"],
      ["End", "last-word", "last word"],
      [
        "n",
        "unsure",
        "go to the least certain word that is not fixed; when comparing: to the next difference",
      ],
    ],
  ],
  [
    "Tree",
    [
      ["1 … 9", "take", "take the n-th most probable head"],
      ["h", "head", "set the head: type its number or the beginning of the word"],
      ["l", "label", "set the label"],
      [" ", "accept", "accept the arc as it is; again: release it"],
      ["x", "forbid", "not this one: the next best head appears"],
      ["r", "root", "make the word the root"],
      ["o", "readings", "choose among the best readings of the sentence"],
    ],
  ],
  [
    "Word",
    [
      ["p", "upos", "set UPOS"],
      ["Shift+P", "xpos", "set XPOS"],
      ["m", "lemma", "set the lemma"],
      ["f", "feats", "set features"],
      ["s", "split", "split the word"],
      ["j", "join", "join it with the next word"],
    ],
  ],
  [
    "Sentence",
    [
      ["Enter", "done", "sentence done, go to the next one"],
      ["u", "reopen", "sentence not done after all"],
      ["PageDown", "next-sentence", "next sentence"],
      ["PageUp", "previous-sentence", "sentence before"],
      ["Shift+S", "split-sentence", "split the sentence before this word"],
      ["Shift+J", "join-sentence", "join it with the next sentence"],
      ["c", "note", "write a note"],
      ["e", "pane", "show or hide CoNLL-U"],
      ["v", "turn", "words in lines or below each other"],
    ],
  ],
  [
    "Document",
    [
      ["Ctrl+Z", "undo", "undo, also after a reload"],
      ["Ctrl+Shift+Z", "redo", "redo"],
      ["/", "search", "search"],
      ["d", "compare", "compare with another file"],
      ["t", "theirs", "when comparing: take the other arc"],
      ["k", "mine", "when comparing: keep this arc"],
      ["?", "help", "show all keys"],
    ],
  ],
];

const ACTIONS = new Map(KEYS.flatMap(([, keys]) => keys.map(([key, action]) => [key, action])));
const LEFT_TO_CONTROLS = new Set([
  "Enter",
  " ",
  "ArrowUp",
  "ArrowDown",
  "ArrowLeft",
  "ArrowRight",
  "Home",
  "End",
]);

/**
 * Find the action of a key, or null; keys in fields and dialogs are theirs.
 *
 * @param {KeyboardEvent} event
 * @returns {{action: string, digit: number} | null}
 */
export function actionOf(event) {
  const target = event.target instanceof Element ? event.target : document.body;
  if (target.closest("dialog[open], input:not([type=radio], [type=checkbox]), textarea"))
    return null;
  const isControl = target.closest("button, select, summary, a, input, .wb-rows, [role=region]");
  if (event.altKey || event.isComposing) return null;
  const withControl = event.ctrlKey || event.metaKey;
  if (withControl) {
    if (event.key.toLowerCase() === "y") return { action: "redo", digit: 0 };
    if (event.key.toLowerCase() !== "z") return null;
    return { action: event.shiftKey ? "redo" : "undo", digit: 0 };
  }
  if (isControl && (LEFT_TO_CONTROLS.has(event.key) || target.closest("select"))) return null;
  if (/^[1-9]$/.test(event.key)) return { action: "take", digit: Number(event.key) };
  const isLetter = /^[a-z]$/i.test(event.key);
  const name =
    isLetter && event.shiftKey
      ? `Shift+${event.key.toUpperCase()}`
      : isLetter
        ? event.key.toLowerCase()
        : event.key;
  const action = ACTIONS.get(name);
  return action ? { action, digit: 0 } : null;
}

/** @param {string} key */
function shown(key) {
  const names = /** @type {Record<string, string>} */ ({
    ArrowRight: "→",
    ArrowLeft: "←",
    ArrowDown: "↓",
    ArrowUp: "↑",
    " ": "Space",
    PageDown: "Page ↓",
    PageUp: "Page ↑",
  });
  return names[key] ?? key;
}

/** Fill the overlay with all keys. @param {HTMLElement} root */
export function fillHelp(root) {
  const groups = KEYS.map(([name, keys]) =>
    element(
      "section",
      {},
      element("h3", {}, name),
      element(
        "dl",
        {},
        ...keys.flatMap(([key, , what]) => [
          element("dt", {}, element("kbd", {}, shown(key))),
          element("dd", {}, what),
        ]),
      ),
    ),
  );
  root.replaceChildren(...groups);
}
