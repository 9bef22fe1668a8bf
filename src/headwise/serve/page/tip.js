/**
 * One tip for the whole page: it explains what the pointer or the focus is on.
 *
 * It stays while the pointer is on it, and Escape closes it.
 */

import { element } from "./dom.js";

const DELAY = 150;
const GAP = 8;

const box = element("div", { id: "tip", role: "tooltip", hidden: "" });
let timer = 0;

/**
 * Show a tip while the pointer or the focus is on an element; without content, there is none.
 *
 * @param {Element} target
 * @param {() => (Node | string)[]} content
 */
export function explain(target, content) {
  const show = () => {
    window.clearTimeout(timer);
    const parts = content();
    if (!parts.length) return;
    if (!box.isConnected) connect();
    box.replaceChildren(...parts);
    box.hidden = false;
    place(target.getBoundingClientRect());
  };
  target.addEventListener("pointerenter", show);
  target.addEventListener("pointerleave", hideSoon);
  target.addEventListener("focus", show);
  target.addEventListener("blur", hide);
}

export function hide() {
  window.clearTimeout(timer);
  box.hidden = true;
}

function hideSoon() {
  window.clearTimeout(timer);
  timer = window.setTimeout(hide, DELAY);
}

function connect() {
  document.body.append(box);
  box.addEventListener("pointerenter", () => window.clearTimeout(timer));
  box.addEventListener("pointerleave", hideSoon);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("scroll", hide, { capture: true, passive: true });
}

/**
 * Put the tip above its target, where it covers no words, or below if there is no room.
 *
 * @param {DOMRect} around
 */
function place(around) {
  const { width, height } = box.getBoundingClientRect();
  const above = around.top - GAP - height;
  const top = above < 0 ? around.bottom + GAP : above;
  const left = around.left + around.width / 2 - width / 2;
  const most = document.documentElement.clientWidth - width - GAP;
  box.style.left = `${Math.max(GAP, Math.min(left, most))}px`;
  box.style.top = `${top}px`;
}
