// Words marked where they stand, the first of them in view.
import { one } from "./dom.js";
import { here } from "./here.js";
import { cutsIn, fullTexts, showAll } from "./more.js";
import { askedIn, hasWords, occurrences } from "./text.js";

export function clearMarks() {
  if (window.CSS && CSS.highlights) CSS.highlights.delete("found");
}

export function markWords(element, wanted) {
  clearMarks();
  if (!(window.CSS && CSS.highlights && window.Highlight)) return;
  const ranges = rangesOf(element, wanted);
  CSS.highlights.set("found", new Highlight(...ranges));
  const box = ranges.length && ranges[0].getBoundingClientRect();
  if (box && (box.bottom > innerHeight || box.top < 64))
    scrollBy({ top: box.top - innerHeight / 3, behavior: "instant" });
}

function rangesOf(element, wanted) {
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

// The words that somebody searched for, where they stand here.
export function markAsked(words) {
  const target = one(".target") || here;
  if (!hasWords(words) || !target) return;
  const word = askedIn(target.textContent.toLowerCase(), words);
  if (word) markWords(target, word);
  else fullTexts(target).then(() => markCut(target, words));
  if (one("#find")) one("#find").value = words;
}

// They stand in what was cut.
function markCut(target, words) {
  const cut = cutsIn(target).find((button) => askedIn(button.text || "", words));
  if (!cut) return;
  const word = askedIn(cut.text, words);
  showAll(cut).then(() => markWords(target, word));
}
