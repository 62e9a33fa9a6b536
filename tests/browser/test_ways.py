"""Branches in a browser: switching, comparing, links and the back button."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened
from tests.browser.sessions import LATE_TURNS, drawn_sessions

WAYS, LATE, CREW = drawn_sessions()["ways"], drawn_sessions()["late"], drawn_sessions()["crew"]


def prompts(page: Page) -> list[str]:
    """Return the prompts that are shown, in order."""
    found: list[str] = page.evaluate("""() =>
        Array.from(document.querySelectorAll("main > .dag > .turn > .prompt"))
        .filter(one => !one.closest("[hidden], .past"))
        .map(one => one.querySelector(".prose").textContent.trim())""")
    return found


ACTIVE = ["Which way to the harbour?", "By the mole, then.", "And back?"]
LIGHTHOUSE = ["Which way to the harbour?", "By the lighthouse."]


def test_active_branch_is_shown_first(session: Opened) -> None:
    page = session(WAYS.session)
    assert prompts(page) == ACTIVE
    assert page.locator(".outline li").all_inner_texts() == [
        f"{n} {item}" for n, item in enumerate(ACTIVE, 1)
    ]


def test_select_shows_another_branch_from_its_root(session: Opened) -> None:
    page = session(WAYS.session)
    options = page.locator(".ways option").all_inner_texts()
    assert options[0] == "active"
    wanted = next(option for option in options if "lower path" in option or "upper path" in option)
    page.locator(".ways").select_option(label=wanted)
    shown = prompts(page)
    assert shown[:2] == LIGHTHOUSE
    assert len(shown) == 3
    assert "path" in shown[2]
    page.go_back()
    assert prompts(page) == ACTIVE


def test_branch_turns_continue_the_numbering(session: Opened) -> None:
    page = session(WAYS.session, f"#{WAYS.uuid_of('U3')}")
    expect(page.locator(".outline li")).to_have_count(3)
    numbers = page.evaluate("""() => Array.from(document.querySelectorAll("main .turn .n"))
        .filter(one => !one.closest("[hidden], .past")).map(one => one.textContent)""")
    assert numbers == ["1", "2", "3"]


def test_fork_box_links_to_the_other_branch_and_back(session: Opened) -> None:
    page = session(WAYS.session)
    page.locator(".fork:visible", has_text="By the lighthouse.").click()
    assert prompts(page)[:2] == LIGHTHOUSE
    expect(page.locator(f'[id="{WAYS.uuid_of("U2")}"]')).to_be_in_viewport()
    page.go_back()
    assert prompts(page) == ACTIVE


def test_brackets_step_through_branches(session: Opened) -> None:
    page = session(WAYS.session)
    seen = []
    for _ in range(3):
        seen.append(tuple(prompts(page)))
        page.keyboard.press("]")
    assert len(set(seen)) == 3
    assert prompts(page) == ACTIVE
    page.keyboard.press("[")
    assert tuple(prompts(page)) == seen[2]


def test_differences_are_shown_at_the_fork(session: Opened) -> None:
    page = session(WAYS.session)
    page.get_by_role("button", name="Differences").first.click()
    dialog = page.locator("dialog.differs")
    expect(dialog).to_contain_text("This branch: 2 turns")
    expect(dialog).to_contain_text("By the mole, then.")
    expect(dialog).to_contain_text("By the lighthouse.")
    expect(dialog).to_contain_text("No files changed")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)


def test_link_into_a_branch_shows_it(session: Opened) -> None:
    page = session(WAYS.session, f"#{WAYS.uuid_of('U3')}")
    expect(page.locator(f'[id="{WAYS.uuid_of("U3")}"]')).to_be_in_viewport()
    assert prompts(page) == [*LIGHTHOUSE, "Take the upper path, past the heron."]


def test_link_into_an_agent_opens_it(session: Opened, gallery: object) -> None:
    page = session("30ca0be7")
    inner = page.locator("details.agent details.agent .prompt, details.agent .prompt").last
    uuid = inner.get_attribute("id")
    page = session("30ca0be7", f"#{uuid}")
    expect(page.locator(f'[id="{uuid}"]').first).to_be_in_viewport()


def test_link_to_a_result_shows_its_call(session: Opened) -> None:
    page = session(WAYS.session, f"#{WAYS.uuid_of('R6')}")
    expect(page.locator("details.call", has_text="mole.txt")).to_be_in_viewport()


def test_long_agent_is_fetched_when_opened(session: Opened) -> None:
    page = session(CREW.session)
    agent = page.locator("details.agent")
    assert agent.locator(".turn").count() == 0
    page.locator("details.call > summary").click()
    expect(agent.locator(".turn")).to_have_count(25)
    expect(agent.locator(".prompt").first).to_be_visible()


def test_link_into_a_long_agent_opens_it(session: Opened) -> None:
    uuid = CREW.uuid_of("counter:U20")
    page = session(CREW.session, f"#{uuid}")
    expect(page.locator(f'[id="{uuid}"]')).to_be_in_viewport()


def test_link_to_lazily_fetched_turn_opens_it(session: Opened) -> None:
    uuid = LATE.uuid_of(f"U{LATE_TURNS - 5}")
    page = session(LATE.session, f"#{uuid}")
    expect(page.locator(f'[id="{uuid}"]')).to_be_in_viewport()
    expect(page.locator(".outline a.here")).to_contain_text(f"Tide number {LATE_TURNS - 5}?")


def test_outline_lists_turns_not_fetched_yet(session: Opened) -> None:
    page = session(LATE.session)
    assert page.locator(".part").count() >= 1
    assert page.locator(".outline li").count() == LATE_TURNS
    page.locator(".outline a", has_text=f"Tide number {LATE_TURNS}?").click()
    expect(page.locator(f'[id="{LATE.uuid_of(f"U{LATE_TURNS}")}"]')).to_be_in_viewport()
    page.go_back()
    expect(page.locator(f'[id="{LATE.uuid_of("U1")}"]')).to_be_in_viewport()


def test_scrolling_fetches_more(session: Opened) -> None:
    page = session(LATE.session)
    parts = page.locator("main > .dag:not([hidden]) > .part")
    for left in range(parts.count(), 0, -1):
        parts.first.scroll_into_view_if_needed()
        expect(parts).to_have_count(left - 1)
    assert len(prompts(page)) == LATE_TURNS


def test_branch_from_an_unfetched_turn(session: Opened) -> None:
    page = session(LATE.session)
    page.locator(".ways").select_option(index=1)
    turned = page.locator(f'[id="{LATE.uuid_of(f"U{LATE_TURNS + 1}")}"]')
    expect(turned).to_be_visible()
    expect(page.locator(".outline li")).to_have_count(LATE_TURNS - 1)
    outline = page.locator(".outline li").all_inner_texts()
    assert outline[-1].endswith("The tide that turned back.")
    assert outline[-2].endswith(f"Tide number {LATE_TURNS - 2}?")
    page.evaluate(
        "Promise.all(Array.from(document.querySelectorAll('.part'), p => p.scrollIntoView()))"
    )
    expect(page.locator(f'[id="{LATE.uuid_of(f"U{LATE_TURNS}")}"]:visible')).to_have_count(0)


def test_back_returns_to_the_previous_position(session: Opened) -> None:
    page = session(LATE.session)
    page.evaluate("scrollTo(0, 5000)")
    page.wait_for_timeout(150)
    before = page.evaluate("scrollY")
    page.locator(".rail .node").nth(60).click()
    page.wait_for_timeout(100)
    assert abs(page.evaluate("scrollY") - before) > 5000
    page.go_back()
    page.wait_for_timeout(150)
    assert abs(page.evaluate("scrollY") - before) < 40
