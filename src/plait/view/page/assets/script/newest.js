// The end of a growing session: follow it if the reader is there, otherwise offer to go there.
import { hold } from "./scroll.js";
import { made, one } from "./dom.js";
import { revealPrompt } from "./navigate.js";
import { stand } from "./current_turn.js";
import { main } from "./page.js";
import { fill } from "./parts.js";
import { lastTurn, mainLine } from "./turns.js";
import { show, shown } from "./paths.js";

let fresh = { count: 0, first: null };

export function isAtEnd(line) {
  if (line.hidden || shown[shown.length - 1] !== line) return false;
  const last = lastTurn();
  const box = last && last.getBoundingClientRect();
  return Boolean(box) && box.bottom <= innerHeight + 48 && box.bottom > 0;
}

export function showBottom(turn) {
  hideNew();
  hold(() => (turn.isConnected ? turn.getBoundingClientRect().bottom - (innerHeight - 48) : 0), true);
  stand(turn);
}

export function toEnd() {
  if (!main) return;
  show(main.dataset.main);
  const last = lastTurn();
  const filled = last && last.matches(".part") ? fill(last) : Promise.resolve();
  filled.then(() => {
    const turn = lastTurn();
    if (turn) showBottom(turn);
  });
}

export function showNewTurns(count, first) {
  fresh.count += count;
  fresh.first = fresh.first || first;
  const button = one(".newer") || newButton();
  button.textContent = newWords(fresh.count);
}

function newWords(count) {
  if (!count) return "The last turn is still running";
  return `${count} new ${count === 1 ? "turn" : "turns"}`;
}

function newButton() {
  const button = made("button", "newer");
  button.onclick = goToNew;
  document.body.append(button);
  return button;
}

function goToNew() {
  const to = fresh.first;
  hideNew();
  if (to && to.isConnected) revealPrompt(to);
  else toEnd();
}

function hideNew() {
  fresh = { count: 0, first: null };
  one(".newer")?.remove();
}

export function hideReached() {
  const line = one(".newer") && mainLine();
  if (line && isAtEnd(line)) hideNew();
}
