// Scrolling to a place, and staying there while what is near it gets its true height.
import { scrollPadding } from "./dom.js";
import { holdPosition, stand } from "./current_turn.js";

let holding = 0;

export function stopHolding() {
  holding++;
}

// What comes into view gets its true height only then, and what is near is fetched: aim again until it
// stands still, or until the reader moves.
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

// Holds an element at a height of the window.
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
