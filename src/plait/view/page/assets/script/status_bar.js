// The status bar at the bottom: reading progress, lost connections.
import { made, one } from "./dom.js";

export function showReading({ words, share }) {
  const line = getStatusLine("reading", words);
  if (!line) return;
  const bar = one("progress", line) || line.appendChild(createReadingBar());
  bar.hidden = !share;
  bar.value = share;
}

function createReadingBar() {
  const bar = made("progress");
  bar.max = 1;
  bar.setAttribute("aria-label", "Progress");
  return bar;
}

// Show a message with a command to copy and a button.
export function showConnectionLost(words, todo, act, command) {
  const line = getStatusLine("lost", words);
  if (!line) return;
  line.setAttribute("role", "status");
  const typed = one("code", line) || line.appendChild(made("code"));
  typed.textContent = command || "";
  const button = one("button", line) || line.appendChild(made("button"));
  button.textContent = todo;
  button.onclick = act;
}

function createStatusBar() {
  const box = made("div", "status-bar");
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "Status");
  return box;
}

// An empty message removes its line; without lines the box is removed.
function getStatusLine(name, words) {
  const box = one(".status-bar") || document.body.appendChild(createStatusBar());
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
