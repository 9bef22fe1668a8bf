/**
 * Edits that the server does not have yet, kept in the browser: a reload or a closed tab loses none.
 * Each tab keeps its own; those of tabs that are gone are taken over by the next one.
 */

const PREFIX = "headwise-annotate";

/**
 * @typedef {object} Edit a splice of the document
 * @property {number} at
 * @property {string[]} removed
 * @property {string[]} insert
 * @property {string} tag what was done, in words
 */

/**
 * Open the store of a document.
 *
 * @param {string} name of the document
 */
export async function openStore(name) {
  const tab = await ownTab();
  const prefix = `${PREFIX}:${name}:`;
  const key = prefix + tab;

  /** @returns {Edit[]} */
  function read() {
    try {
      return JSON.parse(localStorage.getItem(key) ?? "[]");
    } catch {
      return [];
    }
  }

  /** @param {Edit[]} edits @returns {boolean} false if the browser has no room for them */
  function write(edits) {
    try {
      if (edits.length) localStorage.setItem(key, JSON.stringify(edits));
      else localStorage.removeItem(key);
      return true;
    } catch {
      return false;
    }
  }

  /** Take over what tabs that are gone have left. */
  async function adopt() {
    const living = await livingTabs();
    const orphans = Object.keys(localStorage)
      .filter((one) => one.startsWith(prefix) && one !== key)
      .filter((one) => !living.has(one.slice(prefix.length)))
      .sort();
    for (const one of orphans) {
      const left = JSON.parse(localStorage.getItem(one) ?? "[]");
      if (write([...read(), ...left])) localStorage.removeItem(one);
    }
    return read();
  }

  return { write, adopt };
}

/** Hold a lock for as long as the tab lives; its name stays the same over a reload. */
async function ownTab() {
  const kept = sessionStorage.getItem(`${PREFIX}-tab`);
  const tab =
    kept && (await hold(kept)) ? kept : `${Date.now()}-${Math.random().toString(36).slice(2)}`;
  if (tab !== kept) await hold(tab);
  sessionStorage.setItem(`${PREFIX}-tab`, tab);
  return tab;
}

/** @param {string} tab @returns {Promise<boolean>} */
function hold(tab) {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    navigator.locks.request(`${PREFIX}:${tab}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock ? new Promise(() => {}) : null;
    });
  });
}

async function livingTabs() {
  const held = (await navigator.locks?.query())?.held ?? [];
  return new Set(held.map((lock) => (lock.name ?? "").slice(PREFIX.length + 1)));
}

/**
 * Small things that are remembered, such as times and choices of the person.
 *
 * @param {string} name
 * @param {any} fallback
 */
export function remember(name, fallback) {
  const key = `${PREFIX}-${name}`;
  return {
    get() {
      try {
        return JSON.parse(localStorage.getItem(key) ?? "null") ?? fallback;
      } catch {
        return fallback;
      }
    },
    /** @param {any} value */
    set(value) {
      try {
        localStorage.setItem(key, JSON.stringify(value));
      } catch {
        // The browser has no room; the choice holds until the next reload.
      }
    },
  };
}
