// Texts of the log: never markup, never running backwards; shortened, excerpted, searched for words.

const deceiving =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu;

export function clean(text) {
  return text.replace(deceiving, "\ufffd");
}

// Every number and every string as the log has it: a parser would round and reorder.
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

export function short(text, most) {
  const words = text
    .slice(0, 4 * most)
    .trim()
    .split(/\s+/)
    .join(" ");
  if (words.length <= most) return words;
  return `${words.slice(0, most).replace(/ \S*$/, "") || words.slice(0, most)} …`;
}

// The first of some texts that holds the words, and what stands before and after them.
export function excerpt(texts, wanted) {
  const text = wanted && texts.find((one) => one.toLowerCase().includes(wanted));
  if (!text) return null;
  const at = text.toLowerCase().indexOf(wanted);
  const end = at + wanted.length;
  return [text.slice(Math.max(0, at - 60), at), text.slice(at, end), text.slice(end, end + 100)];
}

// What of the words somebody asked for stands in a text: all of them as they are, else one of them.
export function askedIn(text, words) {
  const whole = words.toLowerCase();
  if (text.includes(whole)) return whole;
  return (whole.match(/[\p{L}\p{N}_]+/gu) || []).find((part) => text.includes(part));
}

export function hasWords(words) {
  return /[\p{L}\p{N}_]/u.test(words);
}

export function occurrences(text, wanted) {
  const found = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found.push(at);
  return found;
}

export function turnsCounted(count) {
  return `${count} ${count === 1 ? "turn" : "turns"}`;
}
