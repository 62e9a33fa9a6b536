"""Pages about all sessions in a real browser: keys, typing, live updates, looks."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from plait.archive import Archive
from plait.indexing import update_index
from tests.web.lists import at, root, walk, write_all
from tests.web.reading_page import Reader, Served, reader, served

__all__ = ["at", "reader", "root"]
NARROW = 900
PAGES = (
    "/",
    "/sessions",
    "/search?q=mile",
    "/search",
    "/usage?range=all",
    "/insights",
    "/waste?range=all",
)


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Served]:
    """Serve an archive that is being written to."""
    logs, index = tmp_path / "logs", tmp_path / "index"
    write_all(logs)
    update_index(Archive([logs]), index)
    with served(logs, index, is_live=True) as server:
        yield server


def settled(page: Page) -> Page:
    """Wait until nothing is being counted any more."""
    expect(page.locator("[data-counting]")).to_have_count(0)
    return page


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 420)])
def test_pages_are_intact_in_every_theme_and_width(
    at: Served, reader: Reader, path: str, theme: str, width: int
) -> None:
    page = settled(reader(at, path, width=width, color_scheme=theme))
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.evaluate("window.pwned") is None
    if width > NARROW:
        return
    assert faults(page) == []


def faults(page: Page) -> list[tuple[str, str]]:
    """Return what is wrong with a page for those who cannot see or point."""
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "best-practice"]})
    return [(item["id"], item["nodes"][0]["html"][:200]) for item in found.response["violations"]]


def test_palette_opens_anywhere_and_navigates(at: Served, reader: Reader) -> None:
    page = reader(at, "/insights")
    page.keyboard.press("Control+k")
    expect(page.locator("dialog.palette")).to_be_visible()
    expect(page.locator("[role=option]").first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(page.locator("dialog.palette")).to_have_count(0)
    page.keyboard.press("Control+k")
    page.keyboard.type("south")
    expect(page.locator("[role=option]").first).to_contain_text("the south gate")
    assert faults(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("main[data-session]")).to_be_visible()
    expect(page).to_have_title(re.compile("south gate"))


def test_search_updates_while_typing_and_in_the_url(at: Served, reader: Reader) -> None:
    page = reader(at, "/")
    expect(page.locator(".asking input")).to_be_focused()
    page.keyboard.type("mile")
    page.keyboard.press("Enter")
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.locator(".asking input")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(" south")
    expect(page).to_have_url(re.compile(r"q=mile\+south$"))
    expect(page.locator(".hit")).to_have_count(1)
    page.locator(".facets").get_by_text("Answer").click()
    expect(page).to_have_url(re.compile("kind=answer"))
    page.go_back()
    expect(page).to_have_url(re.compile(r"q=mile\+south$"))
    expect(page.locator(".asking input")).to_have_value("mile south")
    page.locator(".asking input").fill('"open')
    expect(page.get_by_role("alert")).to_contain_text("A quotation mark is not closed")


def test_hit_scrolls_to_its_text(at: Served, reader: Reader) -> None:
    page = reader(at, "/search?q=herons+south")
    page.locator(".hit").click()
    expect(page).to_have_url(re.compile("mark=herons&mark=south#"))
    expect(page.get_by_text("One mile to the south gate")).to_be_in_viewport()
    page.go_back()
    expect(page.locator(".hit")).to_have_count(1)


def test_list_filters_while_typing_and_survives_reload(at: Served, reader: Reader) -> None:
    page = settled(reader(at, "/sessions"))
    rows = page.locator("tr[data-name]")
    expect(rows).to_have_count(6)
    page.keyboard.press("/")
    page.keyboard.type("gate")
    expect(rows).to_have_count(2)
    expect(page.locator("[data-filter]")).to_be_focused()
    page.get_by_label("All git branches").select_option("tides")
    expect(rows).to_have_count(1)
    page.reload()
    expect(rows).to_have_count(1)
    expect(page.locator("[data-filter]")).to_have_value("gate")
    page.get_by_role("link", name="Show all").click()
    expect(rows).to_have_count(6)
    page.go_back()
    expect(rows).to_have_count(1)


def test_rows_work_by_keyboard(at: Served, reader: Reader) -> None:
    page = settled(reader(at, "/sessions?q=ways"))
    page.keyboard.press("j")
    expect(page.locator("tr.here a").first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("tr.part")).to_have_count(2)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("tr.part")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.locator("dialog.keys")).to_contain_text("show or hide branches and agents")
    expect(page.locator("dialog.keys")).not_to_contain_text("next / previous prompt")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile("Two ways to the harbour"))


def test_sidebar_filters_folds_and_remembers(at: Served, reader: Reader) -> None:
    page = reader(at, "/sessions?q=shore")
    page.locator("tr[data-name] a").first.click()
    side = page.locator("aside.side")
    expect(side).to_be_hidden()  # this window leaves the room to the text
    page.keyboard.press("s")
    expect(side.locator("li[aria-current]")).to_contain_text("the shore")
    page.reload()
    expect(side).to_be_visible()
    side.get_by_label("Filter sessions").fill("north")
    expect(side.locator("li")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    expect(side).to_be_hidden()
    page.reload()
    expect(side).to_be_hidden()
    page.get_by_role("button", name="Sessions", exact=True).click()
    expect(side).to_be_visible()


def test_sidebar_is_visible_on_wide_screens(at: Served, reader: Reader) -> None:
    page = reader(at, "/sessions?q=shore", width=1680)
    page.locator("tr[data-name] a").first.click()
    side = page.locator("aside.side")
    expect(side.locator("li[aria-current]")).to_contain_text("the shore")
    page.keyboard.press("s")
    expect(side).to_be_hidden()


def test_sidebar_is_behind_a_button_on_narrow_screens(at: Served, reader: Reader) -> None:
    page = reader(at, "/sessions?q=shore", width=420)
    page.locator("tr[data-name] a").first.click()
    side = page.locator("aside.side")
    expect(side).to_be_hidden()
    page.get_by_role("button", name="Sessions", exact=True).click()
    expect(side.locator("li[aria-current]")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(side).to_be_hidden()


def test_new_session_appears_live(living: Served, reader: Reader) -> None:
    page = settled(reader(living, "/"))
    expect(page.locator(".recent li")).to_have_count(6)
    page.keyboard.type("ga")
    new = ("ferry", "quay", "main", "2026-11-10T09:00:00Z", "the ferry")
    walk(living.library.roots[0], *new)
    expect(page.locator(".recent li").first).to_contain_text("the ferry")
    expect(page.locator(".asking input")).to_be_focused()
    expect(page.locator(".asking input")).to_have_value("ga")


def test_calendar_day_links_to_its_turns(at: Served, reader: Reader) -> None:
    page = settled(reader(at, "/"))
    page.locator('.heat a[href*="since=2026-10-09"]').click()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("the south gate")
    page.locator("tbody a").first.click()
    expect(page).to_have_url(re.compile(r"/s/[^?]+\?turn=1"))


def test_date_range_is_kept_in_the_url(at: Served, reader: Reader) -> None:
    page = settled(reader(at, "/usage"))
    page.get_by_label("Project", exact=True).select_option(label="shore")
    expect(page).to_have_url(re.compile("project="))
    page.get_by_role("link", name="All time").click()
    expect(page).to_have_url(re.compile("range=all"))
    expect(page.get_by_label("Project", exact=True)).to_have_value(re.compile("shore"))
    page.get_by_role("link", name="Month").click()
    page.get_by_text("Table", exact=True).first.click()
    expect(page.locator(".behind table").first).to_contain_text("2026-11")
