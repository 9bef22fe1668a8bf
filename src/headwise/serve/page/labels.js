/**
 * What the labels of arcs mean: the glossary of `headwise.treebank.relations`, in words and as tips.
 */

import { element } from "./dom.js";

/**
 * @typedef {object} Relation
 * @property {string} label
 * @property {string} name
 * @property {string} meaning
 * @property {string} example the dependent stands in `[]`, its head in `{}`
 * @property {string} [language] of the example, if it is not English
 * @property {string} [translation]
 */

/** @type {Map<string, Relation>} */
let glossary = new Map();
/** @type {Promise<void> | null} */
let loading = null;

/** Load the glossary, once; without it the page works, and labels have no explanation. */
export function loadLabels() {
  loading ??= fetch("static/relations.json", { credentials: "same-origin" })
    .then((response) => (response.ok ? response.json() : []))
    .then((/** @type {Relation[]} */ relations) => {
      glossary = new Map(relations.map((relation) => [relation.label, relation]));
    })
    .catch(() => undefined);
  return loading;
}

/**
 * Find the relation of a label; a subtype that is not listed gets its universal relation.
 *
 * @param {string | undefined} label
 */
export function relationOf(label = "") {
  return glossary.get(label) ?? glossary.get(label.split(":")[0]);
}

/**
 * Explain a label: its name, what it means, and an example; nothing if it is not known.
 *
 * @param {string | undefined} label
 * @returns {HTMLElement[]}
 */
export function explanationOf(label) {
  const relation = relationOf(label);
  if (!relation) return [];
  const meaning = element(
    "p",
    { class: "meaning" },
    element("strong", {}, `${label}: ${relation.name}. `),
    relation.meaning,
  );
  return [meaning, example(relation)];
}

/** @param {Relation} relation */
function example({ example: marked, language, translation }) {
  const parts = marked.split(/(\[.*?\]|\{.*?\})/).map((part) => {
    if (part.startsWith("[")) return element("b", {}, part.slice(1, -1));
    return part.startsWith("{") ? element("u", {}, part.slice(1, -1)) : part;
  });
  const words = element("q", { lang: language ?? "en", dir: "auto" }, ...parts);
  return element("p", { class: "example" }, words, translation ? ` “${translation}”` : "");
}
