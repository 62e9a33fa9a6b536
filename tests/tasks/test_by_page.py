"""Ten things people want from their conversations, each in at most three steps on the page."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import pytest
from playwright.sync_api import Locator, Page, expect

from examples.drawing import Drawing
from plait.archive import Archive
from plait.indexing import update_index
from tests.web.reading_page import Reader, Served, reader, served

__all__ = ["reader"]
MOST_STEPS = 3
CLIPBOARD = "navigator.clipboard.readText()"
By: TypeAlias = Literal["mouse", "keyboard"]


@dataclass
class Visitor:
    """Somebody at a page, whose steps are counted."""

    page: Page
    by: By
    steps: int = 0

    def take(self, what: Locator) -> None:
        """Take a link or a button."""
        self.steps += 1
        if self.by == "mouse":
            what.hover()
            what.click()
        else:
            what.focus()
            expect(what).to_be_focused()
            self.page.keyboard.press("Enter")

    def ask(self, words: str) -> None:
        """Write into the search field of every page."""
        self.steps += 1
        self.page.keyboard.press("Control+k")
        self.page.keyboard.type(words)
        expect(self.page.get_by_role("option", name=words).first).to_be_visible()
        self.page.keyboard.press("Enter")

    def link(self, name: str) -> Locator:
        """Return a link by its words."""
        return self.page.get_by_role("link", name=name)

    def sees(self, *words: str) -> None:
        """Check that words are to be seen."""
        for word in words:
            expect(self.page.locator("main").get_by_text(word).first).to_be_visible()

    def has_copied(self, *words: str) -> None:
        """Check that words came to the clipboard."""
        for word in words:
            self.page.wait_for_function(
                f"async words => (await {CLIPBOARD}).includes(words)", arg=word
            )


def find_the_fix(visitor: Visitor) -> None:
    visitor.ask("kingfisher")
    visitor.sees("bug is mended")
    expect(visitor.page.get_by_text("bug is mended")).to_be_in_viewport()


def read_the_abandoned_branch(visitor: Visitor) -> None:
    visitor.take(visitor.link("Branch from here, abandoned"))
    visitor.sees("the ostrich path")


def see_cost_by_project_and_model(visitor: Visitor) -> None:
    visitor.take(visitor.link("Usage").first)
    visitor.take(visitor.link("All").first)
    table = visitor.page.locator("table", has_text="sonnet-5").filter(has_text="shop")
    expect(table.first).to_contain_text("opus-5-5")


def see_which_turn_changed_a_file(visitor: Visitor) -> None:
    visitor.take(visitor.link("Files").first)
    visitor.take(visitor.link("cart.py").first)
    expect(visitor.link("turn 2")).to_be_visible()
    visitor.take(visitor.page.get_by_text("Patch").last)
    visitor.sees("return round(sum(items), 2)")


def copy_a_clean_transcript(visitor: Visitor) -> None:
    visitor.take(visitor.page.get_by_role("button", name="Copy as Markdown").first)
    visitor.has_copied("# The total of gift cards", "Three callers, none of them breaks.")


def find_failing_commands(visitor: Visitor) -> None:
    visitor.take(visitor.link("Search").first)
    visitor.take(visitor.link("Failing commands"))
    visitor.sees("pytest -q tests/test_cart.py")


def continue_from_a_turn(visitor: Visitor) -> None:
    turn = visitor.page.locator(".turn", has_text="Round it to cents as well.").first
    turn.hover()
    visitor.take(turn.get_by_role("button", name="Continue from here").first)
    visitor.has_copied("--at 2")


def see_what_an_agent_did_and_cost(visitor: Visitor) -> None:
    visitor.take(visitor.page.locator("nav").get_by_role("link", name="Usage").last)
    row = visitor.page.get_by_role("row").filter(has_text="Count the callers").first
    expect(row).to_contain_text("$0.04")
    visitor.take(row.get_by_role("link").first)
    visitor.sees("Who calls total?")


def find_a_plan_that_was_rejected(visitor: Visitor) -> None:
    visitor.take(visitor.link("Search").first)
    visitor.take(visitor.link("Plans that you rejected"))
    visitor.sees("Take the old wheel off and burn it.")


def see_net_changes(visitor: Visitor) -> None:
    visitor.take(visitor.page.locator("nav").get_by_role("link", name="Files").last)
    visitor.take(visitor.link("Net change"))
    visitor.sees("return round(sum(items), 2)", "fn main() {}")


SESSION = "/s/{totals}"
TASKS: dict[Callable[[Visitor], None], str] = {
    find_the_fix: "/",
    read_the_abandoned_branch: SESSION,
    see_cost_by_project_and_model: "/",
    see_which_turn_changed_a_file: "/",
    copy_a_clean_transcript: SESSION,
    find_failing_commands: "/",
    continue_from_a_turn: SESSION,
    see_what_an_agent_did_and_cost: SESSION,
    find_a_plan_that_was_rejected: "/",
    see_net_changes: SESSION,
}


@pytest.fixture(scope="module")
def at(
    root: Path, week: dict[str, Drawing], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """Serve the week, indexed."""
    index = tmp_path_factory.mktemp("tasks-index")
    update_index(Archive([root]), index)
    with served(root, index) as item:
        yield item


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__.replace("_", " "))
def test_three_steps_are_enough(
    task: Callable[[Visitor], None],
    by: By,
    at: Served,
    week: dict[str, Drawing],
    reader: Reader,
) -> None:
    path = TASKS[task].format(totals=week["totals"].session)
    allowed = ["clipboard-read", "clipboard-write"]
    visitor = Visitor(reader(at, path, permissions=allowed), by)
    task(visitor)
    assert visitor.steps <= MOST_STEPS
