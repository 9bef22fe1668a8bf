/**
 * Where arcs go. A sentence is broken into lines of words; an arc whose ends are on different lines
 * leaves its line at one side and enters the other at the other side.
 */

/**
 * @typedef {object} Arc
 * @property {number} dependent from 1
 * @property {number} head 0 is ROOT
 */

/**
 * @template {Arc} A
 * @typedef {object} Part of an arc on one line
 * @property {A} arc
 * @property {number} from the first word or, one less than the first of the line, its start
 * @property {number} to the last word or, one more than the last of the line, its end
 * @property {boolean} hasHead
 * @property {boolean} hasDependent
 * @property {number} level from 1
 */

/**
 * Find the parts of arcs on the line with the words `first` to `last`, shorter ones below longer
 * ones that span them.
 *
 * Example: on a line with all words, the arcs 1 <- 2, 2 <- 4 and 3 <- 4 have the levels 1, 2 and 1.
 *
 * @template {Arc} A
 * @param {A[]} arcs
 * @param {number} first
 * @param {number} last
 * @returns {Part<A>[]}
 */
export function partsOn(arcs, first, last) {
  /** @param {number} id */
  const isHere = (id) => first <= id && id <= last;
  /** @type {Part<A>[]} */
  const parts = [];
  for (const arc of arcs) {
    const { head, dependent } = arc;
    const hasDependent = isHere(dependent);
    const hasHead = head > 0 && isHere(head);
    if (!hasDependent && !hasHead) continue;
    const left = head ? Math.min(head, dependent) : dependent;
    const right = head ? Math.max(head, dependent) : dependent;
    const [from, to] = [Math.max(left, first - 1), Math.min(right, last + 1)];
    parts.push({ arc, from, to, hasHead, hasDependent, level: 0 });
  }
  // Of arcs that leave the line at one word, the longer one is outside.
  const length = (/** @type {Part<A>} */ { from, to, arc }) =>
    to - from + 0.001 * Math.abs(arc.head - arc.dependent);
  parts.sort((a, b) => length(a) - length(b));
  /** @type {number[]} the height so far between a word and the next one */
  const heights = Array(last - first + 3).fill(0);
  const gap = (/** @type {number} */ id) => id - first + 1;
  for (const part of parts.filter(({ arc }) => arc.head > 0)) {
    part.level = 1 + Math.max(...heights.slice(gap(part.from), gap(part.to)));
    heights.fill(part.level, gap(part.from), gap(part.to));
  }
  for (const part of parts.filter(({ arc }) => arc.head === 0))
    part.level = 1 + Math.max(heights[gap(part.from) - 1], heights[gap(part.from)]);
  return parts;
}

/**
 * Order the ends of arcs at each word so that nested arcs do not cross: those to words before it,
 * shortest first, ROOT, those to words after it, longest first. Gives each end as a number of steps
 * from the middle of the word.
 *
 * @param {Part<Arc>[]} parts
 * @returns {Map<Part<Arc>, {head: number, dependent: number}>}
 */
export function endsOf(parts) {
  /** @type {Map<number, {part: Part<Arc>, side: "head" | "dependent", rank: number}[]>} */
  const atWord = new Map();
  for (const part of parts) {
    const { head, dependent } = part.arc;
    const add = (/** @type {"head" | "dependent"} */ side, /** @type {number} */ id) => {
      const isFirst = id === Math.min(head || dependent, dependent);
      const length = part.to - part.from + 0.001 * Math.abs(head - dependent);
      const rank = head === 0 ? 0 : isFirst ? 1 / length : -1 / length;
      const ends = atWord.get(id) ?? [];
      ends.push({ part, side, rank });
      atWord.set(id, ends);
    };
    if (part.hasDependent) add("dependent", dependent);
    if (part.hasHead) add("head", head);
  }
  const result = new Map(parts.map((part) => [part, { head: 0, dependent: 0 }]));
  for (const ends of atWord.values()) {
    ends.sort((a, b) => a.rank - b.rank);
    for (const [index, { part, side }] of ends.entries()) {
      const steps = result.get(part);
      if (steps) steps[side] = index - (ends.length - 1) / 2;
    }
  }
  return result;
}

/**
 * Draw a line from one end up to a height, across and down, with round corners. An end that is null
 * is the side of the line, where the arc goes on.
 *
 * @param {{x: number, y: number, isOpen: boolean}} from
 * @param {{x: number, y: number, isOpen: boolean}} to
 * @param {number} top
 */
export function across(from, to, top) {
  const side = Math.sign(to.x - from.x) || 1;
  const corner = Math.min(8, Math.abs(to.x - from.x) / 2, Math.abs(from.y - top) || 8);
  const start = from.isOpen
    ? `M${f(from.x)},${f(top)}`
    : `M${f(from.x)},${f(from.y)}V${f(top + corner)}q0,${f(-corner)} ${f(side * corner)},${f(-corner)}`;
  const end = to.isOpen
    ? `H${f(to.x)}`
    : `H${f(to.x - side * corner)}q${f(side * corner)},0 ${f(side * corner)},${f(corner)}V${f(to.y)}`;
  return start + end;
}

/** @param {number} value */
export function f(value) {
  return value.toFixed(1);
}
