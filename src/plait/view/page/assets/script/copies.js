// Copy actions: full texts of the log, turns and sessions as Markdown, the command that continues from a turn.
import { registerAction } from "./actions.js";
import { copy } from "./clipboard.js";
import { all, made, one } from "./dom.js";
import { hasLines, recordAt } from "./lines.js";
import { main, served } from "./page.js";
import { getBlocks, textAt } from "./record.js";
import { alike } from "./text.js";

const codeBlocks = ".prose pre, .call > .body > pre.cmd, .call > .body > pre.json";
const persisted = /^<persisted-output>/;

const copyingText = {
  name: "copy-text",
  icon: "copy",
  label: "Copy text",
  fits: (row) => hasLines() && row.matches(".prompt, .say, .think:not(.empty)"),
  run: (row, button) => copy(getRowText(row), button, "Text copied"),
};
const copyingOutput = {
  name: "copy-output",
  icon: "copy",
  label: "Copy output",
  title: "Copy the full output",
  fits: (row) => hasLines() && row.matches("[data-out], .printed"),
  run: (row, button) => copy(getOutput(row), button, "Output copied"),
};
const copyingCode = {
  name: "copy-code",
  icon: "copy",
  label: "Copy",
  fits: () => false,
  run: (row, button) => copy(getCode(row, button.parentElement.nextElementSibling), button),
};
const copyingTurn = {
  name: "copy-turn",
  icon: "copy",
  label: "Copy as Markdown",
  title: "Copy this turn as Markdown",
  fits: (row) => Boolean(served && turnId(row)),
  run: (row, button) => copyTurn(row, button),
};
const continuing = {
  name: "continue",
  icon: "resume",
  label: "Continue from here",
  title: (row) => `Copy the command that continues from here: ${commandAt(row)}`,
  fits: (row) => Boolean(main?.dataset.again && turnId(row)) && row.parentElement.matches(".dag"),
  run: (row, button) => copy(commandAt(row), button, `Copied: ${commandAt(row)}`),
};

export function registerCopyActions() {
  [copyingText, copyingOutput, copyingCode, copyingTurn, continuing].forEach(registerAction);
}

// The record that opens a turn.
export function turnId(row) {
  if (!row.matches(".turn")) return "";
  return (one(":scope > .head > .n", row)?.getAttribute("href") || "").slice(1);
}

function commandAt(row) {
  const isMain = row.parentElement.dataset.line === main.dataset.main;
  return `${main.dataset.again} ${isMain ? row.dataset.n : turnId(row)}`;
}

function getRowText(row) {
  const path = row.matches(".think") ? "thinking" : "text";
  return recordAt(row.dataset.l).then((record) => shownBlock(record, row) || textAt(record, path));
}

// A record of an older log may hold several blocks of which the row shows one.
function shownBlock(record, row) {
  const found = getBlocks(record).filter((block) => block && block.type === "text");
  const shown = found.filter((block) => alike(row.textContent, block.text));
  return found.length > 1 && shown.length ? shown.map((block) => block.text).join("\n") : "";
}

function getOutput(row) {
  const { call, l, out } = row.dataset;
  if (!out) return recordAt(l).then((record) => textAt(record, "output"));
  const path = one(":scope > .body > ol.code", row) ? "file" : `result/${call}`;
  return recordAt(out).then((record) => {
    const text = textAt(record, path);
    return served && persisted.test(text) ? fetchText(`/output?call=${encodeURIComponent(call)}`) : text;
  });
}

function getCode(row, block) {
  if (block.closest(".prose")) return block.textContent.replace(/\n$/, "");
  const key = block.matches(".cmd") ? "/command" : "";
  const { call, l } = row.dataset;
  return call ? recordAt(l).then((record) => textAt(record, `input/${call}${key}`)) : block.textContent;
}

export function copyTurn(row, button) {
  let turn = row;
  while (turn && !turnId(turn)) turn = turn.previousElementSibling;
  if (!turn) return Promise.resolve();
  const text = fetchText(`/markdown?turn=${encodeURIComponent(turnId(turn))}`);
  return copy(text, button, "Turn copied as Markdown");
}

export function copySession() {
  const line = one("select.ways")?.value || main.dataset.main;
  const text = fetchText(`/markdown?line=${encodeURIComponent(line)}`);
  return copy(text, one("[data-do=markdown]"), "Session copied as Markdown");
}

function fetchText(path) {
  return fetch(served + path).then((answer) => {
    if (!answer.ok) throw new Error("This content is no longer in the session.");
    return answer.text();
  });
}

// The button of a code block comes before it, so that sibling selectors still match.
export function addCopies(within) {
  for (const block of all(codeBlocks, within)) {
    if (block.previousElementSibling?.matches(".on-code")) continue;
    const group = made("div", "on-code");
    const button = made("button", "act");
    button.dataset.act = "copy-code";
    button.title = block.matches(".cmd") ? "Copy command" : "Copy code";
    button.setAttribute("aria-label", button.title);
    button.append(made("i", "i i-copy"));
    group.append(button);
    block.before(group);
  }
}
