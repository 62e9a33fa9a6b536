"""Sending progress: the file, its writers, and the state of other tools."""

import json
import multiprocessing
from pathlib import Path

from plait.trace.state import (
    STATE_FILE,
    Progress,
    SessionJournal,
    SessionState,
    import_states,
    is_same_log,
    parse_states,
    read_mark,
    read_states,
    save_state,
)

STATE = SessionState(12, 3, "2026-11-15T10:00:00Z", "/logs/s1.jsonl")


# checklist: T41
def test_state_has_the_documented_form(tmp_path: Path) -> None:
    save_state(tmp_path, "s1", STATE)
    written = json.loads((tmp_path / STATE_FILE).read_text(encoding="utf-8"))
    assert list(written) == ["s1"]
    first_three = {"last_line": 12, "turn_count": 3, "updated": "2026-11-15T10:00:00Z"}
    assert dict(list(written["s1"].items())[:3]) == first_three
    assert read_states(tmp_path) == {"s1": STATE}


def test_saving_one_session_keeps_the_others(tmp_path: Path) -> None:
    save_state(tmp_path, "s1", STATE)
    save_state(tmp_path, "s2", SessionState(1))
    assert read_states(tmp_path) == {"s1": STATE, "s2": SessionState(1)}


def test_without_state_nothing_was_sent(tmp_path: Path) -> None:
    assert read_states(tmp_path / "none") == {}


def test_an_unreadable_state_counts_as_none() -> None:
    for text in ["", "{", "[]", "null", '{"s1": 3}', '{"s1": {"last_line": "x"}}']:
        assert parse_states(text.encode()) == {}


def write_many(folder: Path, writer: int) -> None:
    """Note twenty sessions."""
    for number in range(20):
        save_state(folder, f"{writer}-{number}", SessionState(number))


def test_several_processes_may_write_at_once(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=write_many, args=(tmp_path, one)) for one in range(3)]
    for one in writers:
        one.start()
    for one in writers:
        one.join(60)
    assert len(read_states(tmp_path)) == 60


# checklist: T42
def test_state_of_another_tool_is_imported_once(tmp_path: Path) -> None:
    theirs = {
        "s1": {"last_line": 40, "turn_count": 9, "updated": "2025-01-15T10:00:00Z"},
        "s2": {"last_line": 4.0, "turn_count": 1, "updated": "2025-01-15T10:00:00Z", "more": 1},
        "odd": "?",
    }
    save_state(tmp_path, "s1", STATE)
    assert import_states(tmp_path, json.dumps(theirs).encode()) == 1
    assert read_states(tmp_path) == {
        "s1": STATE,
        "s2": SessionState(4, 1, "2025-01-15T10:00:00Z"),
    }
    assert import_states(tmp_path, json.dumps(theirs).encode()) == 0


def test_journal_keeps_ids(tmp_path: Path) -> None:
    journal = SessionJournal(tmp_path, "s1")
    assert journal.read_sent() == set()
    journal.add_sent(["00000000000000aa", "00000000000000bb"])
    journal.add_sent([])
    journal.add_sent(["00000000000000cc"])
    assert journal.read_sent() == {"00000000000000aa", "00000000000000bb", "00000000000000cc"}


def test_a_truncated_id_is_ignored(tmp_path: Path) -> None:
    journal = SessionJournal(tmp_path, "s1")
    journal.add_sent(["00000000000000aa"])
    with (tmp_path / "sessions" / "s1.sent").open("ab") as file:
        file.write(b"\x01\x02\x03")
    assert journal.read_sent() == {"00000000000000aa"}
    journal.add_sent(["00000000000000bb"])
    assert journal.read_sent() == {"00000000000000aa", "00000000000000bb"}


def test_stopped_agents_are_saved(tmp_path: Path) -> None:
    journal = SessionJournal(tmp_path, "s1")
    assert journal.read_stopped() == set()
    journal.add_stopped("a1")
    journal.add_stopped("a2")
    assert journal.read_stopped() == {"a1", "a2"}


def test_files_of_a_session_with_an_unusual_id_stay_within_the_folder(tmp_path: Path) -> None:
    for session in ("../../etc/passwd", "", "a/b", "x" * 300, "ü", ".hidden"):
        name = SessionJournal(tmp_path, session).name
        assert len(name) == 32
        assert name.isalnum()


def progress_at(path: Path, offset: int) -> Progress:
    return Progress(str(path), 1, 1, offset, read_mark(path, offset), 1, [], {}, [], b"")


def test_progress_continues_in_a_grown_log_and_not_in_a_rewritten_one(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(b"one\ntwo\nthree\n")
    progress = progress_at(path, 8)
    assert is_same_log(progress, path)
    path.write_bytes(b"one\ntwo\nthree\nfour\n")
    assert is_same_log(progress, path)
    path.write_bytes(b"one\nTWO\nthree\nfour\n")
    assert not is_same_log(progress, path)
    path.write_bytes(b"one\n")
    assert not is_same_log(progress, path)
    path.unlink()
    assert not is_same_log(progress, path)


def test_unreadable_progress_counts_as_none(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(b"one\n")
    journal = SessionJournal(tmp_path, "s1")
    assert journal.read_progress() is None
    journal.save_progress(progress_at(path, 4))
    assert journal.read_progress() == progress_at(path, 4)
    (tmp_path / "sessions" / "s1.progress").write_bytes(b"nonsense")
    assert journal.read_progress() is None
    journal.save_progress(None)
    journal.save_progress(None)
