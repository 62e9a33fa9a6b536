"""Sources of a lake: folders, backup stores, object stores give the same rows."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.archive import Archive, StorePlace
from plait.errors import PlaitError, UserError
from plait.lake.sources import RemoteFolder, list_inputs, list_remote_folder
from plait.lake.store import Lake
from tests.archive.lake.small import built, counts, holding, lines, log
from tests.lake.object_store import BUCKET, ObjectStore, object_store


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two sessions, one with an agent, a title and a large output."""
    folder = tmp_path / "claude"
    log(folder, "a").write_bytes(lines("a", 0, 2))
    log(folder, "b").write_bytes(lines("b", 0, 1, "a") + lines("b", 1, 2))
    neighbour = folder / "projects/-home-ada-shop/a"
    files = {
        "subagents/agent-x.jsonl": lines("a", 0, 1, "x").decode(),
        "subagents/agent-x.meta.json": '{"agentType":"Explore"}',
        "custom-title.json": '{"customTitle":"Gift cards"}',
        "tool-results/x.txt": "much",
    }
    for name, text in files.items():
        (neighbour / name).parent.mkdir(parents=True, exist_ok=True)
        (neighbour / name).write_text(text, encoding="utf-8")
        os.utime(neighbour / name, (1_000, 1_000))
    os.utime(log(folder, "a"), (1_000, 1_000))  # of two that begin alike the older one is first
    return folder


def test_backup_only_sessions_are_built(root: Path, tmp_path: Path) -> None:
    built(root, tmp_path / "before")
    store = StorePlace(tmp_path / "keep", tmp_path / "shelf")
    Archive([root], jobs=1, store=store).keep.run()
    shutil.rmtree(root / "projects/-home-ada-shop")
    again = Archive([root], jobs=1, store=store)
    assert counts(built(root, tmp_path / "after", archive=again)) == {"built": 2}
    check_same(tmp_path)


OWNED = {"responses", "waste"}
"""What several sessions hold is of the first by its path, and kept ones have other paths."""


def check_same(folder: Path) -> None:
    """Compare what was built of kept sessions with what was built of them before."""
    after, before = holding(folder / "after"), holding(folder / "before")
    for table in before.keys() - OWNED:
        assert after[table] == before[table], table
    assert paid(folder / "after") == paid(folder / "before")


def paid(to: Path) -> list[tuple[object, ...]]:
    """Return what every response is known by and cost."""
    columns = ["key", "input", "output", "cost_usd"]
    rows = Lake(str(to)).dataset("responses").to_table(columns=columns).to_pylist()
    return sorted(tuple(row.values()) for row in rows)


def test_store_of_another_machine_is_built(root: Path, tmp_path: Path) -> None:
    built(root, tmp_path / "before")
    store = StorePlace(tmp_path / "keep", tmp_path / "shelf")
    Archive([root], jobs=1, store=store).keep.run()
    full = StorePlace(store.folder, store.cache, includes_all=True)  # the sources are still there
    alone = Archive([], jobs=1, store=full)
    assert counts(built(root, tmp_path / "after", archive=alone)) == {"built": 2}
    check_same(tmp_path)
    assert counts(built(root, tmp_path / "after", archive=Archive([], store=full))) == {
        "unchanged": 2
    }
    assert Archive([], jobs=1, store=store).sessions == ()


@pytest.fixture(scope="module")
def bucket() -> Iterator[ObjectStore]:
    with object_store() as found:
        yield found


def put(bucket: ObjectStore, root: Path, prefix: str) -> str:
    """Put all files below a folder there, and return the address."""
    for path in sorted(root.rglob("*")):
        if path.is_file():
            name = path.relative_to(root).as_posix()
            bucket.ask("PUT", f"/{prefix}/{name}", path.read_bytes())
    return f"s3://{BUCKET}/{prefix}"


def test_object_store_is_built_like_a_folder(
    root: Path, tmp_path: Path, bucket: ObjectStore
) -> None:
    (root / "history.jsonl").write_text('{"display":"no session"}\n', encoding="utf-8")
    built(root, tmp_path / "before")
    url, to = put(bucket, root, "logs"), str(tmp_path / "after")
    how = {"archive": Archive([], jobs=1), "folders": [url], "options": bucket.options}
    assert counts(built(root, to, **how)) == {"built": 2}
    assert holding(to) == holding(tmp_path / "before")
    assert counts(built(root, to, **how)) == {"unchanged": 2}
    bucket.ask("DELETE", "/logs/projects/-home-ada-shop/b.jsonl")
    assert counts(built(root, to, **how)) == {"unchanged": 1, "gone": 1}


def test_object_changed_during_the_build_is_named(
    root: Path, tmp_path: Path, bucket: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = put(bucket, root, "torn")

    def meddled(archive: Archive, folders: list[RemoteFolder]) -> object:
        found = list_inputs(archive, folders)
        bucket.ask("PUT", "/torn/projects/-home-ada-shop/a.jsonl", b"{}\n")
        return found

    monkeypatch.setattr("plait.lake.build.list_inputs", meddled)
    how = {"archive": Archive([], jobs=1), "folders": [url], "options": bucket.options}
    found = built(root, tmp_path / "lake", **how)
    assert counts(found) == {"built": 1, "failed": 1}
    assert found.failed[0].why == "'a.jsonl' changed while it was being read"


def test_empty_address_is_an_error(tmp_path: Path, bucket: ObjectStore) -> None:
    with pytest.raises(UserError, match="nothing in"):
        list_remote_folder(f"s3://{BUCKET}/nowhere", bucket.options, tmp_path)
    with pytest.raises(PlaitError, match="is not an address for a lake"):
        list_remote_folder("ftp://x/y", bucket.options, tmp_path)
