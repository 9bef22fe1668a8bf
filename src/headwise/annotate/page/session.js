/**
 * The sentence at hand. Every edit is shown at once and sent to be decoded; the tree that comes back
 * is what goes into the document. Requests are numbered, and an answer to any but the latest is
 * dropped. If the server is gone, edits go into the document as they are.
 */

import { readBlock } from "./conllu.js";
import { unfix, withLabels, withParse } from "./edits.js";
import { Refused, Unreachable, ask } from "./server.js";

/** @typedef {import("./conllu.js").Sentence} Sentence */

/**
 * @typedef {object} Decoded what the server says about a sentence
 * @property {number} request
 * @property {string} conllu
 * @property {import("./word.js").Guess[]} words
 * @property {{heads: number[], labels: string[], probability: number}[]} trees
 * @property {import("./pane.js").Check[]} checks
 */

/**
 * @typedef {object} Shown
 * @property {number} at
 * @property {Sentence} sentence
 * @property {Decoded | null} decoded
 * @property {Set<number>} changed words whose arc has just changed
 * @property {boolean} [isDraft] while the tree around an edit is being found
 */

const REMEMBERED = 40;
const PATIENCE = 100;

/**
 * @param {ReturnType<typeof import("./blocks.js").blockStore>} blocks
 * @param {ReturnType<typeof import("./sync.js").editQueue>} queue
 * @param {{onShow: (shown: Shown) => void, onEdit: () => void, onRefused: (message: string, hint: string, resolve: (() => void) | null, unfix: number[]) => void,
 *          speak: (message: string) => void, keeps: () => boolean}} events
 */
export function makeSession(blocks, queue, events) {
  /** @type {Shown} */
  let shown = { at: 0, sentence: readBlock(""), decoded: null, changed: new Set() };
  let request = 0;
  /** @type {import("./store.js").Edit | null} */
  let draft = null;
  /** @type {Map<string, Decoded>} */
  const answers = new Map();

  /** @param {string} block @param {number | null} word @returns {Promise<Decoded>} */
  async function decode(block, word) {
    const key = `${events.keeps()} ${block}`;
    const known = answers.get(key);
    if (known) return known;
    const answer = await ask("decode", {
      request,
      conllu: block,
      k: 3,
      keep: events.keeps(),
      ...(word ? { word } : {}),
    });
    answers.set(key, answer);
    if (answers.size > REMEMBERED) answers.delete([...answers.keys()][0]);
    return answer;
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {Partial<Shown>} next */
  function show(next) {
    clearTimeout(timer);
    shown = { ...shown, changed: new Set(), isDraft: false, ...next };
    // A draft is drawn only if its tree takes long.
    if (shown.isDraft) timer = setTimeout(() => events.onShow(shown), PATIENCE);
    else events.onShow(shown);
  }

  /** Open a sentence. @param {number} at */
  async function open(at) {
    settle();
    const mine = ++request;
    const block = await blocks.get(at);
    if (mine !== request) return;
    show({ at, sentence: readBlock(block), decoded: null });
    await look();
    if (mine === request) prefetch(at + 1);
  }

  /** Ask what the parser thinks of the sentence as it stands. */
  async function look() {
    const mine = ++request;
    const { block, words } = shown.sentence;
    if (!words.length) return;
    try {
      const decoded = await decode(block, null);
      if (mine === request)
        show({ sentence: readBlock(withParse(block, decoded.conllu, false)), decoded });
    } catch (error) {
      if (mine !== request) return;
      if (error instanceof Unreachable) queue.lost(error.message);
      else if (error instanceof Refused) offerRepair(error, block);
      else throw error;
    }
  }

  /** @param {number} at */
  function prefetch(at) {
    const block = blocks.known(at);
    if (block && at < blocks.length) decode(block, null).catch(() => {});
  }

  /**
   * Change the sentence; `word` is the one that was edited.
   *
   * @param {string} block
   * @param {number | null} word
   * @param {string} tag what was done, in words
   */
  async function change(block, word, tag) {
    const before = shown;
    if (block === before.sentence.block) return;
    settle();
    const mine = ++request;
    draft = { at: before.at, removed: [blocks.known(before.at) ?? ""], insert: [block], tag };
    queue.setDraft(draft);
    const wanted = readBlock(block);
    const changed = changedArcs(before.sentence, wanted, word);
    show({ sentence: wanted, changed, isDraft: true });
    try {
      const decoded = await decode(block, word);
      if (mine !== request) return;
      const sentence = readBlock(withParse(block, decoded.conllu, true));
      const changed = changedArcs(before.sentence, sentence, word);
      commit(sentence.block);
      show({ sentence, decoded, changed });
      events.speak(inWords(tag, sentence, changed));
    } catch (error) {
      if (mine !== request) return;
      if (error instanceof Unreachable) {
        const labelled = withLabels(block, before.sentence.block);
        commit(labelled);
        show({ decoded: null, sentence: readBlock(labelled) });
        queue.lost(error.message);
      } else if (error instanceof Refused) {
        draft = null;
        queue.setDraft(null);
        show(before);
        offerRepair(error, block, word, tag);
      } else throw error;
    }
  }

  /**
   * Say why the server refuses a sentence, with a way out if there is one.
   *
   * @param {Refused} error
   * @param {string} block
   * @param {number | null} [word]
   * @param {string} [tag]
   */
  function offerRepair(error, block, word = null, tag = "Released what contradicts") {
    const { conflict } = error.answer;
    const ids = conflict?.unfix ?? [];
    const resolve = ids.length ? () => void change(unfix(block, ids), word, tag) : null;
    events.onRefused(conflict?.message ?? error.message, error.hint, resolve, ids);
  }

  /** Put the sentence into the document, and on its way to the server. @param {string} block */
  function commit(block) {
    if (!draft) return;
    const edit = { ...draft, insert: [block] };
    draft = null;
    blocks.splice(edit.at, 1, [block]);
    redoable = [];
    queue.add(edit);
    events.onEdit();
  }

  /** An edit that waits for its tree goes in as it is, because something else comes. */
  function settle() {
    if (draft) commit(draft.insert[0]);
  }

  /**
   * Change the number of sentences.
   *
   * @param {number} at
   * @param {number} remove
   * @param {string[]} insert
   * @param {string} tag
   */
  async function splice(at, remove, insert, tag) {
    settle();
    const removed = [];
    for (let index = at; index < at + remove; index++) removed.push(await blocks.get(index));
    const made = await Promise.all(
      insert.map((block) =>
        decode(block, null).then(
          (answer) => withParse(block, answer.conllu, true),
          () => block,
        ),
      ),
    );
    blocks.splice(at, remove, made);
    redoable = [];
    queue.add({ at, removed, insert: made, tag });
    events.onEdit();
    events.speak(tag);
    await open(at);
  }

  /** @type {import("./store.js").Edit[]} taken back before they were sent */
  let redoable = [];

  /** @param {"undo" | "redo"} kind */
  async function travel(kind) {
    settle();
    if (queue.isGone) return travelAlone(kind);
    await queue.empty();
    let answer;
    try {
      answer = await ask(kind, { seq: queue.seq });
    } catch (error) {
      if (error instanceof Unreachable) queue.lost(error.message);
      else if (!(error instanceof Refused)) throw error;
      else if (
        error.status === 409 &&
        error.answer.seq !== undefined &&
        error.answer.seq !== queue.seq
      ) {
        queue.seq = error.answer.seq;
        return travel(kind);
      } else events.speak(`There is nothing to ${kind}.`);
      return;
    }
    queue.seq = answer.seq;
    await apply(answer.at, answer.remove, answer.insert, kind);
  }

  /** @param {"undo" | "redo"} kind */
  async function travelAlone(kind) {
    const edit = kind === "undo" ? queue.takeBack() : redoable.pop();
    if (!edit)
      return events.speak(`The server is gone; there is nothing to ${kind} before it is back.`);
    const [from, to] = kind === "undo" ? [edit.insert, edit.removed] : [edit.removed, edit.insert];
    const left = kind === "undo" ? [...redoable, edit] : redoable;
    if (kind === "redo") queue.add(edit);
    await apply(edit.at, from.length, to, kind);
    redoable = left;
  }

  /** @param {number} at @param {number} remove @param {string[]} insert @param {"undo" | "redo"} kind */
  async function apply(at, remove, insert, kind) {
    const before = shown.at === at && shown.sentence;
    blocks.splice(at, remove, insert);
    events.onEdit();
    await open(Math.min(at, blocks.length - 1));
    if (before && before.words.length === shown.sentence.words.length)
      show({ changed: changedArcs(before, shown.sentence, null) });
    events.speak(kind === "undo" ? "Undone." : "Done again.");
  }

  return {
    open,
    look,
    change,
    splice,
    travel,
    get shown() {
      return shown;
    },
    /** Forget what was asked, since the model has changed. */
    forget: () => answers.clear(),
  };
}

/** @param {Sentence} before @param {Sentence} after @param {number | null} word */
function changedArcs(before, after, word) {
  /** @type {Set<number>} */
  const changed = new Set();
  if (before.words.length !== after.words.length) return changed;
  for (const [index, one] of after.words.entries()) {
    const old = before.words[index];
    const isNew = old.head !== one.head || old.deprel !== one.deprel;
    if (isNew && one.id !== word && old.head !== null) changed.add(one.id);
  }
  return changed;
}

/** @param {string} tag @param {Sentence} sentence @param {Set<number>} changed */
function inWords(tag, { words }, changed) {
  if (!changed.size) return `${tag}.`;
  const forms = [...changed].map((id) => words[id - 1].form).join(", ");
  return `${tag}. ${changed.size === 1 ? "1 other arc" : `${changed.size} other arcs`} changed: ${forms}.`;
}
