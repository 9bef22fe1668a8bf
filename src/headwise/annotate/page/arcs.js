/**
 * Arcs over words that stand in lines, and beside words that stand below each other.
 */

import { shape } from "../dom.js";
import { across, endsOf, f, partsOn } from "./geometry.js";

/** @typedef {import("./tree.js").DrawnArc} DrawnArc */
/** @typedef {import("./geometry.js").Part<DrawnArc>} Part */

const STEP = 26;
const FLOOR = 6;
const END_GAP = 8;
const VERTICAL_STEP = 13;
const LOCK = "M-4,-1v-2.5a2.6,2.6 0 0 1 5.2,0v2.5m-6.4,0h7.6v5.6h-7.6z";

/**
 * Make room above each line of words and draw its arcs.
 *
 * @param {HTMLElement} root
 * @param {HTMLElement} list
 * @param {HTMLElement[]} options
 * @param {DrawnArc[]} arcs
 * @returns {SVGElement[]}
 */
export function drawLines(root, list, options, arcs) {
  if (list.style.paddingInlineStart) list.style.paddingInlineStart = "";
  const isRtl = list.dir === "rtl";
  const lines = linesOf(options, isRtl).map(([first, last]) => ({
    first,
    last,
    parts: partsOn(arcs, first, last),
  }));
  for (const { first, last, parts } of lines) {
    const levels = Math.max(1, ...parts.map((part) => part.level));
    const room = `${levels * STEP + 20}px`;
    for (let id = first; id <= last; id++) {
      const { style } = options[id - 1];
      if (style.marginTop !== room) style.marginTop = room;
    }
  }
  const boxes = boxesOf(options, root);
  const width = root.clientWidth;
  return lines.flatMap(({ first, parts }) => {
    const ends = endsOf(parts);
    const floor = boxes[first - 1].top - FLOOR + 2;
    return parts.map((part) => {
      const { arc } = part;
      const side = (/** @type {number} */ id) => (id < first === isRtl ? width - 2 : 2);
      const at = (
        /** @type {number} */ id,
        /** @type {boolean} */ isHere,
        /** @type {number} */ steps,
      ) => {
        if (!isHere) return { x: side(id), y: floor, isOpen: true };
        const box = boxes[id - 1];
        const gap = Math.min(END_GAP, box.width / 5);
        return { x: box.middle + (isRtl ? -1 : 1) * gap * steps, y: floor, isOpen: false };
      };
      const steps = ends.get(part) ?? { head: 0, dependent: 0 };
      const end = at(arc.dependent, part.hasDependent, steps.dependent);
      const top = floor - part.level * STEP;
      if (arc.head === 0)
        return arcShape(arc, `M${f(end.x)},${f(top + 4)}V${f(floor - 4)}`, end, end.x, top - 2, "");
      const start = at(arc.head, part.hasHead, steps.head);
      const [low, high] = [Math.min(start.x, end.x), Math.max(start.x, end.x)];
      const named = `${arc.label} ← ${short(arc.headForm)}`;
      const isWhole = part.hasDependent && part.hasHead;
      // Where there is room, an arc from another line says where it comes from.
      const text = !isWhole && high - low > named.length * 6.8 ? named : arc.label;
      const line = across(start, end.isOpen ? end : { ...end, y: floor - 4 }, top);
      const label = part.hasDependent ? text : "";
      return arcShape(arc, line, part.hasDependent ? end : null, (low + high) / 2, top - 5, label, [
        low,
        high,
        width,
      ]);
    });
  });
}

/** @param {string} form */
function short(form) {
  return form.length > 14 ? `${form.slice(0, 13)}…` : form;
}

/**
 * Draw one arc; `tip` is where it ends at its dependent.
 *
 * @param {DrawnArc} arc
 * @param {string} line
 * @param {{x: number, y: number} | null} tip
 * @param {number} x of the label
 * @param {number} y
 * @param {string} text
 * @param {[number, number, number]} [room] the ends of the arc and the width of the picture
 */
function arcShape(arc, line, tip, x, y, text, room) {
  const label = arc.head === 0 ? arc.label : text;
  const half = label.length * 3.4 + (arc.isLocked ? 14 : 2);
  const middle = room ? Math.min(Math.max(x, half), room[2] - half) : x;
  const made = shape("g", { class: `wb-arc ${arc.kind}`, "data-id": arc.dependent });
  made.append(shape("path", { class: "hit", d: line }), shape("path", { class: "line", d: line }));
  if (tip) made.append(shape("path", { class: "tip", d: `M${f(tip.x)},${f(tip.y + 1)}l-4,-7h8z` }));
  if (label) {
    made.append(
      shape("text", { class: "label", x: f(middle + (arc.isLocked ? 6 : 0)), y: f(y) }, label),
    );
    if (arc.isLocked) made.append(lock(middle + 7 - half, y - 4));
  }
  made.style.setProperty("--p", String(arc.p));
  return made;
}

/** @param {number} x @param {number} y */
function lock(x, y) {
  return shape("path", { class: "lock", d: LOCK, transform: `translate(${f(x)} ${f(y)})` });
}

/**
 * Draw arcs beside rows; labels stand in the rows.
 *
 * @param {HTMLElement} root
 * @param {HTMLElement} list
 * @param {HTMLElement[]} options
 * @param {DrawnArc[]} arcs
 * @returns {SVGElement[]}
 */
export function drawVertical(root, list, options, arcs) {
  const parts = partsOn(arcs, 1, options.length);
  const levels = Math.max(1, ...parts.map((part) => part.level));
  const isRtl = list.dir === "rtl";
  const step = Math.min(VERTICAL_STEP, (root.clientWidth * 0.34) / levels);
  const room = (levels + 1) * step + 6;
  const before = isRtl ? root.clientWidth - list.offsetLeft - list.offsetWidth : list.offsetLeft;
  const gutter = before + room;
  for (const option of options) option.style.marginTop = "";
  list.style.paddingInlineStart = `${room}px`;
  const boxes = boxesOf(options, root);
  const x = (/** @type {number} */ value) => (isRtl ? root.clientWidth - value : value);
  const ends = endsOf(parts);
  return parts.map((part) => {
    const { arc } = part;
    const steps = ends.get(part) ?? { head: 0, dependent: 0 };
    const y = (/** @type {number} */ id, /** @type {number} */ n) =>
      boxes[id - 1].top + boxes[id - 1].height / 2 + n * Math.min(6, boxes[id - 1].height / 7);
    const end = y(arc.dependent, steps.dependent);
    const out = gutter - part.level * step - 4;
    const edge = gutter - 1;
    const start = arc.head ? y(arc.head, steps.head) : end;
    const turn = Math.min(6, Math.abs(end - start) / 2);
    const down = Math.sign(end - start);
    const toward = isRtl ? -1 : 1;
    const line = arc.head
      ? `M${f(x(edge))},${f(start)}H${f(x(out + turn))}q${f(-toward * turn)},0 ${f(-toward * turn)},${f(down * turn)}` +
        `V${f(end - down * turn)}q0,${f(down * turn)} ${f(toward * turn)},${f(down * turn)}H${f(x(edge - 4))}`
      : `M${f(x(out))},${f(end)}H${f(x(edge - 4))}`;
    const tip = `M${f(x(edge + 1))},${f(end)}l${-toward * 7},-4v8z`;
    const made = shape(
      "g",
      { class: `wb-arc ${arc.kind}`, "data-id": arc.dependent },
      shape("path", { class: "line", d: line }),
      shape("path", { class: "tip", d: tip }),
    );
    if (!arc.head) made.append(shape("circle", { class: "tip", cx: f(x(out)), cy: f(end), r: 3 }));
    made.style.setProperty("--p", String(arc.p));
    return made;
  });
}

/**
 * Find the first and last word of each line: where the next word does not go on.
 *
 * @param {HTMLElement[]} options
 * @param {boolean} isRtl
 * @returns {[number, number][]}
 */
function linesOf(options, isRtl) {
  /** @type {[number, number][]} */
  const lines = [];
  let edge = 0;
  for (const [index, option] of options.entries()) {
    const left = option.offsetLeft;
    const goesOn = index > 0 && (isRtl ? left < edge : left > edge);
    if (goesOn) lines[lines.length - 1][1] = index + 1;
    else lines.push([index + 1, index + 1]);
    edge = left;
  }
  return lines;
}

/** @param {HTMLElement[]} options @param {HTMLElement} root */
function boxesOf(options, root) {
  const origin = root.getBoundingClientRect();
  return options.map((option) => {
    const box = option.getBoundingClientRect();
    const left = box.left - origin.left + root.scrollLeft;
    const top = box.top - origin.top + root.scrollTop;
    return { left, top, width: box.width, height: box.height, middle: left + box.width / 2 };
  });
}
