/**
 * A link to what is shown. It is all in the fragment, which browsers do not send to the server.
 */

const LONGEST_LINK = 16_000;
const LONGEST_TEXT = 200_000;

/**
 * @typedef {object} Shown
 * @property {string} text
 * @property {string} [model]
 * @property {string} [decoder]
 * @property {string} [view]
 * @property {string} [word] sentence and position, both from 1: `2.3`
 */

/**
 * Write the fragment; null if the text is too long for a link.
 *
 * @param {Shown} shown
 * @returns {Promise<string | null>}
 */
export async function toFragment(shown) {
  if (shown.text.length > LONGEST_TEXT) return null;
  const fields = new URLSearchParams();
  for (const name of /** @type {const} */ (["model", "decoder", "view", "word"])) {
    if (shown[name]) fields.set(name, shown[name] ?? "");
  }
  const plain = new URLSearchParams({ text: shown.text }).toString();
  const packed = `packed=${await pack(shown.text)}`;
  const fragment = [fields.toString(), plain.length <= packed.length ? plain : packed]
    .filter(Boolean)
    .join("&");
  return fragment.length > LONGEST_LINK ? null : fragment;
}

/**
 * Read a fragment; null if it holds no text. A broken one throws an Error.
 *
 * @param {string} fragment
 * @returns {Promise<Shown | null>}
 */
export async function fromFragment(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const packed = fields.get("packed");
  const text = packed === null ? fields.get("text") : await unpack(packed);
  if (!text) return null;
  const kept = Object.fromEntries(
    ["model", "decoder", "view", "word"].map((name) => [name, fields.get(name)?.slice(0, 100)]),
  );
  return { ...kept, text: text.slice(0, LONGEST_TEXT) };
}

/** @param {string} text */
async function pack(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const characters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(characters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * Unpack at most `LONGEST_TEXT` characters: a crafted link could become much longer.
 *
 * @param {string} packed
 */
async function unpack(packed) {
  try {
    const characters = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(characters, (character) => character.charCodeAt(0));
    const reader = new Blob([bytes])
      .stream()
      .pipeThrough(new DecompressionStream("deflate-raw"))
      .getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += decoder.decode(part.value, { stream: true });
      if (text.length > LONGEST_TEXT) throw new Error("too long");
    }
    return text + decoder.decode();
  } catch {
    throw new Error("This link is damaged: its text cannot be read.");
  }
}
