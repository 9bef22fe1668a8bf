/**
 * The rows of the list as the server knows them: certainties come while it computes them.
 */

import { Refused, Unreachable, ask } from "./server.js";

const AT_ONCE = 10_000;
const SOON = 600;
const POLL = 1_500;
const CALM = 5_000;

/**
 * @param {ReturnType<typeof import("./blocks.js").blockStore>} blocks
 * @param {{onRows: () => void, onSeq: (seq: number) => void, onLost: (message: string) => void, onDocument: (about: any) => void,
 *          isIdle: () => boolean}} events
 */
export function overviewWatch(blocks, { onRows, onSeq, onLost, onDocument, isIdle }) {
  let version = 0;
  let pending = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** Load all rows. */
  async function load() {
    const rows = [];
    let answer;
    do {
      answer = await ask(`overview?start=${rows.length}&count=${AT_ONCE}`);
      rows.push(...answer.sentences);
    } while (answer.sentences.length && rows.length < answer.n_sentences);
    ({ version, pending } = answer);
    blocks.setRows(rows);
    onRows();
    schedule(POLL);
  }

  /** Load the rows that changed. Edits that are on their way are newer than what the server says. */
  async function refresh() {
    try {
      const answer = await ask(`overview?since=${version}&count=${AT_ONCE}`);
      if (!isIdle()) return schedule(SOON);
      onSeq(answer.seq);
      if (answer.changed && answer.n_sentences === blocks.length) {
        ({ version, pending } = answer);
        for (const [at, row] of answer.changed) blocks.rows[at] = row;
        if (answer.changed.length) onRows();
      } else if (answer.n_sentences !== blocks.length || !answer.changed) await load();
      onDocument(await ask("document"));
      schedule(pending ? POLL : CALM);
    } catch (error) {
      if (error instanceof Unreachable) onLost(error.message);
      else if (!(error instanceof Refused)) throw error;
      schedule(CALM);
    }
  }

  /** @param {number} wait */
  function schedule(wait) {
    clearTimeout(timer);
    timer = setTimeout(refresh, wait);
  }

  const soon = () => schedule(SOON);
  window.addEventListener("focus", soon);
  return { load, soon };
}
