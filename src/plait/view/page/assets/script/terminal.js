// Terminal output as runs of text with their colours.
import { made } from "./dom.js";
import { clean } from "./text.js";

// Keep only colour sequences; of a line that was overwritten, keep the last state.
export function settled(text) {
  return text
    .replace(/(?:\u001b\]|\u009d)[^\u0007\u001b]*(?:\u0007|\u001b\\)?/g, "")
    .replace(/(?:\u001b\[|\u009b)(?![0-9;]*m)[0-?]*[ -/]*[@-~]?/g, "")
    .replace(/\u001b(?!\[)[ -/]*[0-~]?/g, "")
    .replace(/\r\n/g, "\n")
    .replace(/[^\n]*\r(?=[^\n])/g, "")
    .replace(/\r/g, "");
}

// Pairs of class names and text.
export function stretches(text) {
  const found = [];
  let style = new Set();
  settled(text)
    .split(/(?:\u001b\[|\u009b)([0-9;]*)m/)
    .forEach((part, place) => {
      if (place % 2) style = restyled(style, part);
      else if (part) found.push([Array.from(style).join(" "), clean(part)]);
    });
  return found;
}

export function restyled(style, codes) {
  const numbers = codes.split(";").map(Number);
  if (numbers[0] === 38 || numbers[0] === 48) return new Set(style);
  return numbers.reduce(recoloured, new Set(style));
}

function recoloured(style, number) {
  const colour = getColour(number);
  if (number === 0) return new Set();
  if (number === 1) return style.add("ib");
  if (number === 22) style.delete("ib");
  if (colour < 0 && number !== 39) return style;
  const kept = new Set(style.has("ib") ? ["ib"] : []);
  return colour < 0 ? kept : kept.add(`i${colour}`);
}

function getColour(number) {
  if (number >= 90 && number <= 97) return number - 90;
  return number >= 30 && number <= 37 ? number - 30 : -1;
}

export function coloured(text) {
  const whole = document.createDocumentFragment();
  for (const [names, part] of stretches(text)) whole.append(names ? made("span", names, part) : part);
  return whole;
}
