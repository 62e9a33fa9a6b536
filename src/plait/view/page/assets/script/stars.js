// Stars on sessions and pins on turns: load, set and remove them.
import { registerAction } from "./actions.js";
import { turnId } from "./copies.js";
import { all, one } from "./dom.js";
import { sendEdit } from "./edit_requests.js";
import { main, served } from "./page.js";
import { showMissingPins } from "./pins_gone.js";
import { renew } from "./results.js";
import { showToast } from "./announce.js";

const pinned = new Set();

const pinning = {
  name: "pin",
  icon: "pin",
  kind: "marking",
  label: "Pin this turn",
  title: "Pin this turn to the home page",
  fits: (row) => Boolean(served && turnId(row)),
  run: (row, button) => togglePin(button),
  mark(button, row) {
    button.dataset.pin = turnId(row);
    press(button, pinned.has(turnId(row)));
  },
};

export function registerStarActions() {
  registerAction(pinning);
}

export function startStars() {
  showMissingPins(document);
  if (!markedSession() || !one("[data-star]")) return;
  fetch(`/api/v1/marks?session=${encodeURIComponent(markedSession())}`)
    .then((answer) => answer.json())
    .then(({ stars, pins }) => {
      for (const button of getStars(markedSession())) press(button, stars.length > 0);
      for (const { uuid } of pins) showPin(uuid, true);
    })
    .catch(() => {
      /* nothing is known to be marked */
    });
}

function markedSession() {
  return main?.dataset.session || one("main[data-of]")?.dataset.of || "";
}

function getStars(session) {
  return all("[data-star]").filter((button) => (button.dataset.star || markedSession()) === session);
}

function press(button, isOn) {
  button.setAttribute("aria-pressed", String(isOn));
}

function isPressed(button) {
  return button.getAttribute("aria-pressed") === "true";
}

export function starClicked(button) {
  const session = button.dataset.star || markedSession();
  const on = !isPressed(button);
  const part = button.closest("section.starred") ? "section.starred " : "";
  sendEdit("/marks/star", { session, on }).then(() => {
    for (const other of getStars(session)) press(other, on);
    showToast(on ? "Starred" : "Star removed");
    if (one("main[data-live=home]")) renew().then(() => refocus(button, part, session));
  }, showTrouble);
}

// After the list was redrawn, keep the keyboard focus.
function refocus(button, part, session) {
  if (button.isConnected) return;
  const same = `[data-star="${CSS.escape(session)}"]`;
  (one(part + same) || one(same) || one("section.starred [data-star]"))?.focus({ preventScroll: true });
}

function togglePin(button) {
  const uuid = button.dataset.pin;
  const on = !isPressed(button);
  sendEdit("/marks/pin", { session: markedSession(), uuid, on }).then(() => {
    showPin(uuid, on);
    showToast(on ? "Turn pinned" : "Turn unpinned");
  }, showTrouble);
}

function showPin(uuid, on) {
  if (on) pinned.add(uuid);
  else pinned.delete(uuid);
  for (const button of all(`[data-pin="${CSS.escape(uuid)}"]`)) press(button, on);
}

// Unpin a turn in the list of pinned turns.
export function unpinClicked(button) {
  const { unpin: uuid, session } = button.dataset;
  sendEdit("/marks/pin", { session, uuid, on: false }).then(() => {
    showToast("Turn unpinned");
    renew().then(() => one("[data-unpin]")?.focus({ preventScroll: true }));
  }, showTrouble);
}

function showTrouble(error) {
  showToast(error.message);
}
