"""The cache of unpacked frames: each once while it fits, bounded."""

from pathlib import Path

import pytest

from plait.store import packs
from plait.store import packs as pack_writer
from plait.store import packs as zstd
from plait.store.model import NewFile
from plait.store.store import Store


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the frames that are unpacked, by their sizes."""
    sizes: list[int] = []
    real = zstd.plain

    def counted(frame: bytes, size: int) -> bytes:
        sizes.append(size)
        return real(frame, size)

    monkeypatch.setattr(packs, "plain", counted)
    return sizes


def store_of_days(folder: Path, days: int) -> Store:
    """Keep a file each day: each is a frame of its own."""
    store = Store.open(folder)
    for day in range(days):
        data = f'{{"day":{day}}}\n'.encode() * 40
        store.put([NewFile("/r", f"projects/p/{day}.jsonl", "p", str(day), data)])
    return Store.open(folder)


def read_twice(store: Store) -> None:
    files = [one.files[0] for one in store.sessions()]
    for file in files * 2:
        assert len(store.read(file)) == file.size


def test_cached_frames_are_decompressed_once(tmp_path: Path, unpacked: list[int]) -> None:
    read_twice(store_of_days(tmp_path, 3))
    assert len(unpacked) == 3


def test_the_cache_of_frames_is_limited(
    tmp_path: Path, unpacked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of_days(tmp_path, 3)
    monkeypatch.setattr(packs, "MOST_HELD", 2 * 400)
    read_twice(store)
    assert len(unpacked) == 6
    assert sum(map(len, store.packs._plain.values())) == 2 * 400


def test_one_frame_of_any_size_is_cached(
    tmp_path: Path, unpacked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of_days(tmp_path, 1)
    monkeypatch.setattr(packs, "MOST_HELD", 0)
    read_twice(store)
    assert len(unpacked) == 1


def test_pack_with_a_reused_number_is_read_again(tmp_path: Path) -> None:
    store = store_of_days(tmp_path, 1)
    read_twice(store)
    store.forget(store.sessions())
    store.put([NewFile("/r", "projects/p/x.jsonl", "p", "x", b'{"new":1}\n' * 40)])
    read_twice(store)


def mixed(store: Store, days: int) -> None:
    """Keep sessions of two projects, a run a day, the projects in turn."""
    for day in range(days):
        store.put(
            NewFile("/r", f"projects/{project}/{day}{n}.jsonl", project, f"{day}{n}", data)
            for n in range(2)
            for project in ("p", "q")
            for data in [f'{{"{project}":{day}{n}}}\n'.encode() * 40]
        )


def in_frames(store: Store) -> list[set[tuple[str, str]]]:
    """Return the projects and sessions whose blocks each frame holds."""
    owners = {
        name: (one.project, one.session)
        for one in store.sessions()
        for file in one.files
        for name in file.blocks
    }
    found: dict[tuple[int, int], set[tuple[str, str]]] = {}
    for name, place in Store.open(store.folder).packs.places.items():
        found.setdefault((place.pack, place.frame), set()).add(owners[name])
    return list(found.values())


def test_frame_holds_sessions_of_one_project(tmp_path: Path) -> None:
    """When they are kept, when packs are put together, and when they come from elsewhere."""
    store = Store.open(tmp_path / "one")
    mixed(store, 1)
    assert sorted(map(len, in_frames(store))) == [1, 1, 1, 1]
    mixed(store, 5)
    assert sorted(map(len, in_frames(store))) == [10, 10]
    store.forget(store.sessions()[:1])
    assert sorted(map(len, in_frames(store))) == [9, 10]
    assert all(len({project for project, _ in frame}) == 1 for frame in in_frames(store))
    store.pack(tmp_path / "parcel")
    other = Store.open(tmp_path / "other")
    other.unpack(tmp_path / "parcel")
    assert sorted(map(len, in_frames(other))) == [9, 10]


def test_large_frame_ends_with_its_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = [f'{{"n":{n}}}\n'.encode() * 40 for n in range(5)]
    monkeypatch.setattr(pack_writer, "ENOUGH", 2 * len(data[0]))
    store = Store.open(tmp_path)
    names = ["a", "b", "c", "c", "c"]
    store.put(NewFile("/r", f"projects/p/{n}.jsonl", "p", names[n], data[n]) for n in range(5))
    assert in_frames(store) == [{("p", "a"), ("p", "b")}, {("p", "c")}]
