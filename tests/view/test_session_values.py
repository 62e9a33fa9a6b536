"""The tabs of a session: context window, files, cost."""

from pathlib import Path

import pytest

from plait.archive import Archive
from plait.conversation.costs import CostFunction, compute_session_cost, sum_conversations
from plait.conversation.prices import Prices
from plait.conversation.usage import parse_tokens
from plait.files.touched import list_changed_files
from plait.graph.client.tokens import PICTURE, estimate_block_tokens
from plait.record.time import parse_time
from plait.sessions.model import Session
from plait.sessions.resume import build_resumption
from plait.view.context import measure_context


@pytest.fixture(scope="module")
def sessions(gallery: Path) -> dict[str, Session]:
    """Return the sessions of the gallery by the names of their examples."""
    return {
        folder.name: Archive([folder]).sessions[0]
        for folder in sorted(gallery.iterdir())
        if folder.is_dir() and Archive([folder]).sessions
    }


def test_every_record_is_in_a_message_or_left_out_with_a_reason(
    sessions: dict[str, Session],
) -> None:
    for session in sessions.values():
        if session.file is None:
            continue
        found = build_resumption(session)
        first = measure_context("x", found.context, found.tokens)
        assert len(first.messages) == len(found.context.request)
        assert sum(each.count for each in first.left_out) == len(found.context.left_out)
        own = sum(count for name, count in first.parts.items() if name != "system")
        assert own == sum(each.tokens for each in first.messages) == first.estimated


def test_compaction_leaves_out_earlier_records(sessions: dict[str, Session]) -> None:
    found = build_resumption(sessions["compaction"])
    first = measure_context("x", found.context, found.tokens)
    assert "before compaction" in {each.reason for each in first.left_out}


@pytest.mark.parametrize(
    ("block", "least", "most"),
    [
        ({"type": "text", "text": "word " * 100}, 100, 200),
        ({"type": "image", "source": {"data": "x" * 1_000_000}}, PICTURE, PICTURE),
        ({"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}, 46, 60),
        ({"type": "tool_result", "content": [{"type": "image"}]}, PICTURE, PICTURE + 60),
        ({"type": "tool_result", "content": "x" * 360}, 160, 170),
        ({"type": "redacted_thinking", "data": "x" * 36}, 1, 40),
        ({}, 0, 2),
    ],
)
def test_tokens_are_estimated(block: dict[str, object], least: int, most: int) -> None:
    assert least <= estimate_block_tokens(block) <= most


def test_files_by_file_and_by_turn(sessions: dict[str, Session]) -> None:
    result = Archive([sessions["rich-tools"].path]).conversations(sessions["rich-tools"])
    found = list_changed_files(result)
    assert found.files
    by_file = [touche.number for story in found.files for touche in story.touches]
    assert sorted(by_file) == list(range(1, len(by_file) + 1))
    by_turn = [touche.number for story in found.turns for touche in story.touches]
    assert set(by_turn) <= set(by_file)
    changed = [story.changes > 0 for story in found.files]
    assert changed == sorted(changed, reverse=True)
    for story in found.files:
        assert {touche.touch.path for touche in story.touches} == {story.path}


def test_session_cost_matches_its_totals(sessions: dict[str, Session]) -> None:
    prices = Prices()
    for session in sessions.values():
        result = Archive([session.path]).conversations(session)
        found = compute_session_cost(result, cost_by(prices))
        totals = sum_conversations(result.by_line.values(), prices)
        assert found.total.responses == totals.responses == len(found.responses)
        assert found.total.tokens.total == totals.tokens.total
        assert found.total.cost == pytest.approx(totals.cost_usd)
        assert sum(item.responses for item in found.by_who) == found.total.responses


def cost_by(prices: Prices) -> CostFunction:
    """Return what says what a response costs."""
    return lambda item: (
        prices.cost(item.model, parse_tokens(item.usage), parse_time(item.started))
        if item.usage
        else None
    )


def test_abandoned_branch_is_separate(sessions: dict[str, Session]) -> None:
    result = Archive([sessions["rewind"].path]).conversations(sessions["rewind"])
    found = compute_session_cost(result, lambda _: None)
    assert {item.name for item in found.by_who} == {"main", "abandoned"}
    assert found.total.unpriced == found.total.responses
