// Conversation paths: show the lines from the first to the chosen one, and list their prompts in the outline.
import { all, made, one } from "./dom.js";
import { forgetLinks, markCurrentLinks } from "./current_turn.js";
import { main, served } from "./page.js";
import { fill, whenFilled } from "./parts.js";
import { hasFork } from "./steps.js";
import { short } from "./text.js";
import { getLine, number, promptsOn } from "./turns.js";

export let shown = [];

export function isShown(id) {
  return shown.some((line) => line.dataset.line === id);
}

export function show(id) {
  const way = chain(id);
  if (!way.length) return;
  for (const element of all("main .past")) element.classList.remove("past");
  for (const line of all("main > .dag")) line.hidden = !way.includes(line);
  shown = way;
  way.reduce(placeLine, 0);
  for (const rest of all("main > .unplaced")) main.appendChild(rest);
  const select = one(".ways");
  if (select) select.value = id;
  drawOutline(way);
  main.dataset.shown = id;
}

function chain(id) {
  const found = [];
  for (
    let line = getLine(id);
    line && line.matches(".dag") && !found.includes(line);
    line = getLine(line.dataset.above)
  )
    found.unshift(line);
  return found;
}

// Append a line to those before it, and return the number of its last turn.
function placeLine(before, line) {
  main.appendChild(line);
  endLine(line);
  if (!served) line.dataset.before = before;
  all(":scope > .turn:not(.past)", line).forEach(number);
  const start = Number(line.dataset.before);
  return Array.from(line.children)
    .filter((turn) => !turn.matches(".past"))
    .reduce((most, turn) => Math.max(most, start + Number(turn.dataset.n || 0)), start);
}

function nextShown(line) {
  return shown.includes(line) ? shown[shown.indexOf(line) + 1] : undefined;
}

// A path that leaves a line ends it: later turns of that line are not part of the path.
function endLine(line) {
  const next = nextShown(line);
  if (!next) return;
  const fork = one(`.fork[data-to="${CSS.escape(next.dataset.line)}"]`, line);
  const part = fork
    ? null
    : all(":scope > .part", line).find(({ dataset }) => hasFork(dataset, next.dataset.line));
  if (part) fill(part);
  for (let node = fork || part; node && node !== line; node = node.parentElement) passBy(node);
}

function passBy(node) {
  for (let after = node.nextElementSibling; after; after = after.nextElementSibling)
    after.classList.add("past");
}

// List the prompts of the shown path.
export function drawOutline(way) {
  const list = one(".outline ol");
  if (!list) return;
  list.replaceChildren(...way.flatMap(promptsOn).map(outlineRow));
  forgetLinks();
  requestAnimationFrame(markCurrentLinks);
}

function outlineRow([id, words], place) {
  const item = made("li");
  const link = made("a");
  link.href = `#${id}`;
  link.append(made("b", "", String(place + 1)), " ", short(words, 140) || "…");
  item.append(link);
  return item;
}

whenFilled((line, part) => {
  const next = nextShown(line);
  if (!next || !hasFork(part.dataset, next.dataset.line)) return;
  endLine(line);
  drawOutline(shown);
});
