// Theme and time zone: light or dark, kept in the browser, and local times.
import { all } from "./dom.js";
import { getMinute } from "./time.js";

export function updateTimes(within) {
  for (const element of all("time[datetime]", within)) {
    const time = new Date(element.getAttribute("datetime"));
    if (isNaN(time)) continue;
    element.textContent = getMinute(time);
    element.title = time.toString();
  }
}

export function storedTheme() {
  try {
    return localStorage.getItem("plait-theme");
  } catch {
    return null;
  }
}

export function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("plait-theme", theme);
  } catch {
    /* a page on a disk may not */
  }
}

export function otherTheme() {
  const now =
    document.documentElement.dataset.theme ||
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  setTheme(now === "dark" ? "light" : "dark");
}
