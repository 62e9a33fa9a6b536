// The keys and buttons of a session's page.
import { scrollToElement } from "./scroll.js";
import { copySession, copyTurn } from "./copies.js";
import { all, isNarrow, one, scrollPadding } from "./dom.js";
import { closeFilter, toggleFilter } from "./filter.js";
import { hasHits, nextHit } from "./find.js";
import { help } from "./help.js";
import { here, markCurrentLinks } from "./current_turn.js";
import { clearMarks } from "./marks.js";
import { toEnd } from "./newest.js";
import { main, served } from "./page.js";
import { stepPath } from "./place.js";
import { share } from "./share.js";
import { nextPlace } from "./steps.js";
import { otherTheme } from "./theme.js";
import { announceFound } from "./announce.js";
import { promptedTurns } from "./turns.js";

export const actions = {
  filter: toggleFilter,
  help: () => help(served),
  theme: otherTheme,
  share,
  markdown: copySession,
  flip,
  close: () => one("dialog[open]")?.close(),
  outline: () => panel("outline"),
  rail: () => panel("rail"),
  head: () => showHead(!document.body.classList.contains("show-head")),
};

const pressed = {
  j: () => stepTurn(1),
  k: () => stepTurn(-1),
  "]": () => stepPath(1),
  "[": () => stepPath(-1),
  "/": findHere,
  n: () => nextHit(1),
  N: () => nextHit(-1),
  c: compare,
  x: share,
  G: toEnd,
  y: () => served && here && copyTurn(here),
  Y: () => served && copySession(),
  f: toggleFilter,
  e: openAll,
  o: actions.outline,
  g: actions.rail,
  t: otherTheme,
  "?": actions.help,
};

function flip() {
  main.classList.toggle("show-one");
  main.classList.toggle("show-two");
}

function panel(name) {
  const isOver = isNarrow() || (served && name === "outline" && !hasRoomForOutline());
  showHead(false);
  document.body.classList.toggle((isOver ? "show-" : "hide-") + name);
  markCurrentLinks();
}

// Next to the list of sessions, as in the style sheet.
function hasRoomForOutline() {
  return matchMedia("(min-width: 1280px)").matches;
}

export function closePanels() {
  document.body.classList.remove("show-outline", "show-rail");
  showHead(false);
}

// On narrow screens the rest of the top bar opens below it.
function showHead(isWanted) {
  document.body.classList.toggle("show-head", isWanted);
  one(".head-opener")?.setAttribute("aria-expanded", String(isWanted));
}

function findHere() {
  if (isNarrow()) showHead(true);
  one("#find")?.focus();
}

function stepTurn(by) {
  const found = promptedTurns();
  const tops = found.map((turn) => turn.getBoundingClientRect().top);
  const next = found[nextPlace(tops, scrollPadding(72), by)];
  if (next) scrollToElement(next);
}

function openAll() {
  const turn = here || promptedTurns()[0];
  if (!turn) return;
  const found = all("details", turn);
  for (let next = turn.nextElementSibling; next && next.matches(".turn.on"); next = next.nextElementSibling)
    found.push(...all("details", next));
  const isOpen = found.some((box) => !box.open);
  for (const box of found) box.open = isOpen;
}

function compare() {
  const link = one(".comparing");
  if (link) location.href = link.href;
}

export function keyPressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") closeAll();
  if (event.target.matches?.('input[type="search"], textarea, select')) {
    keyInField(event);
    return;
  }
  if (one("dialog[open]")) return;
  const action = pressed[event.key];
  if (!action || !(main || /^[t?/]$/.test(event.key))) return;
  event.preventDefault();
  action();
}

function closeAll() {
  closeFilter();
  closePanels();
  announceFound("");
  clearMarks();
}

function keyInField(event) {
  if (event.key === "Escape") {
    event.preventDefault();
    event.target.blur();
  }
  if (event.key === "Enter" && event.target.id === "find" && hasHits()) {
    event.preventDefault();
    nextHit(event.shiftKey ? -1 : 1);
  }
}
