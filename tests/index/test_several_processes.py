"""Indexes built by one process and by several are equal, whatever happens to files."""

import json
import os
import random
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from tantivy import Query

from bench.generate import generate
from plait import indexing
from plait.archive import Archive
from plait.cli.app import run
from plait.index import writer
from plait.index.catalogue import CATALOGUE
from plait.index.search import IndexReader
from plait.index.text_index import TERMS, VALUES, load_places
from plait.indexing import update_index
from plait.line.workers import Workers
from tests.index.held import list_expected, list_indexed

COUNTED = ("generation", "opstamp")
"""What an index notes of itself, not of the logs."""


@pytest.fixture(autouse=True)
def everything_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has even little read by several processes."""
    monkeypatch.setattr(indexing, "PARALLEL_BYTES", 0)


@pytest.fixture
def began(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many workers were asked for, each time."""
    found: list[int] = []
    enter = Workers.__enter__

    def counted(self: Workers) -> Workers:
        found.append(self.jobs)
        return enter(self)

    monkeypatch.setattr(Workers, "__enter__", counted)
    return found


def contents(folder: Path) -> dict[str, Any]:
    """Return all that an index holds, in the order in which it holds it."""
    reader = IndexReader(folder)
    try:
        hits = reader.searcher.search(Query.all_query(), 1_000_000, count=False).hits
        at = sorted((address for _, address in hits), key=lambda one: (one.segment_ord, one.doc))
        found: dict[str, Any] = {
            name: reader.searcher.fast_field_values(name, at)
            for name in (*TERMS, *VALUES, "time", "weight")
        }
        found["places"] = [
            repr(one) for one in load_places(reader.searcher, [(0, one) for one in at])
        ]
    finally:
        reader.close()
    return found | dict(_tables(folder))


def _tables(folder: Path) -> Iterator[tuple[str, list[Any]]]:
    connection = sqlite3.connect(folder / CATALOGUE)
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (name,) in names:
        rows = connection.execute(f"SELECT * FROM {name}").fetchall()
        yield name, sorted((row for row in rows if row[0] not in COUNTED), key=repr)
    connection.close()


def indexed(root: Path, folder: Path, jobs: int) -> dict[str, Any]:
    """Return what the index of an archive holds that so many processes have read."""
    update_index(Archive([root], jobs=jobs), folder)
    return contents(folder)


@pytest.mark.parametrize("jobs", [2, 3])
def test_parallel_index_equals_serial(
    gallery: Path, tmp_path: Path, began: list[int], jobs: int
) -> None:
    alone = indexed(gallery, tmp_path / "alone", 1)
    assert began == []
    assert indexed(gallery, tmp_path / "together", jobs) == alone
    assert began == [jobs]
    assert len(alone["places"]) > 400


def test_parallel_index_of_generated_logs_equals_serial(tmp_path: Path) -> None:
    generate(tmp_path / "root", 1_500_000, 7, files=40)
    alone = indexed(tmp_path / "root", tmp_path / "alone", 1)
    assert indexed(tmp_path / "root", tmp_path / "together", 2) == alone


def test_parallel_index_of_real_logs_equals_serial(shared: Path, tmp_path: Path) -> None:
    logs = shared / "client-sessions"
    alone = indexed(logs, tmp_path / "alone", 1)
    assert indexed(logs, tmp_path / "together", 3) == alone
    assert len(alone["places"]) > 500


@pytest.mark.long
def test_parallel_index_of_all_real_logs_equals_serial(shared: Path, tmp_path: Path) -> None:
    alone = indexed(shared / "corpus", tmp_path / "alone", 1)
    assert indexed(shared / "corpus", tmp_path / "together", 2) == alone


def test_parallel_command_output_equals_serial(
    gallery: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    said = []
    for jobs in ("1", "2"):
        monkeypatch.setenv("PLAIT_CACHE_DIR", str(tmp_path / jobs))
        root = ["--root", str(gallery), "--jobs", jobs]
        for words in (["search", "the file"], ["search", '"the tests"', "--limit", "40"], ["ls"]):
            assert run([*words, *root]) == 0
        said.append(capfd.readouterr().out)
    assert said[0] == said[1]
    assert "passages" in said[0]


@pytest.mark.parametrize("fate", ["gone", "grown", "replaced", "emptied"])
def test_file_changed_before_reading_gives_the_same_parallel_index(
    gallery: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fate: str
) -> None:
    found = []
    for jobs in (1, 2):
        logs, folder = tmp_path / f"{jobs}" / "logs", tmp_path / f"{jobs}" / "index"
        shutil.copytree(gallery, logs)
        with monkeypatch.context() as patch:
            event = partial(_meet, fate, logs)
            read_sessions = indexing.Update._read_sessions
            patch.setattr(indexing.Update, "_read_sessions", _after(event, read_sessions))
            update_index(Archive([logs], jobs=jobs), folder)
        found.append([str(row).replace(str(logs), "logs") for row in list_indexed(folder)])
        update_index(Archive([logs], jobs=jobs), folder)
        assert list_indexed(folder) == list_expected(logs)
    assert found[0] == found[1]


def _after(event: Callable[[], None], then: Callable[..., Any]) -> Callable[..., Any]:
    def called(*given: Any) -> Any:
        event()
        return then(*given)

    return called


def _meet(fate: str, logs: Path) -> None:
    other, victim = sorted(logs.rglob("*.jsonl"), key=lambda path: path.stat().st_size)[-2:]
    if fate == "gone":
        victim.unlink()
    elif fate == "grown":
        victim.write_bytes(victim.read_bytes() * 2)
    elif fate == "emptied":
        victim.write_bytes(b"")
    else:
        other.replace(victim)


def test_dead_processes_are_reported_and_their_files_are_read_again(
    gallery: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    enter = Workers.__enter__

    def dead(self: Workers) -> Workers:
        entered = enter(self)
        for process in entered._processes:
            os.kill(process.pid, signal.SIGKILL)
        return entered

    alone = indexed(gallery, tmp_path / "alone", 1)
    monkeypatch.setattr(Workers, "__enter__", dead)
    monkeypatch.setenv("PLAIT_CACHE_DIR", str(tmp_path / "together"))
    assert run(["index", "--root", str(gallery), "--jobs", "2"]) == 0
    assert "crashed while reading" in capfd.readouterr().err
    (folder,) = (path.parent for path in (tmp_path / "together").rglob(CATALOGUE))
    assert contents(folder) == alone


@pytest.mark.parametrize(
    "rounds", [3, pytest.param(50, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_processes_may_die_at_any_moment(
    gallery: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounds: int
) -> None:
    alone = indexed(gallery, tmp_path / "alone", 1)
    chance, deaths = random.Random(rounds), 0
    enter = Workers.__enter__

    def doomed(self: Workers) -> Workers:
        entered = enter(self)
        victim = entered._processes[chance.randrange(self.jobs)].pid
        Timer(chance.random() * 0.3, _killed, [victim]).start()
        return entered

    monkeypatch.setattr(Workers, "__enter__", doomed)
    for number in range(rounds):
        archive = Archive([gallery], jobs=2)
        update_index(archive, tmp_path / f"{number}")
        assert contents(tmp_path / f"{number}") == alone
        deaths += len(archive.worker_failures)
    assert deaths or rounds < 10


def _killed(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def test_error_in_a_worker_leaves_the_index_unchanged(
    gallery: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "index"
    update_index(Archive([gallery], jobs=1), folder)
    monkeypatch.setattr(indexing, "TASK", f"{indexing.__name__}:nothing")
    with pytest.raises(RuntimeError, match="a worker failed"):
        update_index(Archive([gallery], jobs=2), folder, rebuild=True)
    assert list_indexed(folder) == list_expected(gallery)


def test_equal_hits_are_in_insertion_order_newest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "default_jobs", lambda: 4)
    folder = tmp_path / "root" / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    names = [f"{number:08}-0000-4000-8000-000000000000" for number in range(40)]
    for number, name in enumerate(names):
        line = {
            "type": "user",
            "uuid": name,
            "parentUuid": None,
            "sessionId": name,
            "timestamp": "2026-11-02T09:00:00.000Z",
            "message": {"role": "user", "content": "mend the same thing"},
        }
        path = folder / f"{name}.jsonl"
        path.write_text(json.dumps(line) + "\n", encoding="utf-8")
        os.utime(path, (number, number))
    update_index(Archive([tmp_path / "root"], jobs=2), tmp_path / "index", rebuild=True)
    reader = IndexReader(tmp_path / "index")
    found = reader.search("same kind:prompt", limit=40)
    reader.close()
    assert [hit.session for hit in found.hits] == names[::-1]
