/**
 * What the page asks the server, and its answers and troubles in words.
 */

/** @typedef {import("./arcs.js").Sentence} Sentence */

/**
 * @typedef {object} Request
 * @property {string} [text]
 * @property {string} [conllu]
 * @property {string} [model]
 * @property {string} [decoder]
 */

const MOST_TRIES = 4;
const LONGEST_WAIT = 30;
const FULL_ANSWER = 20_000;

/** A refusal or failure, with what to do about it. */
export class Trouble extends Error {
  /**
   * @param {string} message
   * @param {string} [hint]
   * @param {{status?: number, wait?: number}} [more]
   */
  constructor(message, hint = "", { status = 0, wait = 0 } = {}) {
    super(message);
    this.hint = hint;
    this.status = status;
    this.wait = wait;
  }
}

/**
 * Make a request of what was typed: CoNLL-U where it looks like that, as `headwise parse` decides.
 *
 * @param {string} typed
 * @returns {Request}
 */
export function requestOf(typed) {
  return isConllu(typed) ? { conllu: typed } : { text: typed };
}

/** @param {string} typed */
export function isConllu(typed) {
  for (const line of typed.split(/\r\n|\r|\n/)) {
    if (/^#\s*(sent_id|text)\s*=/.test(line)) return true;
    if (line.trim() && !line.startsWith("#")) {
      return line.split("\t").length === 10 && /^[0-9]/.test(line);
    }
  }
  return false;
}

/**
 * Parse. Distributions grow with the square of a sentence, so long texts go without.
 *
 * @param {Request} request
 * @param {Access} access
 * @returns {Promise<{model: string, sentences: Sentence[]}>}
 */
export async function parse(request, access) {
  const length = (request.text ?? request.conllu ?? "").length;
  if (length <= FULL_ANSWER) {
    try {
      return await (await ask({ ...request, distribution: true }, access)).json();
    } catch (error) {
      // One very long sentence can have more than the server gives out.
      if (!(error instanceof Trouble) || error.status !== 413) throw error;
    }
  }
  return (await ask(request, access)).json();
}

/**
 * Parse to CoNLL-U, byte by byte what the command line writes.
 *
 * @param {Request} request
 * @param {Access} access
 * @returns {Promise<Blob>}
 */
export async function conllu(request, access) {
  const bytes = await (await ask({ ...request, format: "conllu" }, access)).arrayBuffer();
  return new Blob([bytes], { type: "text/plain;charset=utf-8" });
}

/**
 * @param {string} token
 * @returns {Promise<{models: Record<string, string[]>, default_model: string}>}
 */
export async function models(token) {
  return (await send("models", { headers: authority(token) })).json();
}

/**
 * @typedef {object} Access
 * @property {AbortSignal} signal
 * @property {string} token
 * @property {(seconds: number) => void} onBusy
 */

/**
 * Ask to parse; when the server is busy, wait as long as it says and ask again, a few times.
 *
 * @param {object} body
 * @param {Access} access
 * @returns {Promise<Response>}
 */
async function ask(body, { signal, token, onBusy }) {
  const headers = { "Content-Type": "application/json", ...authority(token) };
  for (let tries = 1; ; tries++) {
    try {
      return await send("parse", { method: "POST", headers, body: JSON.stringify(body), signal });
    } catch (error) {
      if (!(error instanceof Trouble) || error.status !== 429 || tries === MOST_TRIES) throw error;
      onBusy(error.wait);
      await pause(error.wait, signal);
    }
  }
}

/**
 * @param {string} token
 * @returns {Record<string, string>}
 */
function authority(token) {
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/**
 * @param {string} path relative to the page, which may stand behind a prefix
 * @param {RequestInit} options
 */
async function send(path, options) {
  let response;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Trouble(
      "The server does not answer.",
      "Is headwise serve still running? Then try again.",
    );
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

/** @param {Response} response */
async function refusal(response) {
  /** @type {{error?: {message?: unknown, hint?: unknown}}} */
  const said = await response.json().catch(() => ({}));
  const wait = Math.min(
    Math.max(Number(response.headers.get("Retry-After")) || 1, 1),
    LONGEST_WAIT,
  );
  const message = said.error?.message ?? `the server answered with status ${response.status}`;
  const more = { status: response.status, wait };
  return new Trouble(asSentence(message), asSentence(said.error?.hint ?? ""), more);
}

/**
 * Give a message of the server a capital and a full stop.
 *
 * @param {unknown} message
 */
function asSentence(message) {
  const told = String(message);
  return told.charAt(0).toUpperCase() + told.slice(1) + (/[\p{L}\p{N}]$/u.test(told) ? "." : "");
}

/**
 * @param {number} seconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
