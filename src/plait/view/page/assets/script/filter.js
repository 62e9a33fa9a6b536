// The kinds of entries that are shown, chosen in a menu.
import { made, one } from "./dom.js";

const kinds = [
  ["answers", "Answers", ".say"],
  ["thinking", "Thinking", ".think"],
  ["tools", "Tools", ".call, .group"],
  ["agents", "Agents", ".agent"],
  ["notes", "Notes", ".note, .notes"],
];

export function unfilter(element) {
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
  menu.append(...kinds.map(choice));
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
