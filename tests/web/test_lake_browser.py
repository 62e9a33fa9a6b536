"""Lake pages in a browser: signing in and looking around, wide and narrow."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from plait.lake.access import hash_key, parse_policy
from tests.lake.small import DAY, SmallLake
from tests.web.lake_server import lake_served
from tests.web.test_axe import faults

KEY = "ann-has-a-key"
POLICY = parse_policy(f'fewest = 2\n[people.ann]\nkey = "{hash_key(KEY)}"', "policy.toml")
LONG = "a-branch-with-a-name-that-goes-on-and-on/" * 4
PLACES = ("/", "/search?q=parser", "/questions/cost", "/s/home/a")


def rows() -> SmallLake:
    """Return a session of Ann with long names, and two of others in the same month."""
    whose = [
        {"session": item, "person": person, "month": "2026-09", "project": f"/home/dev/{LONG}"}
        for item, person in (("a", "ann"), ("b", "bob"), ("c", "cat"))
    ]
    result = [
        {
            **item,
            "title": f"The parser {LONG}",
            "git_branch": LONG,
            "model": "opus",
            "cost_usd": 1.5,
            "output": 12_000,
            "tool": f"mcp__{LONG}",
            "outcome": "ok",
            "started": DAY,
            "time": DAY,
            "state": "active",
            "turn": 1,
        }
        for item in whose
    ]
    output = [
        {**result[0], "kind": kind, "text": f"{kind}: the parser\n\n```\n{LONG}\n```"}
        for kind in ("prompt", "answer", "input", "output")
    ]
    ended = [{**item, "ended": DAY + timedelta(hours=1)} for item in result]
    return SmallLake(sessions=ended, responses=result, tool_calls=result, turns=result, text=output)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve it."""
    with lake_served(rows(), lambda: POLICY) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """Give a page that Ann has entered by typing her key; nothing on it may go wrong."""
    trouble: list[str] = []
    context = browser.new_context(reduced_motion="reduce")
    found = context.new_page()
    found.on("pageerror", lambda error: trouble.append(str(error)))
    found.goto(f"{address}/usage")
    found.get_by_label("Key").fill(KEY)
    found.get_by_role("button", name="Enter").click()
    expect(found.get_by_role("heading", name="Usage")).to_be_visible()
    found.on("console", lambda said: trouble.append(said.text))
    yield found
    context.close()
    assert trouble == []


def test_pages_fit_wide_and_narrow_screens_and_pass_axe(page: Page, address: str) -> None:
    for place in PLACES:
        page.goto(address + place)
        for width, scheme in ((1440, "light"), (390, "dark")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, (place, wide)
        assert faults(page) == [], place


def test_from_search_to_turn_and_between_themes(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_text("ann", exact=True).first).to_be_visible()
    expect(page.get_by_role("heading", name="Other sessions")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("parser")
    page.keyboard.press("Enter")
    expect(page.locator(".hits mark").first).to_have_text("parser")
    page.locator(".hit").first.click()
    expect(page.get_by_role("heading", name="Conversation")).to_be_visible()
    expect(page.get_by_text("From turn 1 on")).to_be_visible()
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
