// Texts that the page cut: fetched from their log line and shown in full.
import { all, made, whenNear } from "./dom.js";
import { recordAt } from "./lines.js";
import { enclosedAt, getImageUrl, textAt } from "./record.js";
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

// Give each button its full text; for a whole page every text is fetched once.
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
  while (button.previousElementSibling && !button.previousElementSibling.matches(".acts, .tag"))
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
  const address = getImageUrl(block);
  return address ? framedImage(address, words).frame : made("pre", "out", clean(createTextBlock(block)));
}

// An image in a frame that enlarges it; small if it is inside a text.
function framedImage(address, words) {
  const frame = made("button", "framed");
  const image = made("img", "shown-image");
  frame.title = "Enlarge or shrink";
  frame.setAttribute("aria-pressed", "false");
  image.alt = words;
  image.src = address;
  frame.append(image);
  return { frame, image };
}

export function enlarge(frame) {
  const isLarge = frame.getAttribute("aria-pressed") !== "true";
  frame.setAttribute("aria-pressed", String(isLarge));
}

// Images near the window are drawn; an image that cannot be drawn stays a button that names it.
const drawing = whenNear(800, (button) => {
  recordAt(button.dataset.l).then(
    (record) => putPicture(button, enclosedAt(record, button.dataset.p)),
    () => {
      /* its line is not there */
    },
  );
});

function putPicture(button, block) {
  const address = getImageUrl(block);
  if (!address) return;
  const { frame, image } = framedImage(address, button.textContent);
  image.decode().then(
    () => button.replaceWith(frame),
    () => {
      /* no picture after all */
    },
  );
}

export function drawPictures(within) {
  if (drawing) for (const button of all("button.picture", within)) drawing.observe(button);
}

function createTextBlock(block) {
  const source = block.source || {};
  const isText = source.type === "text" && typeof source.data === "string";
  return isText ? source.data : indented(JSON.stringify(block));
}
