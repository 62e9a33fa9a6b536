// The reading position, kept in the history: the top entry and its distance from the top of the window.
import { computeHash, idIn } from "./address.js";
import { holdElementAt, scrollToElement, stopHolding } from "./scroll.js";
import { all, one } from "./dom.js";
import { go, goToLocation } from "./navigate.js";
import { inView, stand } from "./current_turn.js";
import { memorize, recalled } from "./memory.js";
import { askedWhere, main, served } from "./page.js";
import { around } from "./steps.js";
import { getLine } from "./turns.js";
import { show } from "./paths.js";

export function getPlace() {
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

export function restorePlace(state) {
  if (!state.id) return Promise.resolve();
  const element = document.getElementById(state.id);
  const found = element ? Promise.resolve(element) : broughtHere(state.id);
  return found.then(
    (there) => {
      if (!there) return;
      holdElementAt(there, state.off);
      const turn = there.closest("main > .dag > .turn");
      if (turn) stand(turn);
    },
    () => {
      /* it is no longer there */
    },
  );
}

function broughtHere(id) {
  if (served) return askedWhere(id).then(goToLocation);
  return go(id).then(() => document.getElementById(id));
}

export function goToHash() {
  return go(idIn(location.hash));
}

export function keepPlace() {
  const place = getPlace();
  history.replaceState(place, "");
  if (served) memorize(`place-${main.dataset.session}`, place.id || "");
}

// Browsers ignore a position saved while leaving the page, so it is saved whenever scrolling stops.
export function watchPlace() {
  let resting = 0;
  const rest = () => {
    clearTimeout(resting);
    resting = setTimeout(keepPlace, 200);
  };
  addEventListener("scroll", rest, { passive: true });
  addEventListener("pagehide", keepPlace);
}

// Return from another tab of a session to the reading position.
export function returnToPlace() {
  const name = one("main[data-of]")?.dataset.of;
  const id = name && recalled(`place-${name}`);
  const link = id && one(".tabs a");
  if (link) link.hash = computeHash(id);
}

export function leaveFor(id) {
  keepPlace();
  history.pushState(null, "", `#${computeHash(id)}`);
  return go(id);
}

export function handlePopState({ state }) {
  stopHolding();
  if (!state || !state.way) {
    goToHash();
    return;
  }
  if (state.way !== main.dataset.shown) show(state.way);
  scrollTo({ top: state.top, behavior: "instant" });
  if (state.id) restorePlace(state);
  else requestAnimationFrame(() => scrollTo({ top: state.top, behavior: "instant" }));
}

// Switch to another path with the list of paths or with keys.
export function watchPaths() {
  const select = one(".ways");
  if (select) select.onchange = () => goToPath(select.value);
}

export function stepPath(by) {
  const select = one(".ways");
  if (!select) return;
  select.selectedIndex = around(select.selectedIndex, by, select.options.length);
  goToPath(select.value);
}

function goToPath(id) {
  keepPlace();
  show(id);
  history.pushState({ way: id, top: scrollY }, "", `#line-${id}`);
  const line = getLine(id);
  scrollToElement(one(":scope > .from", line) || line);
}
