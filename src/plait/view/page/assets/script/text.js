// Texts of the log: never markup, never reversed; shortened, excerpted, searched for words.

const deceiving =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu;

export function clean(text) {
  return text.replace(deceiving, "\ufffd");
}

// Parse JSON with every number and string as in the log: JSON.parse would round and reorder.
export function indented(line) {
  const tokens = line.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g) || [];
  let depth = 0;
  let text = "";
  tokens.forEach((token, place) => {
    const before = tokens[place - 1] || "";
    const isFirst = before === "{" || before === "[";
    if (token === "}" || token === "]") {
      depth--;
      text += isFirst ? token : `\n${"  ".repeat(Math.max(0, depth))}${token}`;
      return;
    }
    if (isFirst || before === ",") text += `\n${"  ".repeat(Math.min(depth, 60))}`;
    text += token === ":" ? ": " : token;
    if (token === "{" || token === "[") depth++;
  });
  return text.replace(deceiving, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// A whole number with separators, as the server formats it.
export function numbered(count) {
  return count.toLocaleString("en-US");
}

export function short(text, most) {
  const words = text
    .slice(0, 4 * most)
    .trim()
    .split(/\s+/)
    .join(" ");
  if (words.length <= most) return words;
  return `${words.slice(0, most).replace(/ \S*$/, "") || words.slice(0, most)} …`;
}

// The first of some texts that contains the words, with the text around them.
export function excerpt(texts, wanted) {
  const text = wanted && texts.find((one) => one.toLowerCase().includes(wanted));
  if (!text) return null;
  const at = text.toLowerCase().indexOf(wanted);
  const end = at + wanted.length;
  return [text.slice(Math.max(0, at - 60), at), text.slice(at, end), text.slice(end, end + 100)];
}

const wordGap = "[^\\p{L}\\p{N}]+";
const [wordStart, wordEnd] = ["(?<![\\p{L}\\p{N}])", "(?![\\p{L}\\p{N}])"];
const wordRest = "[\\p{L}\\p{N}]*";

// Patterns for the words, phrases and texts of a query: `word`, `wor*`, `*ord*`, `wrod~`,
// `"these words"`, `=this very text`.
export function markLook(mark) {
  if (mark.startsWith("=")) return lookingFor(literally(mark.slice(1)));
  const phrase = /^"(.*)"(?:~(\d+)|(\*))?$/s.exec(mark);
  if (phrase) return phraseLook(phrase[1], Number(phrase[2] || 0), Boolean(phrase[3]));
  const like = /^(.+)~[12]?$/.exec(mark);
  if (like) return lookingFor(wordStart + literally(like[1].slice(0, Math.max(1, like[1].length - 3))) + wordRest);
  if (/^\*.+/.test(mark)) return lookingFor(plainWords(mark).join(wordGap));
  return phraseLook(mark, 0, mark.endsWith("*"));
}

function phraseLook(text, slop, isBegun) {
  const between = slop ? `${wordGap}(?:[\\p{L}\\p{N}]+${wordGap}){0,${slop}}` : wordGap;
  const words = plainWords(text);
  return words.length ? lookingFor(wordStart + words.join(between) + (isBegun ? wordRest : wordEnd)) : null;
}

// Scripts without spaces match any part of a sentence.
function lookingFor(source) {
  const isUnspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}]/u.test(source);
  return new RegExp(isUnspaced ? source.replace(wordStart, "").replace(wordEnd, "") : source, "giu");
}

function plainWords(text) {
  return text.match(/[\p{L}\p{N}]+/gu) || [];
}

function literally(text) {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

// Whether a text is among the shown ones, compared by its first letters and digits.
export function alike(shown, text) {
  const plain = (words) => words.replace(/[^\p{L}\p{N}]/gu, "");
  const start = plain(text || "").slice(0, 40);
  return Boolean(start) && plain(shown).includes(start);
}

export function occurrences(text, wanted) {
  const found = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found.push(at);
  return found;
}

export function turnsCounted(count) {
  return `${count} ${count === 1 ? "turn" : "turns"}`;
}
