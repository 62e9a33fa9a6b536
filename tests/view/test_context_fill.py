"""What fills a context: each block counts once, the largest are listed with their place."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from examples.drawing import Drawing, draw
from plait.archive import Archive, weigh_context
from plait.conversation.prices import Prices
from plait.graph.client.entries import Context
from plait.graph.client.tokens import PICTURE, estimate_request_tokens
from plait.view.context import Fill, NextCost, NextSent, Weighed, measure_fills

STORY = """
file story cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "Make the total right." image="till"
A1< think "Where is it?" + Read(file_path="/home/dev/shop/cart.py") as first
R1< of first times=40
  | def total(items):
A2< Bash(command="pytest -q") as tests
R2< of tests times=90
  | one test failed
A3< Agent(description="Look for callers", subagent_type="Explore", prompt="Who calls it?") as look
R3< of look "Nobody but the till."
A4< "Now I see."
U2< "Go on."
A5< Read(file_path="/home/dev/shop/cart.py") as second
R5< of second times=40
  | def total(items):
A6< Read(file_path="/home/dev/shop/other.py") as other
R6< of other
  | def order(cart):
A7< "Done."
"""


def filled(folder: Path, drawing: Drawing) -> Weighed:
    """Return what fills a drawn session."""
    drawing.write(folder)
    archive = Archive([folder])
    return weigh_context(archive.open(archive.sessions[0]), "x", archive.prices)


@pytest.fixture
def story(tmp_path: Path) -> tuple[Weighed, dict[str, Fill]]:
    """Return the story, and its fills by kind."""
    found = filled(tmp_path, draw(STORY))
    return found, {fill.kind: fill for fill in found.fills}


def test_kinds_add_up_to_all_messages(gallery: Path) -> None:
    for folder in sorted(gallery.iterdir()):
        for session in Archive([folder]).sessions if folder.is_dir() else ():
            if session.file is None:
                continue
            found = weigh_context(Archive([folder]).open(session), "x", Prices())
            own = sum(fill.tokens for fill in found.fills if fill.kind != "rereads")
            assert own == found.estimated, folder.name
            sums = [fill.tokens for fill in found.fills if fill.kind != "rereads"]
            assert sums == sorted(sums, reverse=True)


def test_results_have_turn_line_and_call(
    story: tuple[Weighed, dict[str, Fill]],
) -> None:
    found, kinds = story
    largest = kinds["results"].largest[0]
    drawing = draw(STORY)
    assert largest.words == "Bash pytest -q"
    assert (largest.turn, largest.uuid) == (1, drawing.uuid_of("R2"))
    record = next(entry for entry in drawing.records if entry.get("uuid") == largest.uuid)
    assert largest.calls == (record["message"]["content"][0]["tool_use_id"],)
    assert {item.words for item in kinds["results"].largest} == {
        "Bash pytest -q",
        "Read cart.py",
        "Read other.py",
    }
    assert found.turns == 2


def test_agent_reports_are_not_ordinary_results(
    story: tuple[Weighed, dict[str, Fill]],
) -> None:
    reports = story[1]["reports"]
    assert (reports.count, reports.largest[0].words) == (1, "Agent Look for callers")


def test_repeated_read_is_listed_once_without_the_last(
    story: tuple[Weighed, dict[str, Fill]],
) -> None:
    again = story[1]["rereads"]
    (read,) = again.largest
    assert (again.count, read.words, read.times, read.turn) == (1, "cart.py", 1, 1)
    results = {item.calls: item for item in story[1]["results"].largest}
    assert read.tokens == again.tokens == results[read.calls].tokens


def test_images_and_thinking_count_separately(
    story: tuple[Weighed, dict[str, Fill]],
) -> None:
    kinds = story[1]
    picture = kinds["pictures"].largest[0]
    assert (kinds["pictures"].count, picture.tokens, picture.words) == (1, PICTURE, "in a prompt")
    assert kinds["thinking"].largest[0].words == "Where is it?"
    assert kinds["thinking"].largest[0].line


def make_context(*messages: tuple[str, list[dict[str, Any]]]) -> dict[str, Fill]:
    """Return what fills a request."""
    found = Context(True, None, None, (), [], list(messages), ())
    fills = measure_fills(found)
    own = sum(fill.tokens for fill in fills if fill.kind != "rereads")
    assert own == estimate_request_tokens(found.request)
    return {fill.kind: fill for fill in fills}


def text(words: str) -> dict[str, Any]:
    """Return a block of text."""
    return {"type": "text", "text": words}


def test_repeated_reminder_is_one_row() -> None:
    report = "<system-reminder>\nThe list is empty.\n</system-reminder>"
    kinds = make_context(
        ("user", [text("Hello."), text(report)]),
        ("assistant", [text("Hi.")]),
        ("user", [text(report)]),
        ("system", [text("Mind the gap.")]),
    )
    assert kinds["prompts"].count == 1
    assert kinds["reminders"].count == 3
    again = kinds["reminders"].largest[0]
    assert (again.words, again.times, again.message) == ("The list is empty.", 2, 1)


def test_image_in_a_result_is_not_text() -> None:
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "image", "source": {}}],
    }
    kinds = make_context(
        ("assistant", [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]),
        ("user", [result]),
    )
    assert "results" not in kinds
    assert (kinds["pictures"].largest[0].words, kinds["pictures"].largest[0].calls) == (
        "Read",
        ("t1",),
    )


@pytest.mark.parametrize(
    ("role", "block", "kind"),
    [
        ("assistant", {"type": "server_tool_use", "id": "s", "name": "web_search"}, "calls"),
        ("assistant", {"type": "web_search_tool_result", "tool_use_id": "s"}, "results"),
        ("assistant", {"type": "redacted_thinking", "data": "x"}, "thinking"),
        ("user", {"type": "document", "source": {}}, "pictures"),
        ("user", {"type": "tool_result", "tool_use_id": "gone", "content": "x"}, "results"),
        ("user", {"type": "tool_addition", "tool": {}}, "reminders"),
        ("assistant", {"type": "unheard_of"}, "answers"),
        ("user", {}, "reminders"),
    ],
)
def test_every_block_has_a_kind(role: str, block: dict[str, Any], kind: str) -> None:
    assert list(make_context((role, [block]))) == [kind]


def test_only_the_largest_are_listed() -> None:
    many = [text("word " * number) for number in range(1, 41)]
    (answers,) = make_context(("assistant", many)).values()
    assert (answers.count, len(answers.largest)) == (40, 25)
    assert answers.largest[0].tokens > answers.largest[-1].tokens


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (-1, "cache expires in 1 s"),
        (0, "cache expires in a moment"),
        (-120, "cache expires in 2 min"),
        (1, "cache expired at 2026-11-02 09:05"),
    ],
)
def test_current_price_warm_or_cold(seconds: int, told: str) -> None:
    cold_at = datetime(2026, 11, 2, 9, 5).astimezone()
    sent = NextSent(100, NextCost(0.1, 0.2), cold_at)
    now = cold_at + timedelta(seconds=seconds)
    assert sent.describe_cache(now) == told
    assert sent.is_warm(now) == ("expires" in told)
    assert replace(sent, cold_at=None).describe_cache(now) == ""
    assert replace(sent, cost_usd=NextCost(None, None)).describe_cache(now) == ""
