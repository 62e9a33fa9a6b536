// Positions and numbers: the next of several elements, the current turn, the turns in a part.

export function around(at, by, count) {
  return (at + by + count) % count;
}

export function bounded(at, count) {
  return Math.max(0, Math.min(count - 1, at));
}

// The index of the next or previous of some positions; backwards, the start of the current one
// comes first.
export function nextPlace(tops, line, by) {
  const at = tops.findLastIndex((top) => top < line + 4);
  const isInside = by < 0 && at >= 0 && tops[at] < line - 24;
  return bounded(at + (isInside ? 0 : by), tops.length);
}

// The index of the lowest element that reaches the reading line, otherwise the highest; -1 for none.
export function placeRead(tops, line) {
  let best = -1;
  let first = -1;
  tops.forEach((top, place) => {
    if (top <= line && (best < 0 || top > tops[best])) best = place;
    if (first < 0 || top < tops[first]) first = place;
  });
  return best >= 0 ? best : first;
}

// Whether a part contains a turn, by its displayed number or by its position.
export function holdsNumber(part, number) {
  return Number(part.from) <= number && number <= Number(part.to);
}

export function holdsPlace(part, place) {
  return Number(part.first) <= place && place < Number(part.last);
}

export function promptsIn(part) {
  return JSON.parse(part.prompts || "[]");
}

export function hasFork(part, line) {
  return JSON.parse(part.forks || "[]").includes(line);
}

// The data of a part at the end of a session that has grown from `known` turns.
export function lengthened(part, news, known) {
  const prompts = promptsIn(part);
  const given = news.prompts || [];
  if (prompts.length && given.length && prompts[prompts.length - 1][0] === given[0][0]) prompts.pop();
  return {
    last: news.count,
    part: `${part.of}.${part.first}-${news.count}`,
    turns: news.count - Number(part.first),
    to: Number(part.to) + news.count - known,
    prompts: JSON.stringify(prompts.concat(given)),
  };
}
