// Words over the page: what was found or done, and a notice that stays.
import { made, one } from "./dom.js";

let fading = 0;

function tell(name, words, place) {
  let box = one(`.${name}`);
  if (!words) {
    if (box) box.remove();
    return;
  }
  if (!box) {
    box = made("div", name);
    box.setAttribute("role", "status");
    place(box);
  }
  box.textContent = words;
}

export function tellFound(words) {
  tell("found", words, (box) => document.body.append(box));
}

export function notice(words) {
  tell("notice", words, (box) => (one(".top") || document.body).after(box));
}

export function toast(words) {
  tellFound(words);
  clearTimeout(fading);
  fading = setTimeout(() => {
    if (one(".found")?.textContent === words) tellFound("");
  }, 1600);
}
