/**
 * A few texts to start with.
 */

/**
 * @typedef {object} Example
 * @property {string} name
 * @property {string} text
 * @property {string} [lang]
 */

/** @type {Example[]} */
export const EXAMPLES = [
  { name: "Kids love candy", text: "Kids love candy, and every word selects its head." },
  { name: "Two readings", text: "I saw the man with the telescope." },
  { name: "Uncertain arcs", text: "The rat the cat the dog chased killed ate the malt." },
  { name: "A repaired tree", text: "The horse raced past the barn fell." },
  {
    name: "Right to left (Hebrew)",
    text: "הילדים אוהבים ממתקים, וכל מילה בוחרת את הראש שלה.",
    lang: "he",
  },
  {
    name: "CoNLL-U",
    text: ["Kids", "love", "candy", "."]
      .map((form, index) => [index + 1, form, ..."_".repeat(8)].join("\t"))
      .join("\n")
      .concat("\n\n"),
  },
];
