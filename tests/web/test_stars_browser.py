"""Stars and pins in a browser: set by mouse and keyboard, listed on Home, used in filters."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from plait.archive import Archive, StarFile
from plait.indexing import update_index
from tests.web.lists import WALKS, walk
from tests.web.reading_page import Reader, Served, reader, served
from tests.web.test_axe import faults

__all__ = ["reader"]
SHORE = "How far is the shore?"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder with three sessions."""
    for item in WALKS:
        walk(tmp_path / "logs", *item)
    return tmp_path / "logs"


@pytest.fixture
def stars(tmp_path: Path) -> StarFile:
    """Return the user's stars and pins."""
    return StarFile(tmp_path / "data" / "stars.json")


@pytest.fixture
def at(root: Path, stars: StarFile, tmp_path: Path) -> Iterator[Served]:
    """Serve the sessions, indexed."""
    stars.path.parent.mkdir()
    update_index(Archive([root]), tmp_path / "index")
    with served(root, tmp_path / "index", stars=stars.path) as server:
        yield server


def named(root: Path, title: str) -> str:
    """Return the id of the session with a title."""
    archive = Archive([root])
    return next(session.id for session in archive.sessions if archive.facts(session).title == title)


def starred(stars: StarFile) -> list[str]:
    """Return what is starred."""
    return [star.session for star in stars.stars()]


def expect_message(page: Page, words: str) -> None:
    """Wait until the page says what was done."""
    expect(page.locator(".found")).to_have_text(words)


def test_star_in_the_header_persists(
    at: Served, root: Path, stars: StarFile, reader: Reader
) -> None:
    shore = named(root, "the shore")
    page = reader(at, f"/s/{shore}")
    button = page.locator(".top").get_by_role("button", name="Star this session")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    expect_message(page, "Starred")
    assert starred(stars) == [shore]
    page.goto(f"{at.address}/s/{shore}/usage")
    expect(button).to_have_attribute("aria-pressed", "true")
    button.press("Enter")
    expect_message(page, "Star removed")
    expect(button).to_have_attribute("aria-pressed", "false")
    assert starred(stars) == []


def test_turn_is_pinned_by_mouse_and_unpinned_by_keys(
    at: Served, root: Path, stars: StarFile, reader: Reader
) -> None:
    shore = named(root, "the shore")
    page = reader(at, f"/s/{shore}")
    page.locator(".turn .head", has=page.locator(".n")).first.hover()
    button = page.locator(".turn .head").get_by_role("button", name="Pin this turn").first
    button.click()
    expect_message(page, "Turn pinned")
    assert [(item.session, item.words) for item in stars.pins()] == [(shore, SHORE)]
    page.reload()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.mouse.move(0, 0)
    expect(button).to_have_css("opacity", "1")
    button.press("Enter")
    expect_message(page, "Turn unpinned")
    expect(button).to_have_attribute("aria-pressed", "false")
    assert stars.pins() == ()


def test_home_lists_stars_and_pins_if_any(
    at: Served, root: Path, stars: StarFile, reader: Reader
) -> None:
    page = reader(at, "/")
    expect(page.locator("section.starred, section.pinned")).to_have_count(0)
    shore = named(root, "the shore")
    row = page.locator(f".recent li[data-name='{shore}']")
    row.hover()
    row.get_by_role("button", name="Star the shore").click()
    expect_message(page, "Starred")
    listed = page.locator("section.starred li")
    expect(listed).to_have_count(1)
    Archive([root], stars=stars.path).stars.pin(shore, 2)
    page.goto(f"{at.address}/")
    expect(page.locator("section.pinned li .sub")).to_contain_text("turn 2")
    assert faults(page) == []
    page.get_by_role("link", name="And back?").click()
    expect(page.locator(".prompt", has_text="And back?")).to_be_in_viewport()
    page.go_back()
    page.get_by_role("button", name="Unpin: And back?").press("Enter")
    expect(page.locator("section.pinned")).to_have_count(0)
    listed.get_by_role("button", name="Star the shore").press("Enter")
    expect(page.locator("section.starred")).to_have_count(0)
    expect(row.get_by_role("button", name="Star the shore")).to_be_focused()
    assert (starred(stars), stars.pins()) == ([], ())


def test_pin_of_a_missing_turn_says_so(
    at: Served, root: Path, stars: StarFile, reader: Reader
) -> None:
    shore, north = named(root, "the shore"), named(root, "the north gate")
    marks = Archive([root], stars=stars.path).stars
    marks.pin(shore, 2)
    marks.pin(north, 1)
    path = next(root.rglob(f"{shore}.jsonl"))
    lines = path.read_text().splitlines(keepends=True)
    report = [json.loads(line).get("message", {}).get("content") for line in lines]
    path.write_text("".join(lines[: report.index("And back?")]))
    next(root.rglob(f"{north}.jsonl")).unlink()
    at.library.refresh()
    page = reader(at, "/")
    rows = page.locator("section.pinned li")
    expect(rows.nth(0)).to_contain_text("Session not in the served folders")
    expect(rows.nth(1)).to_contain_text("Gone: the turn is no longer in its session")
    expect(rows.locator(".naming a")).to_have_count(0)
    rows.nth(0).get_by_role("button").click()
    expect(rows).to_have_count(1)
    expect(rows.nth(0)).to_contain_text("And back?")


def test_list_and_search_filter_by_star(
    at: Served, root: Path, stars: StarFile, reader: Reader
) -> None:
    shore = named(root, "the shore")
    page = reader(at, "/sessions")
    expect(page.locator("tr[data-name]")).to_have_count(3)
    page.locator(f"tr[data-name='{shore}']").get_by_role("button", name="Star the shore").press(
        "Enter"
    )
    expect_message(page, "Starred")
    page.get_by_label("Starred", exact=True).check(force=True)
    expect(page.locator("tr[data-name]")).to_have_count(1)
    assert "starred=1" in page.url
    page.goto(f"{at.address}/search?q=mile")
    expect(page.locator(".hits li")).to_have_count(3)
    page.get_by_role("link", name="Starred sessions").click()
    expect(page.locator(".hits li")).to_have_count(1)
    expect(page.locator(".hits li")).to_contain_text("the shore")
    stars.unstar(shore)
    page.reload()
    expect(page.locator("#results")).to_contain_text("No starred sessions.")
    page.get_by_role("link", name="Search everywhere").click()
    expect(page.locator(".hits li")).to_have_count(3)


def test_nothing_is_cut_on_a_narrow_screen(
    at: Served, root: Path, stars: StarFile, reader: Reader
) -> None:
    marks = Archive([root], stars=stars.path).stars
    marks.add(named(root, "the shore"))
    marks.pin(named(root, "the shore"), 1)
    page = reader(at, "/", width=390, has_touch=True, color_scheme="dark")
    expect(page.locator("section.starred .star")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert faults(page) == []


def test_read_only_server_offers_no_marks(
    root: Path, stars: StarFile, tmp_path: Path, reader: Reader
) -> None:
    stars.path.parent.mkdir()
    stars.star(named(root, "the shore"))
    with served(root, tmp_path / "other", stars=stars.path, is_read_only=True) as at:
        page = reader(at, f"/s/{named(root, 'the shore')}")
        page.locator(".turn").first.wait_for()
        assert not page.locator(".marking:visible").count()
        page.goto(f"{at.address}/")
        expect(page.locator("section.starred li")).to_have_count(1)
        assert not page.locator(".marking:visible").count()
        page.close()


def test_unreadable_star_file_hides_no_session(at: Served, stars: StarFile) -> None:
    stars.path.write_text("{")
    home = at.ask("/")[2].decode()
    assert re.search("Stars and pins: .*is damaged", home)
    assert home.count('class="naming"') == 3
    assert at.ask("/sessions")[0] == 200
