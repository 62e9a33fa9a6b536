"""Failures while writing a store: no backup is lost and the next run completes.

Killed, no room, a flipped byte, two at once, read-only, short writes, sources that change.
"""

import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from plait.errors import PlaitError, SourceError
from plait.store import Store, journal
from tests.keep.archives import PROJECT, contents, files_of, found, kept_files, lines, written
from tests.keep.small import small_blocks

ROOT = Path(__file__).resolve().parents[2]


def started(store: Store, config: Path, *gone: str) -> "subprocess.Popen[bytes]":
    """Start a run in another process and wait until it begins."""
    command = [sys.executable, "-m", "tests.keep.small", str(store.folder), str(config), *gone]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert run.stdout
    assert run.stdout.readline() == b"ready\n"
    return run


def changed(config: Path, chance: random.Random) -> None:
    """Let files grow, be written anew, go, come."""
    for number in range(12):
        path = config / PROJECT / f"session-{number}.jsonl"
        how = chance.choice(("grow", "grow", "stay", "anew", "delete"))
        before = path.read_bytes() if path.exists() and how == "grow" else b""
        if how in ("grow", "anew"):
            written(path, before + lines(chance.randrange(60), chance.randrange(10_000)))
        elif how == "delete":
            path.unlink(missing_ok=True)
    written(config / PROJECT / "gone.jsonl", lines(30, chance.randrange(10_000)))


def every_state(store: Store) -> set[tuple[str, bytes]]:
    return {(state.path, store.read(state)) for state in store.states().iter_states()}


def check_held(store: Store, before: set[tuple[str, bytes]]) -> None:
    """Whatever was kept before is kept now, as it was or as the beginning of what it grew to."""
    now = every_state(store)
    for path, data in before - now:
        assert path.endswith("gone.jsonl") or any(
            name == path and state.startswith(data) for name, state in now
        )


def kill_often(tmp_path: Path, times: int) -> int:
    """Kill so many runs at random points; returns how many of them were at work."""
    config, store = tmp_path / "claude", Store.open(tmp_path / "keep")
    chance, cut_off = random.Random(times), 0
    with small_blocks():
        for number in range(times):
            changed(config, chance)
            before = every_state(store)
            run = started(store, config, *(["gone"] if number % 3 == 0 else []))
            time.sleep(chance.random() ** 2 * 0.25)
            cut_off += run.poll() is None
            run.kill()
            run.wait()
            assert run.stdout
            run.stdout.close()
            check_held(store, before)
            before = every_state(store)
            if number % 4 == 0:
                store.keep(found(config))
                kept = contents(store)
                now = {path: data for path, data in files_of(config).items() if "gone" not in path}
                assert now.items() <= kept.items()
                check_held(store, before)
                assert store.verify() == ()
    names = [path.name for path in store.packs.folder.iterdir()]
    assert not [name for name in names if name.endswith(".new")]
    return cut_off


def test_killed_run_loses_nothing(tmp_path: Path) -> None:
    kill_often(tmp_path, 9)


@pytest.mark.long
def test_two_hundred_kills_lose_nothing(tmp_path: Path) -> None:
    cut_off = kill_often(tmp_path, 201)
    sys.stdout.write(f"{cut_off} of 201 runs were at work when they were killed\n")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a small disk, where the system lets us."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def remounted(disk: Path, options: str) -> None:
    command = ["mount", "-o", f"remount,{options}", str(disk)]
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.parametrize("free", [0, 4, 12, 24, 60, 120, 300])
def test_full_disk_loses_nothing_and_the_next_run_completes(
    disk: Path, tmp_path: Path, free: int
) -> None:
    config, store = tmp_path / "claude", Store.open(disk / "keep")
    written(config / PROJECT / "one.jsonl", os.urandom(30_000).hex().encode())
    with small_blocks():
        store.keep(found(config))
        before = contents(store)
    written(disk / "ballast", bytes((1 << 20) - 4096 * 12 - _used(store) - free * 1024))
    for number in range(8):
        data = os.urandom(40_000).hex().encode()
        written(config / PROJECT / f"more-{number}.jsonl", data)
    with small_blocks():
        with pytest.raises(SourceError, match="no space left"):
            store.keep(found(config))
        assert before.items() <= contents(Store.open(store.folder)).items()
        assert not [path for path in store.packs.folder.iterdir() if path.suffix == ".new"]
        remounted(disk, "size=8m")
        store.keep(found(config))
        assert contents(store) == files_of(config)
        assert store.verify() == ()


def _used(store: Store) -> int:
    sizes = (path.stat().st_size for path in store.folder.rglob("*") if path.is_file())
    return sum(-(-size // 4096) * 4096 for size in sizes)


def test_a_read_only_store_can_be_read(disk: Path, tmp_path: Path) -> None:
    config, store = tmp_path / "claude", Store.open(disk / "keep")
    written(config / PROJECT / "one.jsonl", lines(50))
    store.keep(found(config))
    remounted(disk, "ro")
    check_read_only(store, config, tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_can_be_read(tmp_path: Path) -> None:
    config, store = tmp_path / "claude", Store.open(tmp_path / "keep")
    written(config / PROJECT / "one.jsonl", lines(50))
    store.keep(found(config))
    for path in (*store.folder.rglob("*"), store.folder):
        path.chmod(0o500)
    check_read_only(store, config, tmp_path)
    for path in (store.folder, *store.folder.rglob("*")):
        path.chmod(0o700)


def check_read_only(store: Store, config: Path, tmp_path: Path) -> None:
    store = Store.open(store.folder)
    assert store.keep(found(config)).unchanged == 1
    written(config / PROJECT / "two.jsonl", lines(5))
    assert len(store.plan(found(config)).new) == 1
    for writing in (
        lambda: store.keep(found(config)),
        lambda: store.forget(store.sessions()),
    ):
        with pytest.raises(SourceError, match="cannot write"):
            writing()
    assert store.verify() == ()
    restored = store.restore(store.session("one"), tmp_path / "to")
    assert restored.path.read_bytes() == lines(50)


def flipped(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= 0x40
    path.write_bytes(data)


def flip_often(tmp_path: Path, times: int) -> tuple[int, int]:
    """Flips one byte in a copy of a store, so many times; returns what was damaged by that."""
    config, store = tmp_path / "claude", Store.open(tmp_path / "whole")
    for number in range(6):
        written(config / PROJECT / f"session-{number}.jsonl", lines(90, number * 1000))
    chance, blocks, healed = random.Random(3), 0, 0
    with small_blocks():
        store.keep(found(config))
        expected = contents(store)
        for _ in range(times):
            copy = Store.open(tmp_path / "copy")
            shutil.copytree(store.folder, copy.folder)
            paths = sorted(path for path in copy.folder.rglob("*") if path.stat().st_size)
            path = chance.choice([path for path in paths if path.is_file()])
            flipped(path, chance.randrange(1 << 30))
            damaged = copy.verify()
            blocks += any(one.block for one in damaged)
            check_the_rest_restores(copy, expected, damaged=bool(damaged))
            copy.keep(found(config))
            assert [one for one in copy.verify() if one.block] == []
            assert contents(copy) == expected
            healed += 1
            shutil.rmtree(copy.folder)
    return blocks, healed


def check_the_rest_restores(copy: Store, expected: dict[str, bytes], *, damaged: bool) -> None:
    hurt = {file.path for one in copy.verify() for file in one.files}
    assert damaged or not hurt
    assert len(hurt) < len(expected)
    for file in kept_files(copy):
        if file.path in hurt:
            with pytest.raises(SourceError, match="is damaged in the backup: block"):
                copy.read(file)
        else:
            assert copy.read(file) == expected[file.path]
    assert {file.path for file in kept_files(copy)} == expected.keys()


def test_a_flipped_byte_is_reported_and_the_rest_restored(tmp_path: Path) -> None:
    flip_often(tmp_path, 12)


@pytest.mark.long
def test_many_flipped_bytes_are_reported_and_stored_again(tmp_path: Path) -> None:
    blocks, healed = flip_often(tmp_path, 400)
    sys.stdout.write(f"{blocks} of {healed} flips damaged a block; all were stored again\n")


def test_damaged_file_is_skipped_or_partially_restored(config: Path, store: Store) -> None:
    store.keep(found(config))
    before = store.session("one")
    log = before.log
    assert log and len(log.blocks) > 1
    with small_blocks():
        place = store.packs.places[log.blocks[1]]
    pack = store.packs.path(place.pack)
    flipped(pack, place.frame + place.packed // 2)
    shutil.rmtree(config)
    (damage, *_) = store.verify()
    assert "one" in damage.sessions
    assert damage.where.startswith("000001.pack, frame at byte ")
    done = store.restore(before)
    assert not (config / log.path).exists()
    assert done.damaged
    done = store.restore(before, partial=True)
    whole, left = lines(400), (config / log.path).read_bytes()
    assert set(left.splitlines()) < set(whole.splitlines())


@pytest.mark.parametrize(
    "harm",
    [
        lambda data: None,
        lambda data: b"",
        lambda data: data[:-40],
        lambda data: data.replace(b'"at":', b'"at":1'),
        lambda data: data.replace(b'"sha256":"', b'"sha256":"0'),
    ],
    ids="gone empty torn lying misnaming".split(),
)
def test_a_damaged_index_loses_nothing_and_is_rebuilt(
    config: Path, store: Store, harm: Callable[[bytes], bytes | None]
) -> None:
    store.keep(found(config))
    expected, path = contents(store), store.packs.path(1, ".index")
    index = path.read_bytes()
    harmed = harm(index)
    path.unlink() if harmed is None else path.write_bytes(harmed)
    store = Store.open(store.folder)
    assert contents(store) == expected
    assert [(one.block, one.where) for one in store.verify()] == [("", "000001.index")]
    assert path.read_bytes() == index
    assert store.verify() == ()


def test_a_pack_with_wrong_names_is_reported_and_its_index_used(config: Path, store: Store) -> None:
    store.keep(found(config))
    expected, index = contents(store), store.packs.path(1, ".index").read_bytes()
    flipped(store.packs.path(1), 20)
    store = Store.open(store.folder)
    for _ in range(2):
        assert [(one.block, one.where) for one in store.verify()] == [("", "000001.pack")]
    assert store.packs.path(1, ".index").read_bytes() == index
    assert contents(store) == expected


def test_a_damaged_copy_of_the_journal_is_rebuilt(config: Path, store: Store) -> None:
    store.keep(found(config))
    copy = store.journal.copy.path
    flipped(copy, copy.stat().st_size // 2)
    (damage,) = store.verify()
    assert (damage.block, damage.where) == ("", "journal.copy.zst")
    assert store.verify() == ()
    assert store.journal.copy.read() == store.journal.path.read_bytes()


@pytest.mark.parametrize("left", [0, 30, -5])
def test_an_unfinished_copy_is_not_reported_as_damage(
    config: Path, store: Store, left: int
) -> None:
    store.keep(found(config))
    copy = store.journal.copy.path
    copy.write_bytes(copy.read_bytes()[:left])
    assert store.verify() == ()
    assert store.journal.copy.read() == store.journal.path.read_bytes()
    copy.unlink()
    assert store.verify() == ()
    assert store.journal.copy.read() == store.journal.path.read_bytes()


def test_a_frame_with_only_its_checksum_damaged_is_read(config: Path, store: Store) -> None:
    store.keep(found(config))
    expected = contents(store)
    place = next(iter(store.packs.places.values()))
    flipped(store.packs.path(1), place.frame + place.packed - 1)
    assert contents(Store.open(store.folder)) == expected


def test_the_blocks_of_a_lost_pack_are_stored_again(config: Path, store: Store) -> None:
    store.keep(found(config))
    expected = contents(store)
    store.packs.path(1).unlink()
    store = Store.open(store.folder)
    assert {one.why for one in store.verify()} == {"missing from all packs"}
    store.keep(found(config))
    assert store.verify() == ()
    assert contents(store) == expected
    assert not (store.folder / "damaged.txt").exists()


def test_simultaneous_runs_take_turns(tmp_path: Path) -> None:
    config, store = tmp_path / "claude", Store.open(tmp_path / "keep")
    changed(config, random.Random(1))
    runs = [started(store, config) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    for run in runs:
        assert run.stdout
        run.stdout.close()
    assert contents(store) == files_of(config)
    assert store.verify() == ()
    written_lines = store.journal.path.read_bytes().splitlines()
    assert len(written_lines) == len(files_of(config))


def test_a_run_that_does_not_wait_is_refused(config: Path, store: Store) -> None:
    with store.open_for_writing(), pytest.raises(PlaitError, match="another process is writing"):
        Store.open(store.folder).keep(found(config), wait=0.01)


def test_readers_and_writers_do_not_block_each_other(tmp_path: Path) -> None:
    config, store = tmp_path / "claude", Store.open(tmp_path / "keep")
    chance, faults, is_done = random.Random(2), list[BaseException](), threading.Event()
    changed(config, chance)

    def read() -> None:
        reader = Store.open(store.folder)
        try:
            while not is_done.is_set():
                for state in [*reader.states().iter_states()]:
                    assert len(reader.read(state)) == state.size
        except BaseException as error:
            faults.append(error)

    with small_blocks():
        store.keep(found(config))
        thread = threading.Thread(target=read)
        thread.start()
        for _ in range(12):
            changed(config, chance)
            store.keep(found(config))
        is_done.set()
        thread.join()
    assert faults == []
    assert store.verify() == ()


def test_reader_finds_a_moved_pack(tmp_path: Path) -> None:
    config, store = tmp_path / "claude", Store.open(tmp_path / "keep")
    written(config / PROJECT / "stays.jsonl", lines(20))
    written(config / PROJECT / "goes.jsonl", lines(20, 900))
    store.keep(found(config))
    reader = Store.open(store.folder)
    stays = reader.session("stays").files[0]
    assert reader.packs.places
    store.forget([store.session("goes")])
    assert reader.packs.numbers() == (2,)
    assert reader.read(stays) == lines(20)


def test_short_writes_are_continued(
    config: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, bytes(data)[:1000]))
    store.keep(found(config))
    monkeypatch.undo()
    assert contents(Store.open(store.folder)).items() <= files_of(config).items()
    assert store.verify() == ()


def test_a_source_deleted_before_it_is_read_is_reported(config: Path, store: Store) -> None:
    log = config / PROJECT / "one.jsonl"
    sources = found(config)
    log.unlink()
    done = store.keep(sources)
    assert [(one.path, one.why) for one in done.unread] == [(str(log), "no such file or directory")]
    assert done.files == 7


@pytest.mark.parametrize("then", [lines(3), lines(4000), lines(400, 9), b""])
def test_a_source_changed_before_reading_is_stored_as_read(
    config: Path, store: Store, then: bytes
) -> None:
    log = config / PROJECT / "one.jsonl"
    sources = found(config)
    written(log, then)
    store.keep(sources)
    assert contents(store)[f"{PROJECT}/one.jsonl"] == then
    assert store.keep(found(config)).files == 0


def test_a_source_truncated_while_it_is_read(tmp_path: Path) -> None:
    config, store = tmp_path / "claude", Store.open(tmp_path / "keep")
    log = written(config / PROJECT / "one.jsonl", lines(20_000))
    is_done = threading.Event()

    def disturb() -> None:
        chance = random.Random(4)
        while not is_done.is_set():
            size = log.stat().st_size
            os.truncate(log, chance.randrange(size + 1))
            with log.open("ab") as file:
                file.write(lines(chance.randrange(9000)))

    thread = threading.Thread(target=disturb)
    thread.start()
    for _ in range(8):
        store.keep(found(config))
    is_done.set()
    thread.join()
    assert store.verify() == ()
    for state in store.states().iter_states():
        assert len(store.read(state)) == state.size
    store.keep(found(config))
    assert contents(store) == files_of(config)


def test_a_source_written_to_while_it_was_read_is_read_again(
    config: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As its time was set back, only what was asked after reading tells it."""
    log = written(config / PROJECT / "one.jsonl", lines(100))
    asked = os.fstat

    def grown(handle: int) -> os.stat_result:
        status = asked(handle)
        if status.st_ino == log.stat().st_ino and log.stat().st_size == len(lines(100)):
            written(log, lines(101))
        return status

    monkeypatch.setattr(os, "fstat", grown)
    store.keep(found(config))
    monkeypatch.undo()
    assert contents(store)[f"{PROJECT}/one.jsonl"] == lines(100)
    assert store.keep(found(config)).files == 1
    assert contents(store)[f"{PROJECT}/one.jsonl"] == lines(101)


def test_a_log_that_grew_after_its_pack_was_lost_is_stored_completely(
    config: Path, store: Store
) -> None:
    store.keep(found(config))
    store.packs.path(1).unlink()
    written(config / PROJECT / "one.jsonl", lines(900))
    store = Store.open(store.folder)
    store.keep(found(config))
    assert contents_of(store, "one") == lines(900)


def contents_of(store: Store, session: str) -> bytes:
    log = store.session(session).log
    assert log
    return store.read(log)


def test_a_damaged_journal_is_repaired_by_the_next_run(config: Path, store: Store) -> None:
    store.keep(found(config))
    expected = contents(store)
    flipped(store.journal.path, 700)
    (damage,) = store.verify()
    assert (damage.where, damage.why) == (
        "journal.jsonl",
        "line 2 is damaged, but its copy is intact",
    )
    written(config / PROJECT / "three.jsonl", lines(1))
    store.keep(found(config))
    assert store.verify() == ()
    assert expected.items() <= contents(store).items()


def test_an_irreparable_journal_is_unchanged(config: Path, store: Store) -> None:
    store.keep(found(config))
    store.journal.copy.path.unlink()
    flipped(store.journal.path, 700)
    line = store.journal.path.read_bytes().splitlines()[1]
    (damage,) = store.verify()
    assert damage.why == "line 2 is damaged, and so is its copy"
    done = store.keep(found(config))
    assert done.files == 1  # it is still at its source
    assert line in store.journal.path.read_bytes().splitlines()
    assert contents(store).items() <= files_of(config).items()


def test_leftovers_of_an_unfinished_run_are_removed(config: Path, store: Store) -> None:
    store.keep(found(config))
    left = ["000002.pack.new", "000002.index.new", "000003.index"]
    for name in left:
        written(store.packs.folder / name, b"half")
    written(store.folder / "unpacking-x" / "packs" / "000001.pack", b"half")
    expected = contents(Store.open(store.folder))
    written(config / PROJECT / "three.jsonl", lines(1))
    store.keep(found(config))
    names = {path.name for path in store.packs.folder.iterdir()}
    assert names.isdisjoint(left[:2])
    assert names == {"000001.pack", "000001.index", "000002.pack", "000002.index"}
    assert not (store.folder / "unpacking-x").exists()
    assert expected.items() <= contents(store).items()


def test_a_repetitive_journal_is_shortened(store: Store, tmp_path: Path) -> None:
    config = tmp_path / "claude"
    log = written(config / PROJECT / "one.jsonl", lines(10))
    with patch.object(journal, "SLACK", 2000):
        for number in range(30):
            os.utime(log, (number, number))
            store.keep(found(config))
    assert store.journal.path.stat().st_size < 3500
    assert store.session("one").modified == 29 * 10**9
