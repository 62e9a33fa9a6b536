// Entry point of lake pages: theme and local times.
import { updateAges } from "./ages.js";
import { all, one } from "./dom.js";
import { otherTheme, setTheme, storedTheme, updateTimes } from "./theme.js";

document.documentElement.classList.add("scripted");
if (storedTheme()) setTheme(storedTheme());
updateTimes(document);
updateAges(document);
for (const element of all("pre")) element.tabIndex = 0; // keys can move what is wider than the page
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-do=theme]")) otherTheme();
});
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "t") otherTheme();
  if (event.key === "/") {
    event.preventDefault();
    one(".asking input").focus();
  }
});
