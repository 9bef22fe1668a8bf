/**
 * Make elements: data becomes text or the value of an attribute, never markup.
 */

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */

/**
 * Set attributes and append children; attributes that are null, undefined or false are left out.
 *
 * @template {Element} E
 * @param {E} made
 * @param {Attributes} attributes
 * @param {(Node | string)[]} children
 * @returns {E}
 */
function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Attributes} [attributes]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} name
 * @param {Attributes} [attributes]
 * @param {(Node | string)[]} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function shape(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Set an attribute; what stays is not written again. @param {Element} box @param {string} name @param {string} value */
export function setAttribute(box, name, value) {
  if (box.getAttribute(name) !== value) box.setAttribute(name, value);
}

/** Set a text; what stays is not laid out again. @param {Element} box @param {string} text */
export function setText(box, text) {
  if (box.textContent !== text) box.textContent = text;
}

/**
 * Write a count with its noun: `1 word`, `2,000 words`.
 *
 * @param {number} count
 * @param {string} noun
 */
export function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Get an element that the page must have.
 *
 * @template {Element} E
 * @param {string} id
 * @param {new () => E} kind
 * @returns {E}
 */
export function getElement(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}
