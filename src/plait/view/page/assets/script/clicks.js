// What a click on a session's page does: places gone to, texts shown and copied.
import { hashOf } from "./address.js";
import { differs } from "./differs.js";
import { made } from "./dom.js";
import { closeFilter } from "./filter.js";
import { actions, closePanels } from "./keys.js";
import { showAll, showEnclosed } from "./more.js";
import { main, served } from "./page.js";
import { leaveFor, stateNow } from "./place.js";
import { showRaw } from "./raw.js";
import { toast } from "./told.js";
import { lineOf } from "./turns.js";

export function clicked(event) {
  const target = event.target;
  const button = target.closest("button, span.rawbtn");
  const fork = target.closest(".fork");
  const link = target.closest('a[href^="#"]');
  if (button && button.classList.contains("differs")) {
    event.preventDefault();
    differs(button.previousElementSibling);
  } else if (fork && lineOf(fork.dataset.to)) {
    event.preventDefault();
    leaveFor(`line-${fork.dataset.to}`);
  } else if (button) buttonClicked(event, button);
  else if (link && main) linkClicked(event, link);
  else if (!target.closest(".menu, .outline, .rail")) {
    closeFilter();
    closePanels();
  }
}

function buttonClicked(event, button) {
  if (button.dataset.edit) return;
  if (button.matches(".rawbtn, .tool-raw, .tool-link")) {
    event.preventDefault();
    if (button.matches(".linkbtn, .tool-link")) copyLink(button.closest("[id]").id, button);
    else showRaw(button);
  } else if (button.classList.contains("more") && button.dataset.p) showAll(button);
  else if (button.classList.contains("enclosed")) showEnclosed(button);
  else if (button.dataset.copy) copy(button.dataset.copy, button);
  else if (actions[button.dataset.do]) actions[button.dataset.do]();
}

function linkClicked(event, link) {
  event.preventDefault();
  const id = link.getAttribute("href").slice(1);
  if (served && link.matches(".n")) {
    copyLink(id, link);
    return;
  }
  closePanels();
  leaveFor(id);
}

function copy(text, button) {
  const done = () => {
    button.classList.add("done");
    button.title = "Copied";
  };
  const otherwise = () => {
    copyOldWay(text);
    done();
  };
  if (navigator.clipboard && navigator.clipboard.writeText)
    navigator.clipboard.writeText(text).then(done, otherwise);
  else otherwise();
}

function copyOldWay(text) {
  const area = made("textarea");
  area.value = text;
  document.body.appendChild(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

function copyLink(id, button) {
  const hash = `#${hashOf(id)}`;
  history.replaceState(stateNow(), "", hash);
  copy(location.origin + location.pathname + hash, button);
  toast("Link copied");
}
