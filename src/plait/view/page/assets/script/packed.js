// Data packed next to a page as bytes in a script: a page opened from disk can load nothing else.
import { fetched } from "./page.js";

// One letter per byte; letters of the upper half have other code points with the same low byte.
const ONE_A_BYTE = "x-user-defined";
const BACKSLASH = 92;
const QUOTE = 34;
const WRITTEN = { 110: 10, 114: 13 };

// A server declares an encoding, so there the bytes are fetched instead.
export function packed(name, address) {
  if (location.protocol === "file:") return fetched(name, address, ONE_A_BYTE).then(decodeBytes);
  return fetch(address).then((answer) => {
    if (!answer.ok) throw new Error(`cannot load ${address}`);
    return answer.arrayBuffer().then((data) => literalIn(new Uint8Array(data)));
  });
}

function decodeBytes(letters) {
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

// Parse the string argument of a script as JavaScript would.
function literalIn(script) {
  const found = new Uint8Array(script.length);
  const end = script.lastIndexOf(QUOTE);
  let size = 0;
  for (let at = script.indexOf(QUOTE) + 1; at < end; at++) {
    const isEscaped = script[at] === BACKSLASH;
    if (isEscaped) at += 1;
    found[size++] = (isEscaped && WRITTEN[script[at]]) || script[at];
  }
  return found.subarray(0, size);
}

export function lettersToBytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

export function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}
