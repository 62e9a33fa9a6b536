"""Measure a page in a real browser: first content, size, longest wait while scrolling."""

import shutil
from pathlib import Path

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
STEPS, STEP = 600, 240
TASKS = """() => {
  window.tasks = [];
  new PerformanceObserver(list => list.getEntries().forEach(one => tasks.push(one.duration)))
    .observe({ type: "longtask", buffered: true });
}"""
FIRST = """() => new Promise(done => {
  const turn = document.querySelector(".turn .prompt");
  requestAnimationFrame(() => requestAnimationFrame(() => done(turn ? performance.now() : -1)));
})"""
SCROLL = """([steps, step]) => new Promise(done => {
  let left = steps, last = performance.now(), longest = 0;
  (function next() {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!left--) { done(longest); return; }
    scrollBy({ top: step, behavior: "instant" });
    requestAnimationFrame(next);
  })();
})"""


def watch(path: Path) -> dict[str, str] | None:
    """Return the figures of a page, None where there is no browser."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto("about:blank")
        page.add_init_script(f"({TASKS})()")
        page.goto(path.as_uri(), wait_until="commit")
        page.wait_for_selector(".turn .prompt")
        first = page.evaluate(FIRST)
        page.wait_for_load_state("load")
        page.wait_for_timeout(500)
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        opening = page.evaluate("Math.max(0, ...tasks.splice(0))")
        nodes = page.evaluate("document.querySelectorAll('*').length")
        longest = page.evaluate(SCROLL, [STEPS, STEP])
        page.wait_for_timeout(300)
        scrolling = page.evaluate("Math.max(0, ...tasks.splice(0))")
        page.keyboard.press("End")
        page.wait_for_timeout(1500)
        ending = page.evaluate("Math.max(0, ...tasks.splice(0))")
        after = page.evaluate("document.querySelectorAll('*').length")
        browser.close()
    return {
        "first contentful paint, ms": f"{paint:.0f}",
        "first turn seen by the script, ms": f"{first:.0f}",
        "longest task while opening, ms": f"{opening:.0f}",
        "elements after opening": f"{nodes:,}",
        f"longest task in {STEPS} steps of {STEP} px, ms": f"{scrolling:.0f}",
        "longest frame in them, ms": f"{longest:.0f}",
        "longest task when jumping to the end, ms": f"{ending:.0f}",
        "elements after that": f"{after:,}",
    }
