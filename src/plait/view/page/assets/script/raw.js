// The lines of the log behind what is shown, and the buttons that ask for them.
import { all, made, one } from "./dom.js";
import { hasLines, rawLine } from "./lines.js";
import { served } from "./page.js";
import { clean, indented } from "./text.js";

export function showRaw(button) {
  const holder = button.closest("[data-l]");
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

export function addRawButtons(within) {
  if (!hasLines()) return;
  for (const element of all("[data-l]:not(button)", within)) if (wantsButtons(element)) addButtons(element);
}

function wantsButtons(element) {
  if (element.classList.contains("again") || element.parentElement?.closest("details:not([open])"))
    return false;
  return !one(":scope > .rawbtn, :scope > .line > .rawbtn", element);
}

function addButtons(element) {
  const line = one(":scope > .line", element);
  const isSummary = line && line.tagName === "SUMMARY";
  const holder = line || element;
  const isFirst = !line && !element.matches(".event, .landmark");
  const raw = drawnButton(isSummary, "rawbtn", "raw", "Raw JSON", "The line of the log");
  const link =
    served && element.id
      ? [drawnButton(isSummary, "rawbtn linkbtn", "link", "Copy link", "Copy a link to this place")]
      : [];
  if (isFirst) holder.prepend(raw, ...link, ...forkButtons(element));
  else holder.append(...link, raw);
}

// Where somebody spoke, another session can go on.
function forkButtons(element) {
  if (!served || !element.id || !element.matches(".prompt, .say")) return [];
  const isPrompt = element.matches(".prompt");
  const title = isPrompt ? "Fork before this prompt, to ask it differently" : "Fork from here";
  const button = drawnButton(false, "rawbtn edits forkbtn", "fork", title, title);
  button.dataset.edit = "fork";
  button.dataset.at = element.id;
  return [button];
}

// A summary is a button itself and holds no other: there the drawing is for the mouse, and what it
// unfolds has buttons.
function drawnButton(isSummary, name, icon, label, title) {
  const button = made(isSummary ? "span" : "button", name);
  if (isSummary) button.setAttribute("aria-hidden", "true");
  else button.setAttribute("aria-label", label);
  button.title = title;
  button.append(made("i", `i i-${icon}`));
  return button;
}

export function addTools(details) {
  if (one(":scope > .tools", details) || !hasLines()) return;
  const tools = made("p", "tools");
  tools.append(made("button", "tool-raw", "Raw JSON"));
  if (served && details.id) tools.append(made("button", "tool-link", "Copy link"));
  details.append(tools);
}
