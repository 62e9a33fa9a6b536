// Copy text with the clipboard API, or the older way, and report the result.
import { made, one } from "./dom.js";
import { showToast } from "./announce.js";

// Takes a text or a promise of one.
export function copy(given, button, words = "Copied") {
  return Promise.resolve(given)
    .then(toClipboard)
    .then(
      () => {
        button?.classList.add("done");
        showToast(words);
      },
      (error) => showToast(error.message),
    );
}

function toClipboard(text) {
  if (!navigator.clipboard?.writeText) return oldWay(text);
  return navigator.clipboard.writeText(text).catch(() => oldWay(text));
}

function oldWay(text) {
  const before = document.activeElement;
  const area = made("textarea");
  area.value = text;
  (one("dialog[open]") || document.body).append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  before?.focus({ preventScroll: true });
  if (!isDone) throw new Error("The browser did not allow copying.");
}
