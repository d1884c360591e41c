// Asks: shows a question, sends the answer, and says "saved" once the server has saved it.
//
// What is to be sent waits in a queue until the server has taken it; the next question is here
// before it is needed.

import { byId, make, pairInWords, pastItem, preload, showPair, showState } from "./show.js";

const RETRY_AFTER = 3000; // milliseconds
const REFRESH_AFTER = 1000;
const REFRESH_EVERY = 5000;
const KEYS = {
  s: "same", arrowleft: "same", d: "different", arrowright: "different", u: "unsure",
  arrowdown: "unsure", z: "undo", k: "skip",
};

let person = "";
let table = ""; // which table this is, so that answers kept from before are not about another
let questions = []; // the first is the one shown, unless an old answer is being changed
let changing = null; // an old answer that is being given again
let queue = []; // what is to be sent, in order
let isSending = false;
let isUndoing = false;
let retryTimer = 0;
let refreshTimer = 0;
let pressedAt = 0;
const pressed = []; // when answers were given

// --- talking to the server -------------------------------------------------------------------

class Refusal extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

async function ask(path, body) {
  const options = body === undefined
    ? {}
    : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const reply = await fetch(path, options);
  const content = await reply.json().catch(() => ({ error: `status ${reply.status}` }));
  if (!reply.ok) throw new Refusal(reply.status, content.error);
  return content;
}

function newMark() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const samePair = (one, other) =>
  (one.left === other.left && one.right === other.right) ||
  (one.left === other.right && one.right === other.left);

/** Send what waits, one after the other; each stays until the server has taken it. */
async function send() {
  if (isSending) return;
  isSending = true;
  clearTimeout(retryTimer);
  while (queue.length) {
    const { path, body } = queue[0];
    let reply;
    try {
      reply = await ask(path, body);
    } catch (error) {
      if (!(error instanceof Refusal && error.status === 400)) {
        inTrouble(error);
        break;
      }
      say(`Not saved: ${error.message}`);
      reply = null;
    }
    queue.shift();
    keep();
    if (reply !== null) {
      outOfTrouble();
      took(path, body, reply);
    }
  }
  isSending = false;
}

/** Take in what the server replied. */
function took(path, body, reply) {
  if (path === "/api/undo") isUndoing = false;
  const waiting = queue.map((one) => one.body);
  questions = reply.questions.filter((one) => !waiting.some((sent) => samePair(one, sent)));
  preload(questions[1]);
  if (path === "/api/answer") {
    tally(reply.answers);
    say(`Saved: ${body.left} and ${body.right} ${inWords(body.relation)}.`);
  } else if (path === "/api/undo") {
    tally(reply.answers);
    say(reply.undone ? "Taken back. Answer it again." : "There is no answer of yours to take back.");
  }
  show();
  refreshSoon();
}

const inWords = (relation) => (relation === "unsure" ? "not sure" : relation);

function enqueue(path, body) {
  queue.push({ path, body });
  keep();
  send();
}

/** Keep unsaved answers where they outlive this page. */
function keep() {
  const answers = queue.filter((one) => one.path === "/api/answer").map((one) => one.body);
  try {
    localStorage.setItem(`likewise-unsaved-${table}`, JSON.stringify(answers));
  } catch {
    // Without storage, answers wait in this page alone.
  }
}

function kept() {
  try {
    return JSON.parse(localStorage.getItem(`likewise-unsaved-${table}`) ?? "[]");
  } catch {
    return [];
  }
}

function inTrouble(error) {
  const answers = queue.filter((one) => one.path === "/api/answer").length;
  const waiting = answers === 1 ? "1 answer is" : `${answers} answers are`;
  const keeps = answers ? ` ${waiting} not saved yet, and kept here to be sent again.` : "";
  let words = "The server does not answer. Is likewise ask still running?";
  if (error instanceof Refusal) words = error.message;
  byId("trouble-text").textContent = words + keeps;
  byId("trouble").hidden = false;
  byId("said").textContent = "";
  retryTimer = setTimeout(send, RETRY_AFTER);
}

function outOfTrouble() {
  byId("trouble").hidden = true;
}

// --- answering -------------------------------------------------------------------------------

function answer(relation) {
  const pair = changing ?? questions[0];
  if (!pair || isUndoing) return;
  pressedAt = performance.now();
  pressed.push(pressedAt);
  const body = {
    person, left: pair.left, right: pair.right, relation, reason: pair.reason ?? "",
    request: newMark(),
  };
  if (changing) {
    body.replaces = changing.line;
    changing = null;
  } else {
    questions.shift();
  }
  enqueue("/api/answer", body);
  show();
}

function undo() {
  if (changing) {
    changing = null;
    show();
    return;
  }
  if (isUndoing) return;
  isUndoing = true;
  enqueue("/api/undo", { person, request: newMark() });
}

function skip() {
  if (changing) {
    changing = null;
    say("Left as it was.");
  } else {
    if (!questions.length || isUndoing) return;
    const pair = questions.shift();
    enqueue("/api/skip", { person, left: pair.left, right: pair.right });
    say("Skipped.");
  }
  show();
}

/** Show an old answer, to be given again. */
async function change(old) {
  try {
    const address = `/api/pair?${new URLSearchParams({ left: old.left, right: old.right })}`;
    changing = { ...(await ask(address)), line: old.line, relation: old.relation };
  } catch (error) {
    inTrouble(error);
    return;
  }
  show();
  byId("question").focus();
}

const ACTIONS = {
  same: () => answer("same"),
  different: () => answer("different"),
  unsure: () => answer("unsure"),
  undo,
  skip,
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (byId("ask").hidden || !byId("keys").checked) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  const action = event.key === "Escape" && changing ? "skip" : KEYS[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  ACTIONS[action]();
}

// --- showing ---------------------------------------------------------------------------------

let shownPair = null;

function show() {
  const pair = changing ?? questions[0] ?? null;
  byId("pair").hidden = pair === null;
  for (const id of ["same", "different", "unsure", "skip"]) byId(id).disabled = pair === null;
  byId("skip").firstChild.textContent = changing ? "Leave" : "Skip";
  byId("question").textContent = heading(pair);
  byId("about").textContent = changing
    ? `You are answering an earlier question again; the answer was: ${inWords(changing.relation)}.`
    : "";
  if (pair !== null && pair !== shownPair && !(shownPair && isSame(pair, shownPair))) {
    showPair(pair);
    measure();
  }
  shownPair = pair;
}

const isSame = (one, other) =>
  one.left === other.left && one.right === other.right && one.line === other.line;

function heading(pair) {
  if (pair !== null) return changing ? "Once more: are these two the same?" : "Are these two the same?";
  return queue.length ? "The next question is on its way." : "There is nothing left to ask.";
}

/** Note how long the new question took to be seen after the last was answered. */
function measure() {
  if (!pressedAt) return;
  const start = pressedAt;
  pressedAt = 0;
  requestAnimationFrame(() => setTimeout(() => performance.measure("page-to-page", { start })));
}

function say(words) {
  const next = changing ?? questions[0];
  byId("said").replaceChildren(words);
  if (next) byId("said").append(make("span", ` Next: ${pairInWords(next)}.`, { className: "hidden" }));
}

function tally(answers) {
  const last = pressed.slice(-21);
  let pace = "";
  if (last.length > 3) {
    const seconds = (last[last.length - 1] - last[0]) / 1000 / (last.length - 1);
    pace = ` · ${seconds.toFixed(1)} s per answer`;
  }
  const count = answers === 1 ? "1 answer" : `${answers} answers`;
  byId("tally").textContent = `${count}${pace} · ${person}`;
}

// --- what is known so far --------------------------------------------------------------------

async function refresh() {
  clearTimeout(refreshTimer);
  refreshTimer = 0;
  try {
    const state = await ask(`/api/state?${new URLSearchParams({ person })}`);
    table = state.table;
    showState(state, change);
    tally(state.answers);
  } catch (error) {
    inTrouble(error);
    return false;
  }
  if (!queue.length) outOfTrouble();
  return true;
}

function refreshSoon() {
  if (!refreshTimer) refreshTimer = setTimeout(refresh, REFRESH_AFTER);
}

async function showOlder() {
  const buttons = byId("past").querySelectorAll("button");
  const before = buttons[buttons.length - 1].dataset.line;
  const more = await ask(`/api/past?${new URLSearchParams({ person, before })}`);
  byId("past").append(
    ...more.past.map((one) => pastItem({ ...one, person: undefined }, "Change", change)),
  );
  byId("older").hidden = byId("past").children.length >= more.own;
}

// --- beginning -------------------------------------------------------------------------------

function remember(name, value) {
  try {
    localStorage.setItem(`likewise-${name}`, value);
  } catch {
    // It will be asked for again.
  }
}

function remembered(name) {
  try {
    return localStorage.getItem(`likewise-${name}`) ?? "";
  } catch {
    return "";
  }
}

function greet() {
  byId("ask").hidden = byId("side").hidden = true;
  byId("hello").hidden = false;
  byId("name").value = remembered("name");
  byId("name").focus();
}

async function begin(event) {
  event.preventDefault();
  person = byId("name").value.trim();
  if (!person) return;
  remember("name", person);
  if (!(await refresh())) return;
  for (const body of kept()) queue.push({ path: "/api/answer", body });
  byId("hello").hidden = true;
  byId("ask").hidden = byId("side").hidden = false;
  enqueue("/api/questions", { person });
  byId("question").focus();
}

function start() {
  if (location.search) history.replaceState(null, "", "/"); // the token is in a cookie by now
  byId("who").addEventListener("submit", begin);
  for (const [id, action] of Object.entries(ACTIONS)) byId(id).addEventListener("click", action);
  byId("retry").addEventListener("click", () => (queue.length ? send() : refresh()));
  byId("older").addEventListener("click", showOlder);
  byId("rename").addEventListener("click", greet);
  byId("only").addEventListener("change", () => {
    byId("pair").classList.toggle("only", byId("only").checked);
  });
  document.addEventListener("keydown", onKey);
  setInterval(() => {
    if (!document.hidden && !byId("ask").hidden) refresh();
  }, REFRESH_EVERY);
  greet();
}

start();
