"""Frames at hand: each is unpacked once while they fit, and no more are held than may be."""

from pathlib import Path

import pytest

from plait.keep import packs, zstd
from plait.keep.model import NewFile
from plait.keep.store import Store


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the frames that are unpacked, by their sizes."""
    sizes: list[int] = []
    real = zstd.plain

    def counted(frame: bytes, size: int) -> bytes:
        sizes.append(size)
        return real(frame, size)

    monkeypatch.setattr(packs, "plain", counted)
    return sizes


def store_of_days(folder: Path, days: int) -> Store:
    """Keeps a file each day: each is a frame of its own."""
    store = Store.open(folder)
    for day in range(days):
        data = f'{{"day":{day}}}\n'.encode() * 40
        store.put([NewFile("/r", f"projects/p/{day}.jsonl", "p", str(day), data)])
    return Store.open(folder)


def read_twice(store: Store) -> None:
    files = [one.files[0] for one in store.sessions()]
    for file in files * 2:
        assert len(store.read(file)) == file.size


def test_frames_that_fit_are_unpacked_once(tmp_path: Path, unpacked: list[int]) -> None:
    read_twice(store_of_days(tmp_path, 3))
    assert len(unpacked) == 3


def test_no_more_frames_are_held_than_may_be(
    tmp_path: Path, unpacked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of_days(tmp_path, 3)
    monkeypatch.setattr(packs, "MOST_HELD", 2 * 400)
    read_twice(store)
    assert len(unpacked) == 6
    assert sum(map(len, store.packs._plain.values())) == 2 * 400


def test_one_frame_is_held_however_large(
    tmp_path: Path, unpacked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of_days(tmp_path, 1)
    monkeypatch.setattr(packs, "MOST_HELD", 0)
    read_twice(store)
    assert len(unpacked) == 1


def test_a_pack_whose_number_comes_again_is_read_anew(tmp_path: Path) -> None:
    store = store_of_days(tmp_path, 1)
    read_twice(store)
    store.forget(store.sessions())
    store.put([NewFile("/r", "projects/p/x.jsonl", "p", "x", b'{"new":1}\n' * 40)])
    read_twice(store)
