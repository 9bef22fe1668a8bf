/**
 * Split and join words and sentences. Everything that names a word by its number is renumbered:
 * HEAD, DEPS, tokens of several words, empty nodes, forbidden heads. Heads that are lost are left
 * to the parser.
 */

import { comment, getMisc, linesOf, mapLines, readBlock, setMisc, withComment } from "./conllu.js";

/**
 * Number words anew.
 *
 * @param {string} block
 * @param {(id: number) => number | null} to null if the word is gone
 */
function renumber(block, to) {
  /** @param {string} id such as 4, 4.1 or 4-5 */
  const renamed = (id) =>
    id.replace(/^\d+|(?<=-)\d+/g, (n) => String(n === "0" ? 0 : to(Number(n))));
  return mapLines(block, (line) => {
    const cells = line.split("\t");
    cells[0] = renamed(cells[0]);
    if (/^\d+$/.test(cells[6]) && cells[6] !== "0") {
      const head = to(Number(cells[6]));
      if (head === null) Object.assign(cells, { 6: "_", 7: "_", 9: withoutArc(cells[9]) });
      else cells[6] = String(head);
    }
    if (cells[8] && cells[8] !== "_") cells[8] = renamedDeps(cells[8], renamed, to);
    const forbidden = getMisc(cells[9] ?? "_", "NotHead");
    if (forbidden) {
      const kept = forbidden.split(",").map((n) => (n === "0" ? 0 : to(Number(n))));
      cells[9] = setMisc(cells[9], "NotHead", kept.filter((n) => n !== null).join(","));
    }
    return cells.join("\t");
  });
}

/** @param {string} misc */
function withoutArc(misc) {
  const names = (getMisc(misc, "Fixed") ?? "").split(",");
  return setMisc(misc, "Fixed", names.filter((n) => n !== "Head" && n !== "Deprel").join(","));
}

/**
 * @param {string} deps
 * @param {(id: string) => string} renamed
 * @param {(id: number) => number | null} to
 */
function renamedDeps(deps, renamed, to) {
  const kept = deps.split("|").filter((one) => {
    const head = parseInt(one);
    return head === 0 || to(head) !== null;
  });
  return kept.map((one) => one.replace(/^[\d.]+/, renamed)).join("|") || "_";
}

/**
 * Split a word into parts. As one token, the parts stand under the form that was written.
 *
 * @param {string} block
 * @param {number} id
 * @param {string[]} parts at least two
 * @param {boolean} asOneToken
 */
export function splitWord(block, id, parts, asOneToken) {
  const more = parts.length - 1;
  const moved = renumber(block, (n) => (n > id ? n + more : n));
  const inToken = readBlock(block).tokens.find((token) => token.first <= id && id <= token.last);
  const lines = moved.split("\n").flatMap((whole) => {
    const cells = whole.replace(/\r$/, "").split("\t");
    const end = whole.endsWith("\r") ? "\r" : "";
    if (inToken && cells[0] === `${inToken.first}-${inToken.last + (inToken.last > id ? more : 0)}`)
      return [[`${inToken.first}-${inToken.last + more}`, ...cells.slice(1)].join("\t") + end];
    if (cells[0] !== String(id)) return [whole];
    const isTogether = getMisc(cells[9], "SpaceAfter") === "No";
    const made = parts.map((form, index) => {
      const isLast = index === more;
      const glued = inToken || asOneToken ? "_" : isLast && !isTogether ? "_" : "SpaceAfter=No";
      if (index) return [id + index, form, ...Array(7).fill("_"), glued].join("\t") + end;
      const misc = setMisc(cells[9], "SpaceAfter", glued === "_" ? "" : "No");
      return [id, form, "_", ...cells.slice(3, 9), misc].join("\t") + end;
    });
    if (!asOneToken || inToken) return made;
    const token = [
      `${id}-${id + more}`,
      cells[1],
      ...Array(7).fill("_"),
      isTogether ? "SpaceAfter=No" : "_",
    ];
    return [token.join("\t") + end, ...made];
  });
  return lines.join("\n");
}

/**
 * Join a word with the next one; null if there is none.
 *
 * @param {string} block
 * @param {number} id
 */
export function joinWord(block, id) {
  const { words, tokens } = readBlock(block);
  const [word, next] = [words[id - 1], words[id]];
  if (!word || !next) return null;
  const token = tokens.find((one) => one.first <= id && id < one.last);
  const isWhole = token && token.last - token.first === 1;
  const gap = token || getMisc(word.misc, "SpaceAfter") === "No" ? "" : " ";
  const form = isWhole ? token.form : word.form + gap + next.form;
  const after = isWhole ? token.misc : next.misc;
  // The head is that of the word whose head lies outside.
  const outer = word.head === next.id ? next : word;
  const lines = block.split("\n").flatMap((whole) => {
    const cells = whole.replace(/\r$/, "").split("\t");
    const end = whole.endsWith("\r") ? "\r" : "";
    if (cells[0] === String(next.id) || (isWhole && cells[0] === `${id}-${next.id}`)) return [];
    if (cells[0] !== String(id)) return [whole];
    const misc = setMisc(outer.misc, "SpaceAfter", getMisc(after, "SpaceAfter") ?? "");
    const head = outer.head === null ? "_" : String(outer.head);
    const { upos, xpos, feats, deprel, deps } = outer;
    return [[id, form, "_", upos, xpos, feats, head, deprel, deps, misc].join("\t") + end];
  });
  return renumber(lines.join("\n"), (n) => (n > id ? n - 1 : n));
}

/** The text of the words, with spaces as MISC says. @param {string} block */
export function textOf(block) {
  const { words, tokens } = readBlock(block);
  let text = "";
  for (let index = 0; index < words.length; index++) {
    const token = tokens.find((one) => one.first === index + 1);
    const { form, misc } = token ?? words[index];
    if (token) index = token.last - 1;
    text += form + (getMisc(misc, "SpaceAfter") === "No" ? "" : " ");
  }
  return text.trim();
}

/**
 * Split a sentence before a word; null if that is inside a token or at the start.
 *
 * @param {string} block
 * @param {number} id
 * @returns {[string, string] | null}
 */
export function splitSentence(block, id) {
  const { tokens, words } = readBlock(block);
  if (id < 2 || id > words.length) return null;
  if (tokens.some((token) => token.first < id && id <= token.last)) return null;
  const end = block.includes("\r\n") ? "\r\n" : "\n";
  /** @param {(line: string) => boolean} keeps @param {number} shift */
  const part = (keeps, shift) => {
    const lines = linesOf(block).filter(
      (line) => line === "" || line.startsWith("#") || keeps(line),
    );
    return renumber(lines.join(end), (n) => {
      const isHere = shift ? n >= id : n < id;
      return isHere ? n - shift : null;
    });
  };
  const first = part((line) => parseInt(line) < id, 0);
  let second = part((line) => parseInt(line) >= id, id - 1);
  const name = comment(block, "sent_id");
  for (const one of ["newdoc", "newpar", "newdoc id", "newpar id", "note", "status"])
    second = withComment(second, one, null);
  if (name !== null) second = withComment(second, "sent_id", `${name}-2`);
  const has = comment(block, "text") !== null;
  return has
    ? [withComment(first, "text", textOf(first)), withComment(second, "text", textOf(second))]
    : [first, second];
}

/**
 * Join two sentences; the comments are those of the first one. The second root looks for a head.
 *
 * @param {string} block
 * @param {string} next
 */
export function joinSentences(block, next) {
  const shift = readBlock(block).words.length;
  const moved = renumber(next, (n) => n + shift);
  const end = block.includes("\r\n") ? "\r\n" : "\n";
  const lines = linesOf(moved).filter((line) => line !== "" && !line.startsWith("#"));
  const unrooted = lines.map((line) => {
    const cells = line.split("\t");
    if (cells[6] === "0") Object.assign(cells, { 6: "_", 7: "_", 9: withoutArc(cells[9]) });
    return cells.join("\t");
  });
  const joined = block.replace(/(\r?\n)+$/, "") + end + unrooted.join(end) + end + end;
  return comment(block, "text") === null ? joined : withComment(joined, "text", textOf(joined));
}
