// Mark words in the page and scroll to the first.
import { one } from "./dom.js";
import { here } from "./current_turn.js";
import { cutsIn, fullTexts, showAll } from "./more.js";
import { markLook, occurrences } from "./text.js";

export function clearMarks() {
  if (window.CSS && CSS.highlights) CSS.highlights.delete("found");
}

export function markWords(element, wanted) {
  showRanges(findRanges(element, wanted));
}

function showRanges(ranges) {
  clearMarks();
  if (!(window.CSS && CSS.highlights && window.Highlight)) return;
  CSS.highlights.set("found", new Highlight(...ranges));
  const box = ranges.length && ranges[0].getBoundingClientRect();
  if (box && (box.bottom > innerHeight || box.top < 64))
    scrollBy({ top: box.top - innerHeight / 3, behavior: "instant" });
}

function findRanges(element, wanted) {
  const ranges = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < 500; node = walker.nextNode())
    for (const at of occurrences(node.data.toLowerCase(), wanted))
      ranges.push(rangeIn(node, at, wanted.length));
  return ranges;
}

function rangeIn(node, at, length) {
  const range = new Range();
  range.setStart(node, at);
  range.setEnd(node, at + length);
  return range;
}

const textBlocks = "p, li, pre, td, th, dd, dt, div, summary, blockquote, h1, h2, h3, h4, h5, h6, details, button";

// Mark all occurrences of the searched words in an element; cut text is loaded for them.
export function markAsked(marks) {
  const target = one(".target") || here;
  const looks = marks.map(markLook).filter(Boolean);
  if (!looks.length || !target) return Promise.resolve();
  if (one("#find")) one("#find").value = marks.map(plainMark).join(" ");
  const missing = looks.filter((look) => !lookRanges(target, [look]).length);
  const shown = missing.length ? showCut(target, missing) : Promise.resolve();
  return shown.then(() => showRanges(lookRanges(target, looks)));
}

function plainMark(mark) {
  return mark.replace(/^=/, "");
}

function showCut(target, looks) {
  return fullTexts(target).then(() => {
    const cut = cutsIn(target).filter((button) => looks.some((look) => (button.text || "").search(look) >= 0));
    return Promise.all(cut.map(showAll));
  });
}

// A phrase may continue in the next element, such as bold text, but not beyond its block.
function lookRanges(element, looks) {
  const ranges = [];
  for (const run of listTextRuns(element)) {
    const text = run.map((node) => node.data).join("");
    const found = looks.flatMap((look) => Array.from(text.matchAll(look))).filter(([words]) => words);
    for (const { 0: words, index } of found.slice(0, 500 - ranges.length))
      ranges.push(rangeOver(run, index, index + words.length));
  }
  return ranges.sort((a, b) => a.compareBoundaryPoints(Range.START_TO_START, b));
}

function listTextRuns(element) {
  const runs = [];
  let block = null;
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const own = node.parentElement.closest(textBlocks);
    if (!runs.length || own !== block) runs.push([]);
    block = own;
    runs.at(-1).push(node);
  }
  return runs;
}

function rangeOver(nodes, from, to) {
  const range = new Range();
  let at = 0;
  for (const node of nodes) {
    const size = node.data.length;
    if (from >= at && from < at + size) range.setStart(node, from - at);
    if (to > at && to <= at + size) range.setEnd(node, to - at);
    at += size;
  }
  return range;
}
