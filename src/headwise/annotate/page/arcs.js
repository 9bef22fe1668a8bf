/**
 * Arcs over words that stand in lines, and beside words that stand below each other. What is drawn is
 * described first; what is on the page already stays, so that an edit costs only the arcs it changes.
 */

import { setAttribute, shape } from "../dom.js";
import { across, endsOf, f, partsOn } from "./geometry.js";

/** @typedef {import("./tree.js").DrawnArc} DrawnArc */
/** @typedef {import("./geometry.js").Part<DrawnArc>} Part */

/**
 * @typedef {object} Drawing of an arc, or of its part on one line
 * @property {DrawnArc} arc
 * @property {number} y what all heights in it are counted from
 * @property {[name: keyof SVGElementTagNameMap, attributes: Record<string, string>, ...text: string[]][]} shapes
 */

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
 * @returns {Drawing[]}
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
        if (!isHere) return { x: side(id), y: 0, isOpen: true };
        const box = boxes[id - 1];
        const gap = Math.min(END_GAP, box.width / 5);
        return { x: box.middle + (isRtl ? -1 : 1) * gap * steps, y: 0, isOpen: false };
      };
      const steps = ends.get(part) ?? { head: 0, dependent: 0 };
      const end = at(arc.dependent, part.hasDependent, steps.dependent);
      const top = -part.level * STEP;
      if (arc.head === 0)
        return arcShape(arc, floor, `M${f(end.x)},${f(top + 4)}V-4`, end, end.x, top - 2, "");
      const start = at(arc.head, part.hasHead, steps.head);
      const [low, high] = [Math.min(start.x, end.x), Math.max(start.x, end.x)];
      const named = `${arc.label} ← ${short(arc.headForm)}`;
      const isWhole = part.hasDependent && part.hasHead;
      // Where there is room, an arc from another line says where it comes from.
      const text = !isWhole && high - low > named.length * 6.8 ? named : arc.label;
      const line = across(start, end.isOpen ? end : { ...end, y: -4 }, top);
      const label = part.hasDependent ? text : "";
      return arcShape(arc, floor, line, part.hasDependent ? end : null, (low + high) / 2, top - 5, label, [
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
 * @param {number} floor where its line stands; all else is relative to it
 * @param {string} line
 * @param {{x: number, y: number} | null} tip
 * @param {number} x of the label
 * @param {number} y
 * @param {string} text
 * @param {[number, number, number]} [room] the ends of the arc and the width of the picture
 * @returns {Drawing}
 */
function arcShape(arc, floor, line, tip, x, y, text, room) {
  const label = arc.head === 0 ? arc.label : text;
  const half = label.length * 3.4 + (arc.isLocked ? 14 : 2);
  const middle = room ? Math.min(Math.max(x, half), room[2] - half) : x;
  /** @type {Drawing["shapes"]} */
  const shapes = [
    ["path", { class: "hit", d: line }],
    ["path", { class: "line", d: line }],
  ];
  if (tip) shapes.push(["path", { class: "tip", d: `M${f(tip.x)},${f(tip.y + 1)}l-4,-7h8z` }]);
  if (label) {
    const place = { x: f(middle + (arc.isLocked ? 6 : 0)), y: f(y) };
    shapes.push(["text", { class: "label", ...place }, label]);
    if (arc.isLocked) shapes.push(lock(middle + 7 - half, y - 4));
  }
  return { arc, y: floor, shapes };
}

/** @param {number} x @param {number} y @returns {Drawing["shapes"][number]} */
function lock(x, y) {
  return ["path", { class: "lock", d: LOCK, transform: `translate(${f(x)} ${f(y)})` }];
}

/**
 * Draw arcs beside rows; labels stand in the rows.
 *
 * @param {HTMLElement} root
 * @param {HTMLElement} list
 * @param {HTMLElement[]} options
 * @param {DrawnArc[]} arcs
 * @returns {Drawing[]}
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
    /** @type {Drawing["shapes"]} */
    const shapes = [
      ["path", { class: "line", d: line }],
      ["path", { class: "tip", d: tip }],
    ];
    if (!arc.head)
      shapes.push(["circle", { class: "tip", cx: f(x(out)), cy: f(end), r: "3" }]);
    return { arc, y: 0, shapes };
  });
}

/**
 * Make a function that puts drawings in the place of those before. Arcs that look the same stay the
 * elements that they are.
 *
 * @param {SVGElement} canvas
 */
export function painter(canvas) {
  /** @type {Map<string, SVGElement>} */
  let painted = new Map();

  return (/** @type {Drawing[]} */ drawings) => {
    /** @type {typeof painted} */
    const next = new Map();
    for (const { arc, y, shapes } of drawings) {
      let key = JSON.stringify([arc.dependent, shapes]);
      while (next.has(key)) key += "'";
      const made = painted.get(key) ?? elementOf(arc, shapes);
      const selected = made.classList.contains("selected") ? " selected" : "";
      setAttribute(made, "class", `wb-arc ${arc.kind}${selected}`);
      setAttribute(made, "transform", `translate(0 ${f(y)})`);
      const p = arc.p.toFixed(2);
      if (made.style.getPropertyValue("--p") !== p) made.style.setProperty("--p", p);
      next.set(key, made);
    }
    const stays = new Set(next.values());
    for (const old of painted.values()) if (!stays.has(old)) old.remove();
    let place = canvas.firstChild;
    for (const made of stays)
      if (made === place) place = place.nextSibling;
      else canvas.insertBefore(made, place);
    painted = next;
  };
}

/** @param {DrawnArc} arc @param {Drawing["shapes"]} shapes */
function elementOf({ dependent }, shapes) {
  const made = shapes.map(([name, attributes, ...text]) => shape(name, attributes, ...text));
  return shape("g", { "data-id": dependent }, ...made);
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
