/**
 * What a person can do to a sentence, as functions from blocks to blocks. What they decide is marked
 * as fixed; the server finds the rest of the tree again.
 */

import { miscWithFixed, readBlock, setMisc, withCells, withComment } from "./conllu.js";

/** @typedef {import("./conllu.js").Word} Word */

const COLUMNS = /** @type {const} */ (["lemma", "upos", "xpos", "feats"]);

/** @param {string} block @param {number} id @returns {Word} */
function wordIn(block, id) {
  const word = readBlock(block).words.find((one) => one.id === id);
  if (!word) throw new Error(`the sentence has no word ${id}`);
  return word;
}

/** @param {string} block @param {number} id @param {Record<string, string>} cells */
function change(block, id, cells) {
  return withCells(block, new Map([[id, cells]]));
}

/**
 * Set the head of a word; 0 makes it the root. Another head may need another label, so the parser
 * finds that again unless a person fixed it.
 *
 * @param {string} block
 * @param {number} id
 * @param {number} head
 */
export function setHead(block, id, head) {
  const word = wordIn(block, id);
  const fixed = new Set(word.fixed).add("head");
  if ((head === 0) !== (word.deprel === "root")) fixed.delete("deprel");
  const isKept = fixed.has("deprel") || word.head === head;
  const deprel = head === 0 ? "root" : isKept ? word.deprel : "_";
  const allowed = word.notHeads.filter((one) => one !== head).join(",");
  const misc = setMisc(miscWithFixed(word, fixed), "NotHead", allowed);
  return change(block, id, { head: String(head), deprel, misc });
}

/**
 * Set the value of a column that a person can fix, except the head.
 *
 * @param {string} block
 * @param {number} id
 * @param {string} column
 * @param {string} value
 */
export function setValue(block, id, column, value) {
  const word = wordIn(block, id);
  const misc = miscWithFixed(word, new Set(word.fixed).add(column));
  return change(block, id, { [column]: value || "_", misc });
}

/** Accept the arc of a word as it is, or release it if it is fixed. @param {string} block @param {number} id */
export function toggleArc(block, id) {
  const word = wordIn(block, id);
  if (word.head === null) return block;
  const fixed = new Set(word.fixed);
  if (fixed.has("head")) ["head", "deprel"].forEach((name) => fixed.delete(name));
  else ["head", "deprel"].forEach((name) => fixed.add(name));
  return change(block, id, { misc: miscWithFixed(word, fixed) });
}

/** Release the arcs of these words, forbidden heads included. @param {string} block @param {number[]} ids */
export function unfix(block, ids) {
  const changes = readBlock(block)
    .words.filter((word) => ids.includes(word.id))
    .map((word) => {
      const fixed = new Set(word.fixed);
      ["head", "deprel"].forEach((name) => fixed.delete(name));
      const misc = setMisc(miscWithFixed(word, fixed), "NotHead", "");
      return /** @type {const} */ ([word.id, { misc }]);
    });
  return withCells(block, new Map(changes));
}

/** Forbid the head that a word has. @param {string} block @param {number} id */
export function forbidHead(block, id) {
  const word = wordIn(block, id);
  if (word.head === null) return block;
  const fixed = new Set(word.fixed);
  ["head", "deprel"].forEach((name) => fixed.delete(name));
  const forbidden = [...new Set([...word.notHeads, word.head])].sort((a, b) => a - b);
  const misc = setMisc(miscWithFixed(word, fixed), "NotHead", forbidden.join(","));
  return change(block, id, { head: "_", deprel: "_", misc });
}

/**
 * Take another reading: words whose arcs differ are fixed as the reading has them.
 *
 * @param {string} block
 * @param {{heads: number[], labels: string[]}} reading
 */
export function takeReading(block, { heads, labels }) {
  /** @type {Map<number, Record<string, string>>} */
  const changes = new Map();
  for (const [index, word] of readBlock(block).words.entries()) {
    if (word.head === heads[index] && word.deprel === labels[index]) continue;
    const misc = miscWithFixed(word, new Set(word.fixed).add("head").add("deprel"));
    changes.set(word.id, { head: String(heads[index]), deprel: labels[index], misc });
  }
  return withCells(block, changes);
}

/** Take the arc of a word from another block. @param {string} block @param {string} other @param {number} id */
export function takeArc(block, other, id) {
  const { head, deprel } = wordIn(other, id);
  if (head === null) return block;
  const word = wordIn(block, id);
  const misc = miscWithFixed(word, new Set(word.fixed).add("head").add("deprel"));
  return change(block, id, { head: String(head), deprel, misc });
}

/** @param {string} block @param {boolean} isDone */
export function setDone(block, isDone) {
  return withComment(block, "status", isDone ? "done" : null);
}

/** Take labels that words lack from the block as it was. @param {string} block @param {string} before */
export function withLabels(block, before) {
  const labels = new Map(readBlock(before).words.map(({ id, deprel }) => [id, deprel]));
  const blank = readBlock(block).words.filter(({ head, deprel }) => head && deprel === "_");
  const fitting = blank.filter(({ id }) => !["root", undefined].includes(labels.get(id)));
  return withCells(
    block,
    new Map(fitting.map(({ id }) => [id, { deprel: labels.get(id) ?? "_" }])),
  );
}

/**
 * Take over what the parser says: arcs where a word has none, or all of them; other columns where a
 * word has nothing at all yet, or where only it lacks what the sentence has.
 *
 * @param {string} block
 * @param {string} parsed the same words
 * @param {boolean} withArcs also those that the block has
 */
export function withParse(block, parsed, withArcs) {
  const answers = new Map(readBlock(parsed).words.map((word) => [word.id, word]));
  const { words } = readBlock(block);
  const used = new Set(COLUMNS.filter((name) => words.some((word) => word[name] !== "_")));
  /** @type {Map<number, Record<string, string>>} */
  const changes = new Map();
  for (const word of words) {
    const answer = answers.get(word.id);
    if (!answer) continue;
    /** @type {Record<string, string>} */
    const cells = {};
    const isBare = word.head === null && COLUMNS.every((name) => word[name] === "_");
    if (answer.head !== null && (withArcs || word.head === null)) cells.head = String(answer.head);
    if (withArcs || word.deprel === "_") cells.deprel = answer.deprel;
    for (const name of COLUMNS)
      if (word[name] === "_" && (isBare || (name !== "feats" && used.has(name))))
        cells[name] = answer[name];
    changes.set(word.id, cells);
  }
  return withCells(block, changes);
}
