/**
 * Requests to the server of the workbench. A server that does not answer is told apart from one that
 * refuses, since what was not answered is sent again.
 */

/** The server cannot be reached, or does not let this page in any more. */
export class Unreachable extends Error {}

/** The server refuses, and says why. */
export class Refused extends Error {
  /** @param {number} status @param {any} answer */
  constructor(status, answer) {
    super(asSentence(answer?.error?.message ?? `the server answered with status ${status}`));
    this.status = status;
    this.answer = answer ?? {};
    this.hint = asSentence(answer?.error?.hint ?? "");
  }
}

const TOKEN = "headwise-annotate-token";
const TIMEOUT = 30_000;
const channel = new BroadcastChannel(TOKEN);

/** Take the token from the address, and remove it there. @returns {boolean} whether there was one */
export function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return false;
  sessionStorage.setItem(TOKEN, token);
  history.replaceState(null, "", location.pathname + location.search);
  channel.postMessage(token);
  return true;
}

/** Use the token that another tab of this page was opened with. @param {() => void} onToken */
export function followTokens(onToken) {
  channel.addEventListener("message", (event) => {
    sessionStorage.setItem(TOKEN, String(event.data));
    onToken();
  });
  window.addEventListener("hashchange", () => takeToken() && onToken());
}

/** @param {unknown} message */
export function asSentence(message) {
  const text = String(message ?? "");
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[\p{L}\p{N})]$/u.test(text) ? "." : "");
}

/**
 * Ask the server; with a body, by POST.
 *
 * @param {string} path after /annotate
 * @param {object} [body]
 * @returns {Promise<any>}
 */
export async function ask(path, body) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(TOKEN) ?? ""}` };
  const options = body
    ? {
        method: "POST",
        headers: { ...headers, "Content-Type": "application/json" },
        body: JSON.stringify(body),
      }
    : { headers };
  let response;
  try {
    response = await fetch(`annotate/${path}`, {
      ...options,
      signal: AbortSignal.timeout(TIMEOUT),
    });
  } catch {
    throw new Unreachable("The server does not answer.");
  }
  if (response.status === 401) throw new Unreachable("The server was started again.");
  if (path.startsWith("export") && response.ok) return response.blob();
  const answer = await response.json().catch(() => null);
  // Whatever is wrong with the server itself may pass: nothing is given up because of it.
  if (response.status === 429 || response.status >= 500 || (response.ok && answer === null))
    throw new Unreachable(asSentence(answer?.error?.message ?? "the server is busy"));
  if (!response.ok) throw new Refused(response.status, answer);
  return answer;
}
