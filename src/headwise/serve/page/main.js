/**
 * The page: a text goes to the server, its sentences come back and are shown. Everything that is
 * drawn is made in the modules that this one imports; here they meet the form, the link and the user.
 */

import { Trouble, conllu, isConllu, models, parse, requestOf } from "./api.js";
import { element, found } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { fromFragment, toFragment } from "./link.js";
import { save } from "./save.js";
import { sentenceCard } from "./sentence.js";

/** @typedef {import("./sentence.js").View} View */
/** @typedef {import("./sentence.js").Card} Card */

const AT_A_TIME = 20;

const form = found("form", HTMLFormElement);
const text = found("text", HTMLTextAreaElement);
const model = found("model", HTMLSelectElement);
const decoder = found("decoder", HTMLSelectElement);
const token = found("token", HTMLInputElement);
const results = found("results", HTMLElement);
const sentences = found("sentences", HTMLElement);
const status = found("status", HTMLElement);
const spoken = found("spoken", HTMLElement);
const trouble = found("trouble", HTMLElement);
const more = found("more", HTMLButtonElement);
const views = found("views", HTMLFieldSetElement);

/**
 * @typedef {object} State
 * @property {AbortController} running
 * @property {{typed: string, request: import("./api.js").Request} | null} shown
 * @property {import("./arcs.js").Sentence[]} answer
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

/** @param {string} message for those who listen; the page shows it otherwise */
function speak(message) {
  spoken.textContent = message;
}

/**
 * Show what went wrong, in words, and a way to try again where that may help.
 *
 * @param {unknown} error
 */
function complain(error) {
  if (error instanceof DOMException && error.name === "AbortError") return;
  const told = error instanceof Error ? error.message : String(error);
  const parts = [element("p", {}, element("strong", {}, told))];
  if (error instanceof Trouble && error.hint) parts.push(element("p", {}, error.hint));
  if (error instanceof Trouble && [0, 429, 503].includes(error.status)) {
    const again = element("button", { type: "button" }, "Try again");
    again.addEventListener("click", () => form.requestSubmit());
    parts.push(element("p", {}, again));
  }
  found("token-field", HTMLElement).hidden &&= !(error instanceof Trouble && error.status === 401);
  trouble.replaceChildren(...parts);
  say("");
}

/** Start a request: what was running stops. */
function access() {
  state.running.abort();
  state.running = new AbortController();
  trouble.replaceChildren();
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
    complain(new Trouble("There is no text yet.", "Type or paste some, or choose an example."));
    text.focus();
    return;
  }
  const request = requestOf(typed);
  if (model.value) request.model = model.value;
  if (decoder.value) request.decoder = decoder.value;
  const asked = access();
  form.setAttribute("aria-busy", "true");
  say("Parsing …");
  try {
    const answer = await parse(request, asked);
    Object.assign(state, { shown: { typed, request }, answer: answer.sentences, word: "" });
    showAll();
  } catch (error) {
    complain(error);
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
  const told = `${count === 1 ? "1 sentence" : `${count} sentences`}, ${words === 1 ? "1 word" : `${words} words`}`;
  found("count", HTMLElement).textContent = told;
  say(`Parsed: ${told}.`);
}

/** Draw the next few sentences: a book would be too much at once. */
function showMore() {
  const from = state.cards.length;
  const context = { speak, complain, onChoice };
  for (const [index, sentence] of state.answer.slice(from, from + AT_A_TIME).entries()) {
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
    throw new Trouble("This text is too long for a link.", "Save the CoNLL-U instead.");
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

/** Show what a link says, if there is one. */
async function followLink() {
  const told = await fromFragment(location.hash);
  if (!told) return;
  text.value = told.text;
  choose(model, told.model);
  choose(decoder, told.decoder);
  const view = views.querySelector(`input[value="${CSS.escape(told.view ?? "tree")}"]`);
  if (view instanceof HTMLInputElement) view.checked = true;
  noteForm();
  await run();
  const [number, position] = (told.word ?? "").split(".").map(Number);
  if (number > 0 && position > 0) state.cards[number - 1]?.choose(position);
}

/**
 * @param {HTMLSelectElement} menu
 * @param {string | undefined} value
 */
function choose(menu, value) {
  if (value && [...menu.options].some((option) => option.value === value)) menu.value = value;
}

/** Say how the text will be read. */
function noteForm() {
  found("reads", HTMLElement).textContent = isConllu(text.value)
    ? "Read as CoNLL-U: words and sentences stay."
    : "";
}

async function fillModels() {
  const told = await models(token.value);
  trouble.replaceChildren();
  const names = Object.keys(told.models);
  model.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
  model.value = told.default_model;
  found("model-field", HTMLElement).hidden = names.length < 2;
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
  found("examples", HTMLUListElement).append(...buttons);
}

function listen() {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run().catch(complain);
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
  found("copy-link", HTMLButtonElement).addEventListener("click", () => copyLink().catch(complain));
  found("save-conllu", HTMLButtonElement).addEventListener("click", () =>
    saveConllu().catch(complain),
  );
  token.addEventListener("change", () => fillModels().catch(complain));
  window.addEventListener("hashchange", () => followLink().catch(complain));
}

listen();
fillExamples();
fillModels().catch(complain).then(followLink).catch(complain);
