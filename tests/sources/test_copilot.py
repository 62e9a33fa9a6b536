"""Copilot CLI: events and their parents, rewinds, sub-agents in line, and where tokens come from."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.sources.builders import branches, open_archive, prompts, write_lines


def event(number: int, parent: int | None, name: str, **data: Any) -> dict[str, Any]:
    time = f"2026-10-01T10:00:{number:02}.000Z"
    links = {"id": f"e{number}", "parentId": None if parent is None else f"e{parent}"}
    return {"type": name, "timestamp": time, "data": data} | links


def metrics(tokens: int) -> dict[str, Any]:
    usage = {"inputTokens": tokens, "outputTokens": 2, "cacheReadTokens": 1, "cacheWriteTokens": 0}
    return {"modelMetrics": {"m": {"usage": usage}}}


START = event(0, None, "session.start", sessionId="c", context={"cwd": "/home/me"})
TALK = [
    START,
    event(1, 0, "user.message", content="one"),
    event(2, 1, "assistant.message", messageId="m1", content="1", model="m"),
    event(3, 2, "user.message", content="two"),
    event(4, 3, "assistant.message", messageId="m2", content="2", model="m"),
]


def test_an_event_that_points_back_begins_a_branch(tmp_path: Path) -> None:
    rewind = event(5, 4, "session.snapshot_rewind", upToEventId="e3", eventIds=["e3", "e4"])
    lines = [*TALK, rewind, event(6, 2, "user.message", content="three")]
    write_lines(tmp_path / "s/c/events.jsonl", lines)
    (session,) = open_archive(tmp_path / "s", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "three"]
    assert branches(session) == [["two"]]


def test_a_sub_agent_stands_in_the_same_file(tmp_path: Path) -> None:
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


def test_a_resumed_session_contains_what_was_counted_before(tmp_path: Path) -> None:
    lines = [*TALK, event(5, 4, "session.shutdown", **metrics(101))]
    lines += [event(6, 5, "session.resume"), event(7, 6, "session.shutdown", **metrics(151))]
    write_lines(tmp_path / "s/c/events.jsonl", lines)
    archive = open_archive(tmp_path / "s", tmp_path / "cache")
    assert archive.usage("agent").totals.total.tokens.total_input == 151


def test_the_database_has_tokens_request_by_request(tmp_path: Path) -> None:
    lines = [*TALK, event(5, 4, "session.shutdown", **metrics(999))]
    write_lines(tmp_path / "copilot/session-state/c/events.jsonl", lines)
    with closing(sqlite3.connect(tmp_path / "copilot/session-store.db")) as base:
        base.execute(
            "CREATE TABLE assistant_usage_events (session_id, input_tokens, output_tokens)"
        )
        rows = [("c", 10, 1), ("c", 20, 2)]
        base.executemany("INSERT INTO assistant_usage_events VALUES (?, ?, ?)", rows)
        base.commit()
    archive = open_archive(tmp_path / "copilot", tmp_path / "cache")
    tokens = archive.usage("agent").totals.total.tokens
    assert (tokens.input, tokens.output) == (30, 3)


def test_titles_lie_beside_the_events_and_old_files_are_flat(tmp_path: Path) -> None:
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
