// The dialog that lists the keys.
import { made, openBox } from "./dom.js";

// Keys that the frame of a served page adds.
export const frameKeys = [];

const readingKeys = [
  ["j / k", "next / previous prompt"],
  ["[ / ]", "previous / next branch"],
  ["/", "find"],
  ["n / N", "next / previous match"],
  ["f", "filter by kind and outcome"],
  ["e", "expand or collapse everything in this turn"],
  ["o", "show or hide prompts"],
  ["g", "show or hide the graph"],
];
const servedKeys = [
  ["c", "compare two branches"],
  ["x", "export and share"],
  ["y / Y", "copy this turn / the session as Markdown"],
  ["G", "jump to the end and follow new messages"],
];
const everywhere = [
  ["t", "switch between light and dark"],
  ["?", "show this help"],
];

export function keysOfReading(isServed) {
  return [...readingKeys, ...(isServed ? servedKeys : []), ...everywhere];
}

export function frameKeyTable() {
  return [...frameKeys, ...everywhere];
}

export function createKeyItems(keys) {
  return keys.flatMap(([key, words]) => [made("dt", "", key), made("dd", "", words)]);
}

export function help(isServed) {
  const list = made("dl");
  list.append(...createKeyItems([...keysOfReading(isServed), ...frameKeys]));
  openBox(made("dialog", "keys"), made("h2", "", "Keys"), list);
}
