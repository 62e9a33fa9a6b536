// Forms that respond while typing.
import { formAddress, searchAddress, searchPause } from "./address.js";
import { all, one } from "./dom.js";
import { follow } from "./results.js";

const bar = one(".asking");
export const searchField = bar && one("input", bar);
let asking = 0;

function followSoon(addressOf, wait) {
  clearTimeout(asking);
  asking = setTimeout(() => follow(addressOf()), wait);
}

function addressIn(form) {
  return formAddress(form.getAttribute("action"), new FormData(form));
}

function watchTyped(form) {
  form.addEventListener("input", (event) =>
    followSoon(() => addressIn(form), event.target.type === "search" ? 120 : 0),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    followSoon(() => addressIn(form), 0);
  });
}

function watchChosen(form) {
  form.addEventListener("change", () => location.assign(addressIn(form)));
}

function watchSearch() {
  const address = () => searchAddress(location.search, searchField.value);
  searchField.addEventListener("input", () => followSoon(address, searchPause(location.search)));
  bar.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(asking);
    follow(address());
  });
  searchField.setSelectionRange(searchField.value.length, searchField.value.length);
  if (searchField.value !== searchField.defaultValue) follow(address());
}

export function watchForms() {
  all("form[data-typing]").forEach(watchTyped);
  all("form[data-chosen]").forEach(watchChosen);
  if (one("main[data-typed]") && searchField) watchSearch();
}
