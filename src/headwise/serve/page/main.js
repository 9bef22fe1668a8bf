/**
 * The page: sends a text to the server and shows the sentences of the answer. The views are in the
 * modules imported here; this one connects them with the form, the link and the reader.
 */

import { RequestError, conllu, isConllu, models, parse, requestOf } from "./api.js";
import { splitConllu } from "./conllu.js";
import { counted, element, getElement } from "./dom.js";
import { examplesFor } from "./examples.js";
import { acceptFiles, readText } from "./file.js";
import { loadLabels } from "./labels.js";
import { fromFragment, toFragment } from "./link.js";
import { save } from "./save.js";
import { sentenceCard } from "./sentence.js";

/** @typedef {import("./sentence.js").View} View */
/** @typedef {import("./sentence.js").Card} Card */

const CARDS_AT_A_TIME = 20;

const form = getElement("form", HTMLFormElement);
const text = getElement("text", HTMLTextAreaElement);
const model = getElement("model", HTMLSelectElement);
const decoder = getElement("decoder", HTMLSelectElement);
const token = getElement("token", HTMLInputElement);
const results = getElement("results", HTMLElement);
const sentences = getElement("sentences", HTMLElement);
const status = getElement("status", HTMLElement);
const spoken = getElement("spoken", HTMLElement);
const errorBox = getElement("error", HTMLElement);
const more = getElement("more", HTMLButtonElement);
const views = getElement("views", HTMLFieldSetElement);
const file = getElement("file", HTMLInputElement);

/**
 * @typedef {object} State
 * @property {AbortController} running
 * @property {{typed: string, request: import("./api.js").Request} | null} shown
 * @property {import("./tree.js").Answer[]} answer
 * @property {Card[]} cards
 * @property {string} word the chosen one, `2.3`
 * @property {Promise<Blob> | null} conllu of what is shown, once it was asked for
 * @property {string} fileName of the file that the text is from
 * @property {Record<string, import("./api.js").Language>} languages of the models
 */

/** @type {State} */
const state = {
  running: new AbortController(),
  shown: null,
  answer: [],
  cards: [],
  word: "",
  conllu: null,
  fileName: "",
  languages: {},
};

/** @returns {View} */
function currentView() {
  const chosen =
    new FormData(form).get("view") ?? views.querySelector("input:checked")?.getAttribute("value");
  return chosen === "matrix" || chosen === "words" || chosen === "conllu" ? chosen : "tree";
}

/** @param {string} message */
function say(message) {
  status.textContent = message;
}

/** @param {string} message for screen readers; the page shows it in another way */
function speak(message) {
  spoken.textContent = message;
}

/**
 * Show an error and, if that may help, a button to try again.
 *
 * @param {unknown} error
 */
function showError(error) {
  if (error instanceof DOMException && error.name === "AbortError") return;
  const message = error instanceof Error ? error.message : String(error);
  const parts = [element("p", {}, element("strong", {}, message))];
  if (error instanceof RequestError && error.hint) parts.push(element("p", {}, error.hint));
  if (error instanceof RequestError && [0, 429, 503].includes(error.status)) {
    const again = element("button", { type: "button" }, "Try again");
    again.addEventListener("click", () => form.requestSubmit());
    parts.push(element("p", {}, again));
  }
  getElement("token-field", HTMLElement).hidden &&= !(
    error instanceof RequestError && error.status === 401
  );
  errorBox.replaceChildren(...parts);
  say("");
}

/** Start a request and abort the one before. */
function access() {
  state.running.abort();
  state.running = new AbortController();
  errorBox.replaceChildren();
  return {
    signal: state.running.signal,
    token: token.value,
    onBusy: (/** @type {number} */ seconds) =>
      say(`The server is busy. Trying again in ${seconds} s …`),
  };
}

async function run() {
  const typed = text.value;
  if (!typed.trim()) {
    showError(
      new RequestError("There is no text yet.", "Type or paste some, or choose an example."),
    );
    text.focus();
    return;
  }
  const request = requestOf(typed);
  if (model.value) request.model = model.value;
  if (decoder.value) request.decoder = decoder.value;
  const asked = access();
  hintAtLanguage();
  form.setAttribute("aria-busy", "true");
  say("Parsing …");
  try {
    const [answer] = await Promise.all([parse(request, asked), loadLabels()]);
    const shown = { typed, request };
    Object.assign(state, { shown, answer: answer.sentences, word: "", conllu: null });
    showAll();
    hintAtLanguage(answer.language);
  } catch (error) {
    showError(error);
  } finally {
    if (!asked.signal.aborted) form.removeAttribute("aria-busy");
  }
}

function showAll() {
  state.cards = [];
  sentences.replaceChildren();
  results.hidden = false;
  showMore();
  const nWords = state.answer.reduce((sum, sentence) => sum + sentence.words.length, 0);
  say(`Parsed: ${counted(state.answer.length, "sentence")}, ${counted(nWords, "word")}.`);
}

/**
 * Offer the model of the language that the text is in, if it is clearly another one.
 *
 * @param {import("./api.js").LanguageHint} [hint]
 */
function hintAtLanguage(hint) {
  const box = getElement("language", HTMLElement);
  box.replaceChildren();
  if (!hint) return;
  box.append(`This text looks ${hint.name}. `);
  const name = hint.model;
  if (name === null) {
    box.append("This server has no model for it, so expect errors.");
    return;
  }
  const button = element("button", { type: "button" }, `Parse with ${nameOf(name)}`);
  button.addEventListener("click", () => {
    choose(model, name);
    form.requestSubmit();
  });
  box.append(button);
}

/** Show the next few sentences; a book would be too much at once. */
function showMore() {
  const from = state.cards.length;
  const isOnly = state.answer.length === 1;
  const context = { speak, showError, onChoice, conlluOf, isOnly };
  for (const [index, sentence] of state.answer.slice(from, from + CARDS_AT_A_TIME).entries()) {
    const card = sentenceCard(sentence, from + index + 1, currentView(), context);
    state.cards.push(card);
    sentences.append(card.root);
  }
  const left = state.answer.length - state.cards.length;
  more.hidden = left === 0;
  more.textContent = `Show more (${left} left)`;
}

/**
 * @param {number} number
 * @param {number | null} position
 */
function onChoice(number, position) {
  state.word = position === null ? "" : `${number}.${position}`;
}

async function copyLink() {
  if (!state.shown) return;
  const { typed, request } = state.shown;
  const fragment = await toFragment({
    text: typed,
    model: request.model,
    decoder: request.decoder,
    view: currentView(),
    word: state.word,
  });
  if (fragment === null)
    throw new RequestError("This text is too long for a link.", "Save the CoNLL-U instead.");
  history.replaceState(null, "", `#${fragment}`);
  const isCopied = await navigator.clipboard?.writeText(location.href).then(
    () => true,
    () => false,
  );
  say(isCopied ? "Link copied." : "The link is in the address bar.");
}

/** Ask for the CoNLL-U of what is shown, once. */
function askConllu() {
  if (!state.shown) throw new Error("nothing is shown");
  state.conllu ??= conllu(state.shown.request, access()).catch((error) => {
    state.conllu = null;
    throw error;
  });
  return state.conllu;
}

/** @param {number} number of a sentence, from 1 */
async function conlluOf(number) {
  return splitConllu(await (await askConllu()).text())[number - 1] ?? "";
}

async function saveConllu() {
  if (!state.shown) return;
  const stem = state.fileName.replace(/\.[^.]*$/, "");
  save(await askConllu(), stem ? `${stem}.parsed.conllu` : "headwise.conllu");
  say("CoNLL-U saved.");
}

/** @param {File} opened */
async function openFile(opened) {
  text.value = await readText(opened);
  state.fileName = opened.name;
  noteForm();
  form.requestSubmit();
}

/** Show what the link in the address says, if there is one. */
async function followLink() {
  const linked = await fromFragment(location.hash);
  if (!linked) return;
  text.value = linked.text;
  choose(model, linked.model);
  choose(decoder, linked.decoder);
  const view = views.querySelector(`input[value="${CSS.escape(linked.view ?? "tree")}"]`);
  if (view instanceof HTMLInputElement) view.checked = true;
  noteForm();
  await run();
  const [number, position] = (linked.word ?? "").split(".").map(Number);
  if (number > 0 && position > 0) state.cards[number - 1]?.choose(position);
}

/**
 * @param {HTMLSelectElement} menu
 * @param {string | undefined} value
 */
function choose(menu, value) {
  if (value && [...menu.options].some((option) => option.value === value)) menu.value = value;
}

/** Tell how the text will be read. */
function noteForm() {
  const notes = [
    state.fileName,
    isConllu(text.value) ? "CoNLL-U: its words and sentences are kept." : "",
  ];
  getElement("reads", HTMLElement).textContent = notes.filter(Boolean).join(" · ");
}

async function fillModels() {
  const answer = await models(token.value);
  errorBox.replaceChildren();
  const names = Object.keys(answer.models);
  state.languages = answer.languages ?? {};
  model.replaceChildren(...names.map((name) => element("option", { value: name }, nameOf(name))));
  if (names.length > 1) model.append(element("option", { value: "auto" }, "that of the text"));
  model.value = answer.default_model;
  getElement("model-field", HTMLElement).hidden = names.length < 2;
  fillExamples();
}

/**
 * Name a model by its language.
 *
 * @param {string} name
 */
function nameOf(name) {
  const language = state.languages[name];
  return language ? `${language.name} (${name})` : name;
}

/** Offer examples, and ask for text, in the language of the model; of all, if the text decides. */
function fillExamples() {
  const known = Object.entries(state.languages);
  const used = known.filter(([name]) => model.value === "auto" || model.value === name);
  const languages = new Map(used.map(([, language]) => [language.code, language]));
  const buttons = examplesFor([...languages.values()]).map(({ name, text: example, lang }) => {
    const button = element(
      "button",
      { type: "button", class: "chip", title: example, lang },
      element("span", { lang: "en" }, name),
    );
    button.addEventListener("click", () => {
      text.value = example;
      state.fileName = "";
      noteForm();
      form.requestSubmit();
    });
    return element("li", {}, button);
  });
  getElement("examples", HTMLUListElement).replaceChildren(...buttons);
  getElement("examples-field", HTMLElement).hidden = !buttons.length;
  const language = state.languages[model.value];
  text.placeholder = `Type or paste a text${language ? ` in ${language.name}` : ""}.`;
}

function listen() {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run().catch(showError);
  });
  text.addEventListener("input", () => {
    state.fileName = "";
    noteForm();
  });
  model.addEventListener("change", fillExamples);
  getElement("open", HTMLButtonElement).addEventListener("click", () => file.click());
  file.addEventListener("change", () => {
    const opened = file.files?.[0];
    file.value = "";
    if (opened) openFile(opened).catch(showError);
  });
  acceptFiles(text, (dropped) => openFile(dropped).catch(showError));
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  views.addEventListener("change", () => {
    state.cards.forEach((card) => card.show(currentView()));
    state.word = "";
  });
  more.addEventListener("click", showMore);
  getElement("copy-link", HTMLButtonElement).addEventListener("click", () =>
    copyLink().catch(showError),
  );
  getElement("save-conllu", HTMLButtonElement).addEventListener("click", () =>
    saveConllu().catch(showError),
  );
  token.addEventListener("change", () => fillModels().catch(showError));
  window.addEventListener("hashchange", () => followLink().catch(showError));
}

listen();
loadLabels();
fillModels().catch(showError).then(followLink).catch(showError);
