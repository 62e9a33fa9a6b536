// What is being written: one stream of events a page, none while nobody looks at it.
import { main } from "./page.js";
import { notice } from "./told.js";

const listeners = {};
let stream = null;
let isLate = false;

export function listen(kind, hear) {
  (listeners[kind] = listeners[kind] || []).push(hear);
  if (stream) hearFrom(stream, kind);
  else connect();
}

function tellAll(kind, told) {
  for (const hear of listeners[kind] || []) hear(told);
}

function hearFrom(source, kind) {
  source.addEventListener(kind, (event) => tellAll(kind, toldIn(event.data)));
}

function toldIn(data) {
  try {
    return JSON.parse(data);
  } catch {
    return {};
  }
}

function connect() {
  if (stream || document.hidden || !Object.keys(listeners).length || !window.EventSource) return;
  stream = new EventSource(`/events${main ? `?session=${encodeURIComponent(main.dataset.session)}` : ""}`);
  for (const kind of Object.keys(listeners)) if (kind !== "again") hearFrom(stream, kind);
  stream.onopen = opened;
  stream.onerror = lost;
}

function opened() {
  clearTimeout(stream.lost);
  notice("");
  if (isLate) tellAll("again", {});
  isLate = true;
}

function lost() {
  const source = stream;
  if (!source) return;
  clearTimeout(source.lost);
  source.lost = setTimeout(() => {
    if (main) notice("Plait does not answer. What is loaded stays here; start it again with plait serve.");
    if (source.readyState === 2 && source === stream) {
      stream = null;
      connect();
    }
  }, 5000);
}

function disconnect() {
  if (!stream) return;
  clearTimeout(stream.lost);
  stream.close();
  stream = null;
}

document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
addEventListener("pagehide", disconnect);
addEventListener("pageshow", (event) => {
  if (event.persisted) connect();
});
