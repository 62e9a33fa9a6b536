// Export a session: the server creates the file, the browser saves it and shows what was replaced.
import { made, one } from "./dom.js";
import { numbered } from "./text.js";

export function share() {
  const box = one("dialog.exporting");
  if (!box || box.open) return;
  box.returnValue = "";
  box.showModal();
}

// Fetch instead of submitting, so that the page stays and can show what was replaced.
export function shareForm(event) {
  const form = event.target;
  if (!form.closest("dialog.exporting")) return;
  event.preventDefault();
  const button = event.submitter || one("button.main", form);
  if (button.value === "no" && !button.classList.contains("sure")) askForConfirmation(button);
  else makeFile(form, button);
}

function askForConfirmation(button) {
  button.classList.add("sure");
  button.dataset.words = button.textContent;
  button.textContent = button.dataset.sure;
}

function makeFile(form, button) {
  const status = one(".status-text", form);
  button.disabled = true;
  status.textContent = "Creating the file …";
  fetch(form.action, { method: "POST", body: getQuestions(form, button.value) })
    .then(saveAnswer)
    .catch((error) => error.message)
    .then((words) => {
      status.textContent = words;
      calmDown(button);
    });
}

function calmDown(button) {
  button.disabled = false;
  if (!button.dataset.words) return;
  button.classList.remove("sure");
  button.textContent = button.dataset.words;
}

function getQuestions(form, redact) {
  const data = new URLSearchParams(new FormData(form));
  data.set("redact", redact);
  if (redact === "no") data.set("sure", "yes");
  return data;
}

function saveAnswer(answer) {
  if (!answer.ok) throw new Error(`The file could not be created (${answer.status}).`);
  const name = fileName(answer.headers.get("content-disposition"));
  const kinds = JSON.parse(answer.headers.get("plait-redacted") || "null");
  return answer.blob().then((blob) => {
    save(blob, name);
    return `${name}, ${getSize(blob.size)}. ${replaced(kinds)}`;
  });
}

function save(blob, name) {
  const link = made("a");
  const address = URL.createObjectURL(blob);
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

export function fileName(disposition) {
  return (/filename="([^"]+)"/.exec(disposition || "") || [])[1] || "session";
}

export function getSize(bytes) {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

export function replaced(kinds) {
  if (!kinds) return "Nothing was replaced.";
  const names = Object.keys(kinds);
  const count = names.reduce((sum, name) => sum + kinds[name], 0);
  if (!count) return "Nothing needed to be replaced.";
  return `${numbered(count)} values replaced: ${names.map((name) => `${name} ${kinds[name]}`).join(", ")}.`;
}
