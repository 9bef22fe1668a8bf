/**
 * Edits on their way to the server, one after the other, in order. An edit stays in the browser until
 * the server has it. If the server is gone, the page tries again until it is back.
 */

import { Refused, Unreachable, ask } from "./server.js";

/** @typedef {import("./store.js").Edit} Edit */

const FIRST_WAIT = 400;
const LONGEST_WAIT = 5_000;

/**
 * @param {{write: (edits: Edit[]) => boolean}} store
 * @param {{onState: (state: {isGone: boolean, reason: string, nWaiting: number, isKept: boolean}) => void,
 *          onSent: (edit: Edit, seq: number) => void, onBack: () => void,
 *          onRefused: (edit: Edit, error: Refused) => void}} events
 */
export function editQueue(store, events) {
  /** @type {Edit[]} */
  let waiting = [];
  /** @type {Edit | null} an edit whose tree is still being found */
  let draft = null;
  let seq = 0;
  let isSending = false;
  let isGone = false;
  let isKept = true;
  let reason = "";
  let wait = FIRST_WAIT;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {(() => void)[]} */
  let onEmpty = [];

  function tell() {
    events.onState({ isGone, reason, nWaiting: waiting.length, isKept });
  }

  function keep() {
    isKept = store.write(draft ? [...waiting, draft] : waiting);
    tell();
  }

  /** @param {Edit} edit */
  function add(edit) {
    draft = null;
    waiting.push(edit);
    keep();
    send();
  }

  async function send() {
    if (isSending) return;
    isSending = true;
    clearTimeout(timer);
    try {
      while (waiting.length) await sendFirst(waiting[0]);
      if (isGone) await ask("document");
      reached();
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      lost(error.message);
    } finally {
      isSending = false;
      if (!waiting.length) onEmpty.splice(0).forEach((done) => done());
    }
  }

  /** @param {Edit} edit */
  async function sendFirst(edit) {
    try {
      const { at, removed, insert, tag } = edit;
      const answer = await ask("edit", {
        seq,
        at,
        remove: removed.length,
        insert,
        tag: tag.slice(0, 200),
      });
      sent(edit, answer.seq);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 409) await settle(edit);
      else {
        waiting.shift();
        keep();
        events.onRefused(edit, error);
      }
    }
  }

  /**
   * The document has moved on: the edit has arrived without an answer, or another page made one.
   *
   * @param {Edit} edit
   */
  async function settle(edit) {
    const now = await ask("document");
    seq = now.seq;
    const { at, removed, insert } = edit;
    if (await stands(insert, at)) return sent(edit, seq);
    if (await stands(removed, at)) return;
    const start = Math.max(0, at - 100);
    const near = (await ask(`sentences?start=${start}&count=200`)).sentences;
    const found = near.indexOf(removed[0]);
    // Changed by someone else: this edit is put over theirs, which undo brings back.
    edit.at = found >= 0 ? start + found : Math.min(at, now.n_sentences - removed.length);
    keep();
  }

  /** @param {string[]} blocks @param {number} at */
  async function stands(blocks, at) {
    if (!blocks.length) return false;
    const { sentences } = await ask(`sentences?start=${at}&count=${blocks.length}`);
    return blocks.every((block, index) => block === sentences[index]);
  }

  /** @param {Edit} edit @param {number} newSeq */
  function sent(edit, newSeq) {
    seq = newSeq;
    waiting.shift();
    reached();
    keep();
    events.onSent(edit, seq);
  }

  function reached() {
    wait = FIRST_WAIT;
    const wasGone = isGone;
    isGone = false;
    tell();
    if (wasGone) events.onBack();
  }

  /** @param {string} why */
  function lost(why) {
    isGone = true;
    reason = why;
    tell();
    clearTimeout(timer);
    timer = setTimeout(send, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }

  return {
    add,
    lost,
    /** Keep an edit that is not ready to be sent. @param {Edit | null} edit */
    setDraft(edit) {
      draft = edit;
      keep();
    },
    /** Try again now. */
    retry() {
      wait = FIRST_WAIT;
      send();
    },
    /** Take back the last edit if the server does not have it yet. */
    takeBack() {
      if (waiting.length < (isSending ? 2 : 1)) return null;
      const edit = waiting.pop();
      keep();
      return edit ?? null;
    },
    /** Wait until the server has everything. @returns {Promise<void>} */
    async empty() {
      if (!waiting.length && !isSending) return;
      await new Promise((done) => {
        onEmpty.push(() => done(undefined));
        send();
      });
    },
    /** @param {number} known @param {Edit[]} [left] */
    start(known, left = []) {
      seq = known;
      waiting = [...left, ...waiting];
      if (waiting.length) send();
    },
    get seq() {
      return seq;
    },
    /** @param {number} value */
    set seq(value) {
      seq = value;
    },
    get isGone() {
      return isGone;
    },
    get edits() {
      return [...waiting];
    },
  };
}
