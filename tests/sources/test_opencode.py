"""OpenCode: database rows or files, forks by copy, reverts, sub-agents and compactions."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from plait.sources.cache import account_for
from tests.sources.builders import (
    all_branches_json,
    branches,
    open_archive,
    preserved_texts,
    prompts,
)

TABLES = """
CREATE TABLE session (id, parent_id, directory, title, time_updated, revert);
CREATE TABLE message (id, session_id, time_created, data);
CREATE TABLE part (id, message_id, session_id, data);
CREATE TABLE session_message (id, session_id, type, seq, time_created, data);
"""
TOKENS = {"input": 10, "output": 2, "reasoning": 1, "cache": {"read": 4, "write": 0}}


class Store:
    """A database in the making."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.base = sqlite3.connect(folder / "opencode.db")
        self.base.executescript(TABLES)
        self.number = 0

    def session(self, id_: str, parent: str | None = None, revert: Any = None) -> None:
        row = (
            id_,
            parent,
            "/home/me",
            f"Title of {id_}",
            5,
            json.dumps(revert) if revert else None,
        )
        self.base.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", row)

    def message(self, session: str, time: int, role: str, *parts: Any, **fields: Any) -> str:
        self.number += 1
        id_ = f"msg_{self.number:04}"
        data = {"role": role, "modelID": "m", "time": {"created": time}} | fields
        row = (id_, session, time, json.dumps(data))
        self.base.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
        for place, part in enumerate(parts):
            values = (f"prt_{self.number:04}{place}", id_, session, json.dumps(part))
            self.base.execute("INSERT INTO part VALUES (?, ?, ?, ?)", values)
        return id_

    def turn(self, session: str, time: int, prompt: str, answer: str) -> str:
        first = self.message(session, time, "user", {"type": "text", "text": prompt})
        end = {"type": "step-finish", "tokens": TOKENS, "cost": 0.5}
        self.message(session, time + 1, "assistant", {"type": "text", "text": answer}, end)
        return first


def test_fork_by_copy_is_billed_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        for session in ("ses_1", "ses_2"):
            store.session(session)
            store.turn(session, 1_790_000_000_000, "one", "1")
        store.turn("ses_2", 1_790_000_009_000, "two", "2")
        base.commit()
    archive = open_archive(tmp_path / "opencode", tmp_path / "cache")
    found = {session.id: prompts(session) for session in archive.sessions}
    assert found == {"ses_1": ["one"], "ses_2": ["one", "two"]}
    tokens = archive.usage("agent").totals.total.tokens
    assert (tokens.input, tokens.cache_read, tokens.output) == (20, 8, 6)


def test_revert_is_the_resume_point(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        store.turn("ses_1", 1_790_000_000_000, "one", "1")
        left = store.turn("ses_1", 1_790_000_009_000, "two", "2")
        store.session("ses_1", revert={"messageID": left})
        base.commit()
    (session,) = open_archive(tmp_path / "opencode", tmp_path / "cache").sessions
    assert prompts(session) == ["one"]
    assert branches(session) == [["two"]]


def test_sub_agent_belongs_to_its_call(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        store.session("ses_1")
        store.session("ses_2", parent="ses_1")
        store.message("ses_1", 1_790_000_000_000, "user", {"type": "text", "text": "ask"})
        state = {"status": "completed", "input": {}, "output": "seen"}
        state |= {"metadata": {"sessionId": "ses_2"}}
        call = {"type": "tool", "tool": "task", "callID": "c", "state": state}
        store.message("ses_1", 1_790_000_001_000, "assistant", call)
        store.turn("ses_2", 1_790_000_000_500, "look", "seen")
        base.commit()
    (session,) = open_archive(tmp_path / "opencode", tmp_path / "cache").sessions
    (agent,) = session.conversations.agents
    assert [turn.prompt for turn in agent.turns if turn.prompt] == ["look"]


def test_only_a_finished_compaction_counts(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        store.session("ses_1")
        store.turn("ses_1", 1_790_000_000_000, "one", "1")
        text = {"type": "text", "text": "so far"}
        failed = {"name": "APIError", "data": {"message": "too busy"}}
        store.message("ses_1", 1_790_000_001_000, "assistant", text, summary=True, error=failed)
        store.message("ses_1", 1_790_000_002_000, "assistant", text, summary=True, finish="stop")
        store.turn("ses_1", 1_790_000_003_000, "two", "2")
        base.commit()
    archive = open_archive(tmp_path / "opencode", tmp_path / "cache")
    (session,) = archive.sessions
    assert prompts(session) == ["one", "two"]
    assert archive.graph().account.rungs == {"compaction": 1}


def test_files_before_1_2_are_used_without_a_database_session(tmp_path: Path) -> None:
    folder = tmp_path / "opencode"
    for session in ("ses_1", "ses_2"):
        message = {"id": f"msg_{session}", "role": "user", "time": {"created": 1_790_000_000_000}}
        part = {"id": "prt_1", "type": "text", "text": f"{session} as files"}
        info = {"id": session, "title": "t", "time": {"updated": 5}, "directory": "/home/me"}
        for place, value in (
            (f"session/p/{session}", info),
            (f"message/{session}/msg_{session}", message),
            (f"part/msg_{session}/prt_1", part),
        ):
            path = folder / "storage" / f"{place}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value))
    store = Store(folder)
    with closing(store.base) as base:
        store.session("ses_1")
        store.turn("ses_1", 1_790_000_000_000, "as a row", "1")
        base.commit()
    found = open_archive(folder, tmp_path / "cache").sessions
    assert {session.id: prompts(session) for session in found} == {
        "ses_1": ["as a row"],
        "ses_2": ["ses_2 as files"],
    }


def test_messages_of_version_2(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        store.session("ses_1")
        tool: dict[str, Any] = {"type": "tool", "id": "c", "name": "bash"}
        tool |= {"state": {"status": "completed", "input": {}, "content": [{"text": "a file"}]}}
        rows: list[tuple[str, Any]] = [
            ("user", {"text": "one"}),
            ("assistant", {"content": [{"type": "text", "text": "1"}, tool], "tokens": TOKENS}),
            ("compaction", {"reason": "manual", "summary": "so far"}),
            ("user", {"text": "two"}),
        ]
        for seq, (kind, data) in enumerate(rows):
            row = (f"msg_{seq}", "ses_1", kind, seq, 1_790_000_000_000 + seq, json.dumps(data))
            base.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?)", row)
        base.commit()
    archive = open_archive(tmp_path / "opencode", tmp_path / "cache")
    (session,) = archive.sessions
    assert prompts(session) == ["one", "two"]
    text = session.conversations.active.markdown()
    assert "so far" in text and "a file" in text
    assert archive.usage("agent").totals.total.tokens.output == 3


def test_revert_may_begin_within_a_message(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        store.turn("ses_1", 1_790_000_000_000, "one", "1")
        parts = [{"type": "text", "text": text} for text in ("kept", "left")]
        message = store.message("ses_1", 1_790_000_009_000, "user", *parts)
        (_, part) = base.execute("SELECT id FROM part WHERE message_id = ?", (message,)).fetchall()
        store.session("ses_1", revert={"messageID": message, "partID": part[0]})
        base.commit()
    (session,) = open_archive(tmp_path / "opencode", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "kept"]


def test_compaction_keeps_its_tail(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        store.session("ses_1")
        store.turn("ses_1", 1_790_000_000_000, "one", "1")
        tail = store.turn("ses_1", 1_790_000_001_000, "two", "2")
        packing = {"type": "compaction", "auto": True, "tail_start_id": tail}
        requested = store.message("ses_1", 1_790_000_002_000, "user", packing)
        text = {"type": "text", "text": "so far"}
        more = {"summary": True, "finish": "stop", "parentID": requested}
        store.message("ses_1", 1_790_000_003_000, "assistant", text, **more)
        store.turn("ses_1", 1_790_000_004_000, "three", "3")
        base.commit()
    archive = open_archive(tmp_path / "opencode", tmp_path / "cache")
    assert prompts(archive.sessions[0]) == ["one", "two", "three"]
    assert preserved_texts(archive)[:2] == ["two", "2"]


def test_all_kinds_of_parts_are_shown(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        store.session("ses_1")
        work = {"type": "subtask", "prompt": "look into it", "agent": "explore"}
        store.message("ses_1", 1_790_000_000_000, "user", {"type": "text", "text": "one"}, work)
        retry = {"type": "retry", "attempt": 1, "error": {"data": {"message": "too busy"}}}
        store.message("ses_1", 1_790_000_001_000, "assistant", retry, {"type": "text", "text": "1"})
        base.commit()
    (session,) = open_archive(tmp_path / "opencode", tmp_path / "cache").sessions
    assert "look into it" in all_branches_json(session) and "too busy" in all_branches_json(session)


def test_two_agents_answering_in_one_millisecond(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        store.session("ses_1")
        for number in (2, 3):
            store.session(f"ses_{number}", parent="ses_1")
            step = {"type": "step-finish", "tokens": TOKENS | {"output": number}}
            store.message(f"ses_{number}", 1_790_000_001_000, "assistant", step, agent=f"a{number}")
        base.commit()
    archive = open_archive(tmp_path / "opencode", tmp_path / "cache")
    archive_tokens = archive.usage("agent").totals.total
    assert archive_tokens.responses == 2


def test_database_in_a_read_only_folder(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        base.execute("PRAGMA journal_mode = WAL")
        store.session("ses_1")
        store.turn("ses_1", 1_790_000_000_000, "one", "1")
        base.commit()
    folder = tmp_path / "opencode"
    (folder / "opencode.db").chmod(0o400)
    folder.chmod(0o500)
    (session,) = open_archive(folder, tmp_path / "cache").sessions
    folder.chmod(0o700)
    assert prompts(session) == ["one"]


def test_locked_database_is_reported(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        store.session("ses_1")
        base.commit()
        base.execute("BEGIN EXCLUSIVE")
        archive = open_archive(tmp_path / "opencode", tmp_path / "cache")
        assert archive.discovery.unread == (tmp_path / "opencode/opencode.db",)


def test_session_size_is_its_share_of_the_database(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        for session, turns in (("ses_1", 1), ("ses_2", 3)):
            store.session(session)
            for number in range(turns):
                store.turn(session, 1_790_000_000_000 + number, "one", "1")
        base.commit()
    archive = open_archive(tmp_path / "opencode", tmp_path / "cache")
    small, large = sorted(file.size for file in archive.files)
    full = (tmp_path / "opencode/opencode.db").stat().st_size
    assert small * 3 == large and small + large <= full


def test_a_session_with_rows_of_both_versions(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        base.execute(
            "CREATE TABLE session_input (id, session_id, prompt, admitted_seq, promoted_seq)"
        )
        store.session("ses_1")
        known = store.turn("ses_1", 1_790_000_000_000, "one", "1")
        rows: list[tuple[str, str, dict[str, Any]]] = [
            (known, "user", {"text": "one"}),
            ("msg_b", "user", {"text": "two"}),
            ("msg_c", "assistant", {"content": [{"type": "text", "text": "2"}], "tokens": TOKENS}),
        ]
        for seq, (id_, kind, data) in enumerate(rows):
            row = (id_, "ses_1", kind, seq, 1_790_000_009_000 + seq, json.dumps(data))
            base.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?)", row)
        base.execute("INSERT INTO session_input VALUES ('i', 'ses_1', 'and three', 4, NULL)")
        base.commit()
    archive = open_archive(tmp_path / "opencode", tmp_path / "cache")
    (session,) = archive.sessions
    assert prompts(session) == ["one", "two"]
    assert archive.usage("agent").totals.total.tokens.output == 6
    notes = [json.loads(line) for line in session.path.read_bytes().splitlines()]
    kinds = [note["kind"] for note in notes if note["type"] == "source-note"]
    assert kinds.count("session_message") == 1 and kinds.count("session_input") == 1
    assert "and three" in all_branches_json(session)


def test_every_row_is_accounted_for(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    with closing(store.base) as base:
        store.session("ses_1")
        store.turn("ses_1", 1_790_000_000_000, "one", "1")
        row = ("prt_x", "msg_gone", "ses_1", json.dumps({"type": "text", "text": "left alone"}))
        base.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)
        base.commit()
    archive = open_archive(tmp_path / "opencode", tmp_path / "cache")
    (session,) = archive.sessions
    assert session.origin is not None
    session.conversations.active.markdown()
    assert account_for(session.origin, session.path) == (7, 7)
    assert b"left alone" in session.path.read_bytes()
