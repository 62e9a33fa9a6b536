"""Gemini CLI: replayed messages, rewinds, checkpoints and sub-agents."""

import json
import os
from pathlib import Path
from typing import Any

from tests.sources.builders import (
    all_branches_json,
    branches,
    open_archive,
    preserved_texts,
    prompts,
    write_lines,
)

HEADER = {"sessionId": "g", "projectHash": "p", "kind": "main", "startTime": "2026-10-01T10:00:00Z"}


def make_message(number: int, role: str, text: str, tokens: int = 0) -> dict[str, Any]:
    time = f"2026-10-01T10:00:{number:02}.000Z"
    message = {"id": f"m{number}", "timestamp": time, "type": role, "content": text}
    names = {"input": tokens, "output": 1, "cached": 0, "thoughts": 1, "tool": 0, "total": tokens}
    return message | ({"tokens": names, "model": "m"} if tokens else {})


TALK = [
    make_message(1, "user", "one"),
    make_message(2, "gemini", "1", 10),
    make_message(3, "user", "two"),
]
TALK += [make_message(4, "gemini", "2", 20)]
PLACE = "logs/tmp/p/chats/session-2026-10-01T10-00-g.jsonl"


def test_repeated_message_counts_once(tmp_path: Path) -> None:
    lines = [HEADER, TALK[0], make_message(2, "gemini", ""), TALK[1], TALK[1]]
    write_lines(tmp_path / PLACE, lines)
    archive = open_archive(tmp_path / "logs", tmp_path / "cache")
    tokens = archive.usage("agent").totals.total.tokens
    assert (tokens.input, tokens.output) == (10, 2)
    assert prompts(archive.sessions[0]) == ["one"]


def test_rewind_leaves_a_branch(tmp_path: Path) -> None:
    lines = [
        HEADER,
        *TALK,
        {"$rewindTo": "m3"},
        make_message(5, "user", "three"),
        make_message(6, "gemini", "3"),
    ]
    write_lines(tmp_path / PLACE, lines)
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "three"]
    assert branches(session) == [["two"]]


def test_checkpoint_is_a_compaction(tmp_path: Path) -> None:
    new = [make_message(5, "user", "what happened so far"), make_message(6, "gemini", "yes")]
    lines = [HEADER, *TALK, {"$set": {"messages": new, "summary": "The shop"}}]
    write_lines(
        tmp_path / PLACE, [*lines, make_message(7, "user", "three"), make_message(8, "gemini", "3")]
    )
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "two", "three"]
    assert "what happened so far" in session.conversations.active.markdown()
    assert session.title == "The shop"


def test_json_and_jsonl_are_one_session(tmp_path: Path) -> None:
    path = tmp_path / PLACE
    path.parent.mkdir(parents=True)
    path.with_suffix(".json").write_text(json.dumps(HEADER | {"messages": TALK[:2]}))
    write_lines(path, [HEADER, *TALK])
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "two"]
    path.unlink()
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert prompts(session) == ["one"]


def test_sub_agent_is_in_its_sessions_folder(tmp_path: Path) -> None:
    call = {"id": "c", "name": "explore", "args": {}, "status": "success", "agentId": "a"}
    write_lines(tmp_path / PLACE, [HEADER, TALK[0], TALK[1] | {"toolCalls": [call]}])
    child = HEADER | {"sessionId": "a", "kind": "subagent"}
    write_lines(tmp_path / "logs/tmp/p/chats/g/a.jsonl", [child, make_message(5, "user", "look")])
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    (agent,) = session.conversations.agents
    assert [turn.prompt for turn in agent.turns if turn.prompt] == ["look"]


def test_directories_come_from_the_project_list(tmp_path: Path) -> None:
    write_lines(tmp_path / PLACE, [HEADER, *TALK])
    (tmp_path / "logs/projects.json").write_text('{"projects": {"/home/me/shop": "p"}}')
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert session.origin is not None and session.origin.cwd == "/home/me/shop"


def test_rewind_without_a_new_prompt_is_a_branch(tmp_path: Path) -> None:
    for name, left in (("m3", ["one"]), ("unknown", [])):
        write_lines(tmp_path / PLACE, [HEADER, *TALK, {"$rewindTo": name}])
        (session,) = open_archive(tmp_path / "logs", tmp_path / name).sessions
        assert prompts(session) == left


def test_message_may_return_after_a_rewind(tmp_path: Path) -> None:
    write_lines(
        tmp_path / PLACE,
        [HEADER, *TALK, {"$rewindTo": "m3"}, TALK[2], make_message(5, "gemini", "x", 5)],
    )
    archive = open_archive(tmp_path / "logs", tmp_path / "cache")
    assert prompts(archive.sessions[0]) == ["one", "two"]
    assert branches(archive.sessions[0]) == [["two"]]
    assert archive.usage("agent").totals.total.tokens.input == 35


def test_checkpoint_keeps_its_messages_in_context(tmp_path: Path) -> None:
    summary = make_message(5, "user", "the summary")
    checkpoint = {"$set": {"messages": [summary, TALK[2], TALK[3]]}}
    write_lines(tmp_path / PLACE, [HEADER, *TALK, checkpoint, make_message(6, "user", "three")])
    archive = open_archive(tmp_path / "logs", tmp_path / "cache")
    assert prompts(archive.sessions[0]) == ["one", "two", "three"]
    assert preserved_texts(archive) == ["two", "2"]


def test_shortened_output_is_also_shown_in_full(tmp_path: Path) -> None:
    def call(output: str) -> dict[str, Any]:
        response = {"functionResponse": {"id": "c", "response": {"output": output}}}
        made = {"id": "c", "name": "ls", "args": {}, "status": "success", "result": [response]}
        return make_message(2, "gemini", "", 10) | {"toolCalls": [made]}

    masked = {"$set": {"messages": [TALK[0], call("(shortened)")]}}
    write_lines(tmp_path / PLACE, [HEADER, TALK[0], call("a long output"), masked])
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    text = all_branches_json(session)
    assert "a long output" in text and "(shortened)" in text


def test_header_with_messages_and_damaged_header(tmp_path: Path) -> None:
    write_lines(tmp_path / PLACE, [HEADER | {"messages": TALK[:2]}, *TALK[2:]])
    write_lines(tmp_path / "logs/tmp/q/chats/session-2026-10-01T10-00-h.jsonl", ["{torn", *TALK])
    found = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert [prompts(session) for session in found] == [["one", "two"]] * 2


def test_jsonl_wins_over_the_converted_json(tmp_path: Path) -> None:
    path = write_lines(tmp_path / PLACE, [HEADER, *TALK])
    path.with_suffix(".json").write_text(json.dumps(HEADER | {"messages": TALK[:2]}))
    os.utime(path, (1, 1))
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "two"]


def test_silently_removed_messages_are_a_finding(tmp_path: Path) -> None:
    write_lines(tmp_path / PLACE, [HEADER, *TALK, {"$set": {"messages": TALK[2:]}}])
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert "2 messages removed from the context" in all_branches_json(session)
