"""Hostile logs of other agents: only Plait's own errors, and every line accounted for."""

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from plait import Archive, PlaitError
from plait.record.counts import LogCounts
from tests.sources.builders import CodexLog, open_archive
from tests.sources.lines import LINES
from tests.sources.test_opencode import Store

WRONG: list[Any] = [
    None,
    True,
    -1,
    1 << 63,
    10**400,
    1e308,
    "",
    "\ud800",
    "\0",
    [],
    {},
    [[]],
    [None],
    [{}],
    {"": None},
    "2026-10-01T10:00:00Z",
    "9" * 5000,
]
"""Values that stand where others belong."""
DEEP = "[" * 3000 + "]" * 3000


def mutate(line: dict[str, Any], draw: random.Random, ids: list[str]) -> str:
    """Return a line with something wrong in it."""
    match draw.randrange(6):
        case 0:
            text = json.dumps(line)
            return text[: draw.randrange(len(text))]
        case 1:
            key = draw.choice([*line])
            return json.dumps(line | {key: "DEEP"}).replace('"DEEP"', DEEP)
        case 2:  # parents that form a circle
            names = "id", "uuid", "parentId", "parentUuid", "$rewindTo"
            return json.dumps(
                line | {name: draw.choice(ids) for name in names[: draw.randrange(1, 5)]}
            )
        case _:
            copy = json.loads(json.dumps(line))
            for _ in range(draw.randrange(1, 4)):
                spoil(copy, draw)
            return json.dumps(copy)


def spoil(value: Any, draw: random.Random) -> None:
    """Put a wrong value somewhere in a line."""
    while True:
        keys: list[Any] = [*value] if isinstance(value, dict) else [*range(len(value))]
        if not keys:
            return
        key = draw.choice(keys)
        if isinstance(value[key], dict | list) and value[key] and draw.random() < 0.8:
            value = value[key]
            continue
        if isinstance(value, dict) and draw.random() < 0.15:
            del value[key]
        else:
            value[key] = json.loads(json.dumps(draw.choice(WRONG)))
        return


def read_all(archive: Archive) -> LogCounts:
    """Read everything there is, and return the account of the lines."""
    account = LogCounts()
    for file, counts in zip(archive.files, archive.accounts(), strict=True):
        account.take(counts, file.path)
    for session in archive.sessions:
        for conversation in session.conversations:
            conversation.markdown()
    assert archive.graph().account.balanced
    archive.usage("agent")
    archive.search("hello")
    return account


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("source", [*LINES])
def test_lines_with_anything_in_them(source: str, count: int, tmp_path: Path) -> None:
    name, good = LINES[source]
    draw = random.Random(f"{source} {count}")
    ids = [line["id"] for line in good if isinstance(line.get("id"), str)] or ["x"]
    made = [json.dumps(good[0])]
    made += [mutate(draw.choice(good), draw, ids) for _ in range(count)]
    path = tmp_path / "logs" / name
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(made))
    archive = open_archive(tmp_path / "logs", tmp_path / "cache")
    account = read_all(archive)
    (session,) = archive.sessions
    assert session.agent == source
    assert account.is_balanced
    lines = session.path.read_bytes().split(b"\n")
    translated = set()
    broken = 0
    for line in lines[:-1] if not lines[-1] else lines:
        try:
            translated.add(json.loads(line)["sourceLine"])
        except (ValueError, KeyError, TypeError, RecursionError):
            broken += 1
    assert len(translated) + broken == len(made)


def test_file_truncated_anywhere(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1")
    data = log.write(tmp_path / "full").read_bytes()
    for number, size in enumerate(range(1, len(data), 97)):
        root = tmp_path / str(number) / ".codex" / "sessions"
        root.mkdir(parents=True)
        (root / "rollout-2026-10-01T10-00-00-x.jsonl").write_bytes(data[:size])
        read_all(open_archive(root.parent, tmp_path / "cache"))


@pytest.mark.parametrize("source", [*LINES])
def test_an_empty_file(source: str, tmp_path: Path) -> None:
    path = tmp_path / "logs" / LINES[source][0]
    path.parent.mkdir(parents=True)
    path.touch()
    read_all(open_archive(tmp_path / "logs", tmp_path / "cache"))


SCHEMAS = {
    "other tables": "CREATE TABLE users (id)",
    "no columns": "CREATE TABLE session (x); INSERT INTO session VALUES (1)",
    "no messages": "CREATE TABLE session (id, time_updated); INSERT INTO session VALUES ('ses_1', 5)",
    "wrong types": """
        CREATE TABLE session (id, time_updated, parent_id, directory, title, revert);
        INSERT INTO session VALUES ('ses_1', 'x', 5, x'00ff', 1.5, '[]');
        INSERT INTO session VALUES (7, NULL, 'ses_1', NULL, NULL, '{"messageID":[]}');
        INSERT INTO session VALUES (NULL, 9e99, 'ses_1', NULL, NULL, NULL);
        CREATE TABLE message (id, session_id, time_created, data);
        INSERT INTO message VALUES ('m', 'ses_1', 'y', '{"role":[],"time":3,"model":[]}');
        INSERT INTO message VALUES (x'ff', 'ses_1', -9e18, '{"role":"assistant","tokens":[]}');
        INSERT INTO message VALUES ('n', 'ses_1', 9223372036854775807, 'not JSON');
        INSERT INTO message VALUES ('o', 'ses_1', 5, '{"role":"user","time":{"created":1e300}}');
        CREATE TABLE part (id, message_id, session_id, data);
        INSERT INTO part VALUES ('p', 'm', 'ses_1', '7');
        INSERT INTO part VALUES ('q', 'o', 'ses_1', '{"type":{},"text":[]}');
        INSERT INTO part VALUES ('r', 'o', 'ses_1', x'ff');
    """,
    "circles": """
        CREATE TABLE session (id, time_updated, parent_id);
        INSERT INTO session VALUES ('ses_1', 5, 'ses_2'), ('ses_2', 5, 'ses_1'), ('ses_3', 5, 'ses_3');
    """,
}


@pytest.mark.parametrize("name", [*SCHEMAS])
def test_a_database_of_another_schema(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "opencode"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "opencode.db")) as base:
        base.executescript(SCHEMAS[name])
    read_all(open_archive(folder, tmp_path / "cache"))


def test_locked_database_or_other_file(tmp_path: Path) -> None:
    folder = tmp_path / "opencode"
    folder.mkdir()
    path = folder / "opencode.db"
    with closing(sqlite3.connect(path)) as base:
        base.executescript(SCHEMAS["no messages"])
        base.execute("BEGIN EXCLUSIVE")
        assert read_all(open_archive(folder, tmp_path / "cache")).files == 0
        base.rollback()
    assert read_all(open_archive(folder, tmp_path / "cache")).files == 1
    path.write_bytes(path.read_bytes()[:3000])
    try:
        read_all(open_archive(folder, tmp_path / "cache"))
    except PlaitError as error:
        assert "cannot read" in error.message


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_rows_with_anything_in_them(count: int, tmp_path: Path) -> None:
    draw = random.Random(f"opencode {count}")
    store = Store(tmp_path / "opencode")
    sessions = [f"ses_{number}" for number in range(5)]
    for number, name in enumerate(sessions):
        store.session(name, draw.choice(sessions) if number else None)
    for number in range(count // 10):
        store.turn(draw.choice(sessions), number, "hello", "answer")
    rows = {
        table: store.base.execute(f"SELECT rowid, data FROM {table}").fetchall()
        for table in ("message", "part")
    }
    for _ in range(count):
        table = draw.choice([*rows])
        place, data = draw.choice(rows[table])
        wrong = mutate(json.loads(data), draw, sessions)
        values: list[Any] = [wrong, wrong.encode(errors="replace"), None, 7, "x" * 100_000, "9e999"]
        weights = [50, 2, 1, 1, 1, 1]
        column = "data" if draw.random() < 0.9 else draw.choice(["id", "session_id"])
        value = draw.choices(values, weights)[0] if column == "data" else draw.choice(sessions)
        changed = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
        store.base.execute(changed, (value, place))
    store.base.commit()
    store.base.close()
    archive = open_archive(tmp_path / "opencode", tmp_path / "cache")
    assert read_all(archive).is_balanced
    assert archive.sessions


def test_sessions_whose_parents_form_a_circle_are_listed(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode")
    for name, parent in (("ses_1", "ses_2"), ("ses_2", "ses_1"), ("ses_3", "ses_3")):
        store.session(name, parent)
        store.turn(name, 5, f"hello {name}", "answer")
    store.base.commit()
    store.base.close()
    archive = open_archive(tmp_path / "opencode", tmp_path / "cache")
    assert sorted(session.id for session in archive.sessions) == ["ses_1", "ses_3"]
    assert read_all(archive).files == 3
