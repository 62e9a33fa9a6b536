// Scroll to an element, and stay there while the height of elements near it changes.
import { scrollPadding } from "./dom.js";
import { holdPosition, stand } from "./current_turn.js";

let holding = 0;

export function stopHolding() {
  holding++;
}

// Elements get their real height only when they become visible, so aim again until nothing
// moves, or until the reader scrolls.
export function hold(distance, isEnd) {
  const mine = ++holding;
  const until = performance.now() + 1500;
  let still = 0;
  const aim = () => {
    if (mine !== holding || performance.now() > until || still > 20) return;
    const by = distance();
    const before = scrollY;
    if (isEnd ? by > 1 : Math.abs(by) > 1) scrollBy({ top: by, behavior: "instant" });
    holdPosition();
    still = scrollY === before ? still + 1 : 0;
    requestAnimationFrame(aim);
  };
  aim();
}

// Hold an element at a height of the window.
export function holdElementAt(element, top) {
  hold(() => (element.isConnected ? element.getBoundingClientRect().top - top : 0));
}

export function scrollToElement(element) {
  element.scrollIntoView({ block: "start", behavior: "instant" });
  // Near the end of a page no turn can come up to the line: what was asked for is here.
  holdPosition();
  holdElementAt(element, scrollPadding(64));
  const turn = element.closest("main > .dag > .turn");
  if (turn) stand(turn);
}

for (const kind of ["wheel", "touchstart", "mousedown", "keydown"])
  addEventListener(kind, stopHolding, { passive: true, capture: true });
