/**
 * What keys and buttons do to the selected word and its sentence.
 */

import { encodeNote, withCells, withComment } from "./conllu.js";
import {
  forbidHead,
  setDone,
  setHead,
  setValue,
  takeArc,
  takeReading,
  toggleArc,
} from "./edits.js";
import { joinSentences, joinWord, splitSentence, splitWord } from "./tokens.js";

/** @typedef {import("./palette.js").Item} Item */

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
export function wordActions({ session, blocks, palette, about, selected, select, speak }) {
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

  /** Values by probability, then the others. @param {[string, number][] | undefined} likely @param {string[]} all @param {Record<string, string>} [help] @returns {Item[]} */
  function byProbability(likely, all, help = {}) {
    const p = new Map(likely ?? []);
    const names = [...new Set([...p.keys(), ...all])];
    return names.map((value) => ({ value, p: p.get(value) ?? null, help: help[value] ?? "" }));
  }

  function chooseHead() {
    const { words } = sentence();
    const p = new Map(guess()?.heads ?? []);
    const items = [{ id: 0, form: "ROOT" }, ...words]
      .filter((one) => one.id !== selected())
      .map((one) => ({
        value: String(one.id),
        text: `${one.id} ${one.form}`,
        keys: [String(one.id), one.form],
        p: p.get(one.id) ?? null,
      }))
      .sort((a, b) => (b.p ?? 0) - (a.p ?? 0));
    palette.open({
      title: `Head of “${word().form}”`,
      hint: "Type its number or the beginning of the word.",
      items: () => items,
      onTake: (value) => takeHead(selected(), Number(value)),
    });
  }

  function chooseLabel() {
    const { labels = [] } = about().columns ?? {};
    palette.open({
      title: `Label of “${word().form}”`,
      hint: "Type to filter; the most probable come first.",
      takesAny: true,
      items: () => byProbability(guess()?.labels, labels, about().label_help),
      onTake: (value) => setColumn("deprel", value, "Label"),
    });
  }

  /** @param {"upos" | "xpos" | "lemma"} column @param {string} name */
  function chooseValue(column, name) {
    const known = about().columns?.[column] ?? [];
    const shown = word()[column];
    palette.open({
      title: `${name} of “${word().form}”`,
      hint: "Values that the treebank knows come first.",
      takesAny: true,
      typed: column === "lemma" && shown !== "_" ? shown : "",
      items: () => byProbability(guess()?.[column], known),
      onTake: (value) => setColumn(column, value, name),
    });
  }

  /** @returns {Record<string, string>} */
  function featuresNow() {
    const { feats } = word();
    return feats === "_"
      ? {}
      : Object.fromEntries(feats.split("|").map((one) => one.split("=", 2)));
  }

  function chooseFeatures() {
    palette.open({
      title: `Features of “${word().form}”`,
      hint: "Enter sets or removes a value; Escape closes.",
      takesAny: true,
      staysOpen: true,
      items: () => featureItems(featuresNow(), about().columns?.feats ?? {}),
      onTake: (value) => {
        if (!/^[^=|\s]+=[^=|\s]+$/.test(value)) return speak("A feature is written Name=Value.");
        const [name, one] = value.split("=");
        const features = featuresNow();
        if (features[name] === one) delete features[name];
        else features[name] = one;
        const names = Object.keys(features).sort((a, b) =>
          a.toLowerCase() < b.toLowerCase() ? -1 : 1,
        );
        setColumn(
          "feats",
          names.map((key) => `${key}=${features[key]}`).join("|") || "_",
          "Features",
        );
        palette.refresh();
      },
    });
  }

  function splitHere() {
    const { form } = word();
    palette.open({
      title: `Split “${form}”`,
      hint: "Put a space where the word is to be split.",
      typed: form,
      items: (typed) => {
        const parts = typed.trim().split(/\s+/);
        if (parts.length < 2) return [];
        const isSame = parts.join("") === form;
        const keys = [typed];
        const together = {
          value: `1 ${typed}`,
          text: parts.join(" + "),
          help: `one token of ${parts.length} words`,
          keys,
        };
        return isSame
          ? [
              {
                value: `0 ${typed}`,
                text: parts.join(" + "),
                help: `${parts.length} tokens`,
                keys,
              },
              together,
            ]
          : [together];
      },
      onTake: (value) => {
        const parts = value.slice(2).trim().split(/\s+/);
        session.change(
          splitWord(sentence().block, selected(), parts, value[0] === "1"),
          null,
          `Split ${form}: ${parts.join(", ")}`,
        );
      },
    });
  }

  async function joinNextSentence() {
    const { at } = session.shown;
    if (at + 1 >= blocks.length) return speak("There is no next sentence.");
    const joined = joinSentences(sentence().block, await blocks.get(at + 1));
    await session.splice(at, 2, [joined], "Joined with the next sentence");
  }

  function writeNote() {
    palette.open({
      title: "Note on this sentence",
      hint: "Kept as a comment in the file.",
      typed: sentence().note,
      takesAny: true,
      items: () =>
        sentence().note ? [{ value: "", text: "No note", help: "remove it", keys: [] }] : [],
      onTake: (value) =>
        session.change(
          withComment(sentence().block, "note", value ? encodeNote(value) : null),
          null,
          value ? "Note written" : "Note removed",
        ),
    });
  }

  return {
    head: chooseHead,
    label: chooseLabel,
    upos: () => chooseValue("upos", "UPOS"),
    xpos: () => chooseValue("xpos", "XPOS"),
    lemma: () => chooseValue("lemma", "Lemma"),
    feats: chooseFeatures,
    split: splitHere,
    note: writeNote,
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

/** @param {Record<string, string>} now @param {Record<string, string[]>} known @returns {Item[]} */
function featureItems(now, known) {
  const on = Object.entries(now).map(([name, value]) => ({
    value: `${name}=${value}`,
    isOn: true,
  }));
  const others = Object.entries(known)
    .flatMap(([name, values]) =>
      values.map((value) => ({
        value: `${name}=${value}`,
        help: now[name] ? `instead of ${now[name]}` : "",
      })),
    )
    .filter(({ value }) => !on.some((one) => one.value === value));
  // Another value of a feature that the word has is what is changed most.
  others.sort((a, b) => Number(b.help !== "") - Number(a.help !== ""));
  return [...on, ...others];
}
