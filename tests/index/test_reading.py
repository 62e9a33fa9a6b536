"""Indexed text equals the text of the conversations, word for word."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple

from plait import Archive
from plait.indexing import IndexedSession
from plait.sessions.model import Session
from tests.graph.generated import PATHS, lines_of, rows
from tests.index import oracle
from tests.index.held import write_file
from tests.index.test_incremental import ended, talks

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = 1 << 20


def read(session: Session) -> tuple[Counter[oracle.Row], list[oracle.Row], list[oracle.Row]]:
    """Return the passages, the DAG-lines and the turns that the index reads."""
    reading = IndexedSession(session)
    ids = [one.line.id for one in reading.lines]
    found = Counter(
        (
            *(one.kind, one.text, one.state, ids[one.dag], one.turn, one.file, one.line),
            *(one.part, one.time, one.tool, one.model, one.path, one.outcome, one.is_with_call),
        )
        for one in reading.passages()
        if one.kind != "title"
    )
    kept = reading.to_rows({}, [])
    return found, [astuple(one) for one in kept.lines], [astuple(one) for one in kept.turns]


def check(root: Path, most: int = 1 << 40) -> int:
    """Compare the sessions of a folder; returns how many there were."""
    chosen = [one for one in Archive([root]).sessions if one.bytes < most]
    for session in chosen:
        passages, lines, turns = read(session)
        assert passages == Counter(oracle.passages(session)), session.path
        assert lines == oracle.lines(session), session.path
        assert turns == oracle.turns(session), session.path
    return len(chosen)


def test_the_gallery() -> None:
    assert check(EXAMPLES) > 10


def test_generated_work(tmp_path: Path) -> None:
    from bench.generate import generate

    generate(tmp_path, 1_500_000, seed=3)
    assert check(tmp_path) > 3


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(st.sampled_from(PATHS), st.lists(rows, max_size=8), max_size=3))
def test_any_session(files: dict[str, list[dict[str, Any]]]) -> None:
    with TemporaryDirectory() as place:
        for name, drawn in files.items():
            write_file(Path(place) / name, b"".join(x + b"\n" for x in lines_of(name, drawn)))
        check(Path(place))


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(talks())
def test_random_sessions(lines: list[bytes]) -> None:
    with TemporaryDirectory() as place:
        write_file(Path(place) / "p" / "talk.jsonl", b"".join(ended(line) for line in lines))
        check(Path(place))


def test_small_real_sessions(shared: Path) -> None:
    assert check(shared / "corpus", SMALL // 8) > 10


@pytest.mark.long
def test_all_real_sessions(shared: Path) -> None:
    assert check(shared / "corpus") > 100
