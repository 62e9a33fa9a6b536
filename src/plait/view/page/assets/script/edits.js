// Edits of a session: chosen in a dialog, planned by the server, applied after confirmation.
import { made, one } from "./dom.js";
import { sendEdit } from "./edit_requests.js";
import { main } from "./page.js";
import { renderPlan } from "./plan.js";
import { renew } from "./results.js";
import { getRoomRequest } from "./room.js";
import { backUpAll, restoreSession } from "./backups.js";
import { offerUndo, undoEdit } from "./undo_bar.js";

const headings = {
  clone: "Clone this session",
  fork: "Fork from here",
  switch: "Make this the active branch",
  repair: "Repair this session",
  rename: "Rename this session",
  tag: "Tag this session",
  delete: "Delete this session",
  trim: "Trim this session",
  compress: "Compress this session",
};
const verbs = {
  clone: "Clone",
  fork: "Fork",
  switch: "Switch",
  repair: "Repair",
  rename: "Rename",
  tag: "Tag",
  delete: "Delete",
  trim: "Trim",
  compress: "Compress",
};

export function handleEditClick(button) {
  const { edit, session, title, at, id } = button.dataset;
  if (edit === "menu") openMenu(session || main.dataset.session, title);
  if (edit === "fork") runPlan(openEditBox(), main.dataset.session, handleForkClick(button, at), shownTitle());
  if (edit === "undo") undoFromList(button, id);
  if (edit === "keep") backUpAll(button);
  if (edit === "restore") restoreSession(button);
  if (edit === "trim" || edit === "compress") planRoom(button);
}

function planRoom(button) {
  const { session, title } = button.closest("form").dataset;
  runPlan(openEditBox(), session, getRoomRequest(button), title);
}

export function editShown() {
  const button = main && one('.top [data-edit="menu"]');
  if (button && getComputedStyle(button).display !== "none") openMenu(main.dataset.session);
}

function shownTitle() {
  return one(".top h1")?.textContent || "";
}

// Before a prompt, to rephrase it; after an answer, to continue from it.
function handleForkClick(button, at) {
  return { operation: "fork", at, before: Boolean(button.closest(".prompt")) };
}

function openEditBox() {
  const box = made("dialog", "editing");
  box.setAttribute("aria-labelledby", "editing-title");
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}

function fillBox(box, title, called, ...content) {
  const heading = made("h2", "", title);
  heading.id = "editing-title";
  box.replaceChildren(heading, made("p", "title-block", called), ...content);
  (one("input", box) || one("button:not(.bad)", box))?.focus();
}

function openMenu(name, title) {
  const box = openEditBox();
  const called = title || shownTitle();
  const list = made("div", "choices");
  list.append(
    ...choicesFor(name).map(([operation, words]) =>
      choiceButton(box, name, { operation }, words, called),
    ),
  );
  list.insertBefore(roomLink(name), list.lastChild);
  const link = made("a", "", "All edits");
  link.href = "/edits";
  const foot = made("div", "buttons");
  foot.append(link, closeButton(box));
  fillBox(box, "Edit this session", called, list, foot);
  offerRepair(box, name, list, called);
}

function choicesFor(name) {
  const isOther =
    main && main.dataset.session === name && main.dataset.shown && main.dataset.shown !== main.dataset.main;
  const way = [["switch", "makes Claude Code resume the branch shown here"]];
  return [
    ["rename", "changes the title"],
    ["tag", "adds or removes a tag"],
    ["clone", "creates a copy with a new id"],
    ...(isOther ? way : []),
    ["delete", "deletes the session (can be undone)"],
  ];
}

function choiceButton(box, name, request, words, called) {
  const button = made("button", "choice");
  button.append(made("b", "", verbs[request.operation]), made("span", "", words));
  button.onclick = () => createEditChoice(box, name, request, called);
  return button;
}

// Show what fills the context before anything of it is removed.
function roomLink(name) {
  const link = made("a", "choice");
  link.href = `/s/${encodeURIComponent(name)}/context`;
  link.append(made("b", "", "Trim"), made("span", "", "shows what fills the context so you can trim or compress it"));
  return link;
}

function offerRepair(box, name, list, called) {
  fetch(`/api/v1/sessions/${encodeURIComponent(name)}/check`)
    .then((answer) => answer.json())
    .then((report) => {
      if (report.ok !== false || !list.isConnected) return;
      const count = report.violations.length;
      const words = `creates a copy with ${count === 1 ? "one problem" : `${count} problems`} fixed`;
      list.insertBefore(choiceButton(box, name, { operation: "repair" }, words, called), list.lastChild);
    })
    .catch(() => {
      /* it is not offered */
    });
}

function createEditChoice(box, name, request, called) {
  if (request.operation === "rename") askForText(box, name, ["title", "Title", called], called);
  else if (request.operation === "tag") askForText(box, name, ["word", "Tag (leave empty to remove)", ""], called);
  else if (request.operation === "switch") runPlan(box, name, { ...request, branch: main.dataset.shown }, called);
  else runPlan(box, name, request, called);
}

function askForText(box, name, [field, label, value], called) {
  const operation = field === "title" ? "rename" : "tag";
  const form = made("form");
  const named = made("label", "", label);
  const input = made("input");
  input.value = value;
  input.maxLength = 200;
  input.required = field === "title";
  input.autocomplete = "off";
  named.append(input);
  const foot = made("div", "buttons");
  foot.append(made("button", "main", "Preview"), closeButton(box));
  form.append(named, foot);
  form.onsubmit = (event) => {
    event.preventDefault();
    runPlan(box, name, { operation, [field]: input.value.trim() || null }, called);
  };
  fillBox(box, headings[operation], called, form);
  input.select();
}

function runPlan(box, name, request, called) {
  const heading = request.before ? "Fork before this prompt" : headings[request.operation];
  fillBox(box, heading, called, createMessageLine("Planning …"), closeButton(box));
  sendEdit(`/sessions/${encodeURIComponent(name)}/plan`, request).then(
    (planned) => showPlan(box, heading, called, planned),
    (error) => fillBox(box, heading, called, createMessageLine(error.message, true), closeButton(box)),
  );
}

function showPlan(box, heading, called, planned) {
  const message = createMessageLine(planned.refused ? `Refused: ${planned.refused}.` : describeIdlePlan(planned), planned.refused);
  const foot = made("div", "buttons");
  if (planned.plan) foot.append(doButton(box, planned, message));
  foot.append(closeButton(box, planned.plan ? "Cancel" : "Close"));
  fillBox(box, heading, called, renderPlan(planned), message, foot);
}

function describeIdlePlan(planned) {
  return planned.plan ? "Nothing has been changed yet." : "There is nothing to do.";
}

function doButton(box, planned, message) {
  const { operation } = planned.report;
  const button = made("button", operation === "delete" ? "main bad" : "main", verbs[operation] || "Apply");
  button.onclick = () => {
    button.disabled = true;
    sendEdit(`/plans/${planned.plan}/apply`, {}).then(
      (done) => finished(box, done),
      (error) => {
        message.textContent = error.message;
        message.classList.add("bad");
        button.remove();
      },
    );
  };
  return button;
}

function finished(box, { report, name }) {
  box.close();
  const isNew = report.session !== report.source;
  offerUndo({ operation: report.operation, undo: report.undo, name: isNew ? name : null, isNew });
  if (report.operation === "delete" && main) location.href = "/sessions";
  else renew();
}

function createMessageLine(words, isBad) {
  const line = made("p", isBad ? "status-text bad" : "status-text", words);
  line.setAttribute("role", "status");
  return line;
}

function closeButton(box, words = "Close") {
  const button = made("button", "", words);
  button.type = "button";
  button.onclick = () => box.close();
  return button;
}

// Undo an edit in the list of edits.
function undoFromList(button, id) {
  button.disabled = true;
  const status = one(".edit-status");
  undoEdit(id).then(
    () => {
      status.textContent = "Undone.";
      renew();
    },
    (error) => {
      status.textContent = error.message;
      button.disabled = false;
    },
  );
}
