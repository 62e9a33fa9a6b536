// Live updates: one event stream per page, none while the page is hidden.
// A lost connection is reported, retried with growing delays, and caught up with.
import { main } from "./page.js";
import { showConnectionLost, showReading } from "./status_bar.js";

const soon = 1000;
const late = 30000;
// The server sends something every 20 seconds; if it does not, the connection is lost.
const silence = 50000;
const listeners = {};
let stream = null;
let isLate = false;
let misses = 0;
let next = 0;
let unheard = 0;
let command = "plait serve";

export function listen(kind, hear) {
  const isHeard = kind in listeners;
  (listeners[kind] = listeners[kind] || []).push(hear);
  if (!stream) connect();
  else if (!isHeard) listenTo(stream, kind);
}

function notifyListeners(kind, event) {
  for (const hear of listeners[kind] || []) hear(event);
}

function listenTo(source, kind) {
  source.addEventListener(kind, (event) => {
    heard();
    notifyListeners(kind, parseEvent(event.data));
  });
}

function parseEvent(data) {
  try {
    return JSON.parse(data);
  } catch {
    return {};
  }
}

function connect() {
  clearTimeout(next);
  if (stream || document.hidden || !Object.keys(listeners).length || !window.EventSource) return;
  const source = new EventSource(
    `/events${main ? `?session=${encodeURIComponent(main.dataset.session)}` : ""}`,
  );
  stream = source;
  for (const kind of Object.keys(listeners)) listenTo(source, kind);
  source.addEventListener("beat", (event) => {
    heard();
    command = parseEvent(event.data).words || command;
  });
  source.onopen = opened;
  source.onerror = () => lost(source);
}

function opened() {
  heard();
  misses = 0;
  showConnectionLost("");
  if (isLate) notifyListeners("again", {});
  isLate = true;
}

function heard() {
  clearTimeout(unheard);
  unheard = setTimeout(() => lost(stream), silence);
}

function lost(source) {
  if (!source || source !== stream) return;
  disconnect();
  if (document.hidden) return;
  next = setTimeout(connect, Math.min(soon * 2 ** misses, late));
  misses += 1;
  // One that is back within a second was not missed.
  if (misses > 1) fetch("/events", { method: "HEAD" }).then(showRefused, showServerGone);
}

function showServerGone() {
  if (stream && stream.readyState === 1) return;
  showReading({ words: "" });
  const hasEnded = misses > 2;
  const more = hasEnded ? " If Plait has stopped, start it again:" : "";
  showConnectionLost(`Connection lost. This page may be out of date.${more}`, "Try now", tryNow, hasEnded ? command : "");
}

// The server answers but does not accept this page: it was replaced by one with another key.
function showRefused(answer) {
  if (answer.status === 401) showConnectionLost("Plait was restarted.", "Reload", () => location.reload());
  else if (!answer.ok) showServerGone();
}

function tryNow() {
  misses = 1;
  connect();
}

function disconnect() {
  clearTimeout(unheard);
  clearTimeout(next);
  stream?.close();
  stream = null;
}

document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
addEventListener("online", connect);
addEventListener("pagehide", disconnect);
addEventListener("pageshow", (event) => {
  if (event.persisted) connect();
});
