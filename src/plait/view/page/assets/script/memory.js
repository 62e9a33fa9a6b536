// What a tab of the browser remembers from page to page; nothing where it may not.

export function recalled(name) {
  try {
    return sessionStorage.getItem(`plait-${name}`);
  } catch {
    return null;
  }
}

export function memorize(name, value) {
  try {
    sessionStorage.setItem(`plait-${name}`, value);
  } catch {
    /* not here */
  }
}
