// Back up sessions, and restore one that exists only in the backup.
import { one } from "./dom.js";
import { sendEdit } from "./edit_requests.js";
import { main } from "./page.js";
import { renew } from "./results.js";
import { showToast } from "./announce.js";

export function backUpAll(button) {
  const status = one("[role=status]", button.parentElement);
  button.disabled = true;
  status.textContent = "Backing up …";
  sendEdit("/keep/now", {}).then(
    (kept) => {
      status.textContent = formatBackedUp(kept);
      renew();
    },
    (error) => {
      status.textContent = error.message;
      button.disabled = false;
    },
  );
}

export function formatBackedUp(kept) {
  const missed = kept.unread.length;
  return missed ? `Backed up all but ${missed} ${missed === 1 ? "file" : "files"}: ${kept.unread[0]}` : "Backed up.";
}

export function restoreSession(button) {
  button.disabled = true;
  sendEdit(`/sessions/${encodeURIComponent(main.dataset.session)}/restore`, {}).then(
    () => location.reload(),
    (error) => {
      button.disabled = false;
      showToast(error.message);
    },
  );
}
