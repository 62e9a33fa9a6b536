// Addresses: the place in a session that one names, and what a list or a search was asked.

export function computeHash(id) {
  return encodeURIComponent(id).replace(/%23/g, "#").replace(/%40/g, "@");
}

export function idIn(hash) {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return hash.slice(1);
  }
}

// What the query of a session's address wants: a turn by number, on a line or not, a place in the log, words
// that are looked for, words and texts that are marked, calls of one outcome.
export function wantedIn(search) {
  const params = new URLSearchParams(search);
  const turn = params.get("turn") || "";
  const at = params.get("at") || "";
  return {
    words: params.get("q") || "",
    marks: [...params.getAll("mark"), ...params.getAll("text").map((text) => `=${text}`)],
    outcome: params.get("outcome"),
    turn: /^\d{1,7}$/.test(turn) ? Number(turn) : null,
    line: params.get("line"),
    at: /^\d+\.\d+$/.test(at) ? at : null,
  };
}

function withQuery(path, params) {
  return path + (params.size ? `?${params}` : "");
}

// The address of what a form asks: fields that are empty are not named.
export function formAddress(action, fields) {
  return withQuery(action, new URLSearchParams(Array.from(fields).filter(([, value]) => value)));
}

// The address of a search for other words with all else as it is, from its first rows.
export function searchAddress(search, words) {
  const params = new URLSearchParams(search);
  params.delete("n");
  if (words) params.set("q", words);
  else params.delete("q");
  return withQuery("/search", params);
}

// Words are found by the index; all else is looked for in every log.
export function searchPause(search) {
  return /[?&]way=/.test(search) ? 500 : 120;
}

export function partAddress(address, base) {
  const url = new URL(address, base);
  url.searchParams.set("fragment", "1");
  return url;
}
