"""Light and dark, wide and narrow, print, keyboard and screen readers."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened
from tests.browser.sessions import drawn_sessions

WAYS = drawn_sessions()["ways"]
RICH = "5f9c417d"
DEAD = """() => Array.from(document.querySelectorAll(".rail a, .outline a"))
    .map(link => link.getAttribute("href").slice(1))
    .filter(id => !document.getElementById(id) && !document.querySelector(".part"))"""
OPEN = "document.querySelectorAll('details').forEach(one => { one.open = true; })"
CONTRAST = """() => {
  const part = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = c => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
  const numbers = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = numbers(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || !e.checkVisibility() || e.closest("svg")) continue;
    const a = light(numbers(getComputedStyle(e).color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push([ratio.toFixed(2), e.className, node.data.trim().slice(0, 40)]);
  }
  return found;
}"""


def background(page: Page) -> str:
    """Return the colour behind everything."""
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_theme_follows_the_system_and_t_toggles_it(session: Opened) -> None:
    page = session(RICH, color_scheme="dark")
    dark = background(page)
    page.keyboard.press("t")
    light = background(page)
    assert light != dark
    page.reload()
    assert background(page) == light
    page.get_by_role("button", name="Light or dark").click()
    assert background(page) == dark


@pytest.mark.parametrize("name", [RICH, "2c687a8d"])
def test_all_text_has_enough_contrast(session: Opened, name: str) -> None:
    page = session(name, color_scheme="light")
    page.evaluate(OPEN)
    page.wait_for_timeout(200)
    assert page.evaluate(CONTRAST) == []
    light = background(page)
    page.emulate_media(color_scheme="dark")
    assert background(page) != light
    assert page.evaluate(CONTRAST) == []


def test_pages_fit_the_window_and_links_work(site: Path, opened: Opened) -> None:
    page = opened(site / "index.html")
    for path in (site / "index.html", *sorted((site / "sessions").glob("*.html"))):
        page.goto(path.as_uri())
        page.evaluate(OPEN)
        for width in (1024, 390, 320):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
        dead = page.evaluate(DEAD)
        assert dead == [], path.name


def test_narrow_screen_hides_panels_behind_buttons(session: Opened) -> None:
    page = session(WAYS.session, width=390, height=844)
    expect(page.locator(".outline")).to_be_hidden()
    expect(page.locator(".rail")).to_be_hidden()
    expect(page.locator(".prompt:visible").first).to_be_in_viewport()
    page.get_by_role("button", name="More of this session").click()
    page.get_by_role("button", name="Prompts").click()
    expect(page.locator(".outline")).to_be_visible()
    page.locator(".outline a", has_text="And back?").click()
    expect(page.locator(".outline")).to_be_hidden()
    expect(page.locator(f'[id="{WAYS.uuid_of("U6")}"]')).to_be_in_viewport()
    page.get_by_role("button", name="More of this session").click()
    page.get_by_role("button", name="Graph").click()
    expect(page.locator(".rail")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".rail")).to_be_hidden()


def test_panels_can_be_hidden_on_wide_screens(session: Opened) -> None:
    page = session(WAYS.session)
    page.keyboard.press("o")
    expect(page.locator(".outline")).to_be_hidden()
    page.keyboard.press("g")
    expect(page.locator(".rail")).to_be_hidden()
    page.keyboard.press("o")
    expect(page.locator(".outline")).to_be_visible()


def test_print_shows_only_the_conversation(session: Opened) -> None:
    page = session(RICH)
    page.emulate_media(media="print")
    for selector in (".top", ".outline", ".rail", ".acts >> nth=0"):
        expect(page.locator(selector)).to_be_hidden()
    expect(page.locator(".prompt").first).to_be_visible()
    assert background(page) == "rgb(255, 255, 255)"


NAMELESS = """() =>
    Array.from(document.querySelectorAll("button, a, input, select"))
    .filter(e => e.checkVisibility())
    .filter(e => !(e.getAttribute("aria-label") || e.title || e.textContent.trim()
        || (e.labels && e.labels.length)))
    .map(e => e.outerHTML.slice(0, 120))"""


def test_pages_have_landmarks_and_labels(site: Path, opened: Opened) -> None:
    page = opened(site / "index.html")
    for name in (None, RICH, WAYS.session, "30ca0be7"):
        if name:
            page.goto(next((site / "sessions").glob(f"{name}*.html")).as_uri())
        page.evaluate(OPEN)
        expect(page.locator("h1")).to_have_count(1)
        expect(page.get_by_role("main")).to_have_count(1)
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.evaluate(NAMELESS) == [], name


def test_session_landmarks_have_names(session: Opened) -> None:
    page = session(WAYS.session)
    expect(page.get_by_role("navigation", name="Prompts")).to_be_visible()
    expect(page.get_by_role("complementary", name="Graph")).to_be_visible()
    expect(page.get_by_role("banner")).to_be_visible()


def test_tab_reaches_everything_with_visible_focus(session: Opened) -> None:
    page = session(WAYS.session)
    reached = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        place = page.evaluate("""() => {
            const e = document.activeElement;
            const holder = e.closest(".top, .outline, main, .rail");
            const style = getComputedStyle(e);
            const isSeen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
            return holder && isSeen ? holder.className || holder.tagName : "";
        }""")
        reached.add(place)
        if place == "rail":
            break
    assert {"top", "outline", "MAIN", "rail"} <= reached


def test_call_opens_by_keyboard(session: Opened) -> None:
    page = session(WAYS.session)
    summary = page.locator("details.call > summary:visible").first
    summary.focus()
    page.keyboard.press("Enter")
    assert summary.evaluate("e => e.parentElement.open")
    page.keyboard.press("Space")
    assert not summary.evaluate("e => e.parentElement.open")
