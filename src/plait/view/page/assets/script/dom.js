// Helpers for the document: find and create elements, watch them as they approach the window, open dialogs.

export function one(selector, within) {
  return (within || document).querySelector(selector);
}

export function all(selector, within) {
  return Array.from((within || document).querySelectorAll(selector));
}

export function made(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

// Watch elements and act once on each when it approaches; null if the browser cannot.
export function whenNear(margin, act) {
  if (!("IntersectionObserver" in window)) return null;
  const observer = new IntersectionObserver(
    (found) => {
      for (const entry of found) {
        if (!entry.isIntersecting) continue;
        observer.unobserve(entry.target);
        act(entry.target);
      }
    },
    { rootMargin: `${margin}px 0px` },
  );
  return observer;
}

// Show a dialog that is removed when it is closed.
export function openBox(box, ...content) {
  const close = made("button", "more", "Close");
  close.onclick = () => box.close();
  box.append(...content, close);
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}

export function isNarrow() {
  return matchMedia("(max-width: 900px)").matches;
}

export function scrollPadding(otherwise) {
  return parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || otherwise;
}
