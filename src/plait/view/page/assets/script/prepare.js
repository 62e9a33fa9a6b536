// Prepare new elements: local times, comparable branches, code highlighted as it approaches the window.
import { addCopies } from "./copies.js";
import { addDiffers } from "./line_differences.js";
import { all, whenNear } from "./dom.js";
import { drawPictures } from "./more.js";
import { root } from "./page.js";
import { updateTimes } from "./theme.js";

let painter = null;
const painting = whenNear(400, (code) => {
  withPainter().then(
    (hljs) => paint(hljs, code),
    () => {
      /* plain code is fine */
    },
  );
});

export function prepare(within) {
  updateTimes(within);
  addDiffers(within);
  drawPictures(within);
  addCopies(within);
  if (painting) for (const code of all('code[class*="language-"]', within)) painting.observe(code);
}

function withPainter() {
  if (window.hljs) return Promise.resolve(window.hljs);
  if (!painter) painter = loadedPainter();
  return painter;
}

function loadedPainter() {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${root}assets/highlight.js`;
    script.onload = () => resolve(window.hljs);
    script.onerror = reject;
    document.head.appendChild(script);
  });
}

function paint(hljs, code) {
  const language = (/language-([\w+#-]+)/.exec(code.className) || [])[1];
  if (!hljs || !language || !hljs.getLanguage(language) || code.textContent.length > 50000) return;
  code.innerHTML = hljs.highlight(code.textContent, { language, ignoreIllegals: true }).value;
}
