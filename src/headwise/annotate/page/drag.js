/**
 * Drag a word to its head, with the pointer or a finger. Above the words is the place of ROOT.
 */

import { shape } from "../dom.js";

const FAR = 7;

/**
 * @param {HTMLElement} root of the tree
 * @param {SVGSVGElement} canvas
 * @param {(dependent: number, head: number) => void} onHead
 */
export function dragHeads(root, canvas, onHead) {
  /** @type {{id: number, x: number, y: number, line: SVGPathElement | null} | null} */
  let drag = null;

  root.addEventListener("pointerdown", (event) => {
    const word = event.target instanceof Element ? event.target.closest(".wb-word") : null;
    if (!(word instanceof HTMLElement) || event.button !== 0) return;
    const isVertical = root.classList.contains("vertical");
    const onGrip = event.target instanceof Element && event.target.closest(".wb-grip");
    // In rows, a finger elsewhere scrolls.
    if (event.pointerType !== "mouse" && isVertical && !onGrip) return;
    drag = { id: Number(word.dataset.id), x: event.clientX, y: event.clientY, line: null };
    if (word.hasPointerCapture(event.pointerId)) word.releasePointerCapture(event.pointerId);
  });

  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const distance = Math.hypot(event.clientX - drag.x, event.clientY - drag.y);
    if (!drag.line && distance < FAR) return;
    if (!drag.line) {
      drag.line = shape("path", { class: "wb-drag" });
      canvas.append(drag.line);
      root.classList.add("dragging");
    }
    const origin = canvas.getBoundingClientRect();
    const [x1, y1] = [drag.x - origin.left, drag.y - origin.top];
    const [x2, y2] = [event.clientX - origin.left, event.clientY - origin.top];
    const rise = Math.min(80, Math.abs(x2 - x1) / 3 + 12);
    const d = `M${x1},${y1}C${x1},${y1 - rise} ${x2},${y2 - rise} ${x2},${y2}`;
    drag.line.setAttribute("d", d);
    const over = headAt(event);
    for (const word of root.querySelectorAll(".wb-word.target")) word.classList.remove("target");
    if (over) root.querySelector(`.wb-word[data-id="${over}"]`)?.classList.add("target");
    root.classList.toggle("to-root", over === 0);
    event.preventDefault();
  });

  /** @param {PointerEvent} event @returns {number | null} */
  function headAt(event) {
    const under = document.elementFromPoint(event.clientX, event.clientY);
    const word = under?.closest(".wb-word");
    if (word instanceof HTMLElement && root.contains(word)) {
      const id = Number(word.dataset.id);
      return id === drag?.id ? null : id;
    }
    return under?.closest(".wb-root") ? 0 : null;
  }

  /** @param {PointerEvent} event */
  function end(event) {
    if (!drag) return;
    const { id, line } = drag;
    const head = line && event.type === "pointerup" ? headAt(event) : null;
    line?.remove();
    drag = null;
    root.classList.remove("dragging", "to-root");
    for (const word of root.querySelectorAll(".wb-word.target")) word.classList.remove("target");
    if (head !== null) onHead(id, head);
  }
  window.addEventListener("pointerup", end);
  window.addEventListener("pointercancel", end);
  // A drag must not select text.
  root.addEventListener("dragstart", (event) => event.preventDefault());
}
