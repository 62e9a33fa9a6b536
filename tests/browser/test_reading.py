"""Reading a session in a browser: opening, scrolling, unfolding, jumping, filtering."""

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened
from tests.browser.sessions import drawn_sessions

WAYS = drawn_sessions()["ways"]
RICH = "5f9c417d"
HERE = ".rail .node.here"


def top_of(page: Page, selector: str) -> float:
    """Return how far below the top of the window an element stands."""
    return float(page.locator(selector).first.evaluate("e => e.getBoundingClientRect().top"))


def test_index_links_to_a_session_and_back(site: Path, opened: Opened) -> None:
    page = opened(site / "index.html")
    page.get_by_role("link", name="A palette for the charts").click()
    expect(page.locator("h1")).to_have_text("A palette for the charts")
    expect(page.locator(".prompt").first).to_contain_text("hard to tell apart")
    page.get_by_role("link", name="All sessions").click()
    expect(page.locator("h1")).to_have_text("Sessions")


def test_graph_row_links_to_its_place(session: Opened) -> None:
    page = session(WAYS.session)
    uuid = WAYS.uuid_of("U6")
    page.locator(f'.rail a[href="#{uuid}"]').click()
    assert page.url.endswith(f"#{uuid}")
    assert 40 < top_of(page, f'[id="{uuid}"]') < 400
    expect(page.locator(f'.rail a[href="#{uuid}"]')).to_have_class("node here")


def test_graph_and_outline_follow_scrolling(session: Opened) -> None:
    page = session(drawn_sessions()["late"].session)
    expect(page.locator(".outline a.here")).to_contain_text("Tide number 1?")
    page.evaluate("document.querySelectorAll('.turn')[9].scrollIntoView({block: 'start'})")
    expect(page.locator(".outline a.here")).to_contain_text("Tide number 9?")
    uuid = drawn_sessions()["late"].uuid_of("U9")
    expect(page.locator(f'.rail a[href="#{uuid}"]')).to_have_attribute("aria-current", "true")
    expect(page.locator(".outline a.here")).to_be_in_viewport()


def test_call_opens_and_show_all_gives_the_full_text(session: Opened) -> None:
    page = session(WAYS.session, f"#{WAYS.uuid_of('A2')}")
    call = page.locator("details.call", has_text="seq 400")
    call.locator("summary").click() if not call.evaluate("e => e.open") else None
    expect(call.locator("pre.out")).not_to_contain_text("step 400")
    call.get_by_role("button", name="Show all: 400 lines").click()
    expect(call.locator("pre.out")).to_contain_text("step 400")
    steps = call.locator("pre.out").inner_text().split("\n")
    assert [line.split()[:2] for line in steps] == [["step", str(n)] for n in range(1, 401)]


def test_read_file_is_shown_in_full(session: Opened) -> None:
    page = session(WAYS.session)
    call = page.locator("details.call", has_text="mole.txt")
    call.locator("summary").click()
    expect(call.locator("ol.code li").first).to_have_text("stone 1 of 120")
    call.get_by_role("button", name="Show all").click()
    expect(call.locator("pre.out")).to_contain_text("stone 120 of 120")


def test_terminal_colours_are_kept_in_full_output(session: Opened) -> None:
    page = session(RICH)
    failed = page.locator("details.call.failed").first
    failed.locator("summary").click()
    expect(failed.locator("pre .i1").first).to_have_text("F")
    rich = page.evaluate("""() => {
        const box = document.querySelector("details.call.failed pre");
        return getComputedStyle(box.querySelector(".i1")).color !== getComputedStyle(box).color;
    }""")
    assert rich


def test_raw_line_is_one_click_away(session: Opened) -> None:
    page = session(WAYS.session)
    for name in ("U1", "A1", "U6"):
        entry = page.locator(f'[id="{WAYS.uuid_of(name)}"]').first
        entry.get_by_role("button", name="Raw JSON").click()
        raw = entry.locator("pre.rawjson").inner_text()
        record = next(item for item in WAYS.records if item.get("uuid") == WAYS.uuid_of(name))
        assert json.loads(raw) == record
        entry.get_by_role("button", name="Raw JSON").click()
        expect(entry.locator("pre.rawjson")).to_have_count(0)


def test_images_are_shown_in_place(session: Opened) -> None:
    page = session(WAYS.session)
    page.locator(".turn:visible").last.scroll_into_view_if_needed()
    image = page.locator("img.shown-image")
    expect(image).to_be_visible()
    assert image.evaluate("e => e.decode().then(() => e.naturalWidth)") > 0


def test_kinds_are_filtered(session: Opened) -> None:
    page = session(RICH)
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Tools").uncheck()
    expect(page.locator("main .call").first).to_be_hidden()
    expect(page.locator("main .say").first).to_be_visible()
    page.get_by_label("Tools").check()
    page.get_by_label("Answers").uncheck()
    expect(page.locator("main .say").first).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator(".menu")).to_have_count(0)


def test_keys_move_between_prompts(session: Opened) -> None:
    page = session(drawn_sessions()["late"].session)
    for _ in range(3):
        page.keyboard.press("j")
    expect(page.locator(".outline a.here")).to_contain_text("Tide number 3?")
    page.keyboard.press("k")
    expect(page.locator(".outline a.here")).to_contain_text("Tide number 2?")


def test_keys_open_help_find_and_all_calls(session: Opened) -> None:
    page = session(RICH)
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_contain_text("previous / next branch")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    page.keyboard.press("/")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#find")).not_to_be_focused()
    page.keyboard.press("e")
    assert (
        page.evaluate("document.querySelectorAll('.turn[data-n=\"1\"] details:not([open])').length")
        == 0
    )


def test_times_are_in_the_local_time_zone(session: Opened) -> None:
    page = session(RICH, timezone_id="Asia/Tokyo")
    expect(page.locator(".turn .head time").last).to_have_text("2026-08-06 16:52")
    page = session(RICH, timezone_id="America/New_York")
    expect(page.locator(".turn .head time").last).to_have_text("2026-08-06 03:52")


def test_resume_command_can_be_copied(session: Opened) -> None:
    page = session(WAYS.session, permissions=["clipboard-read", "clipboard-write"])
    page.locator(".resume").click()
    expect(page.locator(".resume")).to_have_class("resume done")
    assert page.evaluate("navigator.clipboard.readText()").endswith(f"--resume {WAYS.session}")


def test_texts_and_outputs_can_be_copied_in_full(session: Opened) -> None:
    page = session(WAYS.session, permissions=["clipboard-read", "clipboard-write"])
    page.locator(".prompt .act[data-act=copy-text]").first.press("Enter")
    expect(page.locator(".found")).to_have_text("Text copied")
    assert page.evaluate("navigator.clipboard.readText()") == "Which way to the harbour?"
    page.locator(".turn .act[data-act=continue]").first.press("Enter")
    expect(page.locator(".found")).to_contain_text(f"plait resume {WAYS.session} --at 1")
    expect(page.locator("[data-act=copy-turn], [data-do=markdown]")).to_have_count(0)
    page = session(
        WAYS.session,
        f"#{WAYS.uuid_of('A2')}",
        permissions=["clipboard-read", "clipboard-write"],
    )
    call = page.locator("details.call", has_text="seq 400")
    call.locator("summary .act[data-act=copy-output]").dispatch_event("click")
    expect(page.locator(".found")).to_have_text("Output copied")
    lines = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert [lines[0][:6], len(lines), lines[-1][:8]] == ["step 1", 400, "step 400"]


def test_agent_is_a_conversation_inside_its_call(session: Opened) -> None:
    page = session("30ca0be7")
    call = page.locator("details.call", has_text="Find shared state in tests").first
    call.locator("> summary").click()
    agent = call.locator("details.agent").first
    agent.locator("> summary").click()
    expect(agent.locator(".prompt").first).to_contain_text("Look through tests/")
