// Session storage, if the browser allows it.

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
