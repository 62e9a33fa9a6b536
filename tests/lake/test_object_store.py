"""A lake in an object store: concurrency, broken uploads, missing permissions."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from plait.archive import Archive
from plait.errors import SourceError, UserError
from plait.lake.build import BuildOptions
from plait.lake.location import LakeNotFound, Location
from plait.lake.location import storage_errors as saying
from plait.lake.query import open_query_engine
from plait.lake.schema import Labels
from plait.lake.store import Lake, WrittenFiles
from tests.archive.lake.small import holding, lines, log
from tests.lake.object_store import ObjectStore, object_store
from tests.lake.rows import everywhere, held, tables

NAMES = ("sessions", "turns")


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    """Run one server for all."""
    with object_store() as found:
        yield found


@pytest.fixture(scope="module")
def lake(store: ObjectStore) -> Lake:
    """Return a lake in the bucket; each test has a source of its own in it."""
    return Lake.create(store.new_url(), "counts", store.options)


@pytest.fixture
def desk(lake: Lake, request: pytest.FixtureRequest) -> "Desk":
    """Return one who builds there."""
    return Desk(lake, request.node.name)


class Desk:
    """Whoever brings sessions of one source into a lake."""

    def __init__(self, lake: Lake, source: str) -> None:
        self.lake, self.source = lake, source

    def build(self, *sessions: tuple[str, int], month: str = "2026-11") -> WrittenFiles:
        """Write sessions, each with the number of its building."""
        rows = tables(
            *((session, self._build(number)) for session, number in sessions),
            source=self.source,
            month=month,
            names=NAMES,
        )
        return self.lake.write(rows)

    def holds(self, *sessions: tuple[str, int]) -> bool:
        """Return whether these hold, in all tables, and nothing else of this source."""
        rows = ((self.source, session, self._build(number)) for session, number in sessions)
        return held(self.lake, NAMES, self.source) == everywhere(*rows, names=NAMES)

    def _build(self, number: int) -> int:
        return hash(self.source) // 1000 + number


def test_object_store_lake_equals_a_folder_lake(store: ObjectStore, desk: Desk) -> None:
    desk.lake.commit([desk.build(("a", 1), ("b", 2))])
    desk.lake.commit([desk.build(("b", 3), month="2026-10")])
    desk.lake.forget([(desk.source, "a")])
    again = Desk(Lake(desk.lake.url, store.options), desk.source)
    assert again.holds(("b", 3))
    assert again.lake.read_builds(desk.source)["month"].to_pylist() == ["2026-10"]
    answer = open_query_engine(again.lake).query(
        f"SELECT session FROM turns WHERE source = '{desk.source}'"
    )
    assert list(answer.rows()) == [("b",)]
    assert not any(one.endswith("/") for one in store.keys(desk.lake.url))


def test_concurrent_builders_leave_each_session_once(store: ObjectStore, desk: Desk) -> None:
    barrier = Barrier(2, timeout=60)

    def builder(number: int) -> None:
        own = Desk(Lake(desk.lake.url, store.options), desk.source)
        for build in (number, number + 1):
            written = own.build(("a", build), (f"own{build}", build + 50))
            barrier.wait()
            own.lake.commit([written])

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(builder, (10, 20)))
    own = [(f"own{build}", build + 50) for build in (10, 11, 20, 21)]
    assert desk.holds(("a", 11), *own) or desk.holds(("a", 21), *own)


def test_the_second_creator_of_a_table_continues(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = DeltaTable.create

    def second(*given: Any, **named: Any) -> DeltaTable:
        real(*given, **named)
        raise DeltaError("version 0 already exists")

    monkeypatch.setattr(DeltaTable, "create", second)
    assert held(Lake.create(store.new_url(), "counts", store.options)) == everywhere()


def test_an_interrupted_upload_is_not_visible(store: ObjectStore, desk: Desk) -> None:
    desk.lake.commit([desk.build(("a", 1))])
    key = desk.lake.url.removeprefix("s3://team") + "/turns/month=2026-11/half.parquet"
    begun = store.ask("POST", f"{key}?uploads").decode()
    upload = begun.partition("<UploadId>")[2].partition("</UploadId>")[0]
    store.ask("PUT", f"{key}?partNumber=1&uploadId={upload}", b"PAR1 and no more")
    assert desk.holds(("a", 1))


def test_an_incomplete_file_is_not_committed(store: ObjectStore, desk: Desk) -> None:
    written = desk.build(("a", 1))
    key = desk.lake.url.removeprefix("s3://team") + "/turns/" + written.files["turns"][0].path
    for method in ("PUT", "DELETE"):
        store.ask(method, key, b"PAR1" if method == "PUT" else b"")
        with pytest.raises(SourceError, match=r"turns/.* is missing or incomplete"):
            desk.lake.commit([written])
    assert desk.holds()


def test_without_write_permission_nothing_changes(store: ObjectStore, desk: Desk) -> None:
    with (
        store.denied("s3:PutObject", f"{desk.lake.url}/turns"),
        pytest.raises(SourceError, match=f"no permission to write to '{desk.lake.url}'") as caught,
    ):
        desk.build(("a", 2))
    check, said = caught.value.hints
    assert check.startswith("check the key") and "turns" in said
    assert desk.holds()


def test_without_commit_permission_the_old_rows_stay_current(
    store: ObjectStore, desk: Desk
) -> None:
    desk.lake.commit([desk.build(("a", 1))])
    written = desk.build(("a", 2), ("b", 3))
    for table in ("turns", "sessions"):
        with (
            store.denied("s3:PutObject", f"{desk.lake.url}/{table}/_delta_log"),
            pytest.raises(SourceError, match=f"no permission to write to '{desk.lake.url}'"),
        ):
            desk.lake.commit([written])
        assert desk.holds(("a", 1))
    desk.lake.commit([written])
    assert desk.holds(("a", 2), ("b", 3))


def test_an_unreadable_table_does_not_affect_others(store: ObjectStore, desk: Desk) -> None:
    url = desk.lake.url
    with store.denied("s3:GetObject", f"{url}/findings"):
        with pytest.raises(SourceError, match=f"no permission to read findings in '{url}'"):
            desk.lake.dataset("findings")
        assert desk.holds()


def test_missing_read_permission_is_reported(store: ObjectStore, lake: Lake) -> None:
    with (
        store.denied("s3:GetObject", lake.url),
        pytest.raises(SourceError, match=f"no permission to read '{lake.url}'"),
    ):
        Lake(lake.url, store.options)


def test_options_may_have_the_names_of_delta(store: ObjectStore, lake: Lake) -> None:
    plain = {name.removeprefix("AWS_").lower(): value for name, value in store.options.items()}
    assert Lake(lake.url, plain).read_builds("nobody").num_rows == 0


def test_a_missing_lake_is_reported(store: ObjectStore) -> None:
    url = store.new_url()
    with pytest.raises(UserError, match=f"no lake at '{url}'"):
        Lake(url, store.options)


def test_a_missing_bucket_is_reported(store: ObjectStore) -> None:
    told = "could not read 's3://nobody/lake': no bucket named 'nobody'"
    with pytest.raises(SourceError, match=told) as caught:
        Lake("s3://nobody/lake", store.options)
    assert caught.value.hints == ("check its name or create it",)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("HTTP error ↳ error sending request", ": the object store does not respond"),
        ("AWS Error NETWORK_CONNECTION during PutObject", ": the object store does not respond"),
        ("the disk is full", ""),
    ],
)
def test_an_unreachable_store_is_reported(reason: str, told: str) -> None:
    with (
        pytest.raises(SourceError) as caught,
        saying(Location("s3://team/lake"), "read"),
    ):
        raise OSError(reason)
    assert caught.value.message == f"could not read 's3://team/lake'{told}"
    assert (caught.value.hints == (reason,)) is not bool(told)


@pytest.mark.long
def test_tidying_keeps_the_rows_in_fewer_objects(store: ObjectStore, desk: Desk) -> None:
    for number in range(2):
        desk.lake.commit([desk.build(("a", number), (f"s{number}", 10 + number))])
    desk.build(("lost", 99))
    before = held(desk.lake, NAMES)
    assert desk.lake.tidy(timedelta(0)).rows >= 1
    assert held(desk.lake, NAMES) == before
    assert desk.holds(("a", 1), ("s0", 10), ("s1", 11))
    keys = [one for one in store.keys(desk.lake.url) if one.endswith(".parquet")]
    kept = [one for one in keys if "_delta_log" not in one and "month=2026-11" in one]
    assert sorted(one.partition("/")[0] for one in kept) == sorted(NAMES)


def test_new_sessions_are_shipped(tmp_path: Path, store: ObjectStore) -> None:
    log(tmp_path, "one").write_bytes(lines("one", 0, 3))
    lakes, url = Archive([tmp_path], jobs=1).lake, store.new_url()
    manner = BuildOptions(Labels("desk"), "counts", key=b"k" * 32)
    assert len(lakes.rehearse(url, manner, options=store.options).sessions) == 1
    with pytest.raises(LakeNotFound):
        Lake(url, store.options)
    assert lakes.ship(url, manner, options=store.options).built == 1
    assert lakes.ship(url, manner, options=store.options).unchanged == 1
    lakes.ship(str(tmp_path / "lake"), manner)
    assert holding(url, store.options) == holding(tmp_path / "lake")
