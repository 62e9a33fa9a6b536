// Go to a place: switch to its path, then fetch and open what contains it.
import { scrollToElement } from "./scroll.js";
import { all, one } from "./dom.js";
import { unfilter } from "./filter.js";
import { loadedPiece, table } from "./lines.js";
import { askedWhere, main, served } from "./page.js";
import { fill, fillAll, fillFor } from "./parts.js";
import { holdsNumber, holdsPlace } from "./steps.js";
import { announceFound } from "./announce.js";
import { getLine } from "./turns.js";
import { isShown, show, shown } from "./paths.js";

export function reveal(element) {
  const line = element.closest(".dag");
  if (line && (line.hidden || element.closest(".past"))) show(line.dataset.line);
  for (let node = element; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  unfilter(element);
  scrollToElement(element);
  for (const old of all(".target")) old.classList.remove("target");
  element.classList.add("target");
  setTimeout(() => element.classList.remove("target"), 1600);
}

export function revealPrompt(turn) {
  reveal(one(":scope > .prompt", turn) || turn);
}

export function go(id) {
  if (!id || !main) return Promise.resolve();
  const isLine = id.startsWith("line-");
  const line = isLine && document.getElementById(id);
  if (line && line.classList.contains("dag")) {
    show(line.dataset.line);
    reveal(one(":scope > .turn:not(.past)", line) || line);
    return Promise.resolve();
  }
  if (revealId(id) || (served && isLine)) return Promise.resolve();
  return served ? goToServed(id) : goToUnfilled(id);
}

function revealId(id) {
  const element = document.getElementById(id);
  if (element) reveal(element);
  return element;
}

function goToServed(id) {
  return askedWhere(id)
    .then(goToLocation)
    .catch((error) => announceFound(error.message));
}

function goToUnfilled(id) {
  return fillFor(id)
    .then(() => revealId(id) || fillAll().then(() => revealId(id)))
    .then((found) => found || goToNearest(id));
}

// From the outside in: the line, the part with the turn, the agent in it, and so on.
export function goToLocation(spot, words) {
  if (!spot) {
    announceFound("This link does not lead to anything in this session.");
    return Promise.resolve(null);
  }
  if (!isShown(spot.line)) show(spot.line);
  return spot.way
    .reduce((before, step) => before.then(() => fillStep(step)), Promise.resolve())
    .then(() => {
      const element = entryAt(spot, words);
      if (element) reveal(element);
      return element;
    });
}

function fillStep([of, place]) {
  const part = all(`main .part[data-of="${of}"]`).find(({ dataset }) => holdsPlace(dataset, place));
  return part ? fill(part) : null;
}

function entryAt(spot, words) {
  const found = spot.at.flatMap((at) => all(`main [data-l="${at}"]:not(button)`));
  const holds = (element) => element.textContent.toLowerCase().includes(words) || one("button.more", element);
  return (words && found.find(holds)) || found[0] || null;
}

// Find a turn by its number on the shown path or, with the name of a line, on that line.
export function goToTurn(wanted, id) {
  const line = id ? getLine(id) : null;
  const isOnLine = line && line.matches(".dag");
  if (isOnLine) show(id);
  const holder = isOnLine ? turnOn(line, wanted) : turnShown(wanted);
  if (!holder) {
    announceFound(`There is no turn ${wanted} here.`);
    return Promise.resolve();
  }
  if (holder.matches(".part")) return fill(holder).then(() => goToTurn(wanted, id));
  revealPrompt(holder);
  return Promise.resolve();
}

function turnShown(wanted) {
  const found = shown.map((line) => turnOn(line, wanted - Number(line.dataset.before || 0)));
  return found.reverse().find(Boolean);
}

function turnOn(line, n) {
  if (n <= 0) return null;
  return all(":scope > .turn:not(.past):not(.on), :scope > .part:not(.past)", line).find((held) =>
    held.matches(".part") ? holdsNumber(held.dataset, n) : Number(held.dataset.n) === n,
  );
}

// For a record without an entry of its own, such as a result: the entry before it in its file.
function goToNearest(id) {
  return Promise.all(table.map((piece, place) => loadedPiece(place))).then((pieces) => {
    const place = recordPlace(pieces, id);
    const best = place && entryBefore(place[0], place[1]);
    if (best) reveal(best);
  });
}

function recordPlace(pieces, id) {
  for (const [number, held] of pieces.entries())
    for (const [at, line] of held) if (line.includes(`"uuid":"${id}"`)) return [table[number][0], at];
  return null;
}

function entryBefore(file, line) {
  let best = null;
  let bestLine = -1;
  for (const element of all("main [data-l]:not(button)")) {
    const [entryFile, entryLine] = element.dataset.l.split(".").map(Number);
    if (entryFile !== file || entryLine > line || entryLine <= bestLine) continue;
    best = element;
    bestLine = entryLine;
  }
  return best;
}
