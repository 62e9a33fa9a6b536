// The place of the reader, kept in the history: the entry at the top of the window, and how far it is from there.
import { hashOf, idIn } from "./address.js";
import { holdAt, land, letGo } from "./aim.js";
import { all, one } from "./dom.js";
import { go, goSpot } from "./go.js";
import { inView } from "./here.js";
import { askedWhere, main, served } from "./page.js";
import { around } from "./steps.js";
import { lineOf } from "./turns.js";
import { show } from "./ways.js";

export function stateNow() {
  return served ? placeNow() : { way: main.dataset.shown, top: scrollY };
}

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
  const found = element ? Promise.resolve(element) : askedWhere(state.id).then(goSpot);
  return found.then(
    (there) => {
      if (there) holdAt(there, state.off);
    },
    () => {
      /* it is no longer there */
    },
  );
}

export function goHash() {
  return go(idIn(location.hash));
}

export function keepPlace() {
  history.replaceState(stateNow(), "");
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
  if (served && state.id) {
    putAt(state);
    return;
  }
  requestAnimationFrame(() => scrollTo({ top: state.top, behavior: "instant" }));
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
