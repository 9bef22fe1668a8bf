/**
 * Teach: train the model on what was finished, in the background, and switch to it if it is better.
 */

import { element } from "../dom.js";
import { sayTime } from "./progress.js";
import { Refused, Unreachable, ask } from "./server.js";

const POLL = 2_000;

/**
 * @param {HTMLDialogElement} dialog
 * @param {{nDone: () => number, onSwitch: () => void}} context
 */
export function teachDialog(dialog, { nDone, onSwitch }) {
  const close = element(
    "button",
    { type: "button", class: "quiet wb-close", "aria-label": "Close" },
    "✕",
  );
  const about = element("p", {});
  const start = element("button", { type: "button", class: "main" });
  const bar = element("progress", { max: 1, "aria-label": "Training" });
  const message = element("p", { role: "status" });
  const result = element("div", {});
  const change = element("button", { type: "button", class: "main" }, "Switch to the new model");
  dialog.append(
    element("header", {}, element("h2", {}, "Teach"), close),
    about,
    start,
    bar,
    message,
    result,
    change,
  );
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {string} path @param {object} [body] */
  async function poll(path, body) {
    clearTimeout(timer);
    try {
      const state = await ask(path, body);
      show(state);
      if (state.state === "running" && dialog.open) timer = setTimeout(() => poll("teach"), POLL);
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
      message.textContent = [error.message, error instanceof Refused ? error.hint : ""].join(" ");
    }
  }

  /** @param {any} state */
  function show({ state, progress, seconds_left, before, after, message: said }) {
    const isRunning = state === "running";
    start.hidden = isRunning;
    bar.hidden = !isRunning;
    change.hidden = state !== "ready";
    if (typeof progress === "number") bar.value = progress;
    else bar.removeAttribute("value");
    const left =
      isRunning && typeof seconds_left === "number" ? `About ${sayTime(seconds_left)} left. ` : "";
    message.textContent = left + (said || (isRunning ? "Training; you can go on." : ""));
    result.replaceChildren(...(before && after ? [table(before, after)] : []));
  }

  start.addEventListener("click", () => poll("teach", {}));
  change.addEventListener("click", () =>
    ask("teach/switch", {}).then(
      () => {
        dialog.close();
        onSwitch();
      },
      (error) => (message.textContent = error.message),
    ),
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => clearTimeout(timer));

  return {
    open() {
      const n = nDone();
      const many = n === 1 ? "1 finished sentence" : `${n.toLocaleString("en")} finished sentences`;
      about.textContent = n
        ? `The parser can learn from your ${many}. A part of them is held out to see whether it helps. You can go on while it trains, and decide then.`
        : "The parser can learn from sentences that you have finished (Enter). There are none yet.";
      start.textContent = `Learn from ${many}`;
      start.disabled = n === 0;
      show({ state: "idle" });
      dialog.showModal();
      poll("teach");
    },
  };
}

/** @param {Record<string, number>} before @param {Record<string, number>} after */
function table(before, after) {
  /** @param {number} value */
  const shown = (value) => `${value.toFixed(1)}%`;
  const rows = ["uas", "las"].map((key) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, key.toUpperCase()),
      element("td", { class: "number" }, shown(before[key])),
      element("td", { class: "number" }, shown(after[key])),
    ),
  );
  const heads = ["on held-out sentences", "before", "after"].map((name) =>
    element("th", { scope: "col" }, name),
  );
  return element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows),
  );
}
