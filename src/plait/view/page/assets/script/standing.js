// How things stand, at the foot of the page: what is being read, whether the server still answers.
import { made, one } from "./dom.js";

export function tellReading({ words, share }) {
  const line = lineCalled("reading", words);
  if (!line) return;
  const bar = one("progress", line) || line.appendChild(readingBar());
  bar.hidden = !share;
  bar.value = share;
}

function readingBar() {
  const bar = made("progress");
  bar.max = 1;
  bar.setAttribute("aria-label", "Read so far");
  return bar;
}

// With what can be typed, and a button for what can be done about it.
export function tellLost(words, todo, act, command) {
  const line = lineCalled("lost", words);
  if (!line) return;
  line.setAttribute("role", "status");
  const typed = one("code", line) || line.appendChild(made("code"));
  typed.textContent = command || "";
  const button = one("button", line) || line.appendChild(made("button"));
  button.textContent = todo;
  button.onclick = act;
}

function standingBox() {
  const box = made("div", "standing");
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "How things stand");
  return box;
}

// Nothing said is a line less, and without a line there is no box.
function lineCalled(name, words) {
  const box = one(".standing") || document.body.appendChild(standingBox());
  let line = one(`.${name}-line`, box);
  if (words && !line) {
    line = made("p", `${name}-line`);
    line.append(made("span"));
    box.append(line);
  }
  if (words) {
    const said = one("span", line);
    if (said.textContent !== words) said.textContent = words;
    return line;
  }
  line?.remove();
  if (!box.children.length) box.remove();
  return null;
}
