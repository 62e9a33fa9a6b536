// Messages over the page: what was found or done, and warnings that stay.
import { made, one } from "./dom.js";

const foundBox = made("div", "found");
const warningBox = made("div", "page-warning");
for (const box of [foundBox, warningBox]) box.setAttribute("role", "status");
let fading = 0;

// Messages of the page are not searched for in its content: a log may contain anything.
function announce(box, words, place) {
  box.textContent = words;
  if (!words) box.remove();
  else if (!box.isConnected) place();
}

export function announceFound(words) {
  announce(foundBox, words, () => document.body.append(foundBox));
}

export function showNotice(words) {
  announce(warningBox, words, () => (one(".top") || document.body).after(warningBox));
}

export function showToast(words) {
  announceFound(words);
  clearTimeout(fading);
  fading = setTimeout(() => {
    if (foundBox.textContent === words) announceFound("");
  }, 1600);
}
