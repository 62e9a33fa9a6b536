// The tabs of a session: fetch unfolded content once, copy lines, apply choices.
import { one } from "./dom.js";

async function fetchedText(address) {
  const answer = await fetch(address, { headers: { "x-plait-part": "1" } });
  const text = await answer.text();
  if (!answer.ok)
    throw new Error(answer.status === 404 ? "This content no longer exists." : "Loading failed.");
  return text;
}

async function fillDetails(details) {
  const inner = one(":scope > .inner", details);
  if (!inner || details.dataset.state) return;
  details.dataset.state = "busy";
  try {
    inner.innerHTML = await fetchedText(details.dataset.src);
    details.dataset.state = "done";
    details.dispatchEvent(new CustomEvent("plait:filled", { bubbles: true }));
  } catch (error) {
    inner.textContent = error.message;
    delete details.dataset.state;
  }
}

async function copyFrom(button) {
  const words = button.lastChild;
  const before = words.textContent;
  try {
    await navigator.clipboard.writeText(await fetchedText(button.dataset.copyFrom));
    words.textContent = "Copied";
  } catch {
    words.textContent = "Could not copy";
  }
  setTimeout(() => {
    words.textContent = before;
  }, 1500);
}

// A choice of file or type applies immediately; the button is for browsers without scripts.
function chosen(event) {
  const { elements } = event.currentTarget;
  const { target } = event;
  if (target.name === "file") elements.type.value = "";
  if (target.name === "file" || target.name === "type") elements.line.value = "";
  if (target instanceof HTMLSelectElement) event.currentTarget.requestSubmit();
}

function showWanted(details) {
  details.open = true;
  details.scrollIntoView({ block: "start" });
}

document.addEventListener(
  "toggle",
  ({ target }) => {
    if (target instanceof HTMLDetailsElement && target.open && target.dataset.src) fillDetails(target);
  },
  true,
);
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-copy-from]");
  if (button) copyFrom(button);
});
one("form.chooser")?.addEventListener("change", chosen);
const wantedLine = one(".raw-lines .wanted details");
if (wantedLine) showWanted(wantedLine);
