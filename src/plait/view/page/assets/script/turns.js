// Lines and turns on the page: find, number and remember them.
import { all, one } from "./dom.js";
import { main } from "./page.js";
import { promptsIn } from "./steps.js";

export function getLine(id) {
  return document.getElementById(`line-${id}`);
}

export function mainLine() {
  return getLine(main.dataset.main);
}

export function lastTurn() {
  const line = mainLine();
  return line ? all(":scope > .turn, :scope > .part", line).pop() : null;
}

export function promptedTurns() {
  return all("main > .dag:not([hidden]) > .turn:not(.past)").filter((turn) => one(":scope > .prompt", turn));
}

// A branch continues the numbers of the line that it leaves.
export function number(turn) {
  const sign = one(":scope > .head > .n", turn);
  if (sign) sign.textContent = Number(turn.parentElement.dataset.before || 0) + Number(turn.dataset.n);
}

export function remember(turn) {
  turn.drawn = Array.from(turn.children).map((child) => child.outerHTML);
}

export function rememberLast() {
  const last = lastTurn();
  if (last && last.matches(".turn"))
    all(`:scope > .turn[data-n="${last.dataset.n}"]`, last.parentElement).forEach(remember);
}

// Placeholders for turns that are not loaded.
export function makeRoom(part, count) {
  part.style.minHeight = `${600 * count}px`;
}

// The prompts of a line as pairs of position and words, including parts that are not loaded.
export function promptsOn(line) {
  return all(":scope > .turn:not(.past), :scope > .part:not(.past)", line).flatMap((turn) => {
    if (turn.matches(".part")) return promptsIn(turn.dataset);
    const prompt = one(":scope > .prompt", turn);
    return prompt && turn.dataset.n !== "0" ? [[prompt.id, getWords(one(".prose", prompt) || prompt)]] : [];
  });
}

function getWords(element) {
  const parts = Array.from(element.children).map((part) => part.textContent);
  return parts.join(" ") || element.textContent;
}
