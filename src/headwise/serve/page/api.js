/**
 * Requests to the server, and its errors in words.
 */

/** @typedef {import("./tree.js").Answer} Answer */

/**
 * @typedef {object} Request
 * @property {string} [text]
 * @property {string} [conllu]
 * @property {string} [model]
 * @property {string} [decoder]
 */

/**
 * A text that is clearly in another language than that of its model.
 *
 * @typedef {object} LanguageHint
 * @property {string} name
 * @property {string | null} model
 */

/** @typedef {{code: string, name: string}} Language of a model */

const MAX_TRIES = 4;
const MAX_WAIT_SECONDS = 30;
const MAX_LENGTH_WITH_DISTRIBUTION = 20_000;

/** A request that failed or was refused, with a hint what to do about it. */
export class RequestError extends Error {
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
 * Send what was typed as CoNLL-U or as text, by the rule of `headwise parse`.
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
 * Parse. Distributions grow with the square of a sentence, so long texts have none.
 *
 * @param {Request} request
 * @param {Access} access
 * @returns {Promise<{model: string, sentences: Answer[], language?: LanguageHint}>}
 */
export async function parse(request, access) {
  const length = (request.text ?? request.conllu ?? "").length;
  if (length <= MAX_LENGTH_WITH_DISTRIBUTION) {
    try {
      return await (await ask({ ...request, pictures: true, distribution: true }, access)).json();
    } catch (error) {
      // The distributions of one very long sentence can exceed the server's limit.
      if (!(error instanceof RequestError) || error.status !== 413) throw error;
    }
  }
  return (await ask({ ...request, pictures: true }, access)).json();
}

/**
 * Parse to CoNLL-U, the same bytes as the command line writes.
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
 * @returns {Promise<{models: Record<string, string[]>, default_model: string, languages?: Record<string, Language>}>}
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
 * Ask to parse; if the server is busy, wait as long as it says and try again, a few times.
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
      if (!(error instanceof RequestError) || error.status !== 429 || tries === MAX_TRIES)
        throw error;
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
 * @param {string} path relative to the page, which may have a prefix
 * @param {RequestInit} options
 */
async function send(path, options) {
  let response;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new RequestError(
      "The server does not answer.",
      "Check that headwise serve is still running, then try again.",
    );
  }
  if (!response.ok) throw await errorOf(response);
  return response;
}

/** @param {Response} response */
async function errorOf(response) {
  /** @type {{error?: {message?: unknown, hint?: unknown}}} */
  const answer = await response.json().catch(() => ({}));
  const wait = Math.min(
    Math.max(Number(response.headers.get("Retry-After")) || 1, 1),
    MAX_WAIT_SECONDS,
  );
  const message = answer.error?.message ?? `the server answered with status ${response.status}`;
  const more = { status: response.status, wait };
  return new RequestError(asSentence(message), asSentence(answer.error?.hint ?? ""), more);
}

/**
 * Write a message of the server as a sentence, with a capital and a full stop.
 *
 * @param {unknown} message
 */
function asSentence(message) {
  const text = String(message);
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[\p{L}\p{N}]$/u.test(text) ? "." : "");
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
