/**
 * Where words and arcs go, in pixels: the rules of `headwise.render.layout` and `placing`, so that
 * the page and `headwise parse --format svg` draw the same picture. Words have positions 1..N.
 */

export const WORD_GAP = 18;
export const MARGIN = WORD_GAP;
const LABEL_PAD = 16;
const LEG_GAP = 7;

/**
 * @typedef {object} Arc the arc into the word at position `dependent`; `head` is 0 for ROOT
 * @property {number} dependent
 * @property {number} head
 * @property {string} label
 * @property {number | null} probability
 */

/**
 * @typedef {object} Places
 * @property {number[]} centres of the words
 * @property {[number, number][]} legs for each arc, where it starts and where it ends
 * @property {number} width
 */

/**
 * @param {Arc} arc
 * @returns {[number, number]} the two ends, left one first
 */
export function spanOf(arc) {
  return [Math.min(arc.head, arc.dependent), Math.max(arc.head, arc.dependent)];
}

/**
 * Give each span the lowest level (1, 2, ...) above all shorter ones that it overlaps with.
 *
 * Spans that only touch share a level: 1-2, 2-3 and 1-3 get 1, 1 and 2.
 *
 * @param {[number, number][]} spans
 * @returns {number[]}
 */
export function levels(spans) {
  const width = Math.max(0, ...spans.map(([, right]) => right));
  const height = new Array(width + 1).fill(0);
  const found = new Array(spans.length).fill(0);
  const order = spans
    .map(([left, right], index) => ({ left, right, index }))
    .sort((a, b) => a.right - a.left - (b.right - b.left) || a.left - b.left);
  for (const { left, right, index } of order) {
    found[index] = Math.max(...height.slice(left, right)) + 1;
    height.fill(found[index], left, right);
  }
  return found;
}

/**
 * Spread the ends of arcs over each word so that they nest.
 *
 * From left to right: arcs to the left, shortest first, ROOT, arcs to the right, longest first.
 *
 * @param {number[]} wordLengths
 * @param {Arc[]} arcs
 * @returns {Map<number, number>[]} for each arc, from the position of an end to its offset
 */
export function legOffsets(wordLengths, arcs) {
  /** @type {Map<number, {nearness: number, index: number}[]>} */
  const ends = new Map();
  /** @type {(position: number, nearness: number, index: number) => void} */
  const add = (position, nearness, index) => {
    ends.set(position, [...(ends.get(position) ?? []), { nearness, index }]);
  };
  arcs.forEach((arc, index) => {
    const nearness = arc.head ? 1 / (arc.dependent - arc.head) : 0;
    if (arc.head) add(arc.head, nearness, index);
    add(arc.dependent, -nearness, index);
  });
  /** @type {Map<number, number>[]} */
  const offsets = arcs.map(() => new Map());
  for (const [position, there] of ends) {
    const gap = Math.min(LEG_GAP, (wordLengths[position - 1] + WORD_GAP / 2) / there.length);
    there.sort((a, b) => a.nearness - b.nearness || a.index - b.index);
    there.forEach(({ index }, rank) => {
      offsets[index].set(position, gap * (rank - (there.length - 1) / 2));
    });
  }
  return offsets;
}

/**
 * Place words from left to right, each as far left as texts and labels allow.
 *
 * @param {number[]} wordLengths of each word with what stands under it
 * @param {Arc[]} arcs those to be drawn; one from ROOT starts where it ends
 * @param {number[]} labelLengths of each arc
 * @returns {Places}
 */
export function place(wordLengths, arcs, labelLengths) {
  const offsets = legOffsets(wordLengths, arcs);
  /** @type {(index: number, position: number) => number} */
  const offset = (index, position) => offsets[index].get(position) ?? 0;
  /** @type {number[][]} */
  const endsAt = wordLengths.map(() => []);
  arcs.forEach((arc, index) => {
    if (arc.head) endsAt[spanOf(arc)[1] - 1].push(index);
  });
  /** @type {number[]} */
  const centres = [];
  let edge = MARGIN;
  wordLengths.forEach((length, at) => {
    let centre = edge + length / 2;
    for (const index of endsAt[at]) {
      const left = spanOf(arcs[index])[0];
      const needed = labelLengths[index] + LABEL_PAD;
      const start = centres[left - 1] + offset(index, left);
      centre = Math.max(centre, start + needed - offset(index, at + 1));
    }
    centres.push(centre);
    edge = centre + length / 2 + WORD_GAP;
  });
  const legs = arcs.map((arc, index) => legsOf(arc, centres, (end) => offset(index, end)));
  return { centres, legs, width: edge };
}

/**
 * @param {Arc} arc
 * @param {number[]} centres
 * @param {(position: number) => number} offset
 * @returns {[number, number]}
 */
export function legsOf(arc, centres, offset) {
  /** @param {number} end */
  const at = (end) => centres[end - 1] + offset(end);
  return [at(arc.head || arc.dependent), at(arc.dependent)];
}

/**
 * Turn places around for words that go from right to left.
 *
 * @param {Places} places
 * @returns {Places}
 */
export function mirror({ centres, legs, width }) {
  return {
    centres: centres.map((centre) => width - centre),
    legs: legs.map(([start, end]) => [width - start, width - end]),
    width,
  };
}
