/**
 * Messages above the tree: what was refused and why, and whether the server is there.
 */

import { element, getElement } from "../dom.js";

/** @typedef {{text: string, act: () => void}} Remedy */

/**
 * Show a message with buttons that resolve it; an empty one goes away.
 *
 * @param {"gone" | "refused"} id
 * @param {string} message
 * @param {(Remedy | null)[]} remedies
 */
export function bannerFor(id, message, ...remedies) {
  const box = getElement(id, HTMLElement);
  if (!message) return box.replaceChildren();
  const buttons = remedies
    .filter((remedy) => remedy !== null)
    .map(({ text, act }) => {
      const button = element("button", { type: "button" }, text);
      button.addEventListener("click", () => {
        box.replaceChildren();
        act();
      });
      return button;
    });
  const close = element(
    "button",
    { type: "button", class: "quiet", "aria-label": "Close this message" },
    "✕",
  );
  close.addEventListener("click", () => box.replaceChildren());
  const isLasting = id === "gone";
  box.replaceChildren(element("p", {}, message), ...buttons, ...(isLasting ? [] : [close]));
}

/** @param {{isGone: boolean, reason: string, nWaiting: number, isKept: boolean}} state */
export function sayGone({ isGone, reason, nWaiting, isKept }) {
  document.body.classList.toggle("wb-gone", isGone);
  if (!isGone)
    return bannerFor(
      "gone",
      isKept
        ? ""
        : "The browser has no room to keep edits. They are sent, but a crash could lose one.",
    );
  const edits = nWaiting === 1 ? "1 edit is" : `${nWaiting} edits are`;
  const waiting = !nWaiting
    ? ""
    : isKept
      ? ` ${edits} kept in this browser and will be sent.`
      : ` ${edits} kept on this page only: do not close it.`;
  const what = /started again/.test(reason)
    ? "Open its new link in this browser to go on."
    : `Start it again on port ${location.port}; you can go on meanwhile.`;
  const message = `${reason} ${what}${waiting}`;
  const box = getElement("gone", HTMLElement);
  if (box.textContent !== message) bannerFor("gone", message);
}
