"""Single changes to the files of an archive; answers equal those from cold files."""

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from plait import Archive
from plait.conversation.statistics import Statistics
from plait.index.catalogue import CATALOGUE
from plait.indexing import update_index
from plait.search.search import search
from plait.sessions.fresh_index import open_fresh_index
from plait.sessions.statistics import read_indexed_statistics
from tests.index.answers import check
from tests.index.held import append_to, write_file


def line(kind: str, uuid: str, parent: str | None, words: str, minute: int, **more: Any) -> bytes:
    """Return a line of a log; an answer says what it took."""
    message: dict[str, Any] = {"role": kind, "content": words}
    if kind == "assistant":
        usage = {"input_tokens": 100 + minute, "output_tokens": minute}
        message |= {"id": f"msg {uuid}", "model": "claude-opus-4-1", "usage": usage}
    place = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "one"}
    time = f"2026-11-02T09:{minute:02}:00.000Z"
    return json.dumps({**place, "timestamp": time, "message": message, **more}).encode() + b"\n"


def talk(name: str, session: str) -> bytes:
    """Return two turns."""
    rows = (
        ("user", "1", None, "hello there", 1),
        ("assistant", "2", "1", "and to you", 2),
        ("user", "3", "2", "once more", 3),
        ("assistant", "4", "3", "as you wish", 4),
    )
    return b"".join(
        line(kind, name + uuid, parent and name + parent, words, minute, sessionId=session)
        for kind, uuid, parent, words, minute in rows
    )


MORE = line("user", "a5", "a4", "a third", 5) + line("assistant", "a6", "a5", "gladly", 6)
AGENT = b"".join(
    line(kind, uuid, parent, "of the agent", minute, agentId="x", isSidechain=True)
    for kind, uuid, parent, minute in (("user", "x1", None, 2), ("assistant", "x2", "x1", 3))
)

HOLDING_SIDS = """
SELECT tables.name FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
WHERE tables.type = 'table' AND columns.name = 'sid'
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    write_file(root / "p" / "one.jsonl", talk("a", "one"))
    write_file(root / "p" / "two.jsonl", talk("b", "two"))
    update_index(Archive([root]), tmp_path / "index")
    check(root, tmp_path / "index")
    return root


def test_file_changed_in_place_with_its_time_reset(root: Path, tmp_path: Path) -> None:
    path = root / "p" / "one.jsonl"
    status = path.stat()
    path.write_bytes(path.read_bytes().replace(b"hello", b"HELLO").replace(b"102", b"999"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat()[:7] == status[:7]
    check(root, tmp_path / "index")


def test_log_created_after_discovery(root: Path, tmp_path: Path) -> None:
    archive = Archive([root])
    assert len(archive.sessions) == 2
    write_file(root / "p" / "three.jsonl", talk("c", "three"))
    update_index(archive, tmp_path / "index")
    check(root, tmp_path / "index")
    assert search(Archive([root]), tmp_path / "index", "hello").sessions == 3


def test_file_emptied_and_refilled(root: Path, tmp_path: Path) -> None:
    for data in (b"", talk("a", "one") + MORE, talk("c", "one")):
        write_file(root / "p" / "one.jsonl", data)
        check(root, tmp_path / "index")


def test_file_deleted_and_restored(root: Path, tmp_path: Path) -> None:
    path = root / "p" / "one.jsonl"
    path.unlink()
    check(root, tmp_path / "index")
    write_file(path, talk("c", "one"))
    check(root, tmp_path / "index")


def test_two_swapped_files(root: Path, tmp_path: Path) -> None:
    one, two = root / "p" / "one.jsonl", root / "p" / "two.jsonl"
    one.rename(tmp_path / "away")
    two.rename(one)
    (tmp_path / "away").rename(two)
    check(root, tmp_path / "index")


def test_renamed_project(root: Path, tmp_path: Path) -> None:
    (root / "p").rename(root / "q")
    check(root, tmp_path / "index")


def test_later_agent_growing_with_its_session(root: Path, tmp_path: Path) -> None:
    beside = root / "p" / "one" / "subagents" / "agent-x.jsonl"
    write_file(beside, AGENT)
    check(root, tmp_path / "index")
    write_file(beside.with_suffix(".meta.json"), b'{"agentType": "Explore"}')
    check(root, tmp_path / "index")
    append_to(beside, line("user", "x3", "x2", "more", 5, agentId="x", isSidechain=True))
    append_to(root / "p" / "one.jsonl", MORE)
    check(root, tmp_path / "index")
    (root / "p" / "one.jsonl").unlink()
    check(root, tmp_path / "index")


def test_titles_added_and_removed(root: Path, tmp_path: Path) -> None:
    beside = root / "p" / "one" / "custom-title.json"
    for title in (b'{"customTitle": "My own"}', b'{"customTitle": "My two"}'):
        write_file(beside, title)
        check(root, tmp_path / "index")
    beside.unlink()
    check(root, tmp_path / "index")
    append_to(
        root / "p" / "two.jsonl", b'{"type": "summary", "summary": "One", "leafUuid": "a4"}\n'
    )
    check(root, tmp_path / "index")
    append_to(
        root / "p" / "one.jsonl", b'{"type": "ai-title", "aiTitle": "It", "sessionId": "one"}\n'
    )
    check(root, tmp_path / "index")


def test_forked_session(root: Path, tmp_path: Path) -> None:
    """What both hold counts for the first; when that has gone, for the other.

    one    a1 a2 a3 a4
    fork   a1 a2 a3 a4 f5 f6
    """
    own = MORE.replace(b'"a5', b'"f5').replace(b'"a6', b'"f6').replace(b"msg a6", b"msg f6")
    data = (talk("a", "fork") + own).replace(b'"sessionId": "one"', b'"sessionId": "fork"')
    write_file(root / "q" / "fork.jsonl", data)
    check(root, tmp_path / "index")
    append_to(root / "p" / "one.jsonl", MORE)
    check(root, tmp_path / "index")
    (root / "p" / "one.jsonl").unlink()
    check(root, tmp_path / "index")


def test_wrong_clocks(root: Path, tmp_path: Path) -> None:
    path = root / "p" / "one.jsonl"
    for moment in (4e9, 1e8, -5):
        append_to(path, b"\n")
        os.utime(path, (moment, moment))
        check(root, tmp_path / "index")


def test_symlinks_to_files_and_folders(root: Path, tmp_path: Path) -> None:
    far = tmp_path / "far.jsonl"
    write_file(far, talk("c", "three"))
    (root / "p" / "three.jsonl").symlink_to(far)
    check(root, tmp_path / "index")
    append_to(far, b"\n")
    check(root, tmp_path / "index")
    (tmp_path / "link").symlink_to(root)
    update_index(Archive([tmp_path / "link"]), tmp_path / "other")
    append_to(root / "p" / "one.jsonl", MORE)
    check(tmp_path / "link", tmp_path / "other")
    far.unlink()
    check(root, tmp_path / "index")


def test_other_things_in_place_of_a_log(root: Path, tmp_path: Path) -> None:
    path = root / "p" / "one.jsonl"
    shutil.copy2(path, root / "p" / "copy.jsonl")
    check(root, tmp_path / "index")
    path.unlink()
    path.mkdir()
    check(root, tmp_path / "index")


def test_nothing_remains_of_a_deleted_session(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    for data in (talk("c", "one"), talk("c", "one") + MORE):
        write_file(root / "p" / "one.jsonl", data)
        check(root, folder)
    (root / "p" / "two.jsonl").unlink()
    check(root, folder)
    with sqlite3.connect(folder / CATALOGUE) as connection:
        tables = connection.execute(HOLDING_SIDS).fetchall()
        assert len(tables) > 12
        for (table,) in tables:
            query = f"SELECT DISTINCT sid FROM {table} EXCEPT SELECT sid FROM sessions"
            assert not connection.execute(query).fetchall(), table
        lone = "SELECT family FROM families EXCEPT SELECT family FROM members"
        assert not connection.execute(lone).fetchall()


def test_log_growing_during_indexing(root: Path, tmp_path: Path) -> None:
    archive = Archive([root])
    append_to(root / "p" / "one.jsonl", b"\n")
    with open_fresh_index(archive, tmp_path / "index") as index:
        assert index is not None
        append_to(root / "p" / "one.jsonl", MORE)
        read_indexed_statistics(index, archive.sessions, Statistics(), list)
    check(root, tmp_path / "index")
