// The place of the reader, kept in the history: the entry at the top of the window, and how far it is from there.
import { hashOf, idIn } from "./address.js";
import { holdAt, land, letGo } from "./aim.js";
import { all, one } from "./dom.js";
import { go, goSpot } from "./go.js";
import { inView, stand } from "./here.js";
import { memorize, recalled } from "./memory.js";
import { askedWhere, main, served } from "./page.js";
import { around } from "./steps.js";
import { lineOf } from "./turns.js";
import { show } from "./ways.js";

export function placeNow() {
  let best = null;
  for (const turn of inView) if (turn.isConnected) best = all("[id]", turn).reduce(higher, best);
  return { way: main.dataset.shown, top: scrollY, id: best && best.id, off: best && best.top };
}

function higher(best, element) {
  if (element.closest("details:not([open]) > .body")) return best;
  const box = element.getBoundingClientRect();
  const isBetter = box.height && box.bottom > 96 && (!best || box.top < best.top);
  return isBetter ? { id: element.id, top: box.top } : best;
}

export function putAt(state) {
  if (!state.id) return Promise.resolve();
  const element = document.getElementById(state.id);
  const found = element ? Promise.resolve(element) : broughtHere(state.id);
  return found.then(
    (there) => {
      if (!there) return;
      holdAt(there, state.off);
      const turn = there.closest("main > .dag > .turn");
      if (turn) stand(turn);
    },
    () => {
      /* it is no longer there */
    },
  );
}

function broughtHere(id) {
  if (served) return askedWhere(id).then(goSpot);
  return go(id).then(() => document.getElementById(id));
}

export function goHash() {
  return go(idIn(location.hash));
}

export function keepPlace() {
  const place = placeNow();
  history.replaceState(place, "");
  if (served) memorize(`place-${main.dataset.session}`, place.id || "");
}

// Browsers take no note of a place that is kept while the page goes: it is kept whenever the reader rests.
export function watchPlace() {
  let resting = 0;
  const rest = () => {
    clearTimeout(resting);
    resting = setTimeout(keepPlace, 200);
  };
  addEventListener("scroll", rest, { passive: true });
  addEventListener("pagehide", keepPlace);
}

// From another view of a session, its conversation is come back to where it was left.
export function leadBack() {
  const name = one("main[data-of]")?.dataset.of;
  const id = name && recalled(`place-${name}`);
  const link = id && one(".tabs a");
  if (link) link.hash = hashOf(id);
}

export function leaveFor(id) {
  keepPlace();
  history.pushState(null, "", `#${hashOf(id)}`);
  return go(id);
}

export function comeBack({ state }) {
  letGo();
  if (!state || !state.way) {
    goHash();
    return;
  }
  if (state.way !== main.dataset.shown) show(state.way);
  scrollTo({ top: state.top, behavior: "instant" });
  if (state.id) putAt(state);
  else requestAnimationFrame(() => scrollTo({ top: state.top, behavior: "instant" }));
}

// The other ways through the session, by the list of them or by keys.
export function watchWays() {
  const select = one(".ways");
  if (select) select.onchange = () => goWay(select.value);
}

export function stepWay(by) {
  const select = one(".ways");
  if (!select) return;
  select.selectedIndex = around(select.selectedIndex, by, select.options.length);
  goWay(select.value);
}

function goWay(id) {
  keepPlace();
  show(id);
  history.pushState({ way: id, top: scrollY }, "", `#line-${id}`);
  const line = lineOf(id);
  land(one(":scope > .from", line) || line);
}
