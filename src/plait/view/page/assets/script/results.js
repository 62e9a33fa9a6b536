// Lists that are fetched, updated where they changed, and extended while scrolling.
import { updateAges } from "./ages.js";
import { all, made, one, whenNear } from "./dom.js";
import { showMissingPins } from "./pins_gone.js";
import { startRoom } from "./room.js";
import { pagePart, unfoldRow } from "./rows.js";

let counting = 0;
let pause = 400;
let latest = 0;
const nearEnd = whenNear(800, lengthenList);

export function putResults(holder, html) {
  if (holder.dataset.html === html) {
    countOn();
    return;
  }
  const before = saveView(holder);
  holder.innerHTML = html;
  const folds = all("details", holder);
  if (folds.length === before.folds.length)
    folds.forEach((fold, place) => {
      fold.open = before.folds[place];
    });
  toEnds(holder);
  holder.dataset.html = html.length < 100000 ? html : "";
  updateAges(holder);
  restoreView(holder, before);
  watchMore(holder);
  showMissingPins(holder);
  countOn();
}

// The state of a list: what is open, marked, focused, already known.
function saveView(holder) {
  const focused = document.activeElement;
  const mark = focused && holder.contains(focused) && focused.closest("[data-name]");
  return {
    focus: mark && mark.dataset.name,
    open: all("button.fold[aria-expanded=true]", holder).map((button) => button.dataset.parts),
    here: one(".here[data-name]", holder)?.dataset.name,
    known: new Set(all("[data-name]", holder).map((row) => row.dataset.name)),
    folds: all("details", holder).map((fold) => fold.open),
  };
}

function restoreView(holder, before) {
  const named = (name, rest = "") => one(`[data-name="${CSS.escape(name)}"]${rest}`, holder);
  if (before.known.size)
    for (const row of all("[data-name]", holder))
      if (!before.known.has(row.dataset.name)) row.classList.add("arrived");
  for (const name of before.open) {
    const button = one(`button.fold[data-parts="${CSS.escape(name)}"]`, holder);
    if (button) unfoldRow(button);
  }
  if (before.here) named(before.here)?.classList.add("here");
  if (before.focus) named(before.focus, " a")?.focus({ preventScroll: true });
}

export function toEnds(within) {
  for (const box of all(".scroll.end", within)) box.scrollLeft = box.scrollWidth;
}

function results() {
  return one("[data-results]") || one("main[data-live]");
}

export function renew() {
  const holder = results() || one("main.tab");
  if (!holder) return Promise.resolve();
  return pagePart(location.href)
    .then((html) => {
      const inner = holder.matches("main") ? one("main", parsed(html))?.innerHTML : html;
      if (inner !== undefined) putResults(holder, inner);
      startRoom();
    })
    .catch(() => {
      /* the server has gone: what is shown stays */
    });
}

function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html");
}

// Fetch again, with growing delays, while figures are being counted.
export function countOn() {
  clearTimeout(counting);
  if (!one("[data-counting]")) {
    pause = 400;
    return;
  }
  counting = setTimeout(renew, pause);
  pause = Math.min(pause * 1.5, 5000);
}

// Keep the query in the address.
export function follow(address) {
  const mine = ++latest;
  const holder = results();
  history.replaceState(history.state, "", address);
  return pagePart(address).then(
    (html) => {
      if (mine === latest) putResults(holder, html);
    },
    () => showInstead("The server does not respond."),
  );
}

function showInstead(words) {
  const holder = results();
  if (!holder) return;
  holder.replaceChildren(made("p", "empty", words));
  holder.dataset.html = "";
}

export function watchMore(within) {
  if (nearEnd) for (const link of all("a[data-more]", within)) nearEnd.observe(link);
}

// Load more rows as their end approaches; the address keeps how many there are.
function lengthenList(link) {
  const rows = one("table.rows", link.closest("[data-results]"));
  if (!rows) {
    follow(link.href);
    return;
  }
  pagePart(`${link.href}&from=${link.dataset.more}`).then(
    (html) => addRows(rows, link, parsed(html)),
    () => {
      /* the link is still there */
    },
  );
}

function addRows(rows, link, found) {
  const next = one(".more-rows", found);
  for (const body of all("tbody", found)) {
    updateAges(body);
    rows.append(body);
  }
  history.replaceState(history.state, "", link.getAttribute("href"));
  if (next) {
    link.parentElement.replaceWith(next);
    watchMore(next);
  } else link.parentElement.remove();
  results().dataset.html = "";
}
