/**
 * A palette: a field to type in, and what fits, the likeliest first. Enter takes what is marked.
 */

import { element } from "../dom.js";
import { chance } from "./tree.js";

/**
 * @typedef {object} Item
 * @property {string} value
 * @property {string} [text] shown instead of the value
 * @property {string} [help]
 * @property {number | null} [p]
 * @property {boolean} [isOn]
 * @property {string[]} [keys] what can be typed for it, in place of value and text
 */

/**
 * @typedef {object} Options
 * @property {string} title
 * @property {string} [hint]
 * @property {string} [typed] what stands in the field at first
 * @property {boolean} [takesAny] whether what was typed can be taken as it is
 * @property {boolean} [staysOpen]
 * @property {(typed: string) => Item[]} items
 * @property {(value: string) => void} onTake
 * @property {string} [dir]
 */

const MOST = 60;

/**
 * Show items that start with what was typed before those that only have it inside.
 *
 * @param {Item[]} items
 * @param {string} typed
 */
export function matching(items, typed) {
  const wanted = typed.trim().toLocaleLowerCase();
  if (!wanted) return items.slice(0, MOST);
  const ranked = items.map((item, index) => {
    const names = (item.keys ?? [item.value, item.text ?? ""]).map((key) =>
      key.toLocaleLowerCase(),
    );
    const isWhole = names.some((name) => name === wanted);
    const isStart = names.some((name) => name.startsWith(wanted));
    const isInside = [...names, (item.help ?? "").toLocaleLowerCase()].some((n) =>
      n.includes(wanted),
    );
    return { item, index, rank: isWhole ? 0 : isStart ? 1 : isInside ? 2 : 3 };
  });
  return ranked
    .filter(({ rank }) => rank < 3)
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ item }) => item)
    .slice(0, MOST);
}

/**
 * Make the palette of the page; it is one dialog that is filled anew each time.
 *
 * @param {HTMLDialogElement} dialog
 */
export function palette(dialog) {
  const title = element("h2", { id: "palette-title" });
  const hint = element("p", { class: "facts", id: "palette-hint" });
  const list = element("ul", {
    id: "palette-list",
    role: "listbox",
    "aria-labelledby": "palette-title",
  });
  const input = element("input", {
    type: "text",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-labelledby": "palette-title",
    "aria-describedby": "palette-hint",
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
  });
  const close = element(
    "button",
    { type: "button", class: "quiet wb-close", "aria-label": "Close" },
    "✕",
  );
  dialog.append(element("header", {}, title, close), input, hint, list);
  dialog.setAttribute("aria-labelledby", "palette-title");
  /** @type {Options | null} */
  let options = null;
  /** @type {Item[]} */
  let items = [];
  let active = 0;

  function fill() {
    if (!options) return;
    items = matching(options.items(input.value), input.value);
    const typed = input.value.trim();
    if (options.takesAny && typed && !items.some((item) => item.value === typed))
      items.push({ value: typed, text: `“${typed}”`, help: "as typed" });
    active = Math.min(active, Math.max(items.length - 1, 0));
    paint();
  }

  function paint() {
    list.replaceChildren(
      ...items.map((item, index) =>
        element(
          "li",
          { id: `item-${index}`, role: "option", "aria-selected": String(index === active) },
          element("bdi", { class: "wb-item" }, (item.isOn ? "✓ " : "") + (item.text ?? item.value)),
          element("span", { class: "wb-help" }, item.help ?? ""),
          element("span", { class: "number" }, item.p ? chance(item.p) : ""),
        ),
      ),
    );
    if (items.length) input.setAttribute("aria-activedescendant", `item-${active}`);
    else input.removeAttribute("aria-activedescendant");
    list.children[active]?.scrollIntoView({ block: "nearest" });
    hint.textContent = items.length ? (options?.hint ?? "") : "Nothing fits.";
  }

  /** @param {Item | undefined} item */
  function take(item) {
    if (!item || !options) return;
    const { onTake, staysOpen } = options;
    if (!staysOpen) dialog.close();
    onTake(item.value);
    if (!staysOpen) return;
    input.value = "";
    fill();
  }

  input.addEventListener("input", () => {
    active = 0;
    fill();
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && items.length) active = (active + step + items.length) % items.length;
    else if (event.key === "Enter") take(items[active]);
    else return;
    event.preventDefault();
    if (step) paint();
  });
  list.addEventListener("click", (event) => {
    const row = event.target instanceof Element && event.target.closest("li");
    if (row) take(items[[...list.children].indexOf(row)]);
  });
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

  return {
    /** @param {Options} next */
    open(next) {
      options = next;
      title.textContent = next.title;
      input.value = next.typed ?? "";
      input.dir = next.dir ?? "auto";
      active = 0;
      fill();
      dialog.showModal();
      input.focus();
      input.select();
    },
    /** Fill anew, since what is shown has changed. */
    refresh: () => dialog.open && fill(),
  };
}
