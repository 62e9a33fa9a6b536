// A growing session: added turns are fetched and inserted, unchanged ones stay as they are.
import { addActions } from "./actions.js";
import { all, made, one } from "./dom.js";
import { forgetLinks, markCurrentLinks, watchTurn } from "./current_turn.js";
import { isAtEnd, showBottom, showNewTurns } from "./newest.js";
import { asked, main } from "./page.js";
import { prepare } from "./prepare.js";
import { redraw } from "./redraw.js";
import { lengthened } from "./steps.js";
import { showNotice } from "./announce.js";
import { lastTurn, mainLine, makeRoom, number, remember } from "./turns.js";
import { drawOutline, shown } from "./paths.js";

let isAsking = false;
let wanted = "";
let rest = 0;

export function catchUp(isWhole) {
  if (isAsking) {
    wanted = isWhole ? "whole" : wanted || "end";
    return;
  }
  isAsking = true;
  askSince(isWhole)
    .then(take, () => {
      /* the stream says when the server is back */
    })
    .then(() => {
      isAsking = false;
      const next = wanted;
      wanted = "";
      if (next) catchUp(next === "whole");
    });
}

function askSince(isWhole) {
  const line = mainLine();
  const known = line ? line.dataset.turns : 0;
  const mark = encodeURIComponent(main.dataset.mark);
  return asked(`/since?turns=${known}&mark=${mark}${isWhole ? "&whole=1" : ""}`);
}

function take(news) {
  clearTimeout(rest);
  if (news.is_gone) {
    showNotice("This session no longer exists. You can still read what is loaded.");
    return null;
  }
  showNotice("");
  if (news.wait) rest = setTimeout(() => catchUp(true), news.wait);
  takeTitle(news.title);
  if (news.is_redrawn) return redraw();
  takeHead(news);
  return news.turns && news.turns.length ? putNew(news) : null;
}

// Set or remove a title.
function takeTitle(words) {
  if (words === undefined) return;
  const title = one(".top h1");
  title.textContent = title.title = words;
  document.title = `${words} · Plait`;
}

function takeHead(news) {
  main.dataset.mark = news.mark;
  if (news.facts !== undefined) one(".top .facts").innerHTML = news.facts;
  if (news.rail === undefined) return;
  one(".rail").innerHTML = news.rail;
  forgetLinks();
  markCurrentLinks();
}

function putNew(news) {
  const line = mainLine();
  const known = Number(line.dataset.turns);
  const part = all(":scope > .part", line).pop();
  if (part && Number(part.dataset.last) >= known) {
    if (part.dataset.loading) return part.loaded.then(() => putNew(news));
    lengthen(part, news, known);
  } else placeTurns(line, news, known);
  line.dataset.turns = news.count;
  if (news.count !== known) drawOutline(shown);
  return null;
}

// The reader has not come this far: more is fetched when they do.
function lengthen(part, news, known) {
  Object.assign(part.dataset, lengthened(part.dataset, news, known));
  makeRoom(part, Number(part.dataset.turns));
  showNewTurns(news.count - known, null);
}

function placeTurns(line, news, known) {
  const isFollowing = isAtEnd(line);
  const added = putTurns(line, drawnTurns(news.turns));
  if (isFollowing) showBottom(lastTurn());
  else showNewTurns(news.count - known, added.find((turn) => !turn.matches(".on")) || null);
}

function drawnTurns(turns) {
  const box = made("template");
  box.innerHTML = turns.join("");
  return Array.from(box.content.children);
}

// Replace the turns from a number on, and return those that are new.
function putTurns(line, given) {
  const first = given.length ? Number(given[0].dataset.n) : 0;
  const old = all(":scope > .turn", line).filter((turn) => Number(turn.dataset.n) >= first);
  const isSame = (turn, place) => old[place] && old[place].dataset.n === turn.dataset.n;
  const added = given.filter((turn, place) => !isSame(turn, place));
  given.forEach((turn, place) => {
    if (isSame(turn, place)) merge(old[place], turn);
    else addTurn(line, turn, old[place]);
  });
  for (const turn of old.slice(given.length)) turn.remove();
  return added;
}

function addTurn(line, turn, before) {
  if (before) before.remove();
  remember(turn);
  prepare(turn);
  line.append(turn);
  number(turn);
  watchTurn(turn);
}

// Keep unchanged elements, with what is open, highlighted or selected.
function merge(turn, next) {
  const drawn = turn.drawn || [];
  const parts = Array.from(next.children);
  const kept = Array.from(turn.children);
  turn.drawn = parts.map((child) => child.outerHTML);
  parts.forEach((child, place) => {
    const old = kept[place];
    if (old && drawn[place] === turn.drawn[place]) return;
    if (old) {
      keepOpen(old, child);
      old.replaceWith(child);
    } else turn.append(child);
    prepare(child);
  });
  for (const child of kept.slice(parts.length)) child.remove();
  number(turn);
  addActions(turn);
}

function keepOpen(old, next) {
  if (old.matches("details[open]") && next.matches("details") && (old.id === next.id || !old.id))
    next.open = true;
  for (const box of all("details[open][id]", old)) {
    const same = one(`#${CSS.escape(box.id)}`, next);
    if (same) same.open = true;
  }
}
