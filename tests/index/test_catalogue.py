"""The catalogue: stored values, numbering, names, write lock."""

from pathlib import Path

import pytest

from examples.drawing import draw
from plait import Archive
from plait.index.catalogue import (
    VERSION,
    Catalogue,
    from_bytes,
    insert_tables,
    is_write_error,
    load_by_session,
    load_family_results,
    lock_index,
    save_family_result,
    save_meta,
    save_session_rows,
    to_bytes,
    write_error,
    write_if_unchanged,
)
from plait.index.model import IndexReport
from plait.indexing import update_index
from plait.usage.index_rows import PackedBills

DRAWING = """
file work cwd=/home/dev/shop
U1 "one"
A1< "two"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draw(DRAWING).write(tmp_path / "root")
    update_index(Archive([tmp_path / "root"]), tmp_path / "index")
    return tmp_path / "index"


@pytest.mark.parametrize("value", [["a", 1], ["\ud800"], [1 << 70], {"a": [1.5, None]}, []])
def test_values_round_trip(value: object) -> None:
    kind = dict[str, list[float | None]] if isinstance(value, dict) else list[str | int]
    assert from_bytes(to_bytes(value), kind) == value


def test_billing_rows_round_trip() -> None:
    assert from_bytes(to_bytes(PackedBills([1, 2], [], True)), PackedBills) == PackedBills(
        [1, 2], [], True
    )


def test_names_have_numbers(folder: Path) -> None:
    catalogue = Catalogue(folder, is_reader=False)
    first = catalogue.code("tool", "Bash")
    assert first > 0
    assert catalogue.code("tool", "Bash") == first
    assert catalogue.code("tool", "Read") != first
    assert catalogue.code("tool", None) == catalogue.code("tool", "") == 0
    assert catalogue.names("tool")[first] == "Bash"
    again = Catalogue(folder, is_reader=False)
    assert again.code("tool", "Bash") == first
    odd = again.code("tool", "\ud800")
    assert again.names("tool")[odd] == "?"
    for one in (catalogue, again):
        one.close()


def test_numbers_are_never_reused(folder: Path) -> None:
    catalogue = Catalogue(folder, is_reader=False)
    assert catalogue.reserve_numbers("fresh", 3) == 1
    assert catalogue.reserve_numbers("fresh", 1) == 4
    assert catalogue.reserve_numbers("fresh", 1) == 5
    catalogue.close()


def test_known_files(folder: Path) -> None:
    catalogue = Catalogue(folder)
    (sid,) = catalogue.sessions()
    known = catalogue.sessions([sid])[sid]
    (log,) = catalogue.logs()
    size = Path(log).stat().st_size
    assert catalogue.is_current()
    assert catalogue.meta("version") == VERSION
    assert catalogue.meta("nothing") is None
    assert catalogue.sessions([]) == catalogue.sessions([sid + 1]) == {}
    assert catalogue.keys() == {known.key: sid} == catalogue.owners()
    assert catalogue.logs()[log][1] == sid
    assert catalogue.paths([catalogue.logs()[log][0]]) == {catalogue.logs()[log][0]: log}
    assert catalogue.bytes() == size
    assert catalogue.stamps()[log][0] == size
    assert catalogue.appendable_logs() == {log}
    assert catalogue.facts() == {known.key: catalogue.facts_of(sid)}
    assert catalogue.facts_of(sid + 1) == b""
    assert catalogue.count("sessions") == 1
    assert catalogue.pending() == []
    mark = catalogue.file_mark(log)
    assert mark is not None
    assert (mark[1], mark[2].path, mark[2].kind, mark[2].offset) == (sid, log, "session", size)
    assert mark[3] is not None
    assert catalogue.file_mark("nowhere") is None
    assert [(line.kind, line.turns) for line in catalogue.lines(sid)] == [("trunk", 1)]
    assert [(turn.dag, turn.number, turn.kind) for turn in catalogue.turns(sid)] == [
        (0, 1, "prompt")
    ]
    catalogue.close()


def generation(folder: Path) -> int:
    catalogue = Catalogue(folder)
    try:
        return catalogue.generation()
    finally:
        catalogue.close()


def noted(folder: Path, name: str) -> object:
    catalogue = Catalogue(folder)
    try:
        return catalogue.meta(name)
    finally:
        catalogue.close()


def test_derived_results_are_kept_while_unchanged(folder: Path) -> None:
    now = generation(folder)
    assert now > 0
    assert not write_if_unchanged(folder, now + 1, [save_meta("a", 1)])
    assert noted(folder, "a") is None
    assert write_if_unchanged(folder, now, [save_meta("a", 1)])
    assert noted(folder, "a") == 1
    assert not write_if_unchanged(folder / "nowhere", now, [])
    with lock_index(folder, wait=0):
        assert not write_if_unchanged(folder, now, [save_meta("a", 2)])
    catalogue = Catalogue(folder, is_reader=False)
    catalogue.mark_pending([7])
    catalogue.close()
    assert not write_if_unchanged(folder, now, [save_meta("a", 3)])
    assert noted(folder, "a") == 1


def test_rows_of_a_session_and_of_groups(folder: Path) -> None:
    now = generation(folder)
    calls = (0, 1, 1, "c", "t\u00e9\ud800", None, "ok", 1.5, "u")
    large = (0, 2, 1 << 63, "c", "t", None, "ok", 1.5, "u")
    changes = [
        insert_tables({"abandoned": [(1, b"x")]}),
        save_family_result("sort", (3, 1), b"data"),
        save_session_rows(5, {"calls": [calls], "findings": []}),
    ]
    assert write_if_unchanged(folder, now, changes)
    catalogue = Catalogue(folder)
    assert load_by_session(catalogue, "abandoned") == {1: b"x"}
    assert load_family_results(catalogue, "sort") == {(3, 1): b"data"}
    assert load_family_results(catalogue, "other") == {}
    found = catalogue.connection.execute("SELECT sid, tool, took_ms FROM calls").fetchall()
    assert found == [(5, "t\u00e9?", 1.5)]
    assert catalogue.connection.execute("SELECT sid FROM members ORDER BY sid").fetchall() == [
        (1,),
        (3,),
    ]
    catalogue.close()
    assert not write_if_unchanged(folder, now, [save_session_rows(5, {"calls": [large]})])


def test_write_errors() -> None:
    assert is_write_error(OSError("os error 28"))
    assert is_write_error(ValueError("LockBusy"))
    assert not is_write_error(OSError("other"))
    assert not is_write_error(KeyError("os error 28"))
    assert not is_write_error(None)
    assert write_error(Path("x"), ValueError("LockBusy")).hints[0].startswith("stop the program")
    assert write_error(Path("x"), OSError("os error 28")).hints[0].startswith("free disk space")


def test_damaged_indexes() -> None:
    assert IndexReport(bytes=5).is_unchanged
    for done in (IndexReport(read=1), IndexReport(grown=1), IndexReport(forgotten=1)):
        assert not done.is_unchanged
