// Find on the page, including folded and cut text.
import { all } from "./dom.js";
import { goToLocation, reveal } from "./navigate.js";
import { clearMarks, markWords } from "./marks.js";
import { cutsIn, fullTexts, fullTextsOnce, showAll } from "./more.js";
import { asked, main, served } from "./page.js";
import { fillAll } from "./parts.js";
import { around } from "./steps.js";
import { announceFound } from "./announce.js";

const findable = ".prompt, .say, .think, .call, .note, .row, .event, .landmark, .printed, .agent, .fork";
let hits = [];
let hit = -1;
let query = 0;
let sought = "";
let total = 0;

export function hasHits() {
  return hits.length > 0;
}

export function search(words) {
  const mine = ++query;
  hits = [];
  hit = -1;
  sought = words.toLowerCase();
  clearMarks();
  announceFound(words ? "…" : "");
  if (!words) return Promise.resolve();
  const isLatest = () => mine === query;
  return (served ? foundByServer(words) : foundHere(sought, isLatest))
    .then((found) => (isLatest() ? takeHits(found) : null))
    .catch((error) => announceFound(error.message));
}

// The server searches the whole session; the turn of a hit is fetched when the reader goes there.
function foundByServer(words) {
  return asked(`/find?q=${encodeURIComponent(words)}`);
}

function foundHere(wanted, isLatest) {
  return fillAll()
    .then(() => fullTextsOnce(main))
    .then(() => (isLatest() ? { hits: entriesWith(wanted), total: 0 } : null));
}

function entriesWith(wanted) {
  const texts = textsWithin(main);
  return all(findable, main).filter((element) => (texts.get(element) || "").includes(wanted));
}

function takeHits(found) {
  ({ hits, total } = found);
  announceFound(hits.length ? "" : "No results");
  return hits.length ? nextHit(1) : null;
}

// The words of each entry, without those of nested entries.
function textsWithin(holder) {
  const texts = new Map();
  const walker = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT);
  const add = (element, text) => {
    if (element) texts.set(element, (texts.get(element) || "") + text);
  };
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    add(node.parentElement.closest(findable), node.data.toLowerCase());
  for (const button of cutsIn(holder)) add(button.closest(findable), `\n${button.text || ""}`);
  return texts;
}

export function nextHit(by) {
  if (!hits.length) return null;
  hit = around(hit, by, hits.length);
  const wanted = sought;
  const place = hit;
  if (hits[hit] instanceof Element) return showHit(hits[hit], wanted);
  return goToLocation(hits[hit], wanted).then((element) => {
    if (place !== hit || !element) return null;
    return fullTexts(element).then(() => showHit(element, wanted));
  });
}

function showHit(element, wanted) {
  const cut = cutsIn(element).filter(
    (button) => button.closest(findable) === element && hides(button, wanted),
  );
  return Promise.all(cut.map(showAll)).then(() => {
    reveal(element);
    markWords(element, wanted);
    announceFound(`${hit + 1} of ${total > hits.length ? total.toLocaleString() : hits.length}`);
  });
}

function hides(button, wanted) {
  const before = button.previousElementSibling;
  const isVisible = before && before.textContent.toLowerCase().includes(wanted);
  return (button.text || "").includes(wanted) && !isVisible;
}
