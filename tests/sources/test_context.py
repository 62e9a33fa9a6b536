"""What other agents send when they resume a session; `make conformance-agents` asks the agents."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from plait.cli.app import run
from plait.errors import UserError
from tests.conftest import SHARED
from tests.sources.builders import open_archive, write_lines
from tests.sources.contexts import (
    construct_codex,
    construct_gemini,
    construct_opencode,
    construct_pi,
    construct_qwen,
    export_opencode,
    shape_context,
)
from tests.sources.lines import LINES

EXPECTED: dict[str, dict[str, str]] = {
    "codex": {
        "plain": "user: one | assistant: 1 | user: two | assistant: 2",
        "a rollback": "user: one | assistant: 1",
        "a rollback of everything": "user: three | assistant: 3",
        "two rollbacks": "",
        "a rollback with what Codex added": "user: one | assistant: 1 | user: two | assistant: 2",
        "a compaction": "user: one | user: so far | user: three | assistant: 3",
        "a rollback after a compaction": "user: one | user: so far | user: 4 | assistant: 5",
        "a compaction without a list": "user: one | user: two | user: so far | user: three | assistant: 3",
        "a call without a result": 'user: one | assistant: 1 | user: two | assistant: 2 | call shell {"command": ["ls"]} | result: aborted',
        "calls": 'user: one | assistant: 1 | user: two | assistant: 2 | call shell {"command": ["ls"]} | result: a\nb | call apply_patch {"input": "x"} | result: done',
        "a rollback to a compaction": "user: one | user: so far",
        "a rollback of a compaction": "user: one | assistant: 1 | user: two | assistant: 2 | user: four | assistant: 5",
    },
    "gemini": {
        "plain": "user: one | assistant: 1 | user: two | assistant: 2",
        "a rewind": "user: one | assistant: 1 | user: three | assistant: 3",
        "a rewind at the end": "user: one | assistant: 1",
        "a rewind to nothing known": "user: two | assistant: 2",
        "a compression": "user: <state_snapshot>so far | assistant: ok | user: three | assistant: 3",
        "a result": 'user: one | call read_file {"path": "x"} | result: a | assistant: done | user: two | assistant: 2',
        "a message that grew": "user: one | assistant: 1 | user: two | assistant: 2",
        "thoughts": "user: one | assistant: 1 | user: two | assistant: 2",
        "shown alone": "user: one | assistant: 1 | user: two | assistant: 2",
    },
    "opencode": {
        "plain": "user: one | assistant: 1 | user: two | assistant: 2",
        "added by the agent": "user: one | assistant: 1 | user: two | user: added",
        "shown alone": "user: one | assistant: 1 | user: two",
        "a result": 'user: one | call read {"path": "x"} | result: a | user: two | assistant: 2',
        "a pruned result": 'user: one | call read {"path": "x"} | result: [Old tool result content cleared] | user: two | assistant: 2',
        "a failed call": 'user: one | call read {"path": "x"} | result: no file | user: two | assistant: 2',
        "a call cut off": 'user: one | call read {"path": "x"} | result: [Tool execution was interrupted] | user: two | assistant: 2',
        "two steps": 'user: one | assistant: first | call read {"path": "x"} | result: a | assistant: 1 | user: two | assistant: 2',
        "a subtask": "user: The following tool was executed by the user | assistant: 1 | user: two | assistant: 2",
        "a compaction": "user: What did we do so far? | assistant: so far | user: two | assistant: 2",
        "a compaction with a tail": "user: What did we do so far? | assistant: so far | user: two | assistant: 2 | user: three | assistant: 3",
        "two compactions": "user: What did we do so far? | assistant: so far | user: three",
        "a revert": "user: one | assistant: 1",
        "a revert to an answer": "user: one | assistant: 1 | user: two",
    },
    "pi": {
        "branch": "user: one | assistant: 1 | user: The following is a summary of a branch that this conversation came back from:\n\n<summary>\nleft</summary> | user: three | assistant: 3",
        "left-alone": "user: one | assistant: 1 | user: The following is a summary of a branch that this conversation came back from:\n\n<summary>\nleft</summary>",
        "label": "user: one | assistant: 1",
        "roots": "user: anew | assistant: 3",
        "kept": "user: The conversation history before this point was compacted into the following summary:\n\n<summary>\nso far\n</summary> | user: two | assistant: 2 | user: three | assistant: 3",
        "none-kept": "user: The conversation history before this point was compacted into the following summary:\n\n<summary>\nso far\n</summary> | user: three",
        "other-branch": "user: one | assistant: 1 | user: elsewhere | assistant: 4",
        "twice": "user: The conversation history before this point was compacted into the following summary:\n\n<summary>\n2\n</summary> | user: three | assistant: 3",
        "compaction-with-system": "system: rules\n\none | user: The conversation history before this point was compacted into the following summary:\n\n<summary>\nso far\n</summary> | user: two | assistant: 2",
        "removed": "user: one | user: two | assistant: 2 | user: three",
        "replaced": "user: one | assistant: 1 | user: instead | assistant: 2 | user: three",
        "edit-on-another-branch": "user: one | assistant: 1 | user: two | assistant: 2 | user: three",
        "shell": "user: one | assistant: 1 | user: two | assistant: 2 | user: Ran `ls`\n```\na\n```\n\nCommand exited with code 2 | user: three",
        "hidden-shell": "user: one | assistant: 1 | user: two | assistant: 2 | user: three",
        "no-result": 'user: one | assistant: 1 | user: two | assistant: 2 | call read {"path": "x"} | result: No result provided | user: three',
        "aborted": "user: one | assistant: 1 | user: two | assistant: 2 | user: three",
        "system": "user: one | assistant: 1 | user: two | assistant: 2 | system: rules\n\none | user: three",
        "custom": "user: one | assistant: 1 | user: two | assistant: 2 | user: from an extension | user: three",
        "dangling": "user: three | assistant: 3",
        "version-1": "user: The conversation history before this point was compacted into the following summary:\n\n<summary>\nso far\n</summary> | user: two | assistant: 2 | user: three",
    },
    "qwen": {
        "plain": "user: one | assistant: 1 | user: two | assistant: 2",
        "a rewind": "user: one | assistant: 1 | user: three | assistant: 3",
        "a rewind at the end": "user: one | assistant: 1",
        "a compression": "user: so far | assistant: ok | user: three | assistant: 3",
        "a compression at the end": "user: so far | assistant: ok",
        "a result": 'user: one | assistant: look | call read_file {"path": "x"} | result: a | assistant: done',
        "steered": 'user: one | assistant: look | call read_file {"path": "x"} | result: a | user: and this | assistant: done',
        "a record in parts": "user: one | assistant: a | assistant: b | user: two | assistant: 2",
        "a command": "user: one | assistant: 1 | user: 3",
        "a title": "user: one | assistant: 1 | user: two | assistant: 2",
    },
}
"""For each case the texts, calls and results that are sent."""


def write_case(agent: str, case: str, folder: Path) -> None:
    """Write a session of an agent."""
    match agent:
        case "pi":
            write_lines(folder / "s.jsonl", construct_pi()[case])
        case "codex":
            construct_codex()[case].write(folder)
        case "qwen":
            lines = [
                line | {"sessionId": "s", "cwd": "/home/me"} for line in construct_qwen()[case]
            ]
            write_lines(folder / ".qwen/projects/p/chats/s.jsonl", lines)
        case "gemini":
            name = ".gemini/tmp/p/chats/session-2026-10-01T10-00-s.jsonl"
            write_lines(folder / name, construct_gemini()[case])
        case "opencode":
            write_database(folder / "opencode", case)


def write_database(folder: Path, case: str) -> None:
    """Write a session into a database of OpenCode."""
    revert, messages = construct_opencode()[case]
    exported = export_opencode("ses_1", "/home/me", messages)
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "opencode.db")) as base:
        base.executescript(
            """
            CREATE TABLE session (id, directory, title, time_updated, revert);
            CREATE TABLE message (id, session_id, time_created, data);
            CREATE TABLE part (id, message_id, session_id, data);
            """
        )
        point = json.dumps(revert).replace("SESSION", "1") if revert else None
        row = ("ses_1", "/home/me", "t", 5, point)
        base.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", row)
        for message in exported["messages"]:
            info = message["info"]
            created = info["time"]["created"]
            base.execute(
                "INSERT INTO message VALUES (?, ?, ?, ?)",
                (info["id"], "ses_1", created, json.dumps(info)),
            )
            for part in message["parts"]:
                values = (part["id"], info["id"], "ses_1", json.dumps(part))
                base.execute("INSERT INTO part VALUES (?, ?, ?, ?)", values)
        base.commit()


CASES = [(agent, case) for agent, cases in EXPECTED.items() for case in cases]


@pytest.mark.parametrize(("agent", "case"), CASES)
def test_what_is_sent(agent: str, case: str, tmp_path: Path) -> None:
    write_case(agent, case, tmp_path / "logs")
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert " | ".join(shape_context(session)) == EXPECTED[agent][case]


def test_every_case_is_expected() -> None:
    made: dict[str, dict[str, Any]] = {
        "codex": construct_codex(),
        "gemini": construct_gemini(),
        "opencode": construct_opencode(),
        "pi": construct_pi(),
        "qwen": construct_qwen(),
    }
    assert {agent: [*cases] for agent, cases in made.items()} == {
        agent: [*cases] for agent, cases in EXPECTED.items()
    }


def test_records_are_sent_or_left_out_with_a_reason(tmp_path: Path) -> None:
    write_case("pi", "branch", tmp_path / "logs")
    archive = open_archive(tmp_path / "logs", tmp_path / "cache")
    (session,) = archive.sessions
    context = archive.context(session)
    assert len(context.chain) == 5
    reasons = [str(item.reason) for item in context.left_out]
    assert reasons == ["abandoned branch", "abandoned branch", "system entry"]


def test_an_unknown_rule_is_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    name, lines = LINES["copilot"]
    write_lines(tmp_path / "logs" / name, lines)
    archive = open_archive(tmp_path / "logs", tmp_path / "cache")
    (session,) = archive.sessions
    with pytest.raises(UserError, match="what copilot sends when it resumes this session"):
        archive.context(session)
    assert run(["context", "latest", "--root", str(tmp_path / "logs")]) == 2
    assert "Plait does not know what" in capfd.readouterr().err


@pytest.mark.skipif(not (SHARED / "agents").is_dir(), reason="needs recordings")
@pytest.mark.parametrize("folder", ["codex", "pi", "gemini-cli"])
def test_what_is_sent_of_recordings_stands_in_them(folder: str, tmp_path: Path) -> None:
    archive = open_archive(SHARED / "agents" / folder, tmp_path / "cache")
    for session in archive.sessions:
        context = archive.context(session)
        known = [record.uuid for record in archive.open(session).records if record.uuid]
        left = [item.uuid for item in context.left_out]
        assert sorted([*context.chain, *left]) == sorted(known)
