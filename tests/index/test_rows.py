"""Rows for other programs' SQL agree with conversations and usage."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw
from plait import Archive
from plait.index.catalogue import CATALOGUE, save_session_rows
from plait.indexing import update_index
from plait.sessions.fresh_index import open_fresh_index
from plait.sessions.statistics import fill_session_rows
from plait.usage.index_rows import count_indexed_responses
from plait.usage.responses import count_responses
from tests.index.held import append_to

TALK = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "The total is wrong"
T1< Read(file_path="/home/dev/shop/cart.py")
R1< "def total(items): return 0"
A1< "It is nothing at all."
U2< "Then mend it"
T2< Bash(command="pytest -q")
R2< error "Exit code 1"
A2< "It fails."
"""


def filled(root: Path, folder: Path) -> sqlite3.Connection:
    """Fill all rows and return a connection to them."""
    update_index(Archive([root]), folder)
    with open_fresh_index(Archive([root]), folder) as warm:
        assert warm is not None
        fill_session_rows(warm, list)
        count_indexed_responses(warm, warm.library.sessions)
    return sqlite3.connect(folder / CATALOGUE)


def rows(connection: sqlite3.Connection, query: str) -> list[Any]:
    return connection.execute(query).fetchall()


def test_calls_responses_and_files_are_in_their_turns(tmp_path: Path) -> None:
    draw(TALK).write(tmp_path / "root")
    found = filled(tmp_path / "root", tmp_path / "index")
    assert rows(found, "SELECT turn, tool, outcome FROM calls ORDER BY number") == [
        (1, "Read", "ok"),
        (2, "Bash", "failed"),
    ]
    assert rows(found, "SELECT turn, path, action, outcome FROM touches") == [
        (1, "/home/dev/shop/cart.py", "read", "ok")
    ]
    assert rows(found, "SELECT turn FROM responses ORDER BY number") == [(1,), (1,), (2,), (2,)]
    assert rows(found, "SELECT id FROM lines JOIN calls USING (sid, dag) GROUP BY id") == [
        (Archive([tmp_path / "root"]).sessions[0].id,)
    ]
    assert rows(found, "SELECT count(*) FROM answers WHERE is_billed") == [(4,)]


def test_findings_have_kind_and_place(tmp_path: Path) -> None:
    draw('U1 "x"\nA1< "y"\nU2< "z"').write(tmp_path / "root")
    log = next((tmp_path / "root").rglob("*.jsonl"))
    *lines, last = map(json.loads, log.read_bytes().splitlines())
    log.write_text("\n".join(map(json.dumps, (*lines, {**last, "parentUuid": "gone"}))) + "\n")
    found = filled(tmp_path / "root", tmp_path / "index")
    [(kind, text, path, line)] = rows(found, "SELECT kind, text, path, line FROM findings")
    assert (kind, line) == ("missing-parent", 3)
    assert "is not in this file" in text
    assert Path(path).exists()


def test_rows_are_refreshed_when_a_session_grows(tmp_path: Path) -> None:
    draw(TALK).write(tmp_path / "root")
    filled(tmp_path / "root", tmp_path / "index").close()
    path = next((tmp_path / "root").rglob("*.jsonl"))
    append_to(path, b'{"type":"ai-title","aiTitle":"Mending","sessionId":"x"}\n')
    update_index(Archive([tmp_path / "root"]), tmp_path / "index")
    connection = sqlite3.connect(tmp_path / "index" / CATALOGUE)
    for table in ("detailed", "calls", "responses", "touches", "usage"):
        assert rows(connection, f"SELECT count(*) FROM {table}") == [(0,)]
    connection.close()
    found = filled(tmp_path / "root", tmp_path / "index")
    assert rows(found, "SELECT count(*) FROM calls") == [(2,)]


@pytest.mark.parametrize("name", ["gallery", pytest.param("corpus", marks=pytest.mark.long)])
def test_usage_is_counted_once_over_all_files(
    request: pytest.FixtureRequest, tmp_path: Path, name: str
) -> None:
    is_real = name == "corpus"
    root = request.getfixturevalue("shared") / name if is_real else request.getfixturevalue(name)
    found = filled(root, tmp_path)
    responses = count_responses(Archive([root]).sessions).responses
    query = "SELECT count(*), sum(output), sum(input), sum(cache_read) FROM usage"
    assert rows(found, query) == [
        (
            len(responses),
            sum(one.tokens.output for one in responses),
            sum(one.tokens.input for one in responses),
            sum(one.tokens.cache_read for one in responses),
        )
    ]
    [(sessions,)] = rows(found, "SELECT count(*) FROM detailed")
    assert sessions == len(Archive([root]).sessions)


@pytest.mark.parametrize(
    ("value", "held"),
    [
        ("plain", "plain"),
        ("naïve", "naïve"),
        ("lone \ud800", "lone ?"),
        ((1 << 63) - 1, (1 << 63) - 1),
        (1 << 63, None),
        (-(1 << 63) + 1, -(1 << 63) + 1),
        (-(1 << 63), None),
        (2.5, 2.5),
        (True, 1),
        (None, None),
        (b"bytes", b"bytes"),
    ],
)
def test_log_values_are_adapted_to_sqlite(value: object, held: object) -> None:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE calls (sid, value)")
    base.execute("CREATE TABLE detailed (sid)")
    save_session_rows(7, {"calls": [(value,)], "touches": []})(base)
    assert rows(base, "SELECT * FROM calls") == [(7, held)]
    assert rows(base, "SELECT * FROM detailed") == [(7,)]
