// The page of a session and the first page of a site: what they begin with.
import { addActs } from "./acts.js";
import { wantedIn } from "./address.js";
import { clicked } from "./clicks.js";
import { offerCopies } from "./copies.js";
import { one } from "./dom.js";
import { isOutcome, showOutcome } from "./filter.js";
import { search } from "./find.js";
import { goSpot, goTurn } from "./go.js";
import { catchUp } from "./growth.js";
import { keyPressed } from "./keys.js";
import { listen } from "./live.js";
import { markAsked } from "./marks.js";
import { hideReached } from "./newest.js";
import { asked, main, served } from "./page.js";
import { unfolded, watchTurns } from "./parts.js";
import { comeBack, goHash, leadBack, watchPlace, watchWays } from "./place.js";
import { prepare } from "./prepare.js";
import { offerLines } from "./raw.js";
import { shareForm } from "./share.js";
import { startSite } from "./site.js";
import { setTheme, storedTheme } from "./theme.js";
import { tellFound } from "./told.js";
import { rememberLast } from "./turns.js";
import { show } from "./ways.js";

export function startPage() {
  if (storedTheme()) setTheme(storedTheme());
  offerCopies();
  offerLines();
  document.addEventListener("toggle", unfolded, true);
  document.addEventListener("submit", shareForm);
  document.addEventListener("keydown", keyPressed);
  document.addEventListener("click", clicked);
  addEventListener("popstate", comeBack);
  const isVersus = Boolean(main && main.dataset.versus !== undefined);
  if (served && !isVersus) rememberLast();
  if (one(".top")) measureTop(one(".top"));
  prepare(document);
  if (isVersus) addActs(main);
  else if (main) startReading();
  else leadBack();
  if (one(".site")) startSite(one(".site"));
}

function startReading() {
  watchWays();
  history.scrollRestoration = "manual";
  show(main.dataset.main);
  watchTurns();
  const box = one("#find");
  if (box) searchAsTyped(box);
  goWanted(wantedIn(location.search), box);
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

function goWanted(wanted, box) {
  const mark = () => markAsked(marksOf(wanted));
  if (history.state && history.state.way) comeBack(history);
  else if (location.hash) goHash().then(mark);
  else if (served && wanted.turn !== null) goTurn(wanted.turn, wanted.line).then(mark);
  else if (served && wanted.at)
    goLine(wanted.at, wanted.words).then(mark, (error) => tellFound(error.message));
  else startWith(wanted, box);
}

function startWith({ outcome, words }, box) {
  if (isOutcome(outcome)) showOutcome(outcome);
  else if (served && words) {
    if (box) box.value = words;
    search(words);
  }
}

function marksOf({ marks, words }) {
  return marks.length || !words ? marks : [`=${words}`];
}

function goLine(at, words) {
  return asked(`/where?at=${at}`).then((spot) => goSpot(spot, words.toLowerCase()));
}

function followGrowth() {
  listen("session", (told) => {
    if (told.session === main.dataset.session) catchUp(false);
  });
  listen("again", () => catchUp(false));
  addEventListener("scroll", hideReached, { passive: true });
}
