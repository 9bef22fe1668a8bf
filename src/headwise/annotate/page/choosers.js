/**
 * Palettes for the selected word: its head, label, tags, lemma and features, where to split it, and
 * the note of the sentence.
 */

import { encodeNote, withComment } from "./conllu.js";
import { splitWord } from "./tokens.js";

/** @typedef {import("./palette.js").Item} Item */

/**
 * @param {import("./actions.js").Bench} bench
 * @param {(id: number, head: number) => void} takeHead
 * @param {(column: string, value: string, name: string) => void} setColumn
 * @returns {Record<string, () => void>}
 */
export function choosers({ session, palette, about, selected, speak }, takeHead, setColumn) {
  const sentence = () => session.shown.sentence;
  const word = () => sentence().words[selected() - 1];
  const guess = () => session.shown.decoded?.words[selected() - 1];

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
  };
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
