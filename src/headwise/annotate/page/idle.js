/**
 * Work that can wait: until what has changed is on the screen, or until the browser has nothing
 * better to do.
 */

const LATEST = 400;
const SOON = 50;

/** @param {() => void} work */
export function whenIdle(work) {
  // Safari does not say when it is idle.
  if ("requestIdleCallback" in window) requestIdleCallback(() => work(), { timeout: LATEST });
  else setTimeout(work, SOON);
}

/** @param {() => void} work */
export function whenPainted(work) {
  // A page in the background is not painted.
  if (document.hidden) setTimeout(work);
  else requestAnimationFrame(() => setTimeout(work));
}
