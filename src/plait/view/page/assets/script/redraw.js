// Reload the whole session after a new branch or a rewritten log, and keep the reading position.
import { one } from "./dom.js";
import { forgetLinks, stand } from "./current_turn.js";
import { isAtEnd, showNewTurns, toEnd } from "./newest.js";
import { main, served } from "./page.js";
import { watchTurns } from "./parts.js";
import { getPlace, restorePlace, watchPaths } from "./place.js";
import { prepare } from "./prepare.js";
import { showNotice } from "./announce.js";
import { getLine, mainLine, rememberLast } from "./turns.js";
import { show } from "./paths.js";

export function redraw() {
  return fetch(served)
    .then((answer) => answer.text())
    .then((text) => redrawFrom(new DOMParser().parseFromString(text, "text/html")));
}

function redrawFrom(page) {
  const next = one("main[data-session]", page);
  if (!next) {
    showNotice("This session can no longer be read. You can still read what is loaded.");
    return null;
  }
  const place = getPlace();
  const wasMain = main.dataset.shown === main.dataset.main;
  const known = mainLine();
  const before = known ? Number(known.dataset.turns) : 0;
  const isFollowing = known && isAtEnd(known);
  takePage(page, next);
  show(wasMain || !getLine(place.way) ? main.dataset.main : place.way);
  watchTurns();
  if (isFollowing) {
    toEnd();
    return null;
  }
  const now = Number(mainLine().dataset.turns);
  if (now > before) showNewTurns(now - before, null);
  return restorePlace(place);
}

function takePage(page, next) {
  main.replaceChildren(...next.childNodes);
  main.dataset.main = next.dataset.main;
  main.dataset.mark = next.dataset.mark;
  for (const name of [".top .facts", ".rail"]) one(name).innerHTML = one(name, page).innerHTML;
  takeSwitch(page);
  forgetLinks();
  stand(null);
  rememberLast();
  prepare(main);
}

function takeSwitch(page) {
  for (const name of [".ways", ".comparing"]) {
    const old = one(`.top ${name}`);
    const next = one(`.top ${name}`, page);
    if (old && next) old.replaceWith(next);
    else if (next) one(".top .facts").before(next);
    else if (old) old.remove();
  }
  watchPaths();
}
