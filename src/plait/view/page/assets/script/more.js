// What the page cut short: fetched from its line of the log and shown whole.
import { all, made } from "./dom.js";
import { recordAt } from "./lines.js";
import { enclosedAt, imageOf, textAt } from "./record.js";
import { coloured } from "./terminal.js";
import { clean, indented } from "./text.js";

export function cutsIn(element) {
  return all("button.more[data-p]", element);
}

function fullText(button) {
  return recordAt(button.dataset.l).then((record) => textAt(record, button.dataset.p));
}

function searchable(button) {
  return fullText(button).then(
    (text) => clean(text || "").toLowerCase(),
    () => "",
  );
}

// Each button gets the text it stands for; of those of a whole page every text is fetched once.
export function fullTexts(element) {
  return Promise.all(
    cutsIn(element).map((button) =>
      searchable(button).then((text) => {
        button.text = text;
      }),
    ),
  );
}

export function fullTextsOnce(element) {
  return Promise.all(
    cutsIn(element).map((button) => {
      if (button.whole === undefined) button.whole = searchable(button);
      return button.whole.then((text) => {
        button.text = text;
      });
    }),
  );
}

export function showAll(button) {
  button.disabled = true;
  return fullText(button).then(
    (text) => putWhole(button, text || ""),
    (error) => {
      button.disabled = false;
      button.textContent = error.message;
    },
  );
}

function putWhole(button, text) {
  const before = button.previousElementSibling;
  const isBlock = before && /^(PRE|OL|TABLE)$/.test(before.tagName);
  const name = isBlock ? "out" : "out words";
  const block = made("pre", before && before.tagName === "PRE" ? before.className : name);
  block.append(coloured(text));
  if (isBlock) before.replaceWith(block);
  else {
    clearBefore(button);
    button.before(block);
  }
  button.remove();
}

function clearBefore(button) {
  while (button.previousElementSibling && !button.previousElementSibling.matches(".rawbtn, .tag"))
    button.previousElementSibling.remove();
}

export function showEnclosed(button) {
  recordAt(button.dataset.l).then(
    (record) => button.replaceWith(drawnBlock(enclosedAt(record, button.dataset.p), button.textContent)),
    (error) => {
      button.textContent = error.message;
    },
  );
}

function drawnBlock(block, words) {
  const address = imageOf(block);
  if (!address) return made("pre", "out", clean(toldBlock(block)));
  const image = made("img", "shown-image");
  image.alt = words;
  image.src = address;
  return image;
}

function toldBlock(block) {
  const source = block.source || {};
  const isText = source.type === "text" && typeof source.data === "string";
  return isText ? source.data : indented(JSON.stringify(block));
}
