"""Edits in a browser: planned, applied, undone, refused with a reason."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.sessions import drawn_sessions
from tests.web.edit_server import EditServer, rest, serve_for_edits
from tests.web.reading_page import Reader, reader

__all__ = ["reader"]
WAYS = drawn_sessions()["ways"]
TITLE = "Two ways to the harbour"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EditServer]:
    """Serve sessions, and tells what changes in them."""
    with serve_for_edits(tmp_path, is_live=True) as running:
        yield running


def faults(page: Page) -> list[tuple[str, str]]:
    """Return what is wrong with a page for those who cannot see or point."""
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "best-practice"]})
    return [(item["id"], item["nodes"][0]["html"][:200]) for item in found.response["violations"]]


def box(page: Page) -> Locator:
    """Return the box in which an edit is asked for."""
    return page.locator("dialog.editing")


def test_session_is_renamed_and_undone_by_keyboard(server: EditServer, reader: Reader) -> None:
    before = server.files
    page = reader(server.at, f"/s/{server.name}")
    expect(page.locator(".top [data-edit=menu]")).to_be_visible()
    page.keyboard.press("E")
    expect(page.get_by_role("dialog", name="Edit this session")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Rename"))).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Title")).to_be_focused()
    page.keyboard.type("<b>By the mole</b>")
    page.keyboard.press("Enter")
    expect(box(page)).to_contain_text("1 added the title")
    expect(box(page)).to_contain_text("tokens sent on resume")
    assert server.files == before
    expect(page.get_by_role("button", name="Rename", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(box(page)).to_have_count(0)
    expect(page.locator(".top h1")).to_have_text("<b>By the mole</b>")
    expect(page.locator(".undo-bar")).to_contain_text("Renamed.")
    page.locator(".undo-bar").get_by_role("button", name="Undo").click()
    expect(page.locator(".top h1")).to_have_text(TITLE)
    expect(page.locator(".undo-bar")).to_contain_text("Undone.")
    assert server.files == before


def test_escape_changes_nothing(server: EditServer, reader: Reader) -> None:
    before = server.files
    page = reader(server.at, f"/s/{server.name}")
    page.locator(".top [data-edit=menu]").click()
    page.get_by_role("button", name=re.compile("^Delete")).click()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(box(page)).to_have_count(0)
    expect(page.locator(".top [data-edit=menu]")).to_be_focused()
    expect(page.locator(".undo-bar")).to_have_count(0)
    assert server.files == before


def test_session_is_deleted_from_the_list_and_restored(server: EditServer, reader: Reader) -> None:
    before = server.files
    page = reader(server.at, "/sessions")
    row = page.locator("tr[data-name]", has_text=TITLE)
    row.get_by_role("button", name=f"Edit {TITLE}").click()
    page.get_by_role("button", name=re.compile("^Delete")).click()
    expect(box(page)).to_contain_text(TITLE)
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(row).to_have_count(0)
    assert server.name not in {Path(path).stem for path in server.files}
    page.goto(server.at.address + "/insights")  # the way back goes along
    page.locator(".undo-bar").get_by_role("button", name="Undo").click()
    expect(page.locator(".undo-bar")).to_contain_text("Undone.")
    page.goto(server.at.address + "/sessions")
    expect(row).to_be_visible()
    assert server.files == before


def test_deleting_the_open_session_returns_to_the_list(server: EditServer, reader: Reader) -> None:
    page = reader(server.at, f"/s/{server.name}")
    page.keyboard.press("E")
    page.get_by_role("button", name=re.compile("^Delete")).click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page).to_have_url(re.compile("/sessions$"))
    page.goto(server.at.address + "/edits")
    page.get_by_role("button", name=re.compile("^Undo: deleted")).click()
    expect(page.locator(".edit-list")).to_contain_text("deleted, undone")
    expect(page.get_by_role("link", name=TITLE)).to_be_visible()
    assert server.path.exists()


def test_shown_branch_becomes_active(server: EditServer, reader: Reader) -> None:
    page = reader(server.at, f"/s/{server.name}#{WAYS.uuid_of('U2')}")
    expect(page.locator(f'[id="{WAYS.uuid_of("U2")}"]')).to_be_in_viewport()
    page.keyboard.press("E")
    page.get_by_role("button", name=re.compile("^Switch")).click()
    expect(box(page)).to_contain_text("where the session continues")
    page.get_by_role("button", name="Switch", exact=True).click()
    expect(page.locator(".undo-bar")).to_contain_text("Switched.")
    assert b'"last-prompt"' in server.path.read_bytes().splitlines()[-1]


def test_fork_from_an_answer_of_an_abandoned_branch(server: EditServer, reader: Reader) -> None:
    before = server.files
    page = reader(server.at, f"/s/{server.name}#{WAYS.uuid_of('A2')}")
    html = page.locator(f'[id="{WAYS.uuid_of("A3")}"]')
    html.get_by_role("button", name="Fork from here").click()
    expect(box(page)).to_contain_text("not on this branch")
    page.get_by_role("button", name="Fork", exact=True).click()
    page.get_by_role("link", name="Open", exact=True).click()
    expect(page.locator("main .prompt")).to_have_count(2)
    expect(page.locator("main")).to_contain_text("Four hundred steps.")
    expect(page.locator("main")).not_to_contain_text("By the mole, then.")
    page.locator(".undo-bar").get_by_role("button", name="Undo").click()
    expect(page).to_have_url(re.compile("/sessions$"))
    assert server.files == before


def test_fork_before_a_prompt(server: EditServer, reader: Reader) -> None:
    page = reader(server.at, f"/s/{server.name}")
    prompt = page.locator(f'[id="{WAYS.uuid_of("U5")}"]')
    prompt.get_by_role("button", name="Fork before this prompt").click()
    page.get_by_role("button", name="Fork", exact=True).click()
    page.get_by_role("link", name="Open", exact=True).click()
    expect(page.locator("main .prompt")).to_have_count(1)


def test_clone_can_be_opened_and_undone(server: EditServer, reader: Reader) -> None:
    before = server.files
    page = reader(server.at, f"/s/{server.name}", width=420)
    page.locator(".head-opener").click()
    page.locator(".top [data-edit=menu]").click()
    page.get_by_role("button", name=re.compile("^Clone")).click()
    page.get_by_role("button", name="Clone", exact=True).click()
    page.get_by_role("link", name="Open", exact=True).click()
    expect(page).not_to_have_url(re.compile(server.name))
    expect(page.locator(".top h1")).to_have_text(TITLE)
    page.locator(".undo-bar").get_by_role("button", name="Undo").click()
    expect(page).to_have_url(re.compile("/sessions$"))
    assert server.files == before


def test_repair_is_offered_for_damaged_sessions(server: EditServer, reader: Reader) -> None:
    page = reader(server.at, f"/s/{server.name}")
    page.keyboard.press("E")
    expect(page.get_by_role("button", name=re.compile("^Delete"))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Repair"))).to_have_count(0)
    server.path.write_bytes(server.path.read_bytes() + b'{"type":"user","uuid":"cut')
    rest(server.root)
    page.reload()
    page.keyboard.press("E")
    page.get_by_role("button", name=re.compile("^Repair.*one problem fixed")).click()
    expect(box(page)).to_contain_text("tokens sent on resume")
    page.get_by_role("button", name="Repair", exact=True).click()
    expect(page.locator(".undo-bar")).to_contain_text("Repaired.")
    assert len(list(server.root.rglob("*.jsonl"))) == 5


def quiet_page(browser: Browser, server: EditServer, path: str) -> Page:
    """Open a page that may complain: a refusal is one."""
    context = browser.new_context()
    context.set_default_timeout(20_000)
    key = server.at.keys.key
    context.request.post(f"{server.at.address}/enter", form={"ticket": key, "to": "/"})
    page = context.new_page()
    page.goto(server.at.address + path)
    return page


def test_live_session_is_refused_with_a_reason(server: EditServer, browser: Browser) -> None:
    os.utime(server.path)
    before = server.files
    page = quiet_page(browser, server, f"/s/{server.name}")
    page.keyboard.press("E")
    page.get_by_role("button", name=re.compile("^Tag")).click()
    page.get_by_role("textbox", name="Tag").fill("keep")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Tag", exact=True).click()
    expect(box(page).locator(".status-text.bad")).to_contain_text("is live")
    expect(box(page).locator(".status-text.bad")).not_to_contain_text("--force")
    expect(page.get_by_role("button", name="Tag", exact=True)).to_have_count(0)
    assert server.files == before
    page.context.close()


def test_cross_site_page_changes_nothing(server: EditServer, browser: Browser) -> None:
    before = server.files
    page = quiet_page(browser, server, "/sessions")
    other = page.context.new_page()
    other.goto("data:text/html,<title>evil</title>")
    status = other.evaluate(
        """async (address) => {
            const asks = { method: "POST", mode: "no-cors", credentials: "include",
                           body: '{"operation":"delete"}' };
            await fetch(address, asks).catch(() => null);
            const meant = { ...asks, mode: "cors", headers: { "Plait-Edit": "yes" } };
            return fetch(address, meant).then((answer) => answer.status, () => 0);
        }""",
        f"{server.at.address}/api/v1/sessions/{server.name}/plan",
    )
    assert status == 0
    assert server.at.json("/api/v1/edits")["edits"] == []
    assert server.files == before
    page.context.close()


def test_read_only_server_offers_no_edits(tmp_path: Path, reader: Reader) -> None:
    with serve_for_edits(tmp_path, is_read_only=True) as running:
        page = reader(running.at, f"/s/{running.name}")
        expect(page.locator(".top .actions")).to_be_visible()
        expect(page.locator(".edits:visible")).to_have_count(0)
        page.keyboard.press("E")
        expect(page.locator("dialog[open]")).to_have_count(0)
        page.goto(running.at.address + "/sessions")
        expect(page.locator("tr[data-name]").first).to_be_visible()
        expect(page.locator(".edits:visible")).to_have_count(0)


@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 420)])
def test_dialogs_and_bars_are_intact_in_every_theme(
    server: EditServer, reader: Reader, theme: str, width: int
) -> None:
    page = reader(server.at, f"/s/{server.name}", width=width, color_scheme=theme)
    page.keyboard.press("E")
    assert faults(page) == []
    page.get_by_role("button", name=re.compile("^Clone")).click()
    page.locator("dialog.editing summary").click()
    expect(page.locator("dialog.editing pre").first).to_be_visible()
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.get_by_role("button", name="Clone", exact=True).click()
    expect(page.locator(".undo-bar")).to_be_visible()
    assert faults(page) == []
    page.goto(server.at.address + "/edits")
    expect(page.locator(".edit-list")).to_be_visible()
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
