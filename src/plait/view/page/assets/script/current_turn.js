// Mark the current turn in the graph and the outline.
import { addActions } from "./actions.js";
import { all, whenNear } from "./dom.js";
import { main } from "./page.js";
import { placeRead } from "./steps.js";

export let here = null;
export const inView = new Set();
let heldAt = -1;
let isLooking = false;
let links = null;

export function holdPosition() {
  heldAt = scrollY;
}

export function stand(turn) {
  here = turn;
  if (turn) markCurrentLinks();
}

function note(found) {
  for (const entry of found) {
    if (entry.isIntersecting) inView.add(entry.target);
    else inView.delete(entry.target);
  }
  look();
}

function look() {
  if (isLooking) return;
  isLooking = true;
  requestAnimationFrame(() => {
    isLooking = false;
    if (scrollY === heldAt) return;
    heldAt = -1;
    updateCurrentTurn();
  });
}

function updateCurrentTurn() {
  for (const turn of inView) if (!turn.isConnected) inView.delete(turn);
  const turns = Array.from(inView);
  const tops = turns.map((turn) => turn.getBoundingClientRect().top);
  const now = turns[placeRead(tops, innerHeight / 4 + 24)];
  if (now && now !== here) stand(now);
}

const reading = "IntersectionObserver" in window ? new IntersectionObserver(note) : null;
const coming = whenNear(800, addActions);
if (main) addEventListener("scroll", look, { passive: true });

export function watchTurn(turn) {
  if (reading) reading.observe(turn);
  if (coming) coming.observe(turn);
}

export function watchTurnsOf(holder) {
  all(":scope > .dag > .turn", holder).forEach(watchTurn);
  if (!coming) addActions(holder);
}

export function forgetLinks() {
  links = null;
}

function linksByTarget() {
  const found = new Map();
  for (const link of all(".rail .node, .outline a")) {
    const target = (link.getAttribute("href") || "").slice(1);
    if (!found.has(target)) found.set(target, []);
    found.get(target).push(link);
  }
  return found;
}

export function markCurrentLinks() {
  if (!here) return;
  if (!links) links = linksByTarget();
  for (const link of all(".rail .node.here, .outline a.here")) {
    link.classList.remove("here");
    link.removeAttribute("aria-current");
  }
  for (const section of listSections(here))
    for (const element of all("[id]", section))
      if (!element.closest(".agent")) (links.get(element.id) || []).forEach(markLink);
}

// A long turn has several sections: the turn is marked.
function listSections(turn) {
  let first = turn;
  while (first.matches(".on") && first.previousElementSibling) first = first.previousElementSibling;
  const found = [first];
  for (let next = first.nextElementSibling; next && next.matches(".on"); next = next.nextElementSibling)
    found.push(next);
  return found;
}

function markLink(link) {
  link.classList.add("here");
  link.setAttribute("aria-current", "true");
  keepInView(link);
}

function keepInView(link) {
  const holder = link.closest(".rail, .outline");
  if (!holder || holder.matches(":hover")) return;
  const box = link.getBoundingClientRect();
  const frame = holder.getBoundingClientRect();
  const isOutside = box.top < frame.top + 40 || box.bottom > frame.bottom - 40;
  if (isOutside) holder.scrollTop += box.top - frame.top - frame.height / 3;
}
