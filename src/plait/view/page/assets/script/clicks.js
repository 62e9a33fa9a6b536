// Clicks on a session's page: links, unfolding, copying.
import { closeGroup, runAction, toggleGroup } from "./actions.js";
import { computeHash } from "./address.js";
import { copy } from "./clipboard.js";
import { differs } from "./line_differences.js";
import { closeFilter } from "./filter.js";
import { actions, closePanels } from "./keys.js";
import { enlarge, showAll, showEnclosed } from "./more.js";
import { main, served } from "./page.js";
import { leaveFor, getPlace } from "./place.js";
import { getLine } from "./turns.js";

export function clicked(event) {
  const target = event.target;
  const button = target.closest("button, [data-act]");
  const fork = target.closest(".fork");
  const link = target.closest('a[href^="#"]');
  if (button && button.classList.contains("differs")) {
    event.preventDefault();
    differs(button.previousElementSibling);
  } else if (fork && getLine(fork.dataset.to)) {
    event.preventDefault();
    leaveFor(`line-${fork.dataset.to}`);
  } else if (button) buttonClicked(event, button);
  else if (link && main) linkClicked(event, link);
  else if (!target.closest(".menu, .outline, .rail, .top, .bar")) {
    closeGroup();
    closeFilter();
    closePanels();
  }
}

function buttonClicked(event, button) {
  if (button.dataset.edit) return;
  if (button.dataset.act) {
    event.preventDefault();
    runAction(button);
  } else if (button.matches(".acts-opener")) toggleGroup(button);
  else if (button.classList.contains("more") && button.dataset.p) showAll(button);
  else if (button.classList.contains("enclosed")) showEnclosed(button);
  else if (button.classList.contains("framed")) enlarge(button);
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

export function copyLink(id, button) {
  const hash = `#${computeHash(id)}`;
  history.replaceState(getPlace(), "", hash);
  copy(location.origin + location.pathname + hash, button, "Link copied");
}
