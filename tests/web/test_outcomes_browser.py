"""Calls by outcome in a real browser: found across sessions, shown in one."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from examples.drawing import draw
from plait.archive import Archive
from plait.indexing import update_index
from tests.web.reading_page import Reader, Served, reader, served
from tests.web.test_lists_browser import faults

__all__ = ["reader"]
LOGS = """
file shop cwd=/home/dev/shop start=2026-11-02T09:00:00Z
ai-title "Gift cards"
U1 "Test the gift cards"
A1< "I run the tests of the **gift** cards." + Bash(command="pytest -q") as one
R1< of one error "Exit code 1: the gift card is wrong"
T2< Bash(command="ruff check") as two
R2< of two "all fine"
A2< "One test fails."
U2< "Plan it"
T3< ExitPlanMode(plan="Rewrite the cards")
R3< error "The user doesn't want to proceed with this tool use. The user said: too much"
U3< "Serve it"
T4< Bash(command="make serve", run_in_background=true)
R4< {"toolUseResult": {"backgroundTaskId": "b1"}} "Command running in background with ID: b1"
A4< "It is served, with gift cards."
file blog cwd=/home/dev/blog start=2026-11-03T09:00:00Z
ai-title "Pages"
U1 "Build the pages"
T1< Bash(command="make pages")
R1< error "Exit code 2"
A1< "They do not build."
"""


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve two sessions with calls of every outcome but one."""
    place = tmp_path_factory.mktemp("outcomes")
    draw(LOGS).write(place / "logs")
    update_index(Archive([place / "logs"]), place / "index")
    with served(place / "logs", place / "index") as server:
        yield server


def snippets(page: Page) -> list[str]:
    return page.locator(".hits .snippet").all_inner_texts()


def test_failed_commands_in_two_steps(at: Served, reader: Reader) -> None:
    page = reader(at, "/search")
    page.get_by_role("link", name="Failing commands").click()
    expect(page.locator(".hits li")).to_have_count(2)
    assert snippets(page) == ["make pages", "pytest -q"]
    expect(page.get_by_role("status")).to_contain_text("2 calls")
    expect(page.locator(".hits .warn").first).to_have_text("failed")
    assert page.locator(".hits .failure").all_inner_texts() == [
        "Exit code 2",
        "Exit code 1: the gift card is wrong",
    ]
    page.locator(".facets").get_by_text("shop").click()
    expect(page.locator(".hits li")).to_have_count(1)
    page.locator(".hit").click()
    expect(page.locator("summary", has_text="pytest -q")).to_be_in_viewport()


def test_search_by_facets_only(at: Served, reader: Reader) -> None:
    page = reader(at, "/search?tool=Bash")
    page.locator(".facets").get_by_text("Failed").click()
    expect(page).to_have_url(re.compile("outcome=failed"))
    expect(page.locator(".hits li")).to_have_count(2)


def test_rejected_plans(at: Served, reader: Reader) -> None:
    page = reader(at, "/search")
    page.get_by_role("link", name="Rejected plans").click()
    expect(page.locator(".hits li")).to_have_count(1)
    assert snippets(page) == ["Rewrite the cards"]
    expect(page.locator(".hits .warn")).to_have_text("rejected")


def test_hits_are_counted_as_listed(at: Served, reader: Reader) -> None:
    page = reader(at, "/search?q=gift")
    status = page.get_by_role("status")
    expect(status).to_contain_text("5 passages in 2 turns")
    page.get_by_role("link", name="5 passages").click()
    expect(page.locator(".hits li")).to_have_count(5)
    expect(status).to_contain_text("5 passages")
    page.get_by_role("group", name="Order").get_by_text("Time").click()
    expect(page).to_have_url(re.compile("sort=time"))
    expect(page.locator(".hits li").first).to_contain_text("It is served")


MARKED = "Array.from(CSS.highlights.get('found') || [], (range) => range.toString().toLowerCase())"


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("gift tests", ["tests", "gift"]),
        ('"gift cards" run', ["run", "gift cards"]),
        ("gif* -pages", ["gift"]),
    ],
)
def test_all_words_are_highlighted_when_a_hit_opens(
    at: Served, reader: Reader, query: str, marked: list[str]
) -> None:
    page = reader(at, f"/search?q={query.replace(' ', '+')}&kind=answer")
    page.locator(".hit", has_text="I run the tests").click()
    page.wait_for_function(f"() => ({MARKED}).length > 0")
    assert page.evaluate(MARKED) == marked


def test_conversation_shows_only_calls_with_that_outcome(at: Served, reader: Reader) -> None:
    name = next(
        name for name, item in at.library.snapshot.iter_listed() if item.title == "Gift cards"
    )
    page = reader(at, f"/s/{name}")
    page.keyboard.press("f")
    page.get_by_role("radio", name="Failed").check()
    expect(page.locator("body > .found")).to_have_text("1 failed")
    expect(page.locator("main .call:visible")).to_have_count(1)
    expect(page.locator("main .call.failed")).to_be_visible()
    expect(page.locator("main .turn:visible")).to_have_count(1)
    expect(page.locator("main .say:visible")).to_have_count(0)
    page.get_by_role("radio", name="Rejected").check()
    expect(page.locator("main .call.rejected")).to_be_visible()
    expect(page.locator("main .call.failed")).to_be_hidden()
    page.get_by_role("radio", name="Interrupted").check()
    expect(page.locator("body > .found")).to_have_text("No interrupted calls")
    page.get_by_role("radio", name="All calls").check()
    expect(page.locator("main .say:visible").first).to_be_visible()
    assert page.evaluate("document.body.className").count("only-") == 0


def test_outcome_in_the_url(at: Served, reader: Reader) -> None:
    name = next(
        name for name, item in at.library.snapshot.iter_listed() if item.title == "Gift cards"
    )
    page = reader(at, f"/s/{name}?outcome=launched")
    expect(page.locator("main .call:visible")).to_have_count(1)
    expect(page.locator("main .call.launched")).to_be_visible()


PAGES = ("/search", "/search?tool=Bash&outcome=failed", "/search?q=gift")


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_lists_of_outcomes_look_right(at: Served, reader: Reader, theme: str, width: int) -> None:
    page = reader(at, PAGES[0], width=width, color_scheme=theme)
    for path in PAGES:
        page.goto(at.address + path)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        if width < 400:
            assert faults(page) == []
