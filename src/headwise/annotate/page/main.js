/**
 * The workbench: a person corrects trees, and the parser keeps the rest consistent. The parts are in
 * the modules imported here; this one connects them.
 */

import { getElement } from "../dom.js";
import { save } from "../save.js";
import { cellChange, wordActions } from "./actions.js";
import { bannerFor, sayGone } from "./banners.js";
import { blockStore } from "./blocks.js";
import { compareDialog } from "./compare.js";
import { dragHeads } from "./drag.js";
import { whenIdle } from "./idle.js";
import { actionOf, fillHelp } from "./keys.js";
import { overviewWatch } from "./overview.js";
import { palette } from "./palette.js";
import { sayProgress, stopwatch } from "./progress.js";
import { searchDialog } from "./search.js";
import { sentenceList } from "./sentences.js";
import { Refused, Unreachable, ask, followTokens, takeToken } from "./server.js";
import { makeSession } from "./session.js";
import { makeStage } from "./stage.js";
import { openStore, remember } from "./store.js";
import { editQueue } from "./sync.js";
import { teachDialog } from "./teach.js";

const ROOM_FOR_CONLLU = "(min-width: 60rem) and (min-height: 45rem)";

const byId = (/** @type {string} */ id) => getElement(id, HTMLElement);
const dialog = (/** @type {string} */ id) => getElement(id, HTMLDialogElement);

/** @param {string} message */
function speak(message) {
  byId("spoken").textContent = message;
  byId("sentence-state").textContent = message;
}

/** @param {unknown} error */
function report(error) {
  if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
  bannerFor("refused", [error.message, error instanceof Refused ? error.hint : ""].join(" "), null);
}

/**
 * Say in which sentences the file on the disk differs.
 *
 * @param {[first: number, last: number] | null} differing
 */
function where(differing) {
  if (!differing) return "";
  const [first, last] = differing;
  return first === last ? `, in sentence ${first}` : `, in sentences ${first} to ${last}`;
}

/** @param {any} about what the server says about the document */
async function work(about) {
  document.title = `${about.name} – headwise`;
  byId("name").textContent = about.name;
  const store = await openStore(about.name);
  const blocks = blockStore();
  const watch = stopwatch(about.name);
  const place = remember(`place:${about.name}`, { at: 0, id: 1 });
  const keep = getElement("keep", HTMLInputElement);
  const pane = getElement("pane", HTMLDetailsElement);
  const keepChoice = remember(`keep:${about.name}`, null);
  const paneChoice = remember("pane", matchMedia(ROOM_FOR_CONLLU).matches);
  keep.checked = keepChoice.get() ?? about.keep ?? false;
  pane.open = paneChoice.get();

  const queue = editQueue(store, {
    onState: sayGone,
    onSent: () => overview.soon(),
    onBack() {
      session.look();
      overview.soon();
    },
    onRefused(edit, error) {
      blocks.forget();
      open(Math.min(edit.at, blocks.length - 1)).then(() => report(error));
    },
  });
  const session = makeSession(blocks, queue, {
    onShow: (shown) => stage.show(shown),
    onEdit() {
      whenIdle(showRows);
      overview.soon();
    },
    onRefused(message, hint, resolve, ids) {
      const names = ids.map((id) => session.shown.sentence.words[id - 1]?.form ?? id).join(", ");
      const remedy = resolve && { text: `Release ${names}`, act: resolve };
      bannerFor("refused", resolve ? message : `${message} ${hint}`, remedy);
    },
    speak,
    keeps: () => keep.checked,
  });
  const stage = makeStage({
    run,
    shown: () => session.shown,
    onChoice: (id) => place.set({ at: session.shown.at, id }),
    onText: (block) => session.change(block, null, "CoNLL-U changed"),
    onCell(id, column, value) {
      const changed = cellChange(session.shown.sentence, id, column, value);
      if (changed === null) bannerFor("refused", `HEAD of word ${id} cannot be ${value}.`, null);
      else session.change(changed, id, `${column.toUpperCase()} of word ${id} is ${value}`);
    },
  });
  const list = sentenceList(byId("rows"), { rows: () => blocks.rows, onOpen: (at) => open(at) });
  const overview = overviewWatch(blocks, {
    onRows: showRows,
    onSeq(seq) {
      if (seq <= queue.seq) return;
      // Another page has changed the document.
      queue.seq = seq;
      blocks.forget();
      session.open(Math.min(session.shown.at, blocks.length - 1)).catch(report);
    },
    onLost: (message) => queue.lost(message),
    onDocument: showDocument,
    isIdle: () => queue.edits.length === 0,
  });
  const actions = wordActions({
    session,
    blocks,
    palette: palette(dialog("palette")),
    about: () => about,
    selected: () => stage.selected,
    select: stage.focus,
    speak,
  });
  dragHeads(byId("tree"), stage.tree.canvas, (id, head) => {
    stage.focus(id);
    run("take-head", String(head));
  });
  const context = {
    rows: () => blocks.rows,
    onOpen: (/** @type {number} */ at, /** @type {number[]} */ words) => open(at, words),
  };
  const search = searchDialog(dialog("search"), context);
  const compare = compareDialog(dialog("compare"), {
    ...context,
    onTurn: (isOn) => stage.setOther(isOn ? about.compare : null).catch(report),
  });
  const teach = teachDialog(dialog("teach"), {
    nDone,
    onSwitch() {
      session.forget();
      session.look();
      overview.soon();
    },
  });

  /** @param {number} at @param {number[]} [words] that were found */
  async function open(at, words = []) {
    stage.prepare(words);
    watch.restart();
    bannerFor("refused", "", null);
    byId("sentence-state").textContent = "";
    list.setCurrent(at);
    setDrawer(false);
    try {
      await session.open(at);
      await stage.compare();
    } catch (error) {
      report(error);
    }
    stage.focus(stage.selected);
  }

  function nDone() {
    return blocks.rows.filter((row) => row.status === "done").length;
  }

  function showRows() {
    list.arrange();
    const n = nDone();
    byId("progress-text").textContent = sayProgress(n, blocks.length, watch.usual());
    getElement("progress", HTMLProgressElement).value = blocks.length ? n / blocks.length : 0;
  }

  /** @param {any} next */
  function showDocument(next) {
    about = next;
    byId("saved").textContent = next.saved ? "saved" : "saving …";
    if (!next.conflict) return;
    bannerFor(
      "refused",
      `${next.name} was changed by something else${where(next.differing)}. What you do not keep is copied beside it.`,
      { text: "Keep mine", act: () => resolve("mine").catch(report) },
      { text: "Take the other", act: () => resolve("theirs").catch(report) },
    );
  }

  /** @param {"mine" | "theirs"} whose */
  async function resolve(whose) {
    queue.seq = (await ask("resolve", { keep: whose })).seq;
    blocks.forget();
    await overview.load();
    await open(Math.min(session.shown.at, blocks.length - 1));
  }

  /** @param {number} by */
  function walk(by) {
    const next = list.after(session.shown.at, by, false);
    if (next !== null) open(next);
  }

  /** @param {number} by */
  function step(by) {
    const n = session.shown.sentence.words.length;
    stage.focus(Math.min(Math.max(stage.selected + by, 1), n));
  }

  async function finish() {
    const next = list.after(session.shown.at, 1, true);
    const { isDone, words } = session.shown.sentence;
    if (!isDone && words.length) {
      watch.lap();
      await actions.finish();
    }
    if (next !== null) await open(next);
    else speak("All sentences are done.");
  }

  /** @type {Record<string, (value?: string) => void>} */
  const commands = {
    right: () => step(stage.isReversed ? -1 : 1),
    left: () => step(stage.isReversed ? 1 : -1),
    "next-word": () => step(1),
    "previous-word": () => step(-1),
    "first-word": () => stage.focus(1),
    "last-word": () => stage.focus(session.shown.sentence.words.length),
    "next-sentence": () => walk(1),
    "previous-sentence": () => walk(-1),
    done: finish,
    undo: () => session.travel("undo").catch(report),
    redo: () => session.travel("redo").catch(report),
    search: search.open,
    compare: () => compare.open(about.compare).catch(report),
    teach: teach.open,
    help: () => dialog("help").showModal(),
    unsure: () => stage.nextDifference() || actions.unsure(),
    theirs: () => actions.theirs(stage.otherBlock),
    pane: () => (pane.open = !pane.open),
    turn: stage.turn,
    readings: () => byId("readings").querySelector("button")?.focus(),
    export: () => ask("export?clean=1").then((blob) => save(blob, about.name), report),
  };

  /** @param {string} action @param {string} [value] */
  function run(action, value) {
    if (action in actions) {
      if (!session.shown.sentence.words.length) return speak("This sentence has no words.");
      bannerFor("refused", "", null);
    }
    (commands[action] ?? actions[action])?.(value);
  }

  /** @param {boolean} isOpen */
  function setDrawer(isOpen) {
    document.body.classList.toggle("wb-drawer", isOpen);
    byId("list-toggle").setAttribute("aria-expanded", String(isOpen));
  }

  function listen() {
    document.addEventListener("keydown", (event) => {
      const key = actionOf(event);
      if (!key) return;
      event.preventDefault();
      run(key.action, key.digit ? String(key.digit) : undefined);
    });
    document.addEventListener("click", (event) => {
      const target = event.target instanceof Element ? event.target : document.body;
      const button = target.closest("[data-do]");
      if (button instanceof HTMLElement) run(button.dataset.do ?? "");
      if (target.closest("[data-close]")) target.closest("dialog")?.close();
    });
    byId("list-toggle").addEventListener("click", () =>
      setDrawer(!document.body.classList.contains("wb-drawer")),
    );
    const filter = getElement("filter", HTMLSelectElement);
    const order = getElement("order", HTMLSelectElement);
    for (const menu of [filter, order])
      menu.addEventListener("change", () => list.choose(filter.value, order.value));
    for (const one of document.querySelectorAll("dialog"))
      one.addEventListener("close", () => stage.focus(stage.selected));
    keep.addEventListener("change", () => {
      keepChoice.set(keep.checked);
      session.look();
    });
    pane.addEventListener("toggle", () => paneChoice.set(pane.open));
    followTokens(() => queue.retry());
    fillHelp(byId("keys"));
  }

  listen();
  const left = await store.adopt();
  await overview.load();
  for (const edit of left) blocks.splice(edit.at, edit.removed.length, edit.insert);
  queue.start(about.seq, left);
  showDocument(about);
  const { at, id } = place.get();
  await open(Math.min(at, blocks.length - 1));
  if (id <= session.shown.sentence.words.length) stage.focus(id);
  document.body.dataset.ready = "yes";
}

takeToken();
ask("document")
  .then(work)
  .catch((error) => {
    const again = { text: "Try again", act: () => location.reload() };
    const hint = "Open the link that headwise annotate has printed.";
    bannerFor("gone", `${error.message} ${hint}`, again);
    followTokens(() => location.reload());
    if (!(error instanceof Unreachable)) throw error;
  });
