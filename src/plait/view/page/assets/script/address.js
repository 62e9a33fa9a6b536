// URLs: the place in a session that a URL names, and the query of a list or a search.

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

// Parse the query of a session's URL: a turn by number, optionally on a line, a place in the log, words
// to find, words and texts to mark, calls of one outcome.
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

// The URL of a submitted form, without empty fields.
export function formAddress(action, fields) {
  return withQuery(action, new URLSearchParams(Array.from(fields).filter(([, value]) => value)));
}

// The URL of the same search for other words, from its first rows.
export function searchAddress(search, words) {
  const params = new URLSearchParams(search);
  params.delete("n");
  if (words) params.set("q", words);
  else params.delete("q");
  return withQuery("/search", params);
}

// Words are found by the index; everything else is searched in every log.
export function searchPause(search) {
  return /[?&]way=/.test(search) ? 500 : 120;
}

export function partAddress(address, base) {
  const url = new URL(address, base);
  url.searchParams.set("fragment", "1");
  return url;
}
