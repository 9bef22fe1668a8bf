/**
 * What keys and buttons do to the selected word and its sentence.
 */

import { choosers } from "./choosers.js";
import { withCells } from "./conllu.js";
import {
  forbidHead,
  setDone,
  setHead,
  setValue,
  takeArc,
  takeReading,
  toggleArc,
} from "./edits.js";
import { joinSentences, joinWord, splitSentence } from "./tokens.js";

/**
 * @typedef {object} Bench what actions work on
 * @property {ReturnType<typeof import("./session.js").makeSession>} session
 * @property {ReturnType<typeof import("./blocks.js").blockStore>} blocks
 * @property {ReturnType<typeof import("./palette.js").palette>} palette
 * @property {() => any} about the document
 * @property {() => number} selected
 * @property {(id: number) => void} select
 * @property {(message: string) => void} speak
 */

/** @param {Bench} bench @returns {Record<string, (value?: string) => void>} */
export function wordActions(bench) {
  const { session, blocks, selected, select, speak } = bench;
  const sentence = () => session.shown.sentence;
  const word = () => sentence().words[selected() - 1];
  const guess = () => session.shown.decoded?.words[selected() - 1];

  /** @param {number} id @param {number} head */
  function takeHead(id, head) {
    const { block, words } = sentence();
    if (id === head) return;
    session.change(
      setHead(block, id, head),
      id,
      `Head of “${words[id - 1].form}” is ${head ? `“${words[head - 1].form}”` : "ROOT"}`,
    );
  }

  /** @param {string} column @param {string} value @param {string} name */
  function setColumn(column, value, name) {
    session.change(
      setValue(sentence().block, selected(), column, value),
      selected(),
      `${name} of “${word().form}” is ${value}`,
    );
  }

  async function joinNextSentence() {
    const { at } = session.shown;
    if (at + 1 >= blocks.length) return speak("There is no next sentence.");
    const joined = joinSentences(sentence().block, await blocks.get(at + 1));
    await session.splice(at, 2, [joined], "Joined with the next sentence");
  }

  return {
    ...choosers(bench, takeHead, setColumn),
    "take-head": (value) => takeHead(selected(), Number(value)),
    "take-label": (value) => setColumn("deprel", value ?? "_", "Label"),
    take(value) {
      const head = guess()?.heads[Number(value) - 1];
      if (head) takeHead(selected(), head[0]);
    },
    root: () => takeHead(selected(), 0),
    accept() {
      const isFixed = word().fixed.has("head");
      session.change(
        toggleArc(sentence().block, selected()),
        selected(),
        `${word().form} ${isFixed ? "released" : "accepted"}`,
      );
    },
    forbid() {
      const { head, form } = word();
      if (head === null) return;
      const name = head ? sentence().words[head - 1].form : "ROOT";
      session.change(
        forbidHead(sentence().block, selected()),
        selected(),
        `${name} is not the head of ${form}`,
      );
    },
    join() {
      const joined = joinWord(sentence().block, selected());
      if (joined) session.change(joined, null, `Joined ${word().form} with the next word`);
      else speak("There is no next word.");
    },
    "split-sentence"() {
      const parts = splitSentence(sentence().block, selected());
      if (!parts)
        return speak(
          "A sentence is split before a word, not before its first one or inside a token.",
        );
      select(1);
      session.splice(session.shown.at, 1, parts, "Split the sentence");
    },
    "join-sentence": joinNextSentence,
    reading(value) {
      const reading = session.shown.decoded?.trees[Number(value)];
      if (reading)
        session.change(
          takeReading(sentence().block, reading),
          null,
          `Took reading ${Number(value) + 1}`,
        );
    },
    unsure() {
      const words = session.shown.decoded?.words ?? [];
      const open = sentence().words.filter((one) => !one.fixed.has("head"));
      const p = (/** @type {number} */ id) => words[id - 1]?.probability ?? 1;
      open.sort((a, b) => p(a.id) - p(b.id) || a.id - b.id);
      const next = open.find((one) => one.id !== selected()) ?? open[0];
      // Pressed again at the least certain word, the next one.
      if (open[0]) select(open[0].id === selected() ? next.id : open[0].id);
      else speak("All words are fixed.");
    },
    /** @param {string} [other] a block */
    theirs(other) {
      if (other)
        session.change(
          takeArc(sentence().block, other, selected()),
          selected(),
          `Took the other arc of ${word().form}`,
        );
    },
    mine() {
      if (!word().fixed.has("head"))
        session.change(
          toggleArc(sentence().block, selected()),
          selected(),
          `Kept the arc of ${word().form}`,
        );
    },
    finish: () => session.change(setDone(sentence().block, true), null, "Sentence done"),
    reopen: () => session.change(setDone(sentence().block, false), null, "Sentence open again"),
  };
}

/**
 * Change a cell of the table; null if HEAD cannot be that.
 *
 * @param {import("./conllu.js").Sentence} sentence
 * @param {number} id
 * @param {string} column
 * @param {string} value
 */
export function cellChange({ block, words }, id, column, value) {
  if (column === "head") {
    const isHead = /^\d+$/.test(value) && Number(value) <= words.length && Number(value) !== id;
    return isHead ? setHead(block, id, Number(value)) : null;
  }
  if (["form", "deps", "misc"].includes(column))
    return withCells(block, new Map([[id, { [column]: value }]]));
  return setValue(block, id, column, value);
}
