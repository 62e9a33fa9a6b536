// The tabs of a session: what is unfolded is fetched once, lines are copied, choices are made.
(() => {
  "use strict";
  const HEADERS = { "x-plait-part": "1" };

  async function fetched(address) {
    const answer = await fetch(address, { headers: HEADERS });
    const text = await answer.text();
    if (!answer.ok) throw new Error(answer.status === 404 ? "It is no longer there." : "It could not be fetched.");
    return text;
  }

  async function fill(details) {
    const inner = details.querySelector(":scope > .inner");
    if (!inner || details.dataset.state) return;
    details.dataset.state = "busy";
    try {
      inner.innerHTML = await fetched(details.dataset.src);
      details.dataset.state = "done";
      details.dispatchEvent(new CustomEvent("plait:filled", { bubbles: true }));
    } catch (error) {
      inner.textContent = error.message;
      delete details.dataset.state;
    }
  }

  document.addEventListener("toggle", (event) => {
    const details = event.target;
    if (details instanceof HTMLDetailsElement && details.open && details.dataset.src) fill(details);
  }, true);

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy-from]");
    if (!button) return;
    const words = button.lastChild;
    const before = words.textContent;
    try {
      await navigator.clipboard.writeText(await fetched(button.dataset.copyFrom));
      words.textContent = "Copied";
    } catch {
      words.textContent = "It could not be copied";
    }
    setTimeout(() => { words.textContent = before; }, 1500);
  });

  // A choice of file or type shows at once; the button is for those without a script.
  const chooser = document.querySelector("form.chooser");
  if (chooser) {
    chooser.addEventListener("change", (event) => {
      if (event.target.name === "file") {
        chooser.elements.type.value = "";
        chooser.elements.line.value = "";
      }
      if (event.target.name === "type") chooser.elements.line.value = "";
      if (event.target instanceof HTMLSelectElement) chooser.requestSubmit();
    });
  }
  const here = document.querySelector(".raw-lines .wanted details");
  if (here) {
    here.open = true;
    here.scrollIntoView({ block: "start" });
  }
})();
