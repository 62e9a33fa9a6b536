"""Copilot CLI: events and parents, rewinds, inline sub-agents, and sources of token counts."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from plait import Archive
from plait.cli.app import run
from plait.conversation.usage import Tokens
from tests.sources.builders import all_branches_json, branches, open_archive, prompts, write_lines


def event(number: int, parent: int | None, name: str, **data: Any) -> dict[str, Any]:
    time = f"2026-10-01T10:00:{number:02}.000Z"
    links = {"id": f"e{number}", "parentId": None if parent is None else f"e{parent}"}
    return {"type": name, "timestamp": time, "data": data} | links


def metrics(tokens: int) -> dict[str, Any]:
    usage = {"inputTokens": tokens, "outputTokens": 2, "cacheReadTokens": 1, "cacheWriteTokens": 0}
    return {"modelMetrics": {"m": {"usage": usage}}}


ROWS = """
    CREATE TABLE assistant_usage_events (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, turn_index INTEGER,
        agent_id TEXT, parent_tool_call_id TEXT, model TEXT NOT NULL, copilot_usage_model TEXT,
        input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER,
        cache_write_tokens INTEGER, reasoning_tokens INTEGER, total_nano_aiu INTEGER,
        request_multiplier REAL, initiator TEXT, created_at TEXT
    )
"""
"""The table as the client makes it, without the columns of times."""
START = event(0, None, "session.start", sessionId="c", context={"cwd": "/home/me"})
TALK = [
    START,
    event(1, 0, "user.message", content="one"),
    event(2, 1, "assistant.message", messageId="m1", content="1", model="m"),
    event(3, 2, "user.message", content="two"),
    event(4, 3, "assistant.message", messageId="m2", content="2", model="m"),
]


def test_event_with_an_earlier_parent_begins_a_branch(tmp_path: Path) -> None:
    rewind = event(5, 4, "session.snapshot_rewind", upToEventId="e3", eventIds=["e3", "e4"])
    lines = [*TALK, rewind, event(6, 2, "user.message", content="three")]
    write_lines(tmp_path / "s/c/events.jsonl", lines)
    (session,) = open_archive(tmp_path / "s", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "three"]
    assert branches(session) == [["two"]]


def test_sub_agent_is_in_the_same_file(tmp_path: Path) -> None:
    request = [{"toolCallId": "t", "name": "task", "arguments": {"prompt": "look"}}]
    lines = [
        *TALK[:2],
        event(2, 1, "assistant.message", messageId="m1", content="", toolRequests=request),
        event(3, 2, "subagent.started", toolCallId="t", agentName="explore"),
        event(4, 3, "assistant.message", messageId="m2", content="seen", parentToolCallId="t"),
        event(5, 4, "tool.execution_complete", toolCallId="t", success=True, result="it is there"),
        event(6, 5, "assistant.message", messageId="m3", content="done"),
    ]
    write_lines(tmp_path / "s/c/events.jsonl", lines)
    (session,) = open_archive(tmp_path / "s", tmp_path / "cache").sessions
    (agent,) = session.conversations.agents
    assert "seen" in agent.markdown()
    assert prompts(session) == ["one"]


def test_resumed_totals_include_earlier_runs(tmp_path: Path) -> None:
    lines = [*TALK, event(5, 4, "session.shutdown", **metrics(101))]
    lines += [event(6, 5, "session.resume"), event(7, 6, "session.shutdown", **metrics(151))]
    write_lines(tmp_path / "s/c/events.jsonl", lines)
    archive = open_archive(tmp_path / "s", tmp_path / "cache")
    assert archive.usage("agent").totals.total.tokens.total_input == 151


def test_database_has_tokens_per_request(tmp_path: Path) -> None:
    lines = [*TALK, event(5, 4, "session.shutdown", **metrics(999))]
    write_lines(tmp_path / "copilot/session-state/c/events.jsonl", lines)
    with closing(sqlite3.connect(tmp_path / "copilot/session-store.db")) as base:
        base.execute(ROWS)
        rows = [
            ("c", None, "m", 10, 1, 4, 0, 5_000_000_000),
            ("c", "t", "n", 100, 3, 0, 0, None),  # a sub-agent's, of another model
            ("c", None, "m", 20, 2, 0, 5, 0),
            ("c", None, "m", 7, 1, 0, 0, None),  # a request without an answer in the log
            ("d", None, "m", 1000, 1, 0, 0, None),
        ]
        columns = "session_id, agent_id, model, input_tokens, output_tokens"
        columns += ", cache_read_tokens, cache_write_tokens, total_nano_aiu"
        base.executemany(
            f"INSERT INTO assistant_usage_events ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows
        )
        base.commit()
    archive = open_archive(tmp_path / "copilot", tmp_path / "cache")
    usage = archive.usage("model")
    tokens = usage.totals.total.tokens
    assert (tokens.total_input, tokens.cache_read, tokens.output) == (137, 4, 7)
    assert {row.key: row.total.tokens.total for row in usage.rows} == {"m": 41, "n": 103}
    answers = {first: tokens.total_input for first, tokens in _answers(archive)}
    assert answers["m1"] == 10


def _answers(archive: Archive) -> Iterator[tuple[str | None, Tokens]]:
    for conversation in archive.sessions[0].conversations:
        for response in conversation.responses:
            yield response.id, response.tokens


def test_titles_beside_events_and_old_flat_files(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s/c/events.jsonl", TALK)
    path.with_name("workspace.yaml").write_text("id: c\nsummary: The shop\n")
    old = START | {"data": {"sessionId": "old"}}
    write_lines(tmp_path / "s/old.jsonl", [old, *TALK[1:3]])
    found = open_archive(tmp_path / "s", tmp_path / "cache").sessions
    assert {session.id: session.title for session in found} == {"c": "The shop", "old": "one"}


def test_compaction(tmp_path: Path) -> None:
    done = event(5, 4, "session.compaction_complete", success=True, summaryContent="so far")
    write_lines(
        tmp_path / "s/c/events.jsonl", [*TALK, done, event(6, 5, "user.message", content="three")]
    )
    (session,) = open_archive(tmp_path / "s", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "two", "three"]
    assert "so far" in session.conversations.active.markdown()


def test_rewind_without_a_new_prompt_is_a_branch(tmp_path: Path) -> None:
    rewind = event(5, 4, "session.snapshot_rewind", upToEventId="e3", eventIds=["e3", "e4"])
    write_lines(tmp_path / "s/c/events.jsonl", [*TALK, rewind])
    (session,) = open_archive(tmp_path / "s", tmp_path / "cache").sessions
    assert prompts(session) == ["one"]
    assert branches(session) == [["two"]]


def test_forms_of_rewind_events(tmp_path: Path) -> None:
    rewind = event(5, 4, "session.snapshot_rewind", upToEventId="e3", eventsRemoved=2)
    more = [event(6, 5, "user.message", content="three")]
    more += [event(7, 6, "assistant.message", messageId="m3", content="3", model="m")]
    write_lines(tmp_path / "s/c/events.jsonl", [*TALK, rewind, *more])
    (session,) = open_archive(tmp_path / "s", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "three"]
    assert branches(session) == [["two"]]


def test_cleared_context_starts_a_new_root(tmp_path: Path) -> None:
    clear = event(5, 4, "session.context_cleared", messagesCleared=4)
    more = [event(6, 5, "user.message", content="three")]
    more += [event(7, 6, "assistant.message", messageId="m3", content="3", model="m")]
    write_lines(tmp_path / "s/c/events.jsonl", [*TALK, clear, *more])
    (session,) = open_archive(tmp_path / "s", tmp_path / "cache").sessions
    assert prompts(session) == ["three"]
    assert branches(session) == [["one", "two"]]


def test_checkpoint_counts_an_unfinished_run(tmp_path: Path) -> None:
    usage = {"inputTokens": 40, "outputTokens": 2, "cacheReadTokens": 10}
    row = {"provider": None, "modelId": "m", "metrics": {"usage": usage}}
    for checkpoint in (
        {"providerModelMetrics": [row, row | {"provider": {"id": "x"}}]},
        {"accountingSnapshot": {"modelMetrics": {"m": {"usage": usage | {"inputTokens": 80}}}}},
    ):
        lines = [*TALK, event(5, 4, "session.usage_checkpoint", totalNanoAiu=1, **checkpoint)]
        write_lines(tmp_path / "s/c/events.jsonl", lines)
        archive = open_archive(tmp_path / "s", tmp_path / f"cache{len(str(checkpoint))}")
        assert archive.usage("agent").totals.total.tokens.total_input == 80


def test_requests_logged_as_events_are_not_counted_again_at_shutdown(tmp_path: Path) -> None:
    used = {"model": "m", "inputTokens": 30, "outputTokens": 2}
    lines = [*TALK, event(5, 4, "assistant.usage", **used)]
    lines += [event(6, 5, "session.shutdown", **metrics(30))]
    write_lines(tmp_path / "s/c/events.jsonl", lines)
    archive = open_archive(tmp_path / "s", tmp_path / "cache")
    assert archive.usage("agent").totals.total.tokens.total_input == 30


def test_a_compaction_is_counted_once(tmp_path: Path) -> None:
    used = {"model": "m", "inputTokens": 50, "outputTokens": 5, "cacheReadTokens": 0}
    done = event(5, 4, "session.compaction_complete", success=True, compactionTokensUsed=used)
    for sums, total in (
        ({}, 151),
        ({"tokenDetails": details(100, 1, 2)}, 101),
        ({"tokenDetails": details(150, 1, 7)}, 151),
    ):
        end = metrics(101)
        end["modelMetrics"]["m"] |= sums
        write_lines(
            tmp_path / "s/c/events.jsonl", [*TALK, done, event(6, 5, "session.shutdown", **end)]
        )
        archive = open_archive(tmp_path / "s", tmp_path / f"cache{len(str(sums))}{total}")
        assert archive.usage("agent").totals.total.tokens.total_input == total


def details(sent: int, read: int, received: int) -> dict[str, Any]:
    counts = {"input": sent, "cache_read": read, "output": received}
    return {name: {"tokenCount": count} for name, count in counts.items()}


def test_client_notices_are_shown(tmp_path: Path) -> None:
    lines = [
        *TALK,
        event(5, 4, "session.handoff", summary="it was begun in the cloud"),
        event(6, 5, "session.truncation", messagesRemovedDuringTruncation=3, performedBy="x"),
        event(7, 6, "session.error", message="no connection"),
    ]
    write_lines(tmp_path / "s/c/events.jsonl", lines)
    (session,) = open_archive(tmp_path / "s", tmp_path / "cache").sessions
    text = all_branches_json(session)
    assert "it was begun in the cloud" in text and "no connection" in text
    assert "3 messages removed from the context" in text


def test_a_session_whose_first_line_is_damaged(tmp_path: Path) -> None:
    write_lines(tmp_path / "session-state/c/events.jsonl", ["{torn", *TALK[1:]])
    (session,) = open_archive(tmp_path / "session-state", tmp_path / "cache").sessions
    assert (session.id, session.agent) == ("c", "copilot")
    assert prompts(session) == ["one", "two"]


def test_autopilot_prompts_are_not_typed(tmp_path: Path) -> None:
    go_on = event(5, 4, "user.message", content="go on", isAutopilotContinuation=True)
    write_lines(tmp_path / "s/c/events.jsonl", [*TALK, go_on])
    (session,) = open_archive(tmp_path / "s", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "two"]


def test_units_are_shown_as_units(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    runs = [event(5, 4, "session.shutdown", totalNanoAiu=1_500_000_000, **metrics(101))]
    runs += [event(6, 5, "session.resume")]
    runs += [event(7, 6, "session.shutdown", totalNanoAiu=2_000_000_000, **metrics(151))]
    write_lines(tmp_path / "s/c/events.jsonl", [*TALK, *runs])
    assert open_archive(tmp_path / "s", tmp_path / "cache").usage("agent").totals.total.units == 2
    assert run(["usage", "agent", "--root", str(tmp_path / "s")]) == 0
    assert "2.00 of Copilot's AI units" in capfd.readouterr().out
    assert run(["usage", "agent", "--json", "--root", str(tmp_path / "s")]) == 0
    assert json.loads(capfd.readouterr().out)["totals"]["agent_units"] == 2


def test_many_short_requests_do_not_use_the_long_context_price(tmp_path: Path) -> None:
    end = metrics(1_000_001)
    sums = end["modelMetrics"].pop("m") | {"requests": {"count": 20}}
    end["modelMetrics"]["claude-sonnet-4.5"] = sums
    write_lines(tmp_path / "s/c/events.jsonl", [*TALK, event(5, 4, "session.shutdown", **end)])
    total = open_archive(tmp_path / "s", tmp_path / "cache").usage("agent").totals.total
    assert total.tokens.total_input == 1_000_001 and total.responses == 20
    assert round(total.cost, 2) == 3.0
