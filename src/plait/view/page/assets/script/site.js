// The start page of a site: search titles and prompts while typing.
import { all, made, one } from "./dom.js";
import { fetched, root } from "./page.js";
import { excerpt } from "./text.js";

let loading = null;

export function startSite(list) {
  const field = one("#find");
  const filter = () => {
    const wanted = field.value.trim().toLowerCase();
    loadEntries().then((entries) => filterRows(list, entries, wanted));
  };
  let typing = 0;
  field.oninput = () => {
    clearTimeout(typing);
    typing = setTimeout(filter, 120);
  };
  if (field.value) filter();
}

function loadEntries() {
  if (!loading) loading = entriesInside() || fetched("index", `${root}assets/index.js`);
  return loading;
}

function entriesInside() {
  const inside = one("script.index");
  return inside && Promise.resolve(JSON.parse(inside.textContent));
}

function filterRows(list, entries, wanted) {
  const rows = all("li[data-session]", list);
  for (const row of rows) filterRow(row, entries[row.dataset.session] || [], wanted);
  for (const section of all("section.project", list))
    section.hidden = !one("li[data-session]:not([hidden])", section);
  const empty = one(".empty.none");
  if (empty) empty.hidden = rows.some((row) => !row.hidden);
}

function filterRow(row, prompts, wanted) {
  const found = excerpt(prompts, wanted);
  const isInTitle = one(".title", row).textContent.toLowerCase().includes(wanted);
  row.hidden = Boolean(wanted) && !isInTitle && !found;
  one(":scope > .entry > .hit", row)?.remove();
  if (found) one(":scope > .entry", row).append(renderHit(found));
}

function renderHit([before, words, after]) {
  const line = made("span", "hit");
  line.append(before, made("mark", "", words), after);
  return line;
}
