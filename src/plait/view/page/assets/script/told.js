// Words over the page, in a place of their own: what was found or done, and a warning that stays.
import { made, one } from "./dom.js";

const foundBox = made("div", "found");
const warningBox = made("div", "page-warning");
for (const box of [foundBox, warningBox]) box.setAttribute("role", "status");
let fading = 0;

// What the page says never is looked for among what it shows: a log may hold anything.
function tell(box, words, place) {
  box.textContent = words;
  if (!words) box.remove();
  else if (!box.isConnected) place();
}

export function tellFound(words) {
  tell(foundBox, words, () => document.body.append(foundBox));
}

export function notice(words) {
  tell(warningBox, words, () => (one(".top") || document.body).after(warningBox));
}

export function toast(words) {
  tellFound(words);
  clearTimeout(fading);
  fading = setTimeout(() => {
    if (foundBox.textContent === words) tellFound("");
  }, 1600);
}
