// The command palette: pages, sessions and search, over any page.
import { updateAges } from "./ages.js";
import { all, made, one } from "./dom.js";
import { around } from "./steps.js";

let palette = null;
let offered = 0;

export function togglePalette() {
  if (palette) palette.close();
  else openPalette();
}

export function openPalette() {
  if (one("dialog[open]")) return;
  const field = paletteField();
  const list = paletteList();
  palette = made("dialog", "palette");
  palette.setAttribute("aria-label", "Go to a page or search");
  palette.append(field, list, hints());
  document.body.append(palette);
  watchField(field, list);
  watchList(field, list);
  palette.addEventListener("click", (event) => {
    if (event.target === palette) palette.close();
  });
  palette.addEventListener("close", () => {
    palette.remove();
    palette = null;
  });
  palette.showModal();
  offer(field, list);
}

function paletteField() {
  const field = made("input");
  field.type = "text";
  field.placeholder = "Go to a session, or search everything";
  field.spellcheck = false;
  field.autocomplete = "off";
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-expanded", "true");
  field.setAttribute("aria-controls", "offers");
  field.setAttribute("aria-label", field.placeholder);
  return field;
}

function paletteList() {
  const list = made("ul");
  list.id = "offers";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  return list;
}

function hints() {
  const line = made("p", "hints");
  line.append(...["↑ ↓ choose", "Enter open", "Esc close"].map((words) => made("span", "", words)));
  return line;
}

function watchField(field, list) {
  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => offer(field, list), 80);
  });
  field.addEventListener("keydown", (event) => choose(event, field, list));
}

function watchList(field, list) {
  const itemAt = (event) => event.target.closest("[role=option]");
  list.addEventListener("mousemove", (event) => {
    if (itemAt(event)) select(itemAt(event), field, list);
  });
  list.addEventListener("click", (event) => {
    if (itemAt(event)) leave(itemAt(event), event);
  });
}

function offer(field, list) {
  const mine = ++offered;
  fetch(`/palette?q=${encodeURIComponent(field.value)}`)
    .then((answer) => answer.text())
    .then((html) => {
      if (mine === offered) putSuggestions(html, field, list);
    })
    .catch(() => list.replaceChildren(made("li", "group", "The server does not respond.")));
}

function putSuggestions(html, field, list) {
  list.innerHTML = html;
  updateAges(list);
  all("[role=option]", list).forEach((item, place) => {
    item.id = `offer-${place}`;
  });
  select(one("[role=option]", list), field, list);
}

function select(item, field, list) {
  for (const old of all("[aria-selected=true]", list)) old.setAttribute("aria-selected", "false");
  if (!item) {
    field.removeAttribute("aria-activedescendant");
    return;
  }
  item.setAttribute("aria-selected", "true");
  field.setAttribute("aria-activedescendant", item.id);
  item.scrollIntoView({ block: "nearest" });
}

function choose(event, field, list) {
  const items = all("[role=option]", list);
  const at = items.findIndex((item) => item.getAttribute("aria-selected") === "true");
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by && items.length) {
    event.preventDefault();
    select(items[around(at, by, items.length)], field, list);
  }
  if (event.key === "Enter" && items[at]) {
    event.preventDefault();
    leave(items[at], event);
  }
}

function leave(item, event) {
  if (event.ctrlKey || event.metaKey) window.open(item.dataset.href, "_blank", "noopener");
  else location.href = item.dataset.href;
  palette.close();
}
