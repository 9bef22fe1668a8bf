/**
 * Text that is safe to show and about how wide it is, as in `headwise.render.cells` and `placing`.
 */

const JOINERS = "\u200c\u200d";
const NUMBER_SIGNS =
  "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}";
const MARK = /^[\p{Mn}\p{Me}]/u;
const FORMAT = /^\p{Cf}/u;
const NOTHING = /^[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
const UPPER = /^\p{Uppercase}/u;
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6fc}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
const NARROW = new Set("ijltfrI.,:;'`|!()[]{}/\\ -");
const BROAD = new Set("mwMWQO@%&");
const MARKS_PER_CELL = 6;

/**
 * Copy text with every character that would do something shown instead.
 *
 * @param {string} text
 * @returns {string}
 */
export function visible(text) {
  const shown = Array.from(text, visibleCharacter).join("");
  return MARK.test(shown) ? `\u25cc${shown}` : shown;
}

/** @param {string} character */
function visibleCharacter(character) {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  if (FORMAT.test(character)) {
    return JOINERS.includes(character) || NUMBER_SIGNS.includes(character) ? character : "\ufffd";
  }
  return NOTHING.test(character) || (code & 0xfffe) === 0xfffe ? "\ufffd" : character;
}

/**
 * Count the cells of a visible character: 0 for marks, 2 for wide ones, or 1.
 *
 * @param {string} character
 */
function cellWidth(character) {
  if (character < "\u007f") return 1;
  if (JOINERS.includes(character) || /[\u1160-\u11ff]/.test(character)) return 0;
  if (MARK.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/**
 * Shorten visible text to at most `width` cells, with an ellipsis where something is gone.
 *
 * @param {string} text
 * @param {number} width
 * @returns {string}
 */
export function cut(text, width) {
  const characters = Array.from(text);
  const cells = characters.reduce((sum, character) => sum + cellWidth(character), 0);
  if (characters.length <= MARKS_PER_CELL * width && cells <= width) return text;
  let kept = "";
  let used = 0;
  for (const character of characters.slice(0, MARKS_PER_CELL * width)) {
    used += cellWidth(character);
    if (used > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/**
 * Make a word or label fit to be shown: visible, and cut where it is too long.
 *
 * @param {string} value
 * @param {number} longest
 */
export function short(value, longest) {
  return cut(visible(value.slice(0, 10 * longest)), longest);
}

/**
 * Estimate the length of visible text in a sans-serif font of `size` pixels.
 *
 * @param {string} text
 * @param {number} size
 * @returns {number}
 */
export function textLength(text, size) {
  let ems = 0;
  for (const character of text) ems += widthInEms(character);
  return size * ems;
}

/** @param {string} character */
function widthInEms(character) {
  const cells = cellWidth(character);
  if (cells !== 1) return cells * 0.55;
  if (NARROW.has(character)) return 0.36;
  if (BROAD.has(character)) return 0.9;
  return UPPER.test(character) || character > "\u08ff" ? 0.68 : 0.58;
}

/**
 * Tell the direction of text by its first letter.
 *
 * @param {string} text
 * @returns {boolean}
 */
export function isRightToLeft(text) {
  const letter = /\p{L}/u.exec(text);
  return letter !== null && RIGHT_TO_LEFT.test(letter[0]);
}
