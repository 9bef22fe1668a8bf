/**
 * The document as far as the page knows it: blocks are fetched when they are needed, a row for each
 * sentence says what the list shows.
 */

import { ask } from "./server.js";
import { linesOf, comment, readBlock } from "./conllu.js";
import { textOf } from "./tokens.js";

/**
 * @typedef {object} Row
 * @property {string} text
 * @property {number} n_words
 * @property {"new" | "edited" | "done"} status
 * @property {number | null} certainty of the least certain word that is not fixed
 * @property {number} n_checks
 */

const AROUND = 20;
const CUT = 120;
const MARK = /(^|\|)(Fixed|NotHead)=/;

/** The text of a row; a long one is cut. @param {Row | undefined} row */
export function textOfRow(row) {
  const text = row?.text ?? "";
  return text.length < CUT ? text || "(no words)" : `${text}…`;
}

/** What the list shows of a block. @param {string} block @param {Row} [before] @returns {Row} */
export function rowOf(block, before) {
  const { words, isDone } = readBlock(block);
  const isEdited = words.some((word) => MARK.test(word.misc));
  return {
    text: (comment(block, "text") ?? textOf(block)).slice(0, CUT),
    n_words: words.length,
    status: isDone ? "done" : isEdited ? "edited" : "new",
    certainty: before?.certainty ?? null,
    n_checks: before?.n_checks ?? 0,
  };
}

/** Make the store of blocks. */
export function blockStore() {
  /** @type {(string | undefined)[]} */
  let blocks = [];
  /** @type {Row[]} */
  let rows = [];

  return {
    get rows() {
      return rows;
    },
    get length() {
      return rows.length;
    },
    /** @param {Row[]} next */
    setRows(next) {
      if (next.length !== rows.length) blocks = [];
      rows = next;
    },
    /** @param {number} at @returns {string | undefined} */
    known(at) {
      return blocks[at];
    },
    forget() {
      blocks = [];
    },
    /**
     * Get a block, with its neighbours, since they are next.
     *
     * @param {number} at
     * @returns {Promise<string>}
     */
    async get(at) {
      const known = blocks[at];
      if (known !== undefined) return known;
      const start = Math.max(0, at - 2);
      const { sentences } = await ask(`sentences?start=${start}&count=${AROUND}`);
      // What is known may be newer than the answer.
      for (const [index, block] of sentences.entries()) blocks[start + index] ??= block;
      const block = blocks[at];
      if (block === undefined) throw new Error(`The document has no sentence ${at + 1}.`);
      return block;
    },
    /**
     * Put blocks in place of others.
     *
     * @param {number} at
     * @param {number} remove
     * @param {string[]} insert
     */
    splice(at, remove, insert) {
      const before = rows.slice(at, at + remove);
      // A hole would be skipped, and later blocks would slip.
      while (blocks.length < at) blocks.push(undefined);
      blocks.splice(at, remove, ...insert);
      rows.splice(at, remove, ...insert.map((block, index) => rowOf(block, before[index])));
    },
    /** @param {string} block */
    nLines: (block) => linesOf(block).length,
  };
}
