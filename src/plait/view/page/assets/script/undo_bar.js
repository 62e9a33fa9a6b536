// The bar that reports an edit and offers to undo it; it stays on the next page.
import { made, one } from "./dom.js";
import { sendEdit } from "./edit_requests.js";
import { main } from "./page.js";
import { renew } from "./results.js";

const keptEdit = "plait-edit";
const pastTense = {
  clone: "Cloned.",
  fork: "Forked.",
  graft: "Grafted.",
  switch: "Switched.",
  repair: "Repaired.",
  rename: "Renamed.",
  tag: "Tagged.",
  delete: "Deleted.",
  trim: "Trimmed.",
  compress: "Compressed.",
};

export function offerUndo(edit) {
  try {
    sessionStorage.setItem(keptEdit, JSON.stringify(edit));
  } catch {
    /* it stands on this page alone */
  }
  drawBar(edit);
}

export function recallUndo() {
  try {
    const edit = JSON.parse(sessionStorage.getItem(keptEdit) || "null");
    if (edit) drawBar(edit);
  } catch {
    /* nothing was kept */
  }
}

function forgetUndo() {
  try {
    sessionStorage.removeItem(keptEdit);
  } catch {
    /* nothing was kept */
  }
  one(".undo-bar")?.remove();
}

function drawBar(edit) {
  one(".undo-bar")?.remove();
  const bar = made("div", "undo-bar");
  bar.setAttribute("role", "status");
  const words = made("span", "", pastTense[edit.operation] || "Done.");
  const undo = made("button", "undo", "Undo");
  const close = made("button", "dismiss", "Dismiss");
  undo.onclick = () => undoAndReport(edit, words, undo);
  close.onclick = forgetUndo;
  bar.append(words, ...openLink(edit), undo, close);
  document.body.append(bar);
}

// The session of this page or tab.
function sessionHere() {
  return main ? main.dataset.session : one("main.tab")?.dataset.of;
}

function openLink(edit) {
  if (!edit.name || sessionHere() === edit.name) return [];
  const link = made("a", "", "Open");
  link.href = `/s/${encodeURIComponent(edit.name)}${one("main.tab-context") ? "/context" : ""}`;
  return [link];
}

function undoAndReport(edit, words, button) {
  button.disabled = true;
  undoEdit(edit.undo).then(
    () => showUndone(edit, words, button),
    (error) => {
      words.textContent = error.message;
      button.disabled = false;
    },
  );
}

function showUndone(edit, words, button) {
  if (edit.isNew && sessionHere() === edit.name) {
    forgetUndo();
    location.href = "/sessions";
    return;
  }
  words.textContent = "Undone.";
  const bar = button.parentElement;
  one("a", bar)?.remove();
  button.remove();
  setTimeout(() => bar.remove(), 6000);
  try {
    sessionStorage.removeItem(keptEdit);
  } catch {
    /* nothing was kept */
  }
  renew();
}

export function undoEdit(id) {
  return sendEdit(`/edits/${encodeURIComponent(id)}/undo`, {});
}
