"""Storing and restoring sessions: bytes, times, modes."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from plait.errors import AmbiguousSession, NoSuchSession, Refused, SourceError, UserError
from plait.store import KeptSession, NewFile, Progress, Store
from tests.keep.archives import PROJECT, contents, files_of, found, kept_files, lines, written


def test_a_session_is_restored_with_its_side_files(
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


def test_file_backups_are_stored_only_on_request(config: Path, store: Store) -> None:
    store.keep(found(config))
    kinds = {file.kind for one in store.sessions() for file in one.files}
    assert kinds == {"session", "agent", "beside", "list"}


def test_second_run_does_nothing(config: Path, store: Store) -> None:
    first = store.keep(found(config))
    again = store.keep(found(config))
    assert (first.files, first.unchanged) == (8, 0)
    assert (again.files, again.unchanged, again.stored_bytes) == (0, 8, 0)


def test_a_session_is_found_by_a_prefix_of_its_id(config: Path, store: Store) -> None:
    store.keep(found(config))
    assert store.session("on").session == "one"
    with pytest.raises(NoSuchSession):
        store.session("three")
    with pytest.raises(AmbiguousSession):
        store.session("")


def test_an_existing_file_is_not_overwritten(config: Path, store: Store) -> None:
    store.keep(found(config))
    log = config / PROJECT / "one.jsonl"
    kept = log.read_bytes()
    log.write_bytes(b"mine")
    with pytest.raises(Refused, match="not the same as in the backup"):
        store.restore(store.session("one"))
    assert log.read_bytes() == b"mine"
    restored = store.restore(store.session("one"), overwrite=True)
    assert restored.files == (log,)
    assert restored.path.read_bytes() == kept


def test_a_new_file_is_stored_with_its_mark(store: Store) -> None:
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


def test_an_identical_existing_file_is_left_alone(config: Path, store: Store) -> None:
    store.keep(found(config))
    restored = store.restore(store.session("one"))
    assert (restored.files, len(restored.same)) == ((), 6)
    assert restored.path == config / PROJECT / "one.jsonl"


def test_only_a_deleted_file_is_restored(config: Path, store: Store) -> None:
    store.keep(found(config))
    agent = config / PROJECT / "one" / "subagents" / "agent-a1.jsonl"
    data = agent.read_bytes()
    agent.unlink()
    store.keep(found(config))
    restored = store.restore(store.session("one"))
    assert restored.files == (agent,)
    assert agent.read_bytes() == data


def test_a_grown_file_has_one_state_and_a_rewritten_one_two(config: Path, store: Store) -> None:
    log = config / PROJECT / "one.jsonl"
    store.keep(found(config))
    written(log, lines(900))
    store.keep(found(config))
    assert store.session("one").earlier == ()
    written(log, lines(5, 50))
    store.keep(found(config))
    session = store.session("one")
    assert session.log and store.read(session.log) == lines(5, 50)
    assert [store.read(file) for file in session.earlier] == [lines(900)]


def test_a_touched_file_has_one_state_with_its_new_time(config: Path, store: Store) -> None:
    store.keep(found(config))
    os.utime(config / PROJECT / "one.jsonl", (5, 5))
    done = store.keep(found(config))
    session = store.session("one")
    assert (done.files, done.new_bytes, session.earlier) == (1, 0, ())
    assert session.log and session.log.modified == 5 * 10**9


def test_shared_content_is_stored_once(config: Path, store: Store) -> None:
    store.keep(found(config))
    before = store.packs.stored_bytes()
    shared = (config / PROJECT / "one.jsonl").read_bytes()
    written(config / PROJECT / "copy.jsonl", shared)
    done = store.keep(found(config))
    assert (done.files, done.new_bytes) == (1, 0)
    assert store.packs.stored_bytes() == before


def test_a_plan_lists_what_is_new_and_writes_nothing(config: Path, store: Store) -> None:
    planned = store.plan(found(config))
    assert (len(planned.new), planned.unchanged, len(planned.sessions)) == (8, 0, 2)
    assert planned.bytes == sum(map(len, files_of(config).values())) - len(b"old")
    assert not store.folder.exists()
    store.keep(found(config))
    written(config / PROJECT / "one.jsonl", lines(401))
    written(config / PROJECT / "agent-b2.jsonl", b"{}\n")
    planned = store.plan(found(config))
    assert [file.path for file in planned.grown] == [f"{PROJECT}/one.jsonl"]
    assert [file.path for file in planned.changed] == [f"{PROJECT}/agent-b2.jsonl"]
    assert (planned.new, planned.unchanged) == ((), 6)


def test_progress_is_reported_per_file(config: Path, store: Store) -> None:
    seen: list[Progress] = []
    store.keep(found(config), report=seen.append)
    assert [one.files for one in seen] == list(range(9))
    assert seen[-1].bytes == seen[-1].of_bytes > 0
    assert {one.of_files for one in seen} == {8}


def test_a_path_that_leads_elsewhere_is_never_written(store: Store, tmp_path: Path) -> None:
    for number, path in enumerate(("../out.jsonl", "/etc/x.jsonl", "a/../../b.jsonl")):
        store.put([NewFile("/r", path, "p", f"s{number}", b"{}\n")])
        with pytest.raises(Exception, match="it is outside the folder"):
            store.restore(store.session(f"s{number}"), tmp_path / "to")
    assert not (tmp_path / "to").exists()
    assert not (tmp_path / "out.jsonl").exists()


def test_a_store_that_is_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a folder"):
        Store.open(written(tmp_path / "file", b""))


def test_an_empty_store_has_no_sessions(store: Store) -> None:
    assert store.sessions() == ()
    assert store.verify() == ()
    assert store.size().stored_bytes == 0
    assert store.keep([]).files == 0
    assert store.forget([]).files == 0
    assert not store.folder.exists()


def test_earlier_state_can_be_restored(config: Path, store: Store, tmp_path: Path) -> None:
    store.keep(found(config))
    before = (config / PROJECT / "one.jsonl").read_bytes()
    written(config / PROJECT / "one.jsonl", b"")
    store.keep(found(config))
    session = store.session("one")
    earlier = replace(session, files=session.earlier, earlier=())
    assert isinstance(earlier, KeptSession)
    assert store.restore(earlier, tmp_path / "to").path.read_bytes() == before


def test_the_newest_state_is_the_one_stored_last(config: Path, store: Store) -> None:
    store.keep(found(config))
    assert {file.kept for file in kept_files(store)} == {store.session("one").kept}
    assert contents(store) == {
        name: data for name, data in files_of(config).items() if "file-history" not in name
    }


def test_a_file_created_during_a_restore_is_not_overwritten(
    config: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.keep(found(config))
    log = config / PROJECT / "one.jsonl"
    log.unlink()
    link = os.link

    def late(draft: Path, path: Path) -> None:
        written(path, b"mine")
        link(draft, path)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(SourceError, match="cannot write"):
        store.restore(store.session("one"))
    assert log.read_bytes() == b"mine"
    assert [*log.parent.glob(".*")] == []


def test_a_symlink_is_not_overwritten(config: Path, store: Store, tmp_path: Path) -> None:
    store.keep(found(config))
    log = config / PROJECT / "one.jsonl"
    log.rename(tmp_path / "moved.jsonl")
    log.symlink_to(tmp_path / "moved.jsonl")
    with pytest.raises(Refused, match="not the same as in the backup"):
        store.restore(store.session("one"))


def test_a_journal_with_wrong_blocks_is_noticed(config: Path, store: Store, tmp_path: Path) -> None:
    store.keep(found(config))
    session = store.session("one")
    file = msgspec.structs.replace(session.files[0], sha256="0" * 64)
    done = store.restore(replace(session, files=(file,)), tmp_path / "to")
    assert [one.why for one in done.damaged] == ["the listed blocks do not match the file"]
    assert (done.files, files_of(tmp_path / "to")) == ((), {})


def test_a_grown_new_file_has_one_state_and_a_different_one_two(store: Store) -> None:
    def put(data: bytes) -> list[bytes]:
        store.put([NewFile("/r", "projects/p/s.jsonl", "p", "s", data)])
        (session,) = store.sessions()
        return [store.read(file) for file in (*session.earlier, *session.files)]

    assert put(lines(2)) == [lines(2)]
    assert put(lines(3)) == [lines(3)]
    assert put(lines(1)) == [lines(3), lines(1)]
    assert put(lines(3, 7)) == [lines(3), lines(1), lines(3, 7)]


def test_a_lost_state_is_never_replaced_by_another(tmp_path: Path) -> None:
    """A file was written anew, longer than it was, and the pack of its old state is gone."""
    store = Store.open(tmp_path)
    for data in (b"old\n" * 10, b"new\n" * 20):
        store.put([NewFile("/r", "projects/p/one.jsonl", "p", "one", data)])
    (old,) = store.session("one").earlier
    store.packs.path(store.packs.places[old.blocks[0]].pack).unlink()
    with pytest.raises(SourceError, match="is damaged in the backup"):
        Store.open(tmp_path).read(old)


def test_what_another_run_stored_meanwhile_is_not_stored_again(
    config: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one is done between our plan and our turn to write."""
    real = Store.open_for_writing

    def after_another(self: Store, *given: Any) -> Any:
        monkeypatch.setattr(Store, "open_for_writing", real)
        assert Store.open(store.folder).keep(found(config)).files == 8
        return real(self, *given)

    monkeypatch.setattr(Store, "open_for_writing", after_another)
    ours = store.keep(found(config))
    assert (ours.files, ours.unchanged, ours.bytes) == (0, 8, 0)


def test_progress_is_reported_within_a_large_file_and_during_restore(
    config: Path, store: Store, tmp_path: Path
) -> None:
    written(config / PROJECT / "large.jsonl", lines(40_000))
    told: list[Progress] = []
    store.keep([one for one in found(config) if one.session == "large"], report=told.append)
    size = (config / PROJECT / "large.jsonl").stat().st_size
    assert sum(0 < now.bytes < size for now in told) > 2
    assert told[-1] == Progress(1, 1, size, size, "")
    back: list[Progress] = []
    store.restore(store.session("large"), tmp_path / "to", report=back.append)
    assert [now.bytes for now in back] == sorted(now.bytes for now in back)
    assert sum(0 < now.bytes < size for now in back) > 2
    assert back[-1].bytes == back[-1].of_bytes == size
