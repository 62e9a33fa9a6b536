"""Sessions into a store and out of it: bytes, times, modes."""

import os
from pathlib import Path

import pytest

from plait.errors import AmbiguousSession, NoSuchSession, Refused
from plait.keep import NewFile, Source, Store, sources_of
from plait.line import root_at

LINE = b'{"type":"user","uuid":"%d","text":"%s"}\n'


def lines(count: int, start: int = 0, length: int = 300) -> bytes:
    return b"".join(LINE % (n, b"%d " % n * (length // 5)) for n in range(start, start + count))


def written(path: Path, data: bytes, mode: int = 0o600, modified: int = 1_700_000_000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    os.utime(path, (modified, modified))
    return path


def found(config: Path, backups: bool = False) -> tuple[Source, ...]:
    return sources_of([root_at(config)], backups=backups)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    config = tmp_path / "claude"
    project = config / "projects" / "-home-me"
    written(project / "one.jsonl", lines(400), 0o640)
    written(project / "one" / "subagents" / "agent-a1.jsonl", lines(20, 9))
    written(project / "one" / "subagents" / "agent-a1.meta.json", b'{"agentType":"x"}')
    written(project / "one" / "tool-results" / "out.txt", b"no newline\0at all")
    written(project / "one" / "custom-title.json", b'{"customTitle":"T"}')
    written(project / "two.jsonl", b"")
    written(project / "agent-b2.jsonl", b'{"sessionId":"two"}\n')
    written(config / "todos" / "one-agent-one.json", b"[]")
    written(config / "file-history" / "one" / "0123456789abcdef@v1", b"old")
    return config


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "keep")


def test_a_session_comes_back_with_all_that_lay_beside_it(
    config: Path, store: Store, tmp_path: Path
) -> None:
    store.keep(found(config, backups=True))
    to = tmp_path / "elsewhere"
    for session in store.sessions():
        store.restore(session, to)
    before = {path.relative_to(config) for path in config.rglob("*") if path.is_file()}
    assert {path.relative_to(to) for path in to.rglob("*") if path.is_file()} == before
    for name in before:
        was, now = config / name, to / name
        assert was.read_bytes() == now.read_bytes()
        assert was.stat().st_mode == now.stat().st_mode
        assert was.stat().st_mtime_ns == now.stat().st_mtime_ns


def test_backups_are_kept_only_when_asked_for(config: Path, store: Store) -> None:
    store.keep(found(config))
    kinds = {file.kind for one in store.sessions() for file in one.files}
    assert kinds == {"session", "agent", "beside", "list"}


def test_a_second_run_has_nothing_to_do(config: Path, store: Store) -> None:
    first = store.keep(found(config))
    again = store.keep(found(config))
    assert (first.files, first.unchanged) == (8, 0)
    assert (again.files, again.unchanged, again.stored_bytes) == (0, 8, 0)


def test_a_session_is_found_by_the_beginning_of_its_name(config: Path, store: Store) -> None:
    store.keep(found(config))
    assert store.session("on").session == "one"
    with pytest.raises(NoSuchSession):
        store.session("three")
    with pytest.raises(AmbiguousSession):
        store.session("")


def test_what_is_there_is_not_written_over(config: Path, store: Store) -> None:
    store.keep(found(config))
    log = config / "projects" / "-home-me" / "one.jsonl"
    kept = log.read_bytes()
    log.write_bytes(b"mine")
    with pytest.raises(Refused, match="is there and is not what was kept"):
        store.restore(store.session("one"))
    assert log.read_bytes() == b"mine"
    restored = store.restore(store.session("one"), overwrite=True)
    assert restored.files == (log,)
    assert restored.path.read_bytes() == kept


def test_a_file_that_lies_nowhere_is_kept_with_its_mark(store: Store) -> None:
    file = NewFile("/r", "projects/p/s.jsonl", "p", "s", b"{}\n", mark="incomplete", modified=5)
    store.put([file])
    store.put([file])
    (session,) = store.sessions()
    assert (session.mark, session.modified, store.read(session.files[0])) == (
        "incomplete",
        5,
        b"{}\n",
    )
    assert len(store.journal.path.read_bytes().splitlines()) == 1
