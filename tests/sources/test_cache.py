"""The translation cache: bounded, refreshed on change, and used for backups."""

import os
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from plait import Archive
from plait.archive import Session
from plait.sources.cache import VERSION, TranslationCache, find_sources
from tests.sources.builders import CodexLog, branches, open_archive, prompts, write_lines
from tests.sources.test_gemini import HEADER, TALK
from tests.sources.test_opencode import Store
from tests.sources.test_qwen import record


def make_logs(folder: Path, count: int) -> list[Path]:
    """Write some threads of Codex."""
    return [
        CodexLog(number).prompt(f"prompt {number}").answer("x" * 2000).write(folder)
        for number in range(count)
    ]


def read_one_after_the_other(folder: Path, paths: list[Path], most: int) -> TranslationCache:
    """Translate logs, each by a process of its own."""
    for path in paths:
        translations = TranslationCache(folder, most)
        (session,) = find_sources([path], translations).sessions
        assert translations.fetch(session.files[0][0].path)
    return translations


def sizes(folder: Path) -> list[int]:
    """Return the sizes of all translations."""
    return [path.stat().st_size for path in (folder / VERSION).rglob("*.jsonl")]


def test_translation_cache_is_bounded(tmp_path: Path) -> None:
    logs = make_logs(tmp_path, 6)
    read_one_after_the_other(tmp_path / "all", logs, 1 << 30)
    assert len(sizes(tmp_path / "all")) == 6
    most = 3 * max(sizes(tmp_path / "all"))
    read_one_after_the_other(tmp_path / "some", logs, most)
    assert 0 < sum(sizes(tmp_path / "some")) <= most
    left = {path.stem for path in (tmp_path / "some").rglob("*.jsonl")}
    assert CodexLog(5).id in left and CodexLog(0).id not in left


def test_translations_in_use_are_not_evicted(tmp_path: Path) -> None:
    logs = make_logs(tmp_path, 4)
    translations = TranslationCache(tmp_path / "cache", 1)
    found = find_sources(logs, translations).sessions
    for session in found:
        translations.fetch(session.files[0][0].path)
    assert len(sizes(tmp_path / "cache")) == 4


def test_translations_of_an_earlier_form_are_deleted(tmp_path: Path) -> None:
    old = tmp_path / "cache/0/x/y.jsonl"
    old.parent.mkdir(parents=True)
    old.write_text("{}")
    read_one_after_the_other(tmp_path / "cache", make_logs(tmp_path, 1), 1 << 30)
    assert not old.exists()


def test_evicted_log_is_translated_again(tmp_path: Path) -> None:
    make_logs(tmp_path, 1)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    (session,) = archive.sessions
    assert prompts(session) == ["prompt 0"]
    session.path.unlink()
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["prompt 0"]


def open_with_store(tmp_path: Path) -> Archive:
    """Return the archive of Codex and Gemini, with a store."""
    roots = [tmp_path / ".codex", tmp_path / ".gemini"]
    return Archive(roots, translations=tmp_path / "cache", store=tmp_path / "store")


def test_backup_only_session_is_translated(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1").prompt("two").answer("2")
    log.add("event_msg", type="thread_rolled_back", num_turns=1)
    path = log.prompt("three").answer("3").write(tmp_path)
    chat = write_lines(
        tmp_path / ".gemini/tmp/p/chats/session-2026-10-01T10-00-g.jsonl", [HEADER, *TALK]
    )
    os.utime(path, (time.time() - 9000, time.time() - 9000))
    archive = open_with_store(tmp_path)
    archive.keep.run()
    before = {session.id: prompts(session) for session in archive.sessions}
    again = open_with_store(tmp_path)
    assert {session.id for session in again.sessions} == {log.id, "g"}
    assert not any(session.is_kept for session in again.sessions)
    path.unlink()
    chat.unlink()
    archive = open_with_store(tmp_path)
    assert {session.id: prompts(session) for session in archive.sessions} == before
    assert {session.agent for session in archive.sessions} == {"codex", "gemini"}
    assert all(session.is_kept for session in archive.sessions)
    assert branches(archive.session(log.id)) == [["two"]]
    assert archive.usage("agent").totals.total.responses == 5


def render(session: Session) -> list[str]:
    """Return all conversations of a session as Markdown."""
    return [conversation.markdown() for conversation in session.conversations]


def test_sessions_of_a_database_are_backed_up_without_it(tmp_path: Path) -> None:
    folder = tmp_path / "opencode"
    store = Store(folder)
    with closing(store.base) as base:
        base.execute("CREATE TABLE credential (token)")
        base.execute("INSERT INTO credential VALUES ('s3cret-token')")
        store.session("ses_1")
        store.session("ses_2", parent="ses_1")
        state = {"status": "completed", "input": {}, "output": "seen"}
        state |= {"metadata": {"sessionId": "ses_2"}}
        call = {"type": "tool", "tool": "task", "callID": "c", "state": state}
        store.turn("ses_1", 1_790_000_000_000, "one", "1")
        store.message("ses_1", 1_790_000_001_000, "assistant", call)
        store.turn("ses_2", 1_790_000_001_500, "look", "seen")
        base.commit()

    def read() -> Archive:
        return Archive([folder], translations=tmp_path / "cache", store=tmp_path / "store")

    archive = read()
    before = [render(session) for session in archive.sessions]
    tokens = archive.usage("agent").totals.total.tokens
    done = archive.keep.run()
    assert (done.files, done.sessions) == (2, ["ses_1"])
    assert not read().keep.plan().sessions
    assert (read().keep.status().kept, read().keep.status().gone) == (1, 0)
    assert not any(session.is_kept for session in read().sessions)
    exported = b"".join(path.read_bytes() for path in (tmp_path / "cache").rglob("*.json"))
    assert b"seen" in exported and b"s3cret-token" not in exported
    (folder / "opencode.db").unlink()
    archive = read()
    (session,) = archive.sessions
    assert session.is_kept and session.agent == "opencode"
    assert [render(session)] == before
    assert archive.usage("agent").totals.total.tokens == tokens
    archive.keep.restore(session)
    (session,) = read().sessions
    assert not session.is_kept and [render(session)] == before


def test_a_sub_agent_of_qwen_is_backed_up(tmp_path: Path) -> None:
    project = tmp_path / ".qwen/projects/p"
    agent: dict[str, Any] = {
        "uuid": "a1",
        "parentUuid": None,
        "sessionId": "qw",
        "type": "user",
        "cwd": "/home/me",
    }
    agent |= {"isSidechain": True, "agentId": "x1", "timestamp": "2026-10-01T10:00:00.000Z"}
    agent["message"] = {"parts": [{"text": "look"}]}
    first = record(1, None, "user", "one", sessionId="qw")
    paths = [
        write_lines(project / "chats/qw.jsonl", [first]),
        write_lines(project / "subagents/qw/agent-x1.jsonl", [agent]),
        write_lines(project / "subagents/qw/agent-x1.meta.json", [{"agentId": "x1"}]),
    ]

    def read() -> Session:
        roots = [tmp_path / ".qwen"]
        archive = Archive(roots, translations=tmp_path / "cache", store=tmp_path / "store")
        archive.keep.run()
        (session,) = archive.sessions
        return session

    before = render(read())
    assert "look" in "".join(before)
    for path in paths:
        path.unlink()
    session = read()
    assert session.is_kept and render(session) == before
