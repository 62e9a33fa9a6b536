"""A single-file page works alone as it does within its site."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened
from tests.browser.sessions import LATE_TURNS, drawn_sessions

WAYS, LATE = drawn_sessions()["ways"], drawn_sessions()["late"]


@pytest.fixture
def alone(single: Path, tmp_path: Path, opened: Opened) -> Opened:
    """Open a page that lies in a folder of its own."""

    def open_(name: str, fragment: str = "") -> Page:
        path = tmp_path / f"{name}.html"
        shutil.copy(single / "sessions" / path.name, path)
        return opened(path, fragment)

    return open_


def test_each_session_is_one_file(single: Path) -> None:
    names = {path.suffix for path in (single / "sessions").rglob("*")}
    assert names == {".html"}
    assert "src=" not in (single / "index.html").read_text(encoding="utf-8").split("<body")[0]


def test_folded_texts_are_included(alone: Opened) -> None:
    page = alone(WAYS.session)
    call = page.locator("details.call", has_text="mole.txt")
    call.locator("summary").click()
    call.get_by_role("button", name="Show all").click()
    expect(call.locator("pre.out")).to_contain_text("stone 120 of 120")
    call.get_by_role("button", name="Raw JSON").click()
    expect(call.locator("pre.rawjson")).to_contain_text(WAYS.uuid_of("A6"))


def test_late_turns_are_included(alone: Opened) -> None:
    uuid = LATE.uuid_of(f"U{LATE_TURNS - 1}")
    page = alone(LATE.session, f"#{uuid}")
    expect(page.locator(f'[id="{uuid}"]')).to_be_in_viewport()


def test_find_and_branches_work(alone: Opened) -> None:
    page = alone(WAYS.session)
    page.locator("#find").fill("puffin")
    expect(page.locator(".found")).to_have_text("1 of 1")
    page.locator("#find").press("Escape")
    page.keyboard.press("]")
    expect(page.locator("main")).to_contain_text("harbour")


def test_index_page_searches_on_its_own(single: Path, tmp_path: Path, opened: Opened) -> None:
    shutil.copy(single / "index.html", tmp_path / "index.html")
    page = opened(tmp_path / "index.html")
    page.locator("#find").fill("past the heron")
    expect(page.locator("li[data-session]:visible")).to_have_count(1)
