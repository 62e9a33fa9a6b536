// Turns that are loaded while reading.
import { addActions, addTools } from "./actions.js";
import { all, made, one, whenNear } from "./dom.js";
import { watchTurn, watchTurnsOf } from "./current_turn.js";
import { packed, unpacked } from "./packed.js";
import { asked, main, served } from "./page.js";
import { prepare } from "./prepare.js";
import { hasFork, promptsIn } from "./steps.js";
import { makeRoom, number, remember } from "./turns.js";

let isHurried = false;
let afterFill = null;
const near = whenNear(1500, fill);

// Callbacks for parts of a line that were replaced by their turns.
export function whenFilled(act) {
  afterFill = act;
}

export function fill(part) {
  if (part.dataset.loading) return part.loaded;
  part.dataset.loading = "1";
  part.loaded = listTurns(part.dataset.part)
    .then((found) => inSlices(part, found))
    .then(() => {
      const line = part.parentElement;
      part.remove();
      if (afterFill) afterFill(line, part);
    });
  part.loaded.catch((error) => notFilled(part, error));
  return part.loaded;
}

function listTurns(name) {
  if (served) return asked(`/part/${name}`);
  const inside = one(`template.parts[data-n="${name}"]`);
  if (inside) return Promise.resolve(Array.from(inside.content.children));
  const address = `${main.dataset.session}.lines/part-${name}.js`;
  return packed(`part ${name}`, address).then(unpacked).then(JSON.parse);
}

function notFilled(part, error) {
  const again = made("button", "more", `${error.message} Try again`);
  again.onclick = () => {
    again.remove();
    delete part.dataset.loading;
    fill(part);
  };
  part.append(again);
}

// Work a few milliseconds at a time, so that scrolling stays smooth.
function inSlices(part, turns) {
  let at = 0;
  return new Promise((resolve) => {
    const slice = () => {
      const until = performance.now() + 6;
      while (at < turns.length && performance.now() < until)
        for (const turn of getElements(turns[at++])) putTurn(part, turn);
      makeRoom(part, turns.length - at);
      if (at < turns.length) setTimeout(slice, isHurried ? 0 : 12);
      else resolve();
    };
    slice();
  });
}

function getElements(given) {
  if (typeof given !== "string") return [given.cloneNode(true)];
  const box = made("template");
  box.innerHTML = given;
  return Array.from(box.content.children);
}

function putTurn(part, turn) {
  if (part.classList.contains("past")) turn.classList.add("past");
  if (served) remember(turn);
  prepare(turn);
  part.before(turn);
  if (turn.matches("main > .dag > .turn")) {
    number(turn);
    watchTurn(turn);
  } else addActions(turn);
}

export function fillFor(id) {
  const part = all("main .part").find(
    ({ dataset }) => promptsIn(dataset).some((prompt) => prompt[0] === id) || hasFork(dataset, id),
  );
  return part ? fill(part) : Promise.resolve();
}

export function fillAll() {
  isHurried = true;
  return Promise.all(all(".part").map(fill)).then(() => {
    isHurried = false;
    return one(".part") ? fillAll() : null;
  });
}

export function watchTurns() {
  watchTurnsOf(main);
  for (const part of all("main > .dag > .part")) {
    if (!part.style.minHeight) makeRoom(part, Number(part.dataset.turns));
    if (near) near.observe(part);
  }
}

// Load the turns and buttons of what the reader unfolds; a single agent in it is unfolded too.
export function unfolded(event) {
  const box = event.target;
  if (!box.open || !box.matches("details")) return;
  addActions(box);
  if (box.dataset.l) addTools(box);
  all(":scope > .body > .part", box).forEach(fill);
  const agents = all(":scope > .body > .agent", box);
  if (agents.length === 1) agents[0].open = true;
}
