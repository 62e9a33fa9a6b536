// The list of sessions on the left: remembers whether it is open and its scroll position.
import { updateAges } from "./ages.js";
import { isNarrow, one } from "./dom.js";
import { memorize, recalled } from "./memory.js";
import { putResults } from "./results.js";
import { pagePart } from "./rows.js";

export const side = one("[data-side]");
const opener = one('[data-open="side"]');

function sideAddress() {
  const field = one("[data-side-filter]", side);
  return `/side?${new URLSearchParams({ here: side.dataset.here || "", q: field ? field.value : "" })}`;
}

export function isSideOver() {
  return document.body.classList.contains("show-side");
}

export function showSide(isWanted) {
  document.body.classList.toggle("no-side", !isWanted && !isNarrow());
  document.body.classList.toggle("keep-side", isWanted && !isNarrow());
  document.body.classList.toggle("show-side", isWanted && isNarrow());
  opener.setAttribute("aria-expanded", String(isWanted));
  if (!isNarrow()) memorize("side", isWanted ? "open" : "folded");
}

export function toggleSide() {
  const isWanted = isNarrow() ? !isSideOver() : !side.offsetWidth;
  showSide(isWanted);
  if (isWanted && isNarrow()) one("input", side)?.focus();
}

export function renewSide() {
  const list = side && one("[data-side-list]", side);
  if (!list) return;
  pagePart(sideAddress()).then(
    (html) => putResults(one("[data-side-list]", side), html),
    () => {
      /* stays */
    },
  );
}

export function startSide() {
  if (isNarrow()) showSide(false);
  else if (recalled("side")) showSide(recalled("side") === "open");
  else opener.setAttribute("aria-expanded", String(side.offsetWidth > 0));
  fetch(sideAddress())
    .then((answer) => (answer.ok ? answer.text() : ""))
    .then(fillSide)
    .catch(() => {
      /* the page is read without it */
    });
  side.addEventListener("scroll", () => memorize("side-top", String(side.scrollTop)), { passive: true });
}

function fillSide(html) {
  side.innerHTML = html;
  updateAges(side);
  if (recalled("side-top")) side.scrollTop = Number(recalled("side-top"));
  showCurrent(one("[aria-current]", side));
  let waiting = 0;
  one("[data-side-filter]", side).addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(renewSide, 120);
  });
}

function showCurrent(row) {
  if (!row) return;
  const isOutside = row.offsetTop < side.scrollTop || row.offsetTop > side.scrollTop + side.clientHeight - 80;
  if (isOutside) side.scrollTop = row.offsetTop - side.clientHeight / 3;
}
