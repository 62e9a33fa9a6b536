"""A lake in a folder: commits are atomic over all tables."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from plait.errors import MissingExtra, SourceError, UserError
from plait.lake.location import parse_location
from plait.lake.schema import TABLES, arrow_schema
from plait.lake.store import Lake, open_table
from tests.lake.rows import everywhere, held, tables


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Return an empty lake of all tables."""
    return Lake.create(str(tmp_path / "lake"), "full")


def test_written_rows_are_invisible_until_the_commit(lake: Lake) -> None:
    written = lake.write(tables(("s1", 1), names=TABLES))
    assert held(lake, TABLES) == everywhere(names=TABLES)
    lake.commit([written])
    assert held(lake, TABLES) == everywhere(("desk", "s1", 1), names=TABLES)


def test_a_rebuilt_session_replaces_its_rows(lake: Lake) -> None:
    lake.commit([lake.write(tables(("s1", 1), ("s2", 2)))])
    lake.commit([lake.write(tables(("s2", 3), month="2026-10")), lake.write(tables(("s3", 4)))])
    assert held(lake) == everywhere(("desk", "s1", 1), ("desk", "s2", 3), ("desk", "s3", 4))


def test_same_id_of_another_source_is_another_session(lake: Lake) -> None:
    lake.commit([lake.write(tables(("s1", 1), source="desk"))])
    lake.commit([lake.write(tables(("s1", 2), source="lap"))])
    assert held(lake) == everywhere(("desk", "s1", 1), ("lap", "s1", 2))
    assert lake.read_builds("lap")["build"].to_pylist() == [2]


def test_the_last_of_two_rows_of_a_session_in_a_commit_wins(lake: Lake) -> None:
    lake.commit([lake.write(tables(("s1", 1))), lake.write(tables(("s1", 2)))])
    assert held(lake) == everywhere(("desk", "s1", 2))


def test_the_same_id_in_two_folders_gives_two_rows(lake: Lake) -> None:
    lake.commit([lake.write(tables(("s1", 1)))])
    lake.commit([lake.write(tables(("s1", 2), ("s1", 3)))])
    assert held(lake) == everywhere(("desk", "s1", 2), ("desk", "s1", 3))


def test_repeated_commit_changes_nothing(lake: Lake) -> None:
    written = lake.write(tables(("s1", 1)))
    lake.commit([written])
    lake.commit([written])
    lake.commit([])
    assert held(lake) == everywhere(("desk", "s1", 1))


def test_forgotten_sessions_are_not_current(lake: Lake) -> None:
    lake.commit([lake.write(tables(("s1", 1), ("s2", 2)))])
    lake.forget([("desk", "s1"), ("lap", "s2")])
    assert held(lake) == everywhere(("desk", "s2", 2))


def test_columns_have_the_types_of_the_schema(lake: Lake) -> None:
    given = tables(("s1", 1), names=TABLES)
    lake.commit([lake.write(given)])
    for name, rows in given.items():
        assert lake.dataset(name).to_table().equals(rows)
        assert lake.dataset(name).schema.equals(arrow_schema(name))


def test_delta_readers_can_read_every_column(lake: Lake) -> None:
    """What is said of a file in the log of its table must not hide its rows."""
    given = tables(("s1", 1), names=("sessions", "raw"))
    lake.commit([lake.write(given)])
    found = DeltaTable(f"{lake.url}/raw").to_pyarrow_dataset()
    for column in ("build", "source", "session", "month", "line", "data"):
        assert found.count_rows(filter=pc.field(column) == given["raw"][column][0]) == 1, column


def test_links_are_stored_by_session(lake: Lake) -> None:
    def rows(*given: tuple[str, str, str, list[int]]) -> pa.Table:
        names = ("source", "session", "fingerprint", "ties")
        return pa.table(dict(zip(names, map(list, zip(*given, strict=True)), strict=True)))

    lake.save_links(rows(("a/b c%", "s1", "f1", [1, 2]), ("a/b c%", "s2", "f2", [3])))
    lake.save_links(rows(("a/b c%", "s1", "f3", [4]), ("lap", "s1", "f4", [])))
    found = sorted(tuple(one.values()) for one in lake.read_links("a/b c%").to_pylist())
    assert found == [("a/b c%", "s1", "f3", [4]), ("a/b c%", "s2", "f2", [3])]
    assert lake.read_links("lap")["ties"].to_pylist() == [[]]
    assert lake.read_links("nobody").num_rows == 0


def test_a_counts_lake_has_no_text(tmp_path: Path) -> None:
    lake = Lake.create(str(tmp_path), "counts")
    assert not {"raw", "text"} & set(lake.tables)
    with pytest.raises(UserError, match="a lake with the profile 'counts' has no table 'text'"):
        lake.write(tables(("s1", 1), names=TABLES))
    assert not [*tmp_path.rglob("*.parquet")]
    with pytest.raises(UserError, match="no table 'text'"):
        lake.dataset("text")


def test_lake_is_created_once(tmp_path: Path) -> None:
    Lake.create(str(tmp_path), "counts")
    again = Lake.create(tmp_path.as_uri(), "counts")
    assert (again.url, again.profile) == (str(tmp_path), "counts")
    with pytest.raises(
        UserError, match="is a lake with the profile 'counts', not 'full'"
    ) as caught:
        Lake.create(str(tmp_path), "full")
    assert "--profile counts" in caught.value.hints[0]


def test_concurrent_creators_make_one_lake(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda _: Lake.create(str(tmp_path), "counts"), range(4)))
    made[0].commit([made[1].write(tables(("s1", 1)))])
    assert held(made[3]) == everywhere(("desk", "s1", 1))


@pytest.mark.parametrize("reach", [0, 1, 5, 8])
def test_an_unfinished_lake_counts_as_missing_and_can_be_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reach: int
) -> None:
    real, made = DeltaTable.create, list[object]()

    def killed(*given: Any, **named: Any) -> DeltaTable:
        if len(made) == reach:
            raise KeyboardInterrupt
        made.append(None)
        return real(*given, **named)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(DeltaTable, "create", killed)
        Lake.create(str(tmp_path), "counts")
    with pytest.raises(UserError, match="no lake at"):
        Lake(str(tmp_path))
    assert held(Lake.create(str(tmp_path), "counts")) == everywhere()


def test_a_table_created_meanwhile_is_kept(tmp_path: Path) -> None:
    table = open_table(parse_location(str(tmp_path)), "turns")
    table.create({"plait.profile": "counts"})
    (first,) = tmp_path.glob("turns/_delta_log/*")
    before = first.read_bytes()
    table.create({"plait.profile": "full"})
    assert first.read_bytes() == before
    assert [one.name for one in (tmp_path / "turns").iterdir()] == ["_delta_log"]


def test_a_lake_does_not_contain_its_location(tmp_path: Path) -> None:
    lake = Lake.create(str(tmp_path / "of-ann" / "lake"), "counts")
    lake.commit([lake.write(tables(("s1", 1)))])
    lake.tidy(timedelta(0))
    held = [one for one in tmp_path.rglob("*") if one.is_file()]
    assert len(held) > 10
    assert [one for one in held if b"of-ann" in one.read_bytes()] == []


def test_a_lake_of_another_version_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Lake.create(str(tmp_path), "counts")
    monkeypatch.setattr("plait.lake.store.VERSION", 7)
    with pytest.raises(UserError, match="has tables of version 1, and this Plait needs version 7"):
        Lake.create(str(tmp_path), "counts")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("{}/none", "no lake at '{}/none'"),
        ("ftp://host/lake", "'ftp://host/lake' is not an address for a lake"),
        ("/a%20b", "'/a%20b' cannot hold a lake: '%20' would be read as an escape code"),
        ("s3:///lake", "'s3:///lake' has no bucket"),
    ],
)
def test_a_missing_lake_is_reported(tmp_path: Path, url: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        Lake(url.format(tmp_path))
    assert caught.value.message == said.format(tmp_path)


def test_a_file_instead_of_a_lake_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        SourceError, match=r"could not create a lake at '.*file': file exists$"
    ) as no:
        Lake.create(str(tmp_path / "file"), "counts")
    assert no.value.hints == ()


def test_lake_folder_may_have_any_name(tmp_path: Path) -> None:
    url = str(tmp_path / "Ünser Läke #1? 50% a")
    lake = Lake.create(url, "full")
    lake.commit([lake.write(tables(("s1", 1)))])
    assert held(Lake(url)) == everywhere(("desk", "s1", 1))
    assert Path(url).is_dir()


def test_a_pickled_lake_writes_files(lake: Lake) -> None:
    there = pickle.loads(pickle.dumps(lake))
    written = pickle.loads(pickle.dumps(there.write(tables(("s1", 1)))))
    lake.commit([written])
    assert held(lake) == everywhere(("desk", "s1", 1))
    assert written.size > 0
    assert len(pickle.dumps(written)) < 20_000


@pytest.mark.parametrize("damage", ["cut", "lost"])
def test_an_incomplete_file_is_not_committed(lake: Lake, damage: str) -> None:
    written = lake.write(tables(("s1", 1)))
    file = Path(lake.url, "turns", written.files["turns"][0].path)
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-1])
    else:
        file.unlink()
    with pytest.raises(SourceError, match=r"turns/.* is missing or incomplete"):
        lake.commit([written])
    assert held(lake) == everywhere()


def test_rows_written_too_long_ago_are_not_committed(lake: Lake) -> None:
    """Somebody may have tidied it away, or is about to."""
    written = lake.write(tables(("s1", 1)))
    late = replace(written.files["turns"][0], modified=1)
    with pytest.raises(SourceError, match="were not committed in time"):
        lake.commit([replace(written, files={"turns": (late,)})])
    assert held(lake) == everywhere()


def test_constant_conflicts_are_reported(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise CommitFailedError("0")

    written = lake.write({"sessions": tables(("s1", 1))["sessions"]})
    monkeypatch.setattr("plait.lake.store.REPLACE_ATTEMPTS", 2)
    monkeypatch.setattr(DeltaTable, "create_write_transaction", refused)
    with pytest.raises(SourceError, match=r"'.*/sessions' is being written to constantly"):
        lake.commit([written])


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    monkeypatch.delitem(sys.modules, "plait.lake.location")
    with pytest.raises(MissingExtra, match="a lake needs pyarrow and deltalake") as caught:
        import_module("plait.lake.location")
    assert "plait[lake]" in caught.value.hints[0]


def test_options_are_not_shown() -> None:
    from plait.lake.location import parse_location

    assert "hush" not in repr(parse_location("s3://lake/a", {"AWS_SECRET_ACCESS_KEY": "hush"}))
