"""The Context tab in a browser: trimming and compressing, with undo."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.browser.sessions import drawn_sessions
from tests.browser.test_edits import box
from tests.web.edit_server import EditServer, serve_for_edits
from tests.web.reading_page import Reader, reader

__all__ = ["reader"]
WAYS = drawn_sessions()["ways"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EditServer]:
    """Serve sessions that may be changed."""
    with serve_for_edits(tmp_path) as running:
        yield running


def context_of(server: EditServer, reader: Reader, width: int = 1440, **options: object) -> Page:
    """Open the Context view of the session."""
    page = reader(server.at, f"/s/{server.name}/context", width=width, **options)
    expect(page.get_by_role("heading", name="What fills the context")).to_be_visible()
    return page


def kind(page: Page, name: str) -> Locator:
    """Return the row of a kind."""
    return page.locator(".kind", has=page.locator("summary .words", has_text=name))


def faults(page: Page) -> list[tuple[str, str]]:
    """Return what is wrong with a page for those who cannot see or point."""
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa"]})
    return [(item["id"], item["nodes"][0]["html"][:200]) for item in found.response["violations"]]


def open_result(page: Page) -> None:
    """Go to the session that results, and wait until all of its view is there."""
    page.get_by_role("link", name="Open", exact=True).click()
    expect(page).to_have_url(re.compile("/context$"))
    expect(page.get_by_role("heading", name="What fills the context")).to_be_visible()
    page.locator(".making-room").scroll_into_view_if_needed()
    expect(page.locator("[data-preset=extreme] span span")).to_have_count(1)


def undo(page: Page) -> None:
    """Take back what was done last."""
    page.locator(".undo-bar").get_by_role("button", name="Undo").click()
    expect(page.locator(".undo-bar")).to_contain_text("Undone.")


def test_largest_items_have_turn_and_line(server: EditServer, reader: Reader) -> None:
    page = context_of(server, reader)
    results = kind(page, "Tool results")
    expect(results).to_contain_text("1 result")
    results.locator("summary").click()
    row = results.locator(".items li", has_text="Read mole.txt")
    expect(row).to_contain_text("since turn 2")
    row.get_by_role("link", name=re.compile("^line ")).click()
    expect(page).to_have_url(re.compile(f"#{WAYS.uuid_of('R6')}$"))


def test_selected_items_are_trimmed_in_a_copy_and_undone(
    server: EditServer, reader: Reader
) -> None:
    before = server.files
    page = context_of(server, reader)
    button = page.get_by_role("button", name="Trim selected")
    expect(button).to_be_disabled()
    kind(page, "Tool results").locator("summary").click()
    page.get_by_role("checkbox", name="Read mole.txt").check()
    expect(page.locator(".ticked")).to_contain_text(
        re.compile(r"1 selected, about [\d.]+k? tokens")
    )
    page.locator("select[name=way]").select_option("remove")
    button.click()
    expect(box(page)).to_contain_text("fewer tokens per request", ignore_case=True)
    expect(box(page)).to_contain_text("The prompt cache is lost")
    assert server.files == before
    box(page).get_by_role("button", name="Trim", exact=True).click()
    expect(page.locator(".undo-bar")).to_contain_text("Trimmed.")
    open_result(page)
    expect(page).not_to_have_url(re.compile(server.name))
    expect(kind(page, "Tool results")).to_have_count(0)
    page.locator(".undo-bar").get_by_role("button", name="Undo").click()
    expect(page).to_have_url(re.compile("/sessions$"))
    assert server.files == before


def test_session_is_trimmed_in_place_and_the_view_updates(
    server: EditServer, reader: Reader
) -> None:
    before = server.files
    page = context_of(server, reader)
    page.get_by_role("checkbox", name="Trim: Thinking").check()
    page.get_by_role("checkbox", name="Change this session instead of creating a copy").check()
    page.get_by_role("button", name="Trim selected").click()
    box(page).get_by_role("button", name="Trim", exact=True).click()
    expect(page.locator(".undo-bar")).to_contain_text("Trimmed.")
    expect(kind(page, "Thinking")).to_have_count(0)
    assert b"The mole is flat." not in server.path.read_bytes()
    undo(page)
    expect(kind(page, "Thinking")).to_have_count(1)
    expect(page.get_by_role("button", name="Trim selected")).to_be_disabled()
    assert server.files == before


def test_preset_shows_savings_and_plan(server: EditServer, reader: Reader) -> None:
    before = server.files
    page = context_of(server, reader)
    page.locator(".making-room").scroll_into_view_if_needed()
    extreme = page.get_by_role("button", name=re.compile("^Extreme"))
    expect(extreme).to_contain_text(re.compile("token|nothing"))
    extreme.click()
    expect(page.get_by_role("dialog", name="Trim this session")).to_contain_text("sent on resume")
    page.keyboard.press("Escape")
    expect(extreme).to_be_focused()
    assert server.files == before


def test_older_turns_are_compressed_and_undone(server: EditServer, reader: Reader) -> None:
    before = server.files
    page = context_of(server, reader)
    page.get_by_label("Compress all turns before turn").fill("3")
    page.get_by_role("button", name="Compress").click()
    expect(page.get_by_role("dialog", name="Compress this session")).to_contain_text(
        "sent on resume"
    )
    box(page).get_by_role("button", name="Compress", exact=True).click()
    expect(page.locator(".undo-bar")).to_contain_text("Compressed.")
    open_result(page)
    expect(kind(page, "Tool results")).to_have_count(0)
    expect(page.locator("main")).to_contain_text("By the mole, then.")
    page.locator(".undo-bar").get_by_role("button", name="Undo").click()
    expect(page).to_have_url(re.compile("/sessions$"))
    assert server.files == before


def test_edit_menu_links_to_the_context_tab(server: EditServer, reader: Reader) -> None:
    page = reader(server.at, f"/s/{server.name}")
    page.keyboard.press("E")
    box(page).get_by_role("link", name=re.compile("^Trim")).click()
    expect(page.get_by_role("heading", name="Free up space")).to_be_visible()


def test_read_only_server_offers_no_edits(tmp_path: Path, reader: Reader) -> None:
    with serve_for_edits(tmp_path, is_read_only=True) as running:
        page = context_of(running, reader)
        kind(page, "Tool results").locator("summary").click()
        expect(kind(page, "Tool results").locator(".items")).to_be_visible()
        expect(page.get_by_role("checkbox")).to_have_count(0)
        expect(page.get_by_role("heading", name="Free up space")).to_have_count(0)
        expect(page.get_by_role("button", name=re.compile("^(Trim|Compress|Heavy)"))).to_have_count(
            0
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_accessible_at_every_width(
    server: EditServer, reader: Reader, width: int, scheme: str
) -> None:
    page = context_of(server, reader, width, color_scheme=scheme)
    for item in page.locator(".kind summary").all():
        item.click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert faults(page) == []
    page.get_by_role("button", name=re.compile("^Heavy")).click()
    expect(box(page)).to_contain_text("sent on resume")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert faults(page) == []


def test_session_list_opens_next_to_the_title_on_narrow_screens(
    server: EditServer, reader: Reader
) -> None:
    page = context_of(server, reader, width=390)
    page.mouse.wheel(0, 400)
    opener, title = page.locator(".side-opener").bounding_box(), page.locator("h1").bounding_box()
    assert opener and title and opener["x"] + opener["width"] <= title["x"]
