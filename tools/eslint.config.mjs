// What the page's script keeps to: what ESLint recommends, and small functions without old ways.
import { createRequire } from "node:module";

// ESLint lies in the cache, not beside this file.
const recommended = createRequire(process.argv[1])("@eslint/js").configs.recommended;

const browser = `Blob CSS CustomEvent DOMParser DecompressionStream Element EventSource FormData HTMLDetailsElement
  HTMLSelectElement Highlight IntersectionObserver Intl NodeFilter Range ResizeObserver Response URL URLSearchParams
  addEventListener atob clearTimeout document fetch getComputedStyle history innerHeight localStorage location
  matchMedia navigator performance requestAnimationFrame scrollBy scrollTo scrollY sessionStorage setInterval
  setTimeout window`;

const node = "process";

const rules = {
  "array-callback-return": "error",
  "arrow-body-style": "error",
  complexity: ["error", 12],
  "consistent-return": "error",
  eqeqeq: "error",
  "max-depth": ["error", 3],
  "max-lines": ["error", 250],
  "max-lines-per-function": ["error", 30],
  "max-params": ["error", 5],
  "no-control-regex": "off", // The log holds what terminals were sent.
  "no-duplicate-imports": "error",
  "no-else-return": "error",
  "no-eval": "error",
  "no-implied-eval": "error",
  "no-loop-func": "error",
  "no-new-func": "error",
  "no-promise-executor-return": "error",
  "no-self-compare": "error",
  "no-shadow": "error",
  "no-throw-literal": "error",
  "no-unused-expressions": "error",
  "no-use-before-define": ["error", { functions: false, variables: false }],
  "no-useless-return": "error",
  "no-var": "error",
  "object-shorthand": "error",
  "prefer-arrow-callback": "error",
  "prefer-const": "error",
  "prefer-template": "error",
};

function known(names) {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, "readonly"]));
}

export default [
  recommended,
  {
    files: ["src/plait/view/page/assets/script/*.js"],
    languageOptions: { ecmaVersion: 2023, globals: known(browser) },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules,
  },
  { files: ["tests/script/*.mjs", "tools/*.mjs"], languageOptions: { globals: known(node) }, rules: { "no-var": "error" } },
];
