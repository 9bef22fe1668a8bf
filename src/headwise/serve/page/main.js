/**
 * The page: sends a text to the server and shows the sentences of the answer. The views are in the
 * modules imported here; this one connects them with the form, the link and the reader.
 */

import { RequestError, conllu, isConllu, models, parse, requestOf } from "./api.js";
import { element, getElement } from "./dom.js";
import { EXAMPLES } from "./examples.js";
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

/**
 * @typedef {object} State
 * @property {AbortController} running
 * @property {{typed: string, request: import("./api.js").Request} | null} shown
 * @property {import("./tree.js").Answer[]} answer
 * @property {Card[]} cards
 * @property {string} word the chosen one, `2.3`
 */

/** @type {State} */
const state = { running: new AbortController(), shown: null, answer: [], cards: [], word: "" };

/** @returns {View} */
function currentView() {
  const chosen =
    new FormData(form).get("view") ?? views.querySelector("input:checked")?.getAttribute("value");
  return chosen === "matrix" || chosen === "words" ? chosen : "tree";
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
    const answer = await parse(request, asked);
    Object.assign(state, { shown: { typed, request }, answer: answer.sentences, word: "" });
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
  const count = state.answer.length;
  const words = state.answer.reduce((sum, sentence) => sum + sentence.words.length, 0);
  const summary = `${count === 1 ? "1 sentence" : `${count} sentences`}, ${words === 1 ? "1 word" : `${words} words`}`;
  getElement("count", HTMLElement).textContent = summary;
  say(`Parsed: ${summary}.`);
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
  const button = element("button", { type: "button" }, `Parse with ${name}`);
  button.addEventListener("click", () => {
    choose(model, name);
    form.requestSubmit();
  });
  box.append(button);
}

/** Show the next few sentences; a book would be too much at once. */
function showMore() {
  const from = state.cards.length;
  const context = { speak, showError, onChoice };
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

async function saveConllu() {
  if (!state.shown) return;
  save(await conllu(state.shown.request, access()), "headwise.conllu");
  say("CoNLL-U saved.");
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
  getElement("reads", HTMLElement).textContent = isConllu(text.value)
    ? "CoNLL-U: its words and sentences are kept."
    : "";
}

async function fillModels() {
  const answer = await models(token.value);
  errorBox.replaceChildren();
  const names = Object.keys(answer.models);
  model.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
  if (names.length > 1) model.append(element("option", { value: "auto" }, "by language"));
  model.value = answer.default_model;
  getElement("model-field", HTMLElement).hidden = names.length < 2;
}

function fillExamples() {
  const buttons = EXAMPLES.map(({ name, text: example, lang }) => {
    const button = element(
      "button",
      { type: "button", class: "chip", title: example, lang },
      element("span", { lang: "en" }, name),
    );
    button.addEventListener("click", () => {
      text.value = example;
      noteForm();
      form.requestSubmit();
    });
    return element("li", {}, button);
  });
  getElement("examples", HTMLUListElement).append(...buttons);
}

function listen() {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run().catch(showError);
  });
  text.addEventListener("input", noteForm);
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
fillExamples();
fillModels().catch(showError).then(followLink).catch(showError);
