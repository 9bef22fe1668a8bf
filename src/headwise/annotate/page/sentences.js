/**
 * The list of sentences. Only the rows in view are elements, so that 200,000 sentences are as quick
 * as ten.
 */

import { element } from "../dom.js";
import { textOfRow } from "./blocks.js";
import { chance } from "./tree.js";

/** @typedef {import("./blocks.js").Row} Row */

const ROW = 46;
const SPARE = 8;
const SURE = 0.9;
const MARKS = { new: "", edited: "✎", done: "✓" };

/** @type {Record<string, (row: Row) => boolean>} */
const FILTERS = {
  all: () => true,
  unsure: (row) => row.status !== "done" && (row.certainty ?? 1) < SURE,
  edited: (row) => row.status === "edited",
  open: (row) => row.status !== "done",
  done: (row) => row.status === "done",
  checks: (row) => row.n_checks > 0,
};

/**
 * @param {HTMLElement} box that scrolls
 * @param {{rows: () => Row[], onOpen: (at: number) => void}} context
 */
export function sentenceList(box, { rows, onOpen }) {
  const list = element("div", {
    class: "wb-rows",
    role: "listbox",
    tabindex: 0,
    "aria-label": "Sentences",
  });
  const empty = element("p", { class: "facts wb-none" }, "No sentence is like this.");
  box.append(list, empty);
  let filter = "all";
  let order = "file";
  /** @type {number[]} */
  let shown = [];
  let current = 0;
  let active = 0;

  function arrange() {
    const all = rows();
    const keeps = FILTERS[filter];
    shown = [...all.keys()].filter((at) => keeps(all[at]) || at === current);
    const certainty = (/** @type {number} */ at) => all[at].certainty ?? 2;
    if (order === "unsure") shown.sort((a, b) => certainty(a) - certainty(b) || a - b);
    list.style.height = `${shown.length * ROW}px`;
    empty.hidden = shown.length > 0;
    paint();
  }

  function paint() {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - SPARE);
    const last = Math.ceil((box.scrollTop + (box.clientHeight || 600)) / ROW) + SPARE;
    const made = shown.slice(first, last).map((at, index) => rowElement(at, first + index));
    list.replaceChildren(...made);
    const isHere = shown[active] !== undefined && active >= first && active < last;
    if (isHere) list.setAttribute("aria-activedescendant", `row-${shown[active]}`);
    else list.removeAttribute("aria-activedescendant");
  }

  /** @param {number} at @param {number} place */
  function rowElement(at, place) {
    const row = rows()[at];
    const unsure = row.certainty !== null && row.status !== "done" ? chance(row.certainty) : "";
    const made = element(
      "div",
      {
        id: `row-${at}`,
        class: `wb-row ${row.status}`,
        role: "option",
        "data-at": at,
        "aria-selected": String(at === current),
        "aria-setsize": shown.length,
        "aria-posinset": place + 1,
        "aria-label": [
          `${at + 1}`,
          row.status === "new" ? "" : row.status,
          unsure && `least certain word ${unsure}`,
          row.n_checks ? `${row.n_checks} checks` : "",
          row.text,
        ]
          .filter(Boolean)
          .join(", "),
      },
      element("span", { class: "wb-row-number" }, String(at + 1)),
      element("bdi", { class: "wb-row-text" }, textOfRow(row)),
      element("span", { class: "wb-row-state" }, MARKS[row.status], row.n_checks ? " ⚠" : ""),
      element("span", { class: "wb-row-sure" }, unsure),
    );
    if (row.certainty !== null) made.style.setProperty("--p", String(row.certainty));
    made.classList.toggle("active", place === active);
    made.style.top = `${place * ROW}px`;
    return made;
  }

  /** @param {number} place */
  function reveal(place) {
    const top = place * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW > box.scrollTop + box.clientHeight)
      box.scrollTop = top + ROW - box.clientHeight;
  }

  list.addEventListener("click", (event) => {
    const row = event.target instanceof Element && event.target.closest(".wb-row");
    if (row instanceof HTMLElement) onOpen(Number(row.dataset.at));
  });
  list.addEventListener("keydown", (event) => {
    const page = Math.floor(box.clientHeight / ROW);
    /** @type {Record<string, number>} */
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -shown.length,
      End: shown.length,
    };
    const step = steps[event.key];
    if (event.key === "Enter" || event.key === " ") onOpen(shown[active]);
    else if (step === undefined) return;
    else {
      active = Math.min(Math.max(active + step, 0), shown.length - 1);
      reveal(active);
      paint();
    }
    event.preventDefault();
    event.stopPropagation();
  });
  box.addEventListener("scroll", paint, { passive: true });
  new ResizeObserver(paint).observe(box);

  return {
    arrange,
    paint,
    /** @param {string} nextFilter @param {string} nextOrder */
    choose(nextFilter, nextOrder) {
      filter = nextFilter in FILTERS ? nextFilter : "all";
      order = nextOrder;
      box.scrollTop = 0;
      arrange();
    },
    /** @param {number} at */
    setCurrent(at) {
      current = at;
      if (!shown.includes(at)) arrange();
      active = Math.max(0, shown.indexOf(at));
      reveal(active);
      paint();
    },
    /** Find the sentence that comes after one, first among those that are not done. @param {number} at @param {number} step @param {boolean} isOpen */
    after(at, step, isOpen) {
      const all = rows();
      const place = shown.indexOf(at);
      for (let next = place + step; next >= 0 && next < shown.length; next += step)
        if (!isOpen || all[shown[next]].status !== "done") return shown[next];
      if (!isOpen) return null;
      return shown.find((one) => one !== at && all[one].status !== "done") ?? null;
    },
  };
}
