// The frame of served pages: global keys and clicks, lists that load and update.
import { updateAges } from "./ages.js";
import { one } from "./dom.js";
import { handleEditClick, editShown } from "./edits.js";
import { frameKeys, frameKeyTable, createKeyItems } from "./help.js";
import { listen } from "./live.js";
import { main } from "./page.js";
import { openPalette, togglePalette } from "./palette.js";
import { countOn, renew, toEnds, watchMore } from "./results.js";
import { startRoom } from "./room.js";
import { showReading } from "./status_bar.js";
import { rowsHere, stepRow, unfoldHere, unfoldRow } from "./rows.js";
import { isSideOver, renewSide, showSide, side, startSide, toggleSide } from "./side.js";
import { starClicked, unpinClicked } from "./stars.js";
import { searchField, watchForms } from "./typing.js";
import { recallUndo } from "./undo_bar.js";

let due = 0;
let renewed = 0;

const framePressed = {
  "/": () => focusOn(one("[data-filter]") || searchField),
  j: () => stepRow(1),
  k: () => stepRow(-1),
  ArrowRight: () => unfoldHere(true),
  ArrowLeft: () => unfoldHere(false),
};

export function startFrame() {
  document.documentElement.classList.add("scripted");
  watchForms();
  if (side) startSide();
  nameKeys();
  document.addEventListener("keydown", frameKey);
  document.addEventListener("click", frameClick);
  document.addEventListener("focusin", showWhole);
  if (!one("main.door")) listen("reading", continueReading);
  if (one("main[data-live]") || side)
    for (const kind of ["sessions", "index", "again"]) listen(kind, renewSoon);
  setInterval(() => {
    if (document.hidden) return;
    updateAges(document);
    if (one("main[data-live]")) renew();
  }, 60000);
  toEnds(document);
  updateAges(document);
  watchMore(document);
  countOn();
  startRoom();
  recallUndo();
}

// Browsers leave a focused element half hidden at the edge of a table that scrolls sideways.
function showWhole({ target }) {
  if (target.parentElement?.closest(".scroll"))
    target.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function focusOn(field) {
  if (!field) return;
  field.focus();
  field.select();
}

function nameKeys() {
  frameKeys.push(["Ctrl K", "go to a page or search"]);
  if (side) frameKeys.push(["s", "show or hide the session list"]);
  if (main) frameKeys.push(["E", "edit this session"]);
  if (!main) frameKeys.push(["/", "search or filter"]);
  if (one(".rows, .recent, [data-results]"))
    frameKeys.push(["j / k", "next / previous row"], ["Enter", "open the row"]);
  if (one(".rows")) frameKeys.push(["→ / ←", "show or hide branches and agents"]);
}

// The reading view has its own keys; other pages have only these.
function showPageKeys() {
  const list = one("dialog.keys[open] dl");
  if (!list || main || list.dataset.own) return;
  list.dataset.own = "1";
  list.replaceChildren(...createKeyItems(frameKeyTable()));
}

function isPaletteKey(event) {
  return (
    (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k"
  );
}

function frameKey(event) {
  if (isPaletteKey(event)) {
    event.preventDefault();
    togglePalette();
    return;
  }
  showPageKeys();
  if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
  if (event.key === "Escape" && isSideOver()) showSide(false);
  if (event.target.matches("input, textarea, select")) leaveField(event);
  else plainKey(event);
}

function leaveField(event) {
  if (event.key !== "ArrowDown" || event.target.type !== "search" || !rowsHere().length || side) return;
  event.preventDefault();
  event.target.blur();
  stepRow(1);
}

function plainKey(event) {
  if (event.key === "s" && side) {
    event.preventDefault();
    toggleSide();
    return;
  }
  if (event.key === "E" && main) {
    event.preventDefault();
    editShown();
    return;
  }
  const action = !main && framePressed[event.key];
  if (!action) return;
  if (!event.key.startsWith("Arrow")) event.preventDefault();
  action();
}

function frameClick(event) {
  const target = event.target;
  const button = target.closest("button");
  showPageKeys();
  if (button) frameButton(button);
  if (isSideOver() && !target.closest(".side, [data-open=side]")) showSide(false);
}

function frameButton(button) {
  const { open, parts, show: shows } = button.dataset;
  if (open === "palette") openPalette();
  if (open === "side") toggleSide();
  if (parts) unfoldRow(button);
  if (button.dataset.edit) handleEditClick(button);
  if (button.dataset.star !== undefined) starClicked(button);
  if (button.dataset.unpin) unpinClicked(button);
  if (shows) button.setAttribute("aria-expanded", String(document.body.classList.toggle(`show-${shows}`)));
}

// Update the page once everything is read.
function continueReading(progress) {
  showReading(progress);
  if (!progress.words) renew();
}

// Update the page after changes in the archive: immediately, then at most every two seconds.
function renewSoon() {
  if (due) return;
  due = setTimeout(
    () => {
      due = 0;
      renewed = Date.now();
      if (one("main[data-live]")) renew();
      renewSide();
    },
    Math.max(0, renewed + 2000 - Date.now()),
  );
}
