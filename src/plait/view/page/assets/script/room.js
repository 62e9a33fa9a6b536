// Free up context: selected items, the effect of presets, and the request to the server.
import { all, made, one, whenNear } from "./dom.js";

const kindsAsked = ["thinking", "images", "reminders", "rereads"];

// The request of a button in the Context tab.
export function getRoomRequest(button) {
  const { edit, preset } = button.dataset;
  const form = button.closest("form.room");
  const request = { operation: edit, in_place: form.elements.in_place.checked };
  if (edit === "compress") return { ...request, until: form.elements.until.value };
  if (preset) return { ...request, preset };
  return { ...request, ...tickedIn(form) };
}

function tickedIn(form) {
  const { way, except_last: spared } = form.elements;
  const request = { way: way.value, except_last: Number(spared.value) || 0 };
  const calls = all("input[name=call]:checked", form).map((box) => box.value);
  if (calls.length) request.calls = [...new Set(calls)];
  for (const kind of kindsAsked) if (form.elements[kind]?.checked) request[kind] = true;
  return request;
}

// Update after the page was redrawn.
export function startRoom() {
  const form = one("form.room");
  if (!form) return;
  showSelectedTokens(form);
  nearRoom?.observe(one(".presets", form));
}

const nearRoom = whenNear(200, showPresetEffects);

function showSelectedTokens(form) {
  const ticked = all("input[data-tokens]:checked", form);
  const tokens = ticked.reduce((sum, box) => sum + Number(box.dataset.tokens), 0);
  one(".by-hand [data-edit=trim]", form).disabled = !ticked.length;
  one(".ticked", form).textContent = ticked.length
    ? `${ticked.length} selected, about ${tokensInWords(tokens)} tokens`
    : "Nothing selected.";
}

function tokensInWords(count) {
  if (count < 1000) return String(count);
  return `${(count / 1000).toFixed(count < 10000 ? 1 : 0)}k`;
}

function showPresetEffects(holder) {
  if (!holder.offsetParent) return;
  const { session } = holder.closest("form").dataset;
  fetch(`/api/v1/sessions/${encodeURIComponent(session)}/presets`)
    .then((answer) => answer.json())
    .then((report) => {
      for (const { preset, words } of report.presets || [])
        one(`[data-preset="${preset}"] span`, holder)?.replaceChildren(made("span", "", words));
    })
    .catch(() => {
      /* each says it in its plan */
    });
}

document.addEventListener("change", ({ target }) => {
  const form = target.closest?.("form.room");
  if (form) showSelectedTokens(form);
});
document.addEventListener("submit", (event) => {
  if (event.target.matches("form.room")) event.preventDefault();
});
