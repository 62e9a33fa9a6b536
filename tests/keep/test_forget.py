"""Forgetting sessions: space is freed, the rest stays, and they are not backed up again."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from plait.errors import SourceError
from plait.store import Limits, Store
from plait.store import store as tidying
from plait.store.packs import PackWriter
from tests.keep.archives import PROJECT, contents, files_of, found, kept_files, lines, written
from tests.keep.small import small_blocks

DAY = 86_400


def noise(size: int) -> bytes:
    return os.urandom(size // 2).hex().encode() + b"\n"


@pytest.fixture
def aged(tmp_path: Path) -> Path:
    """Return an archive of three sessions: the oldest shares its first half with the newest."""
    config = tmp_path / "claude"
    shared = noise(400_000)
    written(config / PROJECT / "old.jsonl", shared + noise(400_000), modified=1 * DAY)
    written(config / PROJECT / "middle.jsonl", noise(400_000), modified=50 * DAY)
    written(config / PROJECT / "new.jsonl", shared, modified=99 * DAY)
    return config


def test_forgetting_a_session_frees_its_space(aged: Path, store: Store) -> None:
    store.keep(found(aged))
    before = store.size()
    freed = store.forget([store.session("middle")])
    after = store.size()
    assert (freed.sessions, freed.files, freed.bytes) == (("middle",), 1, 400_001)
    assert freed.stored_bytes == before.stored_bytes - after.stored_bytes > 190_000
    assert (before.sessions, after.sessions) == (3, 2)
    assert store.verify() == ()


def test_blocks_other_sessions_need_are_kept(aged: Path, store: Store) -> None:
    store.keep(found(aged))
    store.forget([store.session("old")])
    expected = {path: data for path, data in files_of(aged).items() if "old" not in path}
    assert contents(Store.open(store.folder)) == expected


def test_nothing_of_a_forgotten_session_is_left(aged: Path, store: Store) -> None:
    store.keep(found(aged))
    blocks = {*store.session("middle").files[0].blocks}
    store.forget([store.session("middle")])
    for path in store.folder.rglob("*"):
        if path.is_file():
            text = path.read_bytes()
            assert not [name for name in blocks if name.encode() in text], path
    assert blocks.isdisjoint(store.packs.places)


def test_everything_can_be_forgotten(aged: Path, store: Store) -> None:
    store.keep(found(aged))
    store.forget(store.sessions())
    assert (store.sessions(), store.packs.numbers()) == ((), ())
    assert store.size().bytes == 0


def test_a_forgotten_session_is_backed_up_again_only_if_changed_or_named(
    aged: Path, store: Store
) -> None:
    store.keep(found(aged))
    store.forget(store.sessions())
    assert store.keep(found(aged)).unchanged == 3
    written(aged / PROJECT / "new.jsonl", lines(3), modified=100 * DAY)
    assert store.keep(found(aged)).sessions == ["new"]
    assert store.keep(found(aged), again=True).sessions == ["middle", "old"]


def test_a_forgotten_session_without_source_is_gone(aged: Path, store: Store) -> None:
    store.keep(found(aged))
    session = store.session("old")
    (aged / PROJECT / "old.jsonl").unlink()
    store.forget([session])
    with pytest.raises(SourceError, match="missing from all packs"):
        store.read(session.files[0])


@pytest.mark.parametrize(
    ("limits", "gone"),
    [
        (Limits(), []),
        (Limits(max_age=200), []),
        (Limits(max_age=60), ["old"]),
        (Limits(max_age=0.5), ["old", "middle", "new"]),
        (Limits(max_bytes=10_000_000), []),
        (Limits(max_bytes=500_000), ["old"]),
        (Limits(max_bytes=300_000), ["old", "middle"]),
        (Limits(max_bytes=0), ["old", "middle", "new"]),
        (Limits(max_age=60, max_bytes=300_000), ["old", "middle"]),
    ],
)
def test_limits_remove_the_oldest(
    aged: Path, store: Store, limits: Limits, gone: list[str]
) -> None:
    store.keep(found(aged))
    beyond = store.select_expired(limits, now=100.0 * DAY)
    assert [one.session for one in beyond] == gone
    store.forget(beyond)
    if limits.max_bytes is not None:
        assert store.packs.stored_bytes() <= limits.max_bytes + 3000
    assert store.verify() == ()


def test_an_interruption_between_journal_and_packs_loses_nothing(aged: Path, store: Store) -> None:
    store.keep(found(aged))
    expected = {path: data for path, data in files_of(aged).items() if "middle" not in path}
    with (
        patch.object(PackWriter, "commit", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        store.forget([store.session("middle")])
    store = Store.open(store.folder)
    assert contents(store) == expected
    before = store.packs.stored_bytes()
    store.forget([store.session("old")])
    assert store.packs.stored_bytes() < before - 350_000
    assert [file.session for file in kept_files(store)] == ["new"]


def test_a_block_in_two_packs_is_readable_and_one_copy_removed(aged: Path, store: Store) -> None:
    """Cut off after the new pack was written and before the old one went."""
    store.keep(found(aged))
    expected = contents(store)
    unlink = Path.unlink
    with patch.object(Path, "unlink", autospec=True) as refused:
        refused.side_effect = lambda path, missing_ok=False: (
            None if path.suffix in (".pack", ".index") else unlink(path, missing_ok=missing_ok)
        )
        with store.open_for_writing() as states:
            tidying.rewrite_packs(store.packs, states, [1])
    store = Store.open(store.folder)
    assert store.packs.numbers() == (1, 2)
    assert contents(store) == expected
    with store.open_for_writing() as states:
        assert tidying.find_wasteful_packs(store.packs, states) == {1}


def test_many_small_packs_are_merged(tmp_path: Path, store: Store) -> None:
    config = tmp_path / "claude"
    for number in range(2 * tidying.MANY):
        written(config / PROJECT / f"{number:02}.jsonl", lines(5, number))
        store.keep(found(config))
        assert len(store.packs.numbers()) < tidying.MANY
    assert contents(store) == files_of(config)


def test_packs_with_few_unneeded_blocks_are_kept(aged: Path, store: Store) -> None:
    store.keep(found(aged))
    with store.open_for_writing() as states:
        states.files.pop(store.session("new").files[0].key)  # shared: nothing is dead
        assert tidying.find_wasteful_packs(store.packs, states) == set()
        states.files.pop(store.session("middle").files[0].key)
        assert tidying.find_wasteful_packs(store.packs, states, 0.5) == set()
        assert tidying.find_wasteful_packs(store.packs, states, 0.2) == {1}


def test_a_run_succeeds_without_space_to_merge_packs(tmp_path: Path, store: Store) -> None:
    config = tmp_path / "claude"
    with patch.object(tidying, "rewrite_packs", side_effect=OSError(28, "No space left on device")):
        for number in range(tidying.MANY + 1):
            written(config / PROJECT / f"{number}.jsonl", lines(5, number))
            store.keep(found(config))
    assert len(store.packs.numbers()) == tidying.MANY + 1
    assert contents(store) == files_of(config)


def test_damaged_pack_is_never_deleted(aged: Path, store: Store) -> None:
    store.keep(found(aged))
    old = store.session("old")
    pack = store.packs.path(1)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 1
    pack.write_bytes(data)
    store = Store.open(store.folder)
    assert store.verify()
    store.forget([store.session("new")])
    assert store.session("old") == old
    assert pack.exists()


def test_larger_blocks_of_older_versions_are_moved(aged: Path, store: Store) -> None:
    store.keep(found(aged))
    expected = {path: data for path, data in files_of(aged).items() if "middle" not in path}
    with small_blocks():
        store.forget([store.session("middle")])
    assert contents(store) == expected


def test_a_reused_pack_number_is_noticed(aged: Path, store: Store) -> None:
    reader = Store.open(store.folder)
    for number in range(3):
        for path in (aged / PROJECT).iterdir():
            written(path, lines(3, number), modified=number)
        store.keep(found(aged))
        assert store.packs.numbers() == (1,)
        assert {*contents(store).values()} == {*contents(reader).values()} == {lines(3, number)}
        store.forget(store.sessions())
