"""Any history of sources: bytes in are bytes out, and nothing is lost."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.line import make_root
from plait.store import Store, find_sources
from tests.keep.archives import PROJECT, contents, files_of, found, lines, written
from tests.keep.small import small_blocks

NAMES = ("one", "two", "three")
Step = tuple[str, str, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            "new grow grow grow cut anew same delete touch copy torn keep keep keep".split()
        ),
        st.sampled_from(NAMES),
        st.integers(0, 60),
    ),
    max_size=24,
)


def _new(path: Path, number: int) -> bytes:
    return lines(number, number * 100)


def _grow(path: Path, number: int) -> bytes:
    return path.read_bytes() + lines(number, 7 * number)


def _cut(path: Path, number: int) -> bytes:
    data = path.read_bytes()
    return data[: len(data) * number // 60]


def _same(path: Path, number: int) -> bytes:
    """Another content of the same size, with the same time."""
    data = bytearray(path.read_bytes())
    if data:
        data[len(data) * number // 61] ^= 1
    return bytes(data)


def _torn(path: Path, number: int) -> bytes:
    return path.read_bytes() + b'{"half": "' + b"h" * number


def _copy(path: Path, number: int) -> bytes:
    other = path.with_name(f"{NAMES[number % len(NAMES)]}.jsonl")
    before = other.read_bytes() if other.exists() else b""
    return before + lines(number, 500)


CHANGES: dict[str, Callable[[Path, int], bytes]] = {
    "new": _new,
    "grow": _grow,
    "cut": _cut,
    "anew": _new,
    "same": _same,
    "torn": _torn,
    "copy": _copy,
}


def change(config: Path, step: Step) -> None:
    action, name, number = step
    path = config / PROJECT / f"{name}.jsonl"
    if action == "delete":
        path.unlink(missing_ok=True)
    elif action == "touch" and path.exists():
        os.utime(path, (number, number))
    elif action in ("new", "copy") or (path.exists() and action in CHANGES):
        data = CHANGES[action](path, number)
        path.write_bytes(data)
        os.utime(path, (1_600_000_000, 1_600_000_000))


def check(store: Store, config: Path, ever: set[tuple[str, bytes]]) -> None:
    now = files_of(config)
    ever |= set(now.items())
    kept = contents(store)
    assert {path: kept[path] for path in now} == now
    states = [(state.path, store.read(state)) for state in store.states().iter_states()]
    for path, data in ever:
        assert any(name == path and state.startswith(data) for name, state in states)
    assert store.verify() == ()


def live_through(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder, small_blocks():
        config, store = Path(folder) / "claude", Store.open(Path(folder) / "keep")
        (config / PROJECT).mkdir(parents=True)
        ever: set[tuple[str, bytes]] = set()
        for step in [*steps, ("keep", "", 0)]:
            if step[0] == "keep":
                store.keep(found(config))
                check(store, config, ever)
            else:
                change(config, step)
        check(Store.open(store.folder), config, ever)


@given(STEPS)
@settings(max_examples=50)
def test_stored_bytes_are_restored(steps: list[Step]) -> None:
    live_through(steps)


@pytest.mark.long
@given(STEPS)
@settings(max_examples=2000)
def test_stored_bytes_are_restored_after_any_history(steps: list[Step]) -> None:
    live_through(steps)


def test_real_logs_are_restored(shared: Path, tmp_path: Path) -> None:
    for name in ("corpus", "client-sessions", "produced"):
        store = Store.open(tmp_path / name)
        sources = find_sources([make_root(shared / name)])
        assert store.keep(sources).unread == []
        assert {file.place for one in sources for file in one.files} >= {
            str(path) for path in (shared / name).rglob("*.jsonl")
        }
        kept = {(one.root, file.path): file for one in store.sessions() for file in one.files}
        for source in sources:
            for file in source.files:
                state = kept[source.root, file.path]
                assert store.read(state) == Path(file.place).read_bytes()
        assert store.keep(sources).files == 0


def test_backing_up_a_growing_archive_again_is_cheap(tmp_path: Path) -> None:
    """Thirty days, each a run: as large as one run over the last day, and a few packs."""
    config, log = tmp_path / "claude", tmp_path / "claude" / PROJECT / "one.jsonl"
    store, once = Store.open(tmp_path / "keep"), Store.open(tmp_path / "once")
    for day in range(1, 31):
        written(log, lines(200 * day, length=600), modified=day)
        store.keep(found(config))
    once.keep(found(config))
    assert store.packs.stored_bytes() < 1.5 * once.packs.stored_bytes()
    assert len(store.packs.numbers()) < 10
    assert len(store.states().files) == 1
    assert contents(store) == contents(once) == files_of(config)
