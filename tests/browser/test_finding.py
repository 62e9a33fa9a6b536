"""Find reaches text that is folded, cut, fetched late or in another branch."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened
from tests.browser.sessions import LATE_TURNS, drawn_sessions

WAYS, LATE = drawn_sessions()["ways"], drawn_sessions()["late"]


def find_text(page: Page, words: str) -> None:
    """Type words into the find box and wait for the first place."""
    page.locator("#find").fill(words)
    expect(page.locator(".found")).to_contain_text("of")


def test_text_in_a_closed_call_is_found_and_shown(session: Opened) -> None:
    page = session(WAYS.session)
    find_text(page, "mole is flat")
    expect(page.locator("details.think[open]", has_text="The mole is flat.")).to_be_in_viewport()


def test_cut_text_is_found_in_another_branch(session: Opened) -> None:
    page = session(WAYS.session)
    find_text(page, "PUFFIN")
    expect(page.locator(".found")).to_have_text("1 of 1")
    expect(page.locator("pre.out", has_text="step 333 by the puffin")).to_be_visible()
    expect(page.locator(f'[id="{WAYS.uuid_of("U2")}"]')).to_be_visible()
    assert page.evaluate("CSS.highlights.get('found').size") == 1


def test_n_moves_to_the_next_hit_and_wraps(session: Opened) -> None:
    page = session(WAYS.session)
    find_text(page, "harbour")
    total = int((page.locator(".found").inner_text()).split()[-1])
    assert total >= 1
    page.locator("#find").press("Escape")
    for _ in range(total):
        page.keyboard.press("n")
    expect(page.locator(".found")).to_have_text(f"1 of {total}")
    page.keyboard.press("N")
    expect(page.locator(".found")).to_have_text(f"{total} of {total}")


def test_lazily_fetched_text_is_found(session: Opened) -> None:
    page = session(LATE.session)
    find_text(page, f"Answer number {LATE_TURNS}.")
    expect(page.locator(f'[id="{LATE.uuid_of(f"A{LATE_TURNS}")}"]')).to_be_in_viewport()


def test_hits_in_filtered_kinds_are_shown(session: Opened) -> None:
    page = session(WAYS.session)
    page.keyboard.press("f")
    page.get_by_label("Thinking").uncheck()
    page.keyboard.press("Escape")
    find_text(page, "mole is flat")
    expect(page.locator("details.think", has_text="The mole is flat.")).to_be_visible()


def test_no_hits_is_reported(session: Opened) -> None:
    page = session(WAYS.session)
    page.locator("#find").fill("albatross")
    expect(page.locator(".found")).to_have_text("No results")
    page.locator("#find").fill("")
    expect(page.locator(".found")).to_have_count(0)


def test_index_page_finds_titles_and_prompts(site: Path, opened: Opened) -> None:
    page = opened(site / "index.html")
    page.locator("#find").fill("past the HERON")
    rows = page.locator("li[data-session]:visible")
    expect(rows).to_have_count(1)
    expect(rows.locator("mark")).to_have_text("past the heron")
    page.locator("#find").fill("a year of tides")
    expect(rows).to_have_count(1)
    expect(page.locator("section.project:visible")).to_have_count(1)
    page.locator("#find").fill("albatross")
    expect(page.get_by_text("No session has these words")).to_be_visible()
    page.locator("#find").fill("")
    expect(rows.nth(15)).to_be_visible()


def test_index_page_keeps_the_query_on_return(site: Path, opened: Opened) -> None:
    page = opened(site / "index.html")
    rows = page.locator("li[data-session]")
    page.locator("#find").fill("harbour")
    expect(page.locator("li[data-session]:visible")).not_to_have_count(rows.count())
    page.locator("li[data-session]:visible a").first.click()
    expect(page.locator("main")).to_be_visible()
    page.go_back()
    expect(page.locator(".site")).to_be_visible()
