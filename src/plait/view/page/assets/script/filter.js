// The menu that filters entries by kind and calls by outcome.
import { all, made, one } from "./dom.js";
import { main } from "./page.js";
import { fillAll } from "./parts.js";
import { announceFound } from "./announce.js";

const kinds = [
  ["answers", "Answers", ".say"],
  ["thinking", "Thinking", ".think"],
  ["tools", "Tools", ".call, .group"],
  ["agents", "Agents", ".agent"],
  ["notes", "Notes", ".note, .notes"],
];

const outcomes = [
  ["", "All calls"],
  ["failed", "Failed"],
  ["rejected", "Rejected"],
  ["interrupted", "Interrupted"],
  ["launched", "In the background"],
];

export function unfilter(element) {
  const chosen = chosenOutcome();
  if (chosen && !element.matches(ended(chosen))) showOutcome("");
  for (const [kind, , holders] of kinds)
    if (element.closest(holders)) document.body.classList.remove(`no-${kind}`);
}

export function closeFilter() {
  one(".menu")?.remove();
}

export function toggleFilter() {
  if (one(".menu")) {
    closeFilter();
    return;
  }
  const menu = made("div", "menu");
  menu.setAttribute("role", "group");
  menu.setAttribute("aria-label", "Show");
  menu.append(...kinds.map(choice), outcomeChoices());
  document.body.append(menu);
  one("input", menu).focus();
}

function choice([kind, words]) {
  const label = made("label");
  const box = made("input");
  box.type = "checkbox";
  box.checked = !document.body.classList.contains(`no-${kind}`);
  box.dataset.kind = kind;
  box.onchange = () => document.body.classList.toggle(`no-${kind}`, !box.checked);
  label.append(box, ` ${words}`);
  return label;
}

function outcomeChoices() {
  const group = made("fieldset");
  group.append(made("legend", "", "Calls"), ...outcomes.map(outcomeChoice));
  return group;
}

function outcomeChoice([outcome, words]) {
  const label = made("label");
  const button = made("input");
  button.type = "radio";
  button.name = "outcome";
  button.value = outcome;
  button.checked = chosenOutcome() === outcome;
  button.onchange = () => showOutcome(outcome);
  label.append(button, ` ${words}`);
  return label;
}

function chosenOutcome() {
  return outcomes.map(([name]) => name).find((name) => name && document.body.classList.contains(`only-${name}`)) || "";
}

function ended(outcome) {
  return `.call.${outcome}, .event.${outcome}`;
}

// Show only calls of one outcome, each in its turn; turns that are not loaded are fetched.
export function showOutcome(outcome) {
  for (const [name] of outcomes) if (name) document.body.classList.toggle(`only-${name}`, name === outcome);
  announceFound(outcome ? "…" : "");
  if (!outcome) return Promise.resolve();
  return fillAll().then(() => {
    if (chosenOutcome() !== outcome) return;
    const found = all(ended(outcome), main);
    for (const element of found)
      for (const group of heldIn(element, "details.group, details.agent, details.call")) group.open = true;
    announceFound(found.length ? `${found.length} ${outcome}` : `No ${outcome} calls`);
  });
}

function heldIn(element, holders) {
  const found = [];
  const around = (inner) => inner.parentElement?.closest(holders);
  for (let holder = around(element); holder; holder = around(holder)) found.push(holder);
  return found;
}

export function isOutcome(name) {
  return outcomes.some(([outcome]) => outcome && outcome === name);
}
