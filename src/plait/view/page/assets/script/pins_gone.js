// Mark pinned turns that no longer exist, once their list is shown.
import { all, made, one } from "./dom.js";

export function showMissingPins(within) {
  if (!one("[data-pinned]", within)) return;
  fetch("/api/v1/marks?placed=true")
    .then((answer) => (answer.ok ? answer.json() : { pins: [] }))
    .then(({ pins }) => pins.filter((pin) => pin.why_gone).forEach((pin) => markGone(within, pin)))
    .catch(() => {
      /* the server has gone: what is shown stays */
    });
}

function markGone(within, { uuid, why_gone: why }) {
  for (const row of all(`[data-pinned="${CSS.escape(uuid)}"]`, within)) {
    const link = one(".naming > a", row);
    if (!link) continue;
    link.replaceWith(made("span", "gone", link.textContent));
    one(".sub", row).append(made("span", "dot", " · "), made("span", "why-gone", `Gone: ${why}`));
  }
}
