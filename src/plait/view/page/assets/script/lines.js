// The log next to the page: packed lines, fetched on demand.
import { one } from "./dom.js";
import { lettersToBytes, packed, unpacked } from "./packed.js";
import { main, served } from "./page.js";
import { parseLines, pieceAt } from "./record.js";

export const table = main ? JSON.parse(main.dataset.lines || "[]") : [];
const pieces = {};

export function hasLines() {
  return Boolean(table.length || served);
}

function packedPiece(place) {
  const inside = one(`script.lines[data-n="${place}"]`);
  if (inside) return Promise.resolve(lettersToBytes(inside.textContent));
  const [file, first] = table[place];
  return packed(`lines ${file} ${first}`, `${main.dataset.session}.lines/${place}.js`);
}

export function loadedPiece(place) {
  if (!pieces[place]) pieces[place] = packedPiece(place).then(unpacked).then(parseLines);
  return pieces[place];
}

function servedLine(place) {
  return fetch(`${served}/line/${place}`).then((answer) => {
    if (!answer.ok) throw new Error(`line ${place.split(".")[1]} is no longer in the log`);
    return answer.text();
  });
}

export function rawLine(place) {
  if (served) return servedLine(place);
  const [file, line] = place.split(".").map(Number);
  const holder = pieceAt(table, file, line);
  if (holder < 0) return Promise.reject(new Error(`line ${line} is not in this export`));
  return loadedPiece(holder).then((held) => held.get(line) || "");
}

export function recordAt(place) {
  return rawLine(place).then((line) => JSON.parse(line));
}
