"""Backups of changed files and the lines that name them."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import plait
from plait.write.lines import Version
from tests.write.stories import seconds


def start_session(folder: Path, version: Version = "2.1.325") -> plait.SessionWriter:
    (folder / "app").mkdir()
    return plait.SessionWriter.new(
        folder / "config", cwd=folder / "app", version=version, clock=seconds().__next__
    )


def read_snapshots(session: plait.SessionWriter) -> list[dict[str, Any]]:
    entries = map(json.loads, session.path.read_bytes().splitlines())
    return [entry for entry in entries if entry["type"].startswith("file-history")]


def test_prompt_is_preceded_by_its_snapshot(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    uuid = session.prompt("x")
    first, second = map(json.loads, session.path.read_bytes().splitlines())
    assert first == {
        "type": "file-history-snapshot",
        "messageId": uuid,
        "snapshot": {
            "messageId": uuid,
            "trackedFileBackups": {},
            "timestamp": "2026-01-03T10:00:00.000Z",
        },
        "isSnapshotUpdate": False,
    }
    assert second["uuid"] == uuid


# checklist: P76
def test_a_file_is_backed_up_before_a_change_and_at_the_next_prompt(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    file, folder = tmp_path / "app" / "a.txt", tmp_path / "config" / "file-history"
    file.write_text("one")
    asked = session.prompt("change it")
    called = session.answer("I do.").messages[-1]
    session.before_change("a.txt")
    session.before_change(file)
    file.write_text("two")
    session.prompt("and now?")
    name = sha256(str(file.resolve()).encode()).hexdigest()[:16]
    delta, later = read_snapshots(session)[1:]
    assert delta == {
        "type": "file-history-delta",
        "messageId": called,
        "snapshotMessageId": asked,
        "trackingPath": "a.txt",
        "backup": {
            "backupFileName": f"{name}@v1",
            "version": 1,
            "backupTime": "2026-01-03T10:00:03.000Z",
            "realParentDir": str(file.resolve().parent),
        },
        "timestamp": "2026-01-03T10:00:04.000Z",
    }
    assert later["snapshot"]["trackedFileBackups"]["a.txt"]["backupFileName"] == f"{name}@v2"
    kept = folder / session.session
    assert {path.name: path.read_text() for path in kept.iterdir()} == {
        f"{name}@v1": "one",
        f"{name}@v2": "two",
    }
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in kept.iterdir())


def test_backup_names_its_call(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    session.prompt("x")
    with session.response() as response:
        first, second = response.call("Edit", {}), response.call("Edit", {})
    session.before_change("a.txt", first)
    session.before_change("b.txt", second)
    session.before_change("c.txt")
    named = [entry["messageId"] for entry in read_snapshots(session)[1:]]
    assert named == [*response.messages, response.messages[1]]


def test_an_unchanged_file_is_backed_up_once(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    (tmp_path / "app" / "a.txt").write_text("one")
    session.prompt("x")
    session.before_change("a.txt")
    session.prompt("y")
    session.before_change("a.txt")
    session.prompt("z")
    found = read_snapshots(session)
    assert [entry["type"][13:] for entry in found] == ["snapshot", "delta", "snapshot", "snapshot"]
    assert len({json.dumps(item["snapshot"]["trackedFileBackups"]) for item in found[2:]}) == 1


def test_a_missing_file_has_no_backup(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    session.prompt("x")
    session.before_change(tmp_path / "elsewhere" / "new.txt")
    delta = read_snapshots(session)[-1]
    assert delta["trackingPath"] == str(tmp_path / "elsewhere" / "new.txt")
    assert delta["backup"]["backupFileName"] is None and delta["backup"]["version"] == 1
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "new.txt").write_text("now")
    session.prompt("y")
    (backup,) = read_snapshots(session)[-1]["snapshot"]["trackedFileBackups"].values()
    assert backup["version"] == 2 and backup["backupFileName"].endswith("@v2")


@pytest.mark.parametrize("given", ["a.txt", "sub/../a.txt", "./a.txt"])
def test_file_has_one_backup_name(tmp_path: Path, given: str) -> None:
    session = start_session(tmp_path)
    session.prompt("x")
    session.before_change(given)
    assert read_snapshots(session)[-1]["trackingPath"] == "a.txt"
    session.before_change("../b.txt")
    assert read_snapshots(session)[-1]["trackingPath"] == str(tmp_path.resolve() / "b.txt")


# checklist: P76
def test_older_version_stores_the_text_itself(tmp_path: Path) -> None:
    session = start_session(tmp_path, "2.1.29")
    (tmp_path / "app" / "a.txt").write_text("one")
    asked = session.prompt("x")
    answered = session.answer("y").messages[-1]
    session.before_change("a.txt")
    session.before_change("new.txt")
    first, second, third = read_snapshots(session)
    assert first["isSnapshotUpdate"] is False and first["snapshot"]["trackedFileBackups"] == {}
    assert second["isSnapshotUpdate"] is True
    assert second["messageId"] == answered and second["snapshot"]["messageId"] == asked
    assert second["snapshot"]["trackedFileBackups"] == {"a.txt": "one"}
    assert third["snapshot"]["trackedFileBackups"] == {"a.txt": "one", "new.txt": None}
    assert not (tmp_path / "config" / "file-history").exists()


def test_a_resumed_session_knows_its_backups(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    (tmp_path / "app" / "a.txt").write_text("one")
    session.prompt("x")
    session.before_change("a.txt")
    (tmp_path / "app" / "a.txt").write_text("two")
    later = plait.SessionWriter.resume(session.path)
    asked = later.prompt("y")
    backup = read_snapshots(session)[-1]["snapshot"]["trackedFileBackups"]["a.txt"]
    assert backup["version"] == 2
    again = plait.SessionWriter.resume(session.path)
    again.before_change("b.txt")
    assert read_snapshots(session)[-1]["snapshotMessageId"] == asked
    again.prompt("z")
    assert read_snapshots(session)[-1]["snapshot"]["trackedFileBackups"]["a.txt"] == backup


def test_without_snapshots_or_a_prompt_nothing_is_backed_up(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    session.before_change("a.txt")
    assert not session.path.exists()
    bare = plait.SessionWriter.new(tmp_path, cwd=tmp_path, has_snapshots=False)
    bare.prompt("x")
    bare.before_change("a.txt")
    assert [json.loads(line)["type"] for line in bare.path.read_bytes().splitlines()] == ["user"]


def test_backups_of_two_writers_do_not_collide(tmp_path: Path) -> None:
    first = start_session(tmp_path)
    file, folder = tmp_path / "app" / "a.txt", tmp_path / "config" / "file-history"
    first.prompt("change it")
    first.answer("I do.")
    second = plait.SessionWriter.resume(first.path)
    second.prompt("change it too")
    second.answer("I do, too.")
    for session, words in ((first, "one"), (second, "two")):
        file.write_text(words)
        session.before_change(file)
    copies = [
        line["backup"]["backupFileName"] for line in read_snapshots(first) if "backup" in line
    ]
    assert [(folder / first.session / copy).read_text() for copy in copies] == ["one", "two"]
