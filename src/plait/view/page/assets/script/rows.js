// Rows of sessions: keys, and the branches and agents below them.
import { partAddress } from "./address.js";
import { all, one } from "./dom.js";
import { bounded } from "./steps.js";

export function pagePart(address) {
  return fetch(partAddress(address, location.href), { headers: { Accept: "text/html" } }).then((answer) => {
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    return answer.text();
  });
}

function isUnfolded(button) {
  return button.getAttribute("aria-expanded") === "true";
}

export function unfoldRow(button) {
  const row = button.closest("tr");
  const wasOpen = isUnfolded(button);
  button.setAttribute("aria-expanded", String(!wasOpen));
  if (wasOpen) {
    while (row.nextElementSibling?.classList.contains("part")) row.nextElementSibling.remove();
    return;
  }
  pagePart(`/sessions/${encodeURIComponent(button.dataset.parts)}/parts`).then((html) => {
    if (isUnfolded(button)) row.insertAdjacentHTML("afterend", html);
  });
}

export function unfoldHere(isOpen) {
  const button = one(".rows tr.here button.fold");
  if (button && isUnfolded(button) !== isOpen) unfoldRow(button);
}

export function rowsHere() {
  return all(".rows tr[data-name], .recent li, .hits li", one("main"));
}

export function stepRow(by) {
  const found = rowsHere();
  const at = found.findIndex((row) => row.classList.contains("here"));
  const next = found[bounded(at + by, found.length)];
  if (!next) return;
  for (const row of found) row.classList.toggle("here", row === next);
  one(".naming > a, a.hit", next)?.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}
