// Entry point of session pages and the start page of a site.
import { addActions } from "./actions.js";
import { wantedIn } from "./address.js";
import { clicked } from "./clicks.js";
import { registerCopyActions } from "./copies.js";
import { one } from "./dom.js";
import { isOutcome, showOutcome } from "./filter.js";
import { search } from "./find.js";
import { goToLocation, goToTurn } from "./navigate.js";
import { catchUp } from "./growth.js";
import { keyPressed } from "./keys.js";
import { listen } from "./live.js";
import { markAsked } from "./marks.js";
import { hideReached } from "./newest.js";
import { asked, main, served } from "./page.js";
import { unfolded, watchTurns } from "./parts.js";
import { handlePopState, goToHash, returnToPlace, watchPlace, watchPaths } from "./place.js";
import { prepare } from "./prepare.js";
import { offerLines } from "./raw.js";
import { shareForm } from "./share.js";
import { startSite } from "./site.js";
import { setTheme, storedTheme } from "./theme.js";
import { announceFound } from "./announce.js";
import { rememberLast } from "./turns.js";
import { show } from "./paths.js";

export function startPage() {
  if (storedTheme()) setTheme(storedTheme());
  registerCopyActions();
  offerLines();
  document.addEventListener("toggle", unfolded, true);
  document.addEventListener("submit", shareForm);
  document.addEventListener("keydown", keyPressed);
  document.addEventListener("click", clicked);
  addEventListener("popstate", handlePopState);
  const isVersus = Boolean(main && main.dataset.versus !== undefined);
  if (served && !isVersus) rememberLast();
  if (one(".top")) measureTop(one(".top"));
  prepare(document);
  if (isVersus) addActions(main);
  else if (main) startReading();
  else returnToPlace();
  if (one(".site")) startSite(one(".site"));
}

function startReading() {
  watchPaths();
  history.scrollRestoration = "manual";
  show(main.dataset.main);
  watchTurns();
  const box = one("#find");
  if (box) searchAsTyped(box);
  goToRequested(wantedIn(location.search), box);
  watchPlace();
  if (served) followGrowth();
}

function measureTop(header) {
  const measure = () => document.documentElement.style.setProperty("--top", `${header.offsetHeight}px`);
  if (window.ResizeObserver) new ResizeObserver(measure).observe(header);
  measure();
}

function searchAsTyped(box) {
  let timer = 0;
  box.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(() => search(box.value.trim()), 250);
  };
}

function goToRequested(wanted, box) {
  const mark = () => markAsked(getMarks(wanted));
  if (history.state && history.state.way) handlePopState(history);
  else if (location.hash) goToHash().then(mark);
  else if (served && wanted.turn !== null) goToTurn(wanted.turn, wanted.line).then(mark);
  else if (served && wanted.at)
    goToLine(wanted.at, wanted.words).then(mark, (error) => announceFound(error.message));
  else startWith(wanted, box);
}

function startWith({ outcome, words }, box) {
  if (isOutcome(outcome)) showOutcome(outcome);
  else if (served && words) {
    if (box) box.value = words;
    search(words);
  }
}

function getMarks({ marks, words }) {
  return marks.length || !words ? marks : [`=${words}`];
}

function goToLine(at, words) {
  return asked(`/where?at=${at}`).then((spot) => goToLocation(spot, words.toLowerCase()));
}

function followGrowth() {
  listen("session", (event) => {
    if (event.session === main.dataset.session) catchUp(false);
  });
  listen("again", () => catchUp(false));
  addEventListener("scroll", hideReached, { passive: true });
}
