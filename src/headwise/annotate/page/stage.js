/**
 * The sentence on the page: its tree, the panel of the selected word, CoNLL-U, the best readings,
 * and the arcs of another file.
 */

import { element, getElement, setText } from "../dom.js";
import { otherArcs } from "./compare.js";
import { comment } from "./conllu.js";
import { whenPainted } from "./idle.js";
import { conlluPane, isFault } from "./pane.js";
import { ask } from "./server.js";
import { textOf } from "./tokens.js";
import { chance, treeView } from "./tree.js";
import { wordPanel } from "./word.js";

/** @typedef {import("./session.js").Shown} Shown */
/** @typedef {import("./compare.js").Arcs} Arcs */

const GLOW = 2_500;

const byId = (/** @type {string} */ id) => getElement(id, HTMLElement);

/**
 * @param {{run: (action: string, value?: string) => void, shown: () => Shown,
 *          onChoice: (id: number) => void, onText: (block: string) => void,
 *          onCell: (id: number, column: string, value: string) => void}} events
 */
export function makeStage(events) {
  let selected = 1;
  /** @type {Set<number>} words that a search found */
  let found = new Set();
  /** @type {{at: number, block: string | null} | null} the sentence of the other file */
  let other = null;
  /** @type {string | null} the name of the other file, while it is compared */
  let otherName = null;
  /** @type {Arcs | null} a reading that is looked at */
  let preview = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let glow;
  /** @type {Shown | null} */
  let latest = null;

  const tree = treeView(byId("tree"), {
    onChoice(id) {
      selected = id;
      tree.mark(id);
      showWord();
      events.onChoice(id);
    },
    onLabel(id) {
      tree.focus(id);
      events.run("label");
    },
    onTurn(direction) {
      setText(byId("turn"), direction === "vertical" ? "Lines" : "Vertical");
    },
  });
  const panel = wordPanel(byId("word"), (action, value) => {
    events.run(action, value === undefined ? undefined : String(value));
    if (!document.querySelector("dialog[open]")) tree.focus(selected);
  });
  const pane = conlluPane(byId("conllu"), events);

  function showWord() {
    const { sentence, decoded } = events.shown();
    const arc = differing().get(selected);
    const word = sentence.words[selected - 1];
    panel(sentence, word, decoded?.words[selected - 1], arc, otherName ?? "");
  }

  /** @returns {Arcs} of the other file */
  function differing() {
    const { at, sentence } = events.shown();
    const isThis = otherName !== null && other?.at === at;
    return isThis && other?.block ? otherArcs(sentence, other.block) : new Map();
  }

  /** @param {Shown} shown */
  function show(shown) {
    const { at, sentence, decoded, changed } = shown;
    selected = Math.min(Math.max(selected, 1), Math.max(sentence.words.length, 1));
    const checks = decoded?.checks ?? [];
    tree.show(sentence, {
      probabilities: sentence.words.map((word, index) => probability(word, decoded?.words[index])),
      changed,
      found,
      others: preview ?? differing(),
      faults: new Map(
        checks.filter((one) => one.word && isFault(one)).map((one) => [one.word ?? 0, one.message]),
      ),
    });
    tree.mark(selected);
    // The tree comes first; while it is being found, the rest waits for it.
    latest = shown;
    if (!shown.isDraft) whenPainted(() => latest === shown && showRest(shown));
  }

  /** Show what stands around the tree. @param {Shown} shown */
  function showRest(shown) {
    const { at, sentence, decoded, changed } = shown;
    const checks = decoded?.checks ?? [];
    showWord();
    pane.show(sentence.block, checks);
    if (!preview) showReadings(shown);
    byId("sentence-name").textContent = `Sentence ${(at + 1).toLocaleString("en")}`;
    byId("sentence-id").textContent = comment(sentence.block, "sent_id") ?? "";
    byId("sentence-text").textContent = comment(sentence.block, "text") ?? textOf(sentence.block);
    byId("note").hidden = sentence.note === "";
    byId("note").textContent = sentence.note;
    byId("done").classList.toggle("is-done", sentence.isDone);
    const n = checks.filter(isFault).length;
    byId("checks").textContent = n === 0 ? "" : n === 1 ? "1 check" : `${n} checks`;
    clearTimeout(glow);
    if (changed.size) glow = setTimeout(() => events.shown() === shown && tree.calm(), GLOW);
  }

  /** @param {Shown} shown */
  function showReadings({ sentence, decoded }) {
    const made = (decoded?.trees ?? []).map((reading, index) => {
      /** @type {Arcs} */
      const arcs = new Map();
      for (const [place, { id, head, deprel }] of sentence.words.entries()) {
        const arc = { head: reading.heads[place], deprel: reading.labels[place] };
        if (arc.head !== head || arc.deprel !== deprel) arcs.set(id, arc);
      }
      return readingButton(index, reading.probability, arcs);
    });
    const name = made.length ? [element("span", { class: "facts" }, "Readings")] : [];
    byId("readings").replaceChildren(...name, ...made);
  }

  /** @param {number} index @param {number} probability @param {Arcs} arcs that differ */
  function readingButton(index, probability, arcs) {
    const n = arcs.size;
    const detail = n === 0 ? "as shown" : n === 1 ? "1 arc differs" : `${n} arcs differ`;
    const button = element(
      "button",
      { type: "button", "aria-pressed": String(n === 0) },
      `${index + 1}`,
      element("b", {}, chance(probability)),
      element("small", {}, detail),
    );
    button.addEventListener("click", () => {
      preview = null;
      events.run("reading", String(index));
      tree.focus(selected);
    });
    for (const kind of ["pointerenter", "focus"])
      button.addEventListener(kind, () => n && look(arcs));
    for (const kind of ["pointerleave", "blur"])
      button.addEventListener(kind, () => preview && look(null));
    return button;
  }

  /** Show other arcs beside those of the sentence. @param {Arcs | null} arcs */
  function look(arcs) {
    preview = arcs;
    show({ ...events.shown(), changed: new Set() });
  }

  /** Get the sentence of the other file, and show it. */
  async function compare() {
    const { at } = events.shown();
    if (otherName !== null && other?.at !== at)
      other = { at, block: (await ask(`compare/sentence?index=${at}`)).theirs };
    show(events.shown());
  }

  return {
    tree,
    show,
    compare,
    focus: tree.focus,
    get selected() {
      return selected;
    },
    get isReversed() {
      return tree.isReversed();
    },
    get otherBlock() {
      return otherName === null ? undefined : (other?.block ?? undefined);
    },
    /** Go to the next word on which the other file differs. @returns {boolean} */
    nextDifference() {
      const ids = [...differing().keys()];
      if (ids.length) tree.focus(ids.find((id) => id > selected) ?? ids[0]);
      return ids.length > 0;
    },
    /** @param {string | null} name */
    setOther(name) {
      otherName = name;
      return compare();
    },
    /** Another sentence comes. @param {number[]} words that were found */
    prepare(words) {
      found = new Set(words);
      selected = words[0] ?? 1;
      preview = null;
    },
    turn() {
      tree.turn(tree.direction() === "vertical" ? "lines" : "vertical");
      show(events.shown());
      tree.focus(selected);
    },
  };
}

/**
 * The probability of the arc that is shown, which may not be the parser's.
 *
 * @param {import("./conllu.js").Word} word
 * @param {import("./word.js").Guess | undefined} guess
 */
function probability(word, guess) {
  if (!guess || word.head === null) return null;
  return guess.heads.find(([head]) => head === word.head)?.[1] ?? 0;
}
