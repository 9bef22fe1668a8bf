/**
 * The CoNLL-U of the sentence as a table whose cells can be changed, or as text. What a check finds
 * is marked at its cell.
 */

import { element } from "../dom.js";
import { COLUMNS, faultsOf, linesOf } from "./conllu.js";
import { whenIdle } from "./idle.js";

/**
 * @typedef {object} Check
 * @property {number} [level] of the UD validator; 0 is a remark
 * @property {number | null} word
 * @property {string | null} column
 * @property {string} message
 */

/**
 * @param {HTMLElement} root
 * @param {{onCell: (id: number, column: string, value: string) => void,
 *          onText: (block: string) => void}} events
 */
export function conlluPane(root, events) {
  const table = element("div", {
    class: "wb-table",
    tabindex: 0,
    role: "region",
    "aria-label": "Table of the sentence",
  });
  const text = element("textarea", {
    class: "wb-text",
    spellcheck: "false",
    "aria-label": "CoNLL-U as text",
    wrap: "off",
  });
  const faults = element("ul", { class: "wb-checks", "aria-label": "Checks" });
  const asText = element("button", { type: "button", "aria-pressed": "false" }, "Edit as text");
  const apply = element(
    "button",
    { type: "button", class: "wb-apply" },
    "Apply ",
    element("kbd", {}, "Ctrl+Enter"),
  );
  const bar = element("div", { class: "wb-pane-bar" }, asText, apply);
  root.append(bar, faults, table, text);
  text.hidden = apply.hidden = true;
  let block = "";
  /** @type {Check[]} */
  let checks = [];

  /** @param {string} next @param {Check[]} nextChecks */
  function show(next, nextChecks) {
    const isSame = next === block;
    block = next;
    checks = nextChecks;
    if (text.hidden || !isSame) text.value = block;
    // The tree comes first.
    if (root.closest("details")?.open !== false) whenIdle(paint);
    listFaults(checks.map(sayCheck), checks.map(isFault));
  }

  /** @type {Map<string, HTMLElement>} */
  let rows = new Map();

  /** Rows that stay the same are not made again. */
  function paint() {
    /** @type {Map<string, HTMLElement>} */
    const next = new Map();
    for (const line of linesOf(block).filter((one) => one !== "" && !one.startsWith("#"))) {
      const id = parseInt(line);
      const key = `${line}\n${checks.map((one) => (one.word === id ? one.message : "")).join("")}`;
      next.set(key, rows.get(key) ?? rowOf(line.split("\t")));
    }
    rows = next;
    const names = COLUMNS.map((name) => element("th", { scope: "col" }, name.toUpperCase()));
    const comments = linesOf(block).filter((line) => line.startsWith("#"));
    table.replaceChildren(
      element(
        "p",
        { class: "wb-comments" },
        ...comments.flatMap((line) => [element("bdi", {}, line), element("br")]),
      ),
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, ...names)),
        element("tbody", {}, ...rows.values()),
      ),
    );
  }

  /** @param {string[]} cells */
  function rowOf(cells) {
    const isWord = /^\d+$/.test(cells[0]);
    const id = isWord ? Number(cells[0]) : 0;
    const made = cells.map((cell, index) => {
      const column = COLUMNS[index];
      const fault = checks.filter(
        (one) =>
          isFault(one) &&
          isWord &&
          one.word === id &&
          (one.column ?? "id").toLowerCase() === column,
      );
      const message = fault.map((one) => one.message).join("; ");
      const button =
        isWord &&
        index > 0 &&
        element(
          "button",
          {
            type: "button",
            "data-id": id,
            "data-column": column,
            "aria-label": `${column.toUpperCase()} of ${cells[1]}: ${cell}${message ? `. ${message}` : ""}`,
          },
          element("bdi", {}, cell),
        );
      return element(
        index ? "td" : "th",
        { class: message ? "faulty" : "", title: message, scope: index ? null : "row" },
        button || cell,
      );
    });
    return element("tr", { "data-id": id || null }, ...made);
  }

  table.addEventListener("click", (event) => {
    const cell = event.target instanceof Element && event.target.closest("button");
    if (cell instanceof HTMLButtonElement) edit(cell);
  });

  /** @param {HTMLButtonElement} cell */
  function edit(cell) {
    const { id, column } = cell.dataset;
    const before = cell.textContent ?? "";
    const input = element("input", {
      type: "text",
      value: before,
      "aria-label": cell.getAttribute("aria-label"),
      spellcheck: "false",
    });
    input.style.width = `${Math.max(6, before.length + 2)}ch`;
    cell.replaceWith(input);
    input.focus();
    input.select();
    let isOver = false;
    /** @param {boolean} isTaken */
    const end = (isTaken) => {
      if (isOver) return;
      isOver = true;
      const value = input.value.trim() || "_";
      input.replaceWith(cell);
      cell.focus();
      if (isTaken && value !== before) events.onCell(Number(id), column ?? "", value);
    };
    input.addEventListener("blur", () => end(true));
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") end(true);
      else if (event.key === "Escape") end(false);
      event.stopPropagation();
    });
  }

  /** @param {boolean} isText */
  function turn(isText) {
    asText.setAttribute("aria-pressed", String(isText));
    text.hidden = apply.hidden = !isText;
    table.hidden = isText;
    text.rows = Math.min(24, linesOf(block).length + 1);
    text.value = block;
    if (isText) text.focus();
  }

  function take() {
    const typed = text.value.replace(/\n*$/, "\n\n");
    if (faultsOf(typed).length || typed === block) return;
    turn(false);
    events.onText(typed);
  }

  /** @param {string[]} messages @param {boolean[]} [grave] */
  function listFaults(messages, grave = []) {
    const items = messages.map((message, index) =>
      element("li", { class: grave[index] === false ? "remark" : "" }, message),
    );
    faults.replaceChildren(...items);
  }

  asText.addEventListener("click", () => turn(text.hidden));
  apply.addEventListener("click", take);
  text.addEventListener("input", () => {
    const found = faultsOf(text.value.replace(/\n*$/, "\n\n"));
    apply.disabled = found.length > 0;
    text.setAttribute("aria-invalid", String(found.length > 0));
    listFaults(
      found.map(
        ({ line, column, message }) =>
          `Line ${line + 1}${column ? `, ${column.toUpperCase()}` : ""}: ${message}`,
      ),
    );
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) take();
    else if (event.key === "Escape") turn(false);
    else if (
      event.key === "Tab" &&
      !event.shiftKey &&
      !event.altKey &&
      text.selectionStart !== null
    ) {
      // CoNLL-U needs tabs; Escape leaves the field.
      text.setRangeText("\t", text.selectionStart, text.selectionEnd, "end");
      event.preventDefault();
    }
    event.stopPropagation();
  });
  root.closest("details")?.addEventListener("toggle", paint);

  return { show };
}

/** Whether it is wrong, not only rare. @param {Check} check */
export function isFault({ level }) {
  return level !== 0;
}

/** @param {Check} check */
function sayCheck({ word, column, message }) {
  const where = [word ? `word ${word}` : "", column ? column.toUpperCase() : ""].filter(Boolean);
  return where.length ? `${where.join(", ")}: ${message}` : message;
}
