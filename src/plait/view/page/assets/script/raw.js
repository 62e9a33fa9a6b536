// Actions on log lines: show the raw JSON, copy a link, fork from there.
import { registerAction } from "./actions.js";
import { copyLink } from "./clicks.js";
import { made, one } from "./dom.js";
import { hasLines, rawLine } from "./lines.js";
import { served } from "./page.js";
import { clean, indented } from "./text.js";

function showRaw(holder) {
  const old = one(":scope > pre.rawjson", holder);
  if (old) {
    old.remove();
    return;
  }
  const put = (text) => {
    if (holder.tagName === "DETAILS") holder.open = true;
    holder.appendChild(made("pre", "rawjson", text));
  };
  rawLine(holder.dataset.l).then(
    (line) => put(indented(line) || clean(line)),
    (error) => put(error.message),
  );
}

// A session can be forked at prompts and answers.
const forking = {
  name: "fork",
  icon: "fork",
  kind: "edits",
  label: (row) =>
    row.matches(".prompt") ? "Fork before this prompt, to rephrase it" : "Fork from here",
  fits: (row) => Boolean(served && row.id) && row.matches(".prompt, .say"),
  mark(button, row) {
    button.dataset.edit = "fork";
    button.dataset.at = row.id;
  },
};
const linking = {
  name: "link",
  icon: "link",
  label: "Copy link",
  title: "Copy a link to this place",
  fits: (row) => Boolean(served && row.id && row.dataset.l),
  run: (row, button) => copyLink(row.id, button),
};
const opening = {
  name: "raw",
  icon: "raw",
  label: "Raw JSON",
  title: "The log line",
  fits: (row) => hasLines() && Boolean(row.dataset.l),
  run: showRaw,
};

export function offerLines() {
  [forking, linking, opening].forEach(registerAction);
}
