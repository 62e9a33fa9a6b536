// Actions on a row: modules register them, and each row shows those that apply in one group of buttons.
import { all, made, one } from "./dom.js";

// A row is an entry of the log, or a turn.
const rowKinds = "[data-l]:not(button), .turn";
const offers = [];

// An action has a name, an icon, a label and optionally a longer title, each a text or a function of the
// row; fits(row) says whether it applies, run(row, button) performs it. An action with a state of its own
// updates its button: mark(button, row).
export function registerAction(act) {
  offers.push(act);
}

function listActions(element) {
  return offers.filter((act) => act.fits(element));
}

export function getRow(button) {
  return button.closest(rowKinds);
}

export function runAction(button) {
  const found = offers.find(({ name }) => name === button.dataset.act);
  if (found?.run) found.run(getRow(button), button);
  closeGroup();
}

export function addActions(within) {
  if (within.matches?.(rowKinds)) addGroup(within);
  for (const element of all(rowKinds, within)) addGroup(element);
}

function addGroup(element) {
  const holder = getHolder(element);
  if (!holder || one(":scope > .acts", holder)) return;
  if (element.matches(".again") || element.parentElement?.closest("details:not([open])")) return;
  const acts = listActions(element);
  if (acts.length) placeGroup(holder, createGroup(element, acts, holder.matches("summary")));
}

function getHolder(element) {
  return element.matches(".turn") ? one(":scope > .head", element) : one(":scope > .line", element) || element;
}

function placeGroup(holder, group) {
  if (holder.matches(".line, .head, .event, .landmark")) holder.append(group);
  else holder.prepend(group);
}

// A summary is itself a button and cannot contain others: its icons work with the mouse only, and the
// unfolded content has the buttons.
function createGroup(element, acts, isSummary) {
  const group = made(isSummary ? "span" : "div", "acts");
  if (isSummary) group.setAttribute("aria-hidden", "true");
  else group.append(groupOpener());
  group.append(...acts.map((offered) => createActionButton(element, offered, isSummary)));
  return group;
}

function createActionButton(element, offered, isSummary) {
  const button = marked(made(isSummary ? "span" : "button", `act ${offered.kind || ""}`), element, offered);
  const label = resolveText(offered.label, element);
  button.title = resolveText(offered.title, element) || label;
  if (!isSummary) button.setAttribute("aria-label", label);
  button.append(made("i", `i i-${offered.icon}`));
  return button;
}

function resolveText(words, element) {
  return typeof words === "function" ? words(element) : words;
}

function marked(button, element, offered) {
  button.dataset.act = offered.name;
  if (offered.mark) offered.mark(button, element);
  return button;
}

// On touch screens one button shows the others.
function groupOpener() {
  const button = made("button", "acts-opener", "⋯");
  button.setAttribute("aria-label", "Actions");
  button.setAttribute("aria-expanded", "false");
  return button;
}

export function toggleGroup(button) {
  const group = button.parentElement;
  const isOpen = !group.matches(".open");
  closeGroup();
  group.classList.toggle("open", isOpen);
  button.setAttribute("aria-expanded", String(isOpen));
}

export function closeGroup() {
  for (const group of all(".acts.open")) {
    group.classList.remove("open");
    one(".acts-opener", group).setAttribute("aria-expanded", "false");
  }
}

// The same actions as text, below unfolded content.
export function addTools(details) {
  const acts = listActions(details);
  if (one(":scope > .tools", details) || !acts.length) return;
  const tools = made("p", "tools");
  tools.append(...acts.map((offered) => createTool(details, offered)));
  details.append(tools);
}

function createTool(details, offered) {
  return marked(made("button", offered.kind || "", resolveText(offered.label, details)), details, offered);
}
