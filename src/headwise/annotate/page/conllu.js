/**
 * The CoNLL-U block of a sentence: its words as values, and cells that change one by one. All other
 * bytes of the block stay as they are. What a person decided stands in MISC (`Fixed`, `NotHead`) and
 * in comments (`status`, `note`).
 */

export const COLUMNS = [
  "id",
  "form",
  "lemma",
  "upos",
  "xpos",
  "feats",
  "head",
  "deprel",
  "deps",
  "misc",
];

/** The values that a person can fix, in the order in which MISC names them. */
export const FIXABLE = ["head", "deprel", "upos", "xpos", "feats", "lemma"];

const EMPTY = "_";

/**
 * @typedef {object} Word
 * @property {number} id
 * @property {string} form
 * @property {string} lemma
 * @property {string} upos
 * @property {string} xpos
 * @property {string} feats
 * @property {number | null} head null if it has none yet
 * @property {string} deprel
 * @property {string} deps
 * @property {string} misc
 * @property {number} line
 * @property {Set<string>} fixed columns that a person decided
 * @property {number[]} notHeads
 */

/**
 * @typedef {object} Sentence
 * @property {string} block
 * @property {Word[]} words
 * @property {{first: number, last: number, form: string, misc: string, line: number}[]} tokens of several words
 * @property {boolean} isDone
 * @property {string} note
 */

/** @param {string} block @returns {string[]} lines without their ends */
export function linesOf(block) {
  return block.split("\n").map((line) => line.replace(/\r$/, ""));
}

/** @param {string} line */
const isData = (line) => line !== "" && !line.startsWith("#");

/**
 * @param {string} block
 * @returns {Sentence}
 */
export function readBlock(block) {
  /** @type {Word[]} */
  const words = [];
  const tokens = [];
  for (const [at, line] of linesOf(block).entries()) {
    if (!isData(line)) continue;
    const cells = line.split("\t");
    const span = /^(\d+)-(\d+)$/.exec(cells[0]);
    if (span) {
      const [first, last] = [Number(span[1]), Number(span[2])];
      tokens.push({ first, last, form: cells[1], misc: cells[9] ?? EMPTY, line: at });
    } else if (/^\d+$/.test(cells[0])) words.push(wordOf(cells, at));
  }
  const status = comment(block, "status");
  const note = decodeNote(comment(block, "note") ?? "");
  return { block, words, tokens, isDone: status === "done", note };
}

/** @param {string[]} cells @param {number} line @returns {Word} */
function wordOf(cells, line) {
  const [id, form, lemma, upos, xpos, feats, head, deprel, deps, misc] = COLUMNS.map(
    (_, index) => cells[index] ?? EMPTY,
  );
  const fixed = (getMisc(misc, "Fixed") ?? "").toLowerCase().split(",");
  const notHeads = (getMisc(misc, "NotHead") ?? "").split(",").filter(Boolean).map(Number);
  return {
    id: Number(id),
    form,
    lemma,
    upos,
    xpos,
    feats,
    deprel,
    deps,
    misc,
    line,
    notHeads,
    head: /^\d+$/.test(head) ? Number(head) : null,
    fixed: new Set(fixed.filter((name) => FIXABLE.includes(name))),
  };
}

/**
 * Change cells of words; `changes` has the new cells of a word by its id.
 *
 * @param {string} block
 * @param {Map<number, Record<string, string>>} changes
 */
export function withCells(block, changes) {
  return mapLines(block, (line) => {
    const cells = line.split("\t");
    const changed = /^\d+$/.test(cells[0]) && changes.get(Number(cells[0]));
    if (!changed) return line;
    for (const [name, value] of Object.entries(changed)) cells[COLUMNS.indexOf(name)] = value;
    return cells.join("\t");
  });
}

/**
 * Rewrite the lines of words, tokens and empty nodes; their ends stay.
 *
 * @param {string} block
 * @param {(line: string) => string} rewrite
 */
export function mapLines(block, rewrite) {
  const parts = block.split("\n").map((whole) => {
    const end = whole.endsWith("\r") ? "\r" : "";
    const line = end ? whole.slice(0, -1) : whole;
    return isData(line) ? rewrite(line) + end : whole;
  });
  return parts.join("\n");
}

/** @param {string} misc @param {string} name @returns {string | null} */
export function getMisc(misc, name) {
  const entry = misc.split("|").find((one) => one.startsWith(`${name}=`));
  return entry === undefined ? null : entry.slice(name.length + 1);
}

/**
 * Set an entry of MISC where it stands or at the end, or remove it if the value is empty.
 *
 * @param {string} misc
 * @param {string} name
 * @param {string} value
 */
export function setMisc(misc, name, value) {
  const entries = misc === EMPTY || misc === "" ? [] : misc.split("|");
  const at = entries.findIndex((one) => one.startsWith(`${name}=`));
  if (value === "" && at >= 0) entries.splice(at, 1);
  else if (value !== "") entries.splice(at < 0 ? entries.length : at, 1, `${name}=${value}`);
  return entries.join("|") || EMPTY;
}

/** @param {Word} word @param {Set<string>} fixed */
export function miscWithFixed(word, fixed) {
  const names = FIXABLE.filter((name) => fixed.has(name)).map(
    (name) => name[0].toUpperCase() + name.slice(1),
  );
  return setMisc(word.misc, "Fixed", names.join(","));
}

/** @param {string} block @param {string} name @returns {string | null} */
export function comment(block, name) {
  const pattern = new RegExp(`^#\\s*${name}\\s*=\\s?(.*)$`);
  for (const line of linesOf(block)) {
    const found = pattern.exec(line);
    if (found) return found[1].trim();
    if (isData(line)) return null;
  }
  return null;
}

/**
 * Set a comment where it stands or before the first word, or remove it if the value is null.
 *
 * @param {string} block
 * @param {string} name
 * @param {string | null} value
 */
export function withComment(block, name, value) {
  const pattern = new RegExp(`^#\\s*${name}\\s*=`);
  const lines = block.split("\n");
  const end = lines[0].endsWith("\r") ? "\r" : "";
  const first = lines.findIndex((line) => isData(line.replace(/\r$/, "")));
  const at = lines.findIndex((line, index) => index < first && pattern.test(line));
  const made = value === null ? [] : [`# ${name} = ${value}${end}`];
  if (at >= 0) lines.splice(at, 1, ...made);
  else lines.splice(Math.max(first, 0), 0, ...made);
  return lines.join("\n");
}

/** @param {string} note */
export function encodeNote(note) {
  return note.replace(/[%\r\n]/g, (one) => encodeURIComponent(one));
}

/** @param {string} note */
function decodeNote(note) {
  return note.replace(/%(25|0A|0D)/gi, (one) => decodeURIComponent(one));
}

/**
 * Find what makes a block unreadable: lines without ten columns, numbers out of order, heads that
 * do not exist. The server checks the rest.
 *
 * @param {string} block
 * @returns {{line: number, column: string | null, message: string}[]}
 */
export function faultsOf(block) {
  const lines = linesOf(block);
  const ids = lines.filter(isData).map((line) => line.split("\t")[0]);
  const nWords = ids.filter((id) => /^\d+$/.test(id)).length;
  const faults = [];
  let next = 1;
  for (const [line, text] of lines.entries()) {
    if (!isData(text)) continue;
    const cells = text.split("\t");
    /** @param {string | null} column @param {string} message */
    const fault = (column, message) => faults.push({ line, column, message });
    if (cells.length !== 10) fault(null, `${cells.length} columns, not 10; columns end with a tab`);
    else if (cells.some((cell) => cell === "")) fault(null, "an empty cell; write _ instead");
    if (!/^\d+$/.test(cells[0])) continue;
    if (Number(cells[0]) !== next) fault("id", `ID is ${cells[0]}, not ${next}`);
    next += 1;
    const head = cells[6] ?? EMPTY;
    if (head !== EMPTY && (!/^\d+$/.test(head) || Number(head) > nWords))
      fault("head", `HEAD is ${head}, but the sentence has ${nWords} words`);
    else if (head === cells[0]) fault("head", "a word cannot be its own head");
  }
  if (nWords === 0) faults.push({ line: 0, column: null, message: "the sentence has no words" });
  return faults;
}
