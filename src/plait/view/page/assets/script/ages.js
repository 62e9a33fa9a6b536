// Ages in words, such as `5 min ago`, with the exact time in the reader's zone.
import { all } from "./dom.js";
import { getDay, getMinute } from "./time.js";

const daySeconds = 86400;

export function ago(time, now) {
  const seconds = (now - time) / 1000;
  const days = Math.floor(seconds / daySeconds);
  if (Math.abs(seconds) < 60) return "just now";
  if (seconds < 0 || days >= 14) return getDay(time);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (!days) return `${Math.floor(seconds / 3600)} h ago`;
  return days === 1 ? "yesterday" : `${days} days ago`;
}

export function updateAges(within) {
  const now = new Date();
  for (const element of all(".ago[data-at]", within)) {
    const time = new Date(element.dataset.at);
    if (isNaN(time)) continue;
    const words = ago(time, now);
    if (element.textContent !== words) element.textContent = words;
    element.title = getMinute(time);
  }
}
