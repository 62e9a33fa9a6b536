// Compare a branch with the other one where it forks: on this page, or on its own page when served.
import { all, made, one, openBox } from "./dom.js";
import { main, served } from "./page.js";
import { short, turnsCounted } from "./text.js";
import { getLine } from "./turns.js";

export function addDiffers(within) {
  for (const fork of all(".fork[data-to]", within)) {
    if (!getLine(fork.dataset.to) || fork.nextElementSibling?.matches(".differs")) continue;
    fork.after(served ? compareLink(fork) : made("button", "more differs", "Differences"));
  }
}

function compareLink(fork) {
  const link = made("a", "more differs", "Compare");
  const dag = fork.closest(".dag");
  const from = encodeURIComponent(dag ? dag.dataset.line : main.dataset.main);
  link.href = `${served}/compare?a=${from}&b=${encodeURIComponent(fork.dataset.to)}`;
  return link;
}

export function differs(fork) {
  const there = getLine(fork.dataset.to);
  if (!there || !fork.closest(".dag")) return;
  const columns = made("div", "columns");
  columns.append(
    column("This branch", turnsAfter(fork)),
    column("The other branch", all(":scope > .turn:not(.on)", there)),
  );
  openBox(made("dialog", "differs"), columns);
}

function turnsAfter(fork) {
  const found = [];
  for (let next = fork.closest(".turn").nextElementSibling; next; next = next.nextElementSibling)
    if (next.matches(".turn:not(.on)")) found.push(next);
  return found;
}

function column(name, turns) {
  const whole = made("div");
  const list = made("ol");
  for (const turn of turns.slice(0, 12)) {
    const prompt = one(":scope > .prompt .prose", turn);
    list.append(made("li", "", prompt ? short(prompt.textContent, 200) : "…"));
  }
  whole.append(
    made("h3", "", `${name}: ${turnsCounted(turns.length)}`),
    list,
    made("p", "about", filesChanged(turns)),
  );
  return whole;
}

function filesChanged(turns) {
  const calls = turns.flatMap((turn) => all(".call.ok", turn)).filter(isEdit);
  const files = new Set(calls.map((call) => one(".line .obj", call).textContent));
  return files.size ? `Files changed: ${Array.from(files).slice(0, 12).join(", ")}` : "No files changed";
}

function isEdit(call) {
  return /^(Edit|Write|MultiEdit|NotebookEdit)$/.test(one(".line b", call)?.textContent || "");
}
