/**
 * How far the document is, and how long the rest will take. Time counts while the person works: a
 * pause of over a minute counts as a minute.
 */

import { remember } from "./store.js";

const LONGEST_PAUSE = 60_000;
const KEPT = 40;

/** @param {number} seconds */
export function sayTime(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(seconds < 36_000 ? 1 : 0)} h`;
}

/** @param {string} name of the document */
export function stopwatch(name) {
  const kept = remember(`times:${name}`, []);
  let worked = 0;
  let last = performance.now();

  /** Count the time since the last sign of life. */
  function tick() {
    const now = performance.now();
    worked += Math.min(now - last, LONGEST_PAUSE);
    last = now;
  }
  for (const kind of ["keydown", "pointerdown", "wheel"])
    window.addEventListener(kind, tick, { passive: true, capture: true });

  return {
    /** Start the time of another sentence. */
    restart() {
      worked = 0;
      last = performance.now();
    },
    /** A sentence is done. */
    lap() {
      tick();
      kept.set([...kept.get(), Math.round(worked)].slice(-KEPT));
      worked = 0;
    },
    /** The usual time of a sentence in seconds, or null. @returns {number | null} */
    usual() {
      const times = [...kept.get()].sort((a, b) => a - b);
      return times.length < 3 ? null : times[Math.floor(times.length / 2)] / 1000;
    },
  };
}

/**
 * @param {number} nDone
 * @param {number} nAll
 * @param {number | null} usual seconds for a sentence
 */
export function sayProgress(nDone, nAll, usual) {
  const count = `${nDone.toLocaleString("en")} of ${nAll.toLocaleString("en")} done`;
  if (usual === null || nDone === nAll) return count;
  return `${count} · ${sayTime(usual)} a sentence · ${sayTime(usual * (nAll - nDone))} left`;
}
