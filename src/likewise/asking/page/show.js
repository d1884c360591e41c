// What is seen: the pair, and what is known so far. Cells go in as text, never as markup.

import { drawPlot } from "./plot.js";

export const byId = (id) => document.getElementById(id);

/** Make an element with text and properties. */
export function make(name, text, properties = {}) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  Object.assign(element, properties);
  return element;
}

const percent = (share) => (share === null ? "–" : `${Math.round(100 * share)} %`);

// --- the pair --------------------------------------------------------------------------------

const MARKS = {
  differs: ["≠", " (differs)"],
  near: ["≈", " (differs a little)"],
};

/** Make the name of a field; `how` is "differs", "near" or "alike". */
function fieldName(name, how) {
  const cell = make("th", undefined, { scope: "row" });
  if (how in MARKS) {
    const [sign, words] = MARKS[how];
    const mark = make("span", sign, { className: "mark" });
    mark.setAttribute("aria-hidden", "true");
    cell.append(mark, name, make("span", words, { className: "hidden" }));
  } else {
    cell.append(name);
  }
  return cell;
}

function valueCell(value, isLong) {
  const cell = make("td", undefined, { className: isLong ? "long" : "" });
  cell.append(value === "" ? make("span", "(empty)", { className: "empty" }) : value);
  return cell;
}

function imageCell(address, id) {
  const cell = make("td");
  const missing = () => cell.replaceChildren(make("span", "(no image)", { className: "empty" }));
  if (address === null) {
    missing();
  } else {
    const image = make("img", undefined, { src: address, alt: `Image of ${id}` });
    image.addEventListener("error", missing);
    cell.append(image);
  }
  return cell;
}

function row(name, how, ...cells) {
  const line = make("tr", undefined, { className: how });
  line.append(fieldName(name, how), ...cells);
  return line;
}

/** Show two rows side by side. */
export function showPair(pair) {
  byId("left-id").textContent = pair.left;
  byId("right-id").textContent = pair.right;
  const rows = [];
  if (pair.image) {
    const { name, left, right } = pair.image;
    rows.push(row(name, "image", imageCell(left, pair.left), imageCell(right, pair.right)));
  }
  if (pair.text) {
    const { name, left, right } = pair.text;
    const how = left === right ? "alike" : "differs";
    rows.push(row(name, how, valueCell(left, true), valueCell(right, true)));
  }
  for (const { name, left, right, how } of pair.fields) {
    rows.push(row(name, how, valueCell(left, false), valueCell(right, false)));
  }
  byId("fields").replaceChildren(...rows);
}

/** Say a pair in words, for those who hear the page. */
export function pairInWords(pair) {
  const differing = pair.fields.filter((field) => field.how === "differs").map((field) => field.name);
  const few = differing.slice(0, 5).join(", ") + (differing.length > 5 ? " and more" : "");
  return `${pair.left} and ${pair.right}${few ? `, which differ in ${few}` : ", all fields much alike"}`;
}

/** Load the images of a pair before it is shown. */
export function preload(pair) {
  for (const side of ["left", "right"]) {
    if (pair?.image?.[side]) new Image().src = pair.image[side];
  }
}

// --- what is known ---------------------------------------------------------------------------

/** Replace the items of a list; the button that has the focus keeps it. */
function refill(list, items) {
  const focused = list.contains(document.activeElement)
    ? document.activeElement.dataset.line
    : undefined;
  list.replaceChildren(...items);
  if (focused !== undefined) list.querySelector(`[data-line="${focused}"]`)?.focus();
}

/** Make a line about an answer with a button to answer again. */
export function pastItem(answer, verb, onChange) {
  const item = make("li");
  const whose = answer.person === undefined ? "" : ` (${answer.person})`;
  item.append(make("span", `${answer.left}, ${answer.right}: ${answer.relation}${whose}`));
  const button = make("button", verb, { type: "button" });
  button.dataset.line = answer.line;
  button.setAttribute(
    "aria-label",
    `${verb}: ${answer.left} and ${answer.right}, answered ${answer.relation}`,
  );
  button.addEventListener("click", () => onChange(answer));
  item.append(button);
  return item;
}

function typicalRow(brief) {
  const item = make("li");
  if (brief.image) item.append(make("img", undefined, { src: brief.image, alt: "" }));
  const fields = brief.fields.map(({ name, value }) => `${name} ${value || "(empty)"}`);
  item.append(make("strong", brief.id), `: ${[...fields, brief.text].filter(Boolean).join(", ")}`);
  return item;
}

function showClasses(classes) {
  byId("classes-part").hidden = classes.length === 0;
  const parts = classes.flatMap(({ share, rows }, number) => {
    const list = make("ul");
    list.append(...rows.map(typicalRow));
    const name = String.fromCharCode(65 + (number % 26));
    return [make("h3", `Class ${name}: ${percent(share)} of the rows, such as`), list];
  });
  byId("classes").replaceChildren(...parts);
}

function showPeople(people) {
  const rows = people.map((one) => {
    const line = make("tr");
    line.append(
      make("th", one.person, { scope: "row" }),
      make("td", String(one.answers)),
      make("td", one.shared ? `${percent(one.agreement)} of ${one.shared}` : "–"),
      make("td", percent(one.contradicted)),
    );
    return line;
  });
  byId("people-rows").replaceChildren(...rows);
}

const shown = {};

/** Call a function only where what it shows has changed. */
function ifNew(name, content, show) {
  const text = JSON.stringify(content);
  if (shown[name] === text) return;
  shown[name] = text;
  show(content);
}

/** Show how far asking has come; `onChange` is called with an answer to give again. */
export function showState(state, onChange) {
  document.title = state.title;
  byId("title").textContent = state.title;
  ifNew("history", state.history, (history) => drawPlot(byId("plot"), history));
  const { enough, why } = state.progress;
  byId("why").textContent = state.problem ?? (enough ? "" : why); // else it is above the question
  ifNew("enough", enough ? why : "", (words) => {
    byId("enough").textContent = words ? `You can stop now. ${words}` : "";
  });
  ifNew("classes", state.classes, showClasses);
  ifNew("people", state.people, showPeople);
  ifNew("suspects", state.suspects, (suspects) => {
    byId("suspects-part").hidden = suspects.length === 0;
    refill(byId("suspects"), suspects.map((one) => pastItem(one, "Check again", onChange)));
  });
  ifNew("past", [state.past, state.own], () => {
    const items = state.past.map((one) => pastItem({ ...one, person: undefined }, "Change", onChange));
    refill(byId("past"), items);
    byId("older").hidden = state.own <= state.past.length;
  });
}
