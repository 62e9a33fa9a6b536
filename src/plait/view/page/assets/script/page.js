// The current page, and its requests to the server or, on disk, to scripts next to it.

export const root = document.body.dataset.root || "";
export const main = document.querySelector("main[data-session]");
// The base URL of the server; empty on disk.
export const served = main ? main.dataset.served || "" : "";

const waiting = {};

// Scripts next to the page call these with their content.
window.plait = {
  lines: (file, first, last, data) => settle(`lines ${file} ${first}`, data),
  part: (number, data) => settle(`part ${number}`, data),
  index: (entries) => settle("index", entries),
};

function settle(name, value) {
  if (waiting[name]) waiting[name].resolve(value);
}

export function fetched(name, address, charset) {
  if (!waiting[name]) waiting[name] = awaited(address, charset);
  return waiting[name].promise;
}

function awaited(address, charset) {
  const entry = {};
  entry.promise = new Promise((resolve, reject) => {
    entry.resolve = resolve;
    const script = document.createElement("script");
    if (charset) script.charset = charset;
    script.src = address;
    script.onerror = () => reject(new Error(`cannot load ${address}`));
    document.head.appendChild(script);
  });
  return entry;
}

export function asked(path) {
  return fetch(served + path, { headers: { Accept: "application/json" } }).then((answer) => {
    if (answer.ok) return answer.json();
    const error = new Error(
      answer.status === 404
        ? "This content is no longer in the session."
        : `The server returned an error (${answer.status}).`,
    );
    error.status = answer.status;
    throw error;
  });
}

export function askedWhere(id) {
  return asked(`/where?id=${encodeURIComponent(id)}`);
}
