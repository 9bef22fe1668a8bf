/**
 * Work that can wait until the browser has nothing better to do.
 */

const LATEST = 400;
const SOON = 50;

/** @param {() => void} work */
export function whenIdle(work) {
  // Safari does not say when it is idle.
  if ("requestIdleCallback" in window) requestIdleCallback(() => work(), { timeout: LATEST });
  else setTimeout(work, SOON);
}
