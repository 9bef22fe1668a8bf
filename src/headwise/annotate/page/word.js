/**
 * The panel of the selected word: its heads and labels by probability, its other columns, and the
 * note of the sentence.
 */

import { element } from "../dom.js";
import { arcInWords, chance } from "./tree.js";

/** @typedef {import("./conllu.js").Sentence} Sentence */
/** @typedef {import("./conllu.js").Word} Word */

/**
 * @typedef {object} Guess what the parser says about a word
 * @property {[number, number][]} heads
 * @property {[string, number][]} labels
 * @property {number} probability
 * @property {[string, number][]} [upos]
 * @property {[string, number][]} [xpos]
 * @property {[string, number][]} [lemma]
 * @property {[string, number][]} [feats]
 */

/** @typedef {(action: string, value?: string | number) => void} Act */

/**
 * @param {HTMLElement} root
 * @param {Act} act
 */
export function wordPanel(root, act) {
  root.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("button[data-act]");
    if (button instanceof HTMLElement) act(button.dataset.act ?? "", button.dataset.value);
  });

  /**
   * @param {Sentence} sentence
   * @param {Word | undefined} word
   * @param {Guess | undefined} guess
   * @param {{head: number, deprel: string} | undefined} other the arc of someone else
   * @param {string} otherName
   */
  return function show(sentence, word, guess, other, otherName) {
    if (!word) {
      root.replaceChildren(
        element("p", { class: "facts" }, "Choose a word to see its heads and labels."),
      );
      return;
    }
    const { words } = sentence;
    /** @type {HTMLElement[]} */
    const parts = [title(word, words)];
    if (other) parts.push(otherArc(other, words, otherName));
    parts.push(section("Heads", "h", headList(word, words, guess)));
    parts.push(section("Labels", "l", labelList(word, guess)));
    parts.push(columns(word));
    root.replaceChildren(...parts);
  };
}

/** @param {Word} word @param {Word[]} words */
function title(word, words) {
  const isFixed = word.fixed.has("head");
  const state = isFixed ? "🔒 fixed" : "predicted";
  return element(
    "div",
    { class: "wb-word-top" },
    element("h2", {}, element("bdi", {}, word.form), element("small", {}, ` ${word.id}`)),
    element("p", { class: "facts" }, `${arcInWords(word, words)} · ${state}`),
    element(
      "div",
      { class: "wb-actions" },
      button("accept", isFixed ? "Release" : "Accept", "Space"),
      button("forbid", "Not this one", "x"),
      button("root", "Root", "r"),
    ),
  );
}

/**
 * @param {string} action
 * @param {string} text
 * @param {string} key
 * @param {string | number} [value]
 */
function button(action, text, key, value) {
  return element(
    "button",
    { type: "button", "data-act": action, "data-value": value },
    text,
    ...(key ? [" ", element("kbd", { "aria-hidden": "true" }, key)] : []),
  );
}

/** @param {string} name @param {string} key @param {HTMLElement} content */
function section(name, key, content) {
  const act = { h: "head", l: "label" }[key] ?? "";
  const more = button(act, "Other", key);
  more.classList.add("quiet");
  more.setAttribute("aria-label", `Other ${name.toLowerCase()}`);
  return element("section", {}, element("header", {}, element("h3", {}, name), more), content);
}

/** @param {Word} word @param {Word[]} words @param {Guess | undefined} guess */
function headList(word, words, guess) {
  const items = (guess?.heads ?? []).slice(0, 9).map(([head, p], index) => {
    const name = head ? (words[head - 1]?.form ?? "") : "ROOT";
    const isChosen = head === word.head;
    const isForbidden = word.notHeads.includes(head);
    return choice(
      "take-head",
      String(head),
      name,
      head ? String(head) : "",
      p,
      isChosen,
      isForbidden,
      index + 1,
    );
  });
  return element("ul", { class: "wb-choices" }, ...items);
}

/** @param {Word} word @param {Guess | undefined} guess */
function labelList(word, guess) {
  const labels = (guess?.labels ?? []).filter(([, p]) => p >= 0.005).slice(0, 5);
  const items = labels.map(([label, p]) =>
    choice("take-label", label, label, "", p, label === word.deprel, false, 0),
  );
  return element("ul", { class: "wb-choices" }, ...items);
}

/**
 * @param {string} action
 * @param {string} value
 * @param {string} name
 * @param {string} detail
 * @param {number} p
 * @param {boolean} isChosen
 * @param {boolean} isForbidden
 * @param {number} digit
 */
function choice(action, value, name, detail, p, isChosen, isForbidden, digit) {
  const bar = element("span", { class: "wb-bar", "aria-hidden": "true" });
  bar.style.setProperty("--p", String(p));
  return element(
    "li",
    {},
    element(
      "button",
      {
        type: "button",
        "data-act": action,
        "data-value": value,
        "aria-pressed": String(isChosen),
        class: isForbidden ? "forbidden" : "",
      },
      element("kbd", { "aria-hidden": "true" }, digit ? String(digit) : ""),
      element(
        "span",
        { class: "wb-choice-name" },
        element("bdi", {}, name),
        detail ? element("small", {}, ` ${detail}`) : "",
        isForbidden ? element("small", {}, " (not this one)") : "",
      ),
      element("span", { class: "number" }, chance(p)),
      bar,
    ),
  );
}

/** @param {Word} word */
function columns(word) {
  const rows = /** @type {const} */ ([
    ["upos", "UPOS", "p"],
    ["xpos", "XPOS", "P"],
    ["lemma", "Lemma", "m"],
    ["feats", "Features", "f"],
  ]);
  const made = rows.map(([column, name, key]) => {
    const value = word[column] === "_" ? "–" : word[column];
    const edit = element(
      "button",
      {
        type: "button",
        class: "wb-value",
        "data-act": column,
        "aria-label": `${name}: ${value === "–" ? "none" : value}. Change`,
      },
      ...value.split("|").map((part) => element("bdi", {}, part)),
      word.fixed.has(column) ? element("span", { title: "fixed" }, " 🔒") : "",
    );
    return [
      element("dt", {}, name, " ", element("kbd", { "aria-hidden": "true" }, key)),
      element("dd", {}, edit),
    ];
  });
  return element("dl", { class: "wb-columns" }, ...made.flat());
}

/** @param {{head: number, deprel: string}} other @param {Word[]} words @param {string} name */
function otherArc({ head, deprel }, words, name) {
  const said = head ? `${deprel} of ${words[head - 1]?.form ?? head}` : deprel;
  return element(
    "section",
    { class: "wb-other" },
    element("h3", {}, name),
    element("p", {}, said),
    element(
      "div",
      { class: "wb-actions" },
      button("theirs", "Take it", "t"),
      button("mine", "Keep mine", "k"),
    ),
  );
}
