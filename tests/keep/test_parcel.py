"""Packing backups for another machine: what is imported and what refused."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from plait.errors import PlaitError, Refused, SourceError, UserError
from plait.line.pack import Member, write_pack
from plait.store import KeptFile, NewFile, Store
from plait.store.journal import Forgotten, encode_line
from tests.keep.archives import PROJECT, contents, files_of, found, kept_files, lines, written


@pytest.fixture
def other(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "other machine")


@pytest.fixture
def parcel(config: Path, store: Store, tmp_path: Path) -> Path:
    store.keep(found(config))
    store.pack(tmp_path / "parcel")
    return tmp_path / "parcel"


def test_packed_sessions_are_stored_on_the_other_machine(
    config: Path, store: Store, other: Store, parcel: Path, tmp_path: Path
) -> None:
    merged = other.unpack(parcel)
    assert (merged.sessions, merged.files) == (("one", "two"), 8)
    assert contents(other) == contents(store)
    restored = other.restore(other.session("one"), tmp_path / "to")
    log = config / PROJECT / "one.jsonl"
    assert restored.path.read_bytes() == log.read_bytes()
    assert restored.path.stat().st_mtime_ns == log.stat().st_mtime_ns


def test_unpacking_twice_changes_nothing(other: Store, store: Store, parcel: Path) -> None:
    other.unpack(parcel)
    before = files_of(other.folder)
    assert other.unpack(parcel).files == 0
    assert files_of(other.folder) == before
    before = files_of(store.folder)
    assert store.unpack(parcel).files == 0  # where it came from
    assert files_of(store.folder) == before


def test_an_imported_session_is_restored_only_to_a_named_folder(other: Store, parcel: Path) -> None:
    other.unpack(parcel)
    assert all(one.is_foreign for one in other.sessions())
    with pytest.raises(UserError, match="came from another machine"):
        other.restore(other.session("one"))


def test_only_the_named_sessions_are_packed(store: Store, config: Path, tmp_path: Path) -> None:
    store.keep(found(config))
    store.pack(tmp_path / "parcel", [store.session("two")])
    other = Store.open(tmp_path / "other")
    assert other.unpack(tmp_path / "parcel").sessions == ("two",)
    assert [one.session for one in other.sessions()] == ["two"]


def test_local_growth_continues_an_unpacked_state(
    config: Path, store: Store, other: Store, parcel: Path, tmp_path: Path
) -> None:
    """An older parcel adds nothing to a newer store, and a newer one takes the older's place."""
    other.unpack(parcel)
    written(config / PROJECT / "one.jsonl", lines(900), modified=1_800_000_000)
    store.keep(found(config))
    assert store.unpack(parcel).files == 0
    store.pack(tmp_path / "newer")
    assert other.unpack(tmp_path / "newer").files == 1
    session = other.session("one")
    assert session.earlier == ()
    assert session.log and other.read(session.log) == lines(900)
    assert other.unpack(parcel).files == 0


def test_diverged_states_of_two_machines_are_both_kept(
    config: Path, store: Store, other: Store, parcel: Path
) -> None:
    log = config / PROJECT / "one.jsonl"
    written(log, lines(5, 7_000))
    other.keep(found(config))
    other.unpack(parcel)
    session = other.session("one")
    states = {other.read(file) for file in (*session.earlier, session.log) if file}
    assert states == {lines(400), lines(5, 7_000)}
    assert session.log and session.log.kept == max(file.kept for file in session.files)


def test_earlier_states_are_packed(config: Path, store: Store, tmp_path: Path) -> None:
    store.keep(found(config))
    written(config / PROJECT / "one.jsonl", b"anew\n")
    store.keep(found(config))
    store.pack(tmp_path / "parcel")
    other = Store.open(tmp_path / "other")
    other.unpack(tmp_path / "parcel")
    (earlier,) = other.session("one").earlier
    assert other.read(earlier) == lines(400)


def test_an_existing_file_is_not_overwritten(store: Store, parcel: Path) -> None:
    before = parcel.read_bytes()
    with pytest.raises(UserError, match="already exists"):
        store.pack(parcel)
    assert parcel.read_bytes() == before


def test_packing_nothing_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to pack"):
        store.pack(tmp_path / "parcel")
    assert [*tmp_path.glob("*parcel*")] == []


def test_names_some_systems_do_not_allow_are_left_out(store: Store, tmp_path: Path) -> None:
    odd, plain = "projects/p/a:b.jsonl", "projects/p/s.jsonl"
    store.put([NewFile("/r", path, "p", "s", b"{}\n") for path in (odd, plain)])
    assert store.pack(tmp_path / "parcel").left_out == (odd,)
    other = Store.open(tmp_path / "other")
    other.unpack(tmp_path / "parcel")
    assert [file.path for file in kept_files(other)] == [plain]


def test_damaged_store_is_refused(store: Store, config: Path, tmp_path: Path) -> None:
    store.keep(found(config))
    store.packs.path(1).unlink()
    with pytest.raises(SourceError, match="is damaged in the backup"):
        Store.open(store.folder).pack(tmp_path / "parcel")
    assert not (tmp_path / "parcel").exists()


STATE = KeptFile(
    root="/home/me/.claude",
    path="projects/p/s.jsonl",
    project="p",
    session="s",
    kind="session",
    size=3,
    sha256="ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356",
    modified=5,
    kept="2026-01-01T00:00:00.000000Z",
    blocks=("ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356",),
)

HOSTILE: dict[str, KeptFile] = {
    "leads up": replace(STATE, path="../../x.jsonl"),
    "leads up within": replace(STATE, path="projects/../../x.jsonl"),
    "is absolute": replace(STATE, path="/etc/x.jsonl"),
    "is not told plainly": replace(STATE, path="projects//s.jsonl"),
    "is a setting": replace(STATE, path="settings.json"),
    "is a command": replace(STATE, path="commands/do.md"),
    "is a folder": replace(STATE, path="projects"),
    "has no name": replace(STATE, path=""),
    "hides a control": replace(STATE, root="/home/\x1b[2Jme"),
    "has a root without end": replace(STATE, root="/" + "r" * 5000),
    "has a session that leads up": replace(STATE, session="../x"),
    "has a project that leads up": replace(STATE, project="../../x"),
    "has no session": replace(STATE, session=""),
    "has a mark that commands": replace(STATE, mark="\x1b]0;x"),
    "would run as somebody else": replace(STATE, mode=0o4755),
    "is of no time": replace(STATE, modified=1 << 63),
    "was kept at no time": replace(STATE, kept="now"),
    "has a size below nothing": replace(STATE, size=-1),
    "has another size": replace(STATE, size=4),
    "is another file": replace(STATE, sha256="a" * 64),
    "has a name that is none": replace(STATE, sha256="../" + "a" * 61),
    "lacks a block": replace(STATE, blocks=("b" * 64,)),
    "is told too often": replace(STATE, blocks=STATE.blocks * 2, size=3),
    "is far too large": replace(STATE, size=1 << 40),
}


def made(tmp_path: Path, *, journal: bytes, about: dict[str, Any] | None = None) -> Path:
    """Return a parcel whose packs are right and whose journal says what we want."""
    made = Store.open(tmp_path / "made")
    made.put([NewFile("/r", "projects/p/s.jsonl", "p", "s", b"{}\n")])
    members = [
        Member("store/journal.jsonl", lambda: [journal]),
        Member("store/packs/000001.pack", lambda: [made.packs.path(1).read_bytes()]),
    ]
    write_pack(tmp_path / "made.parcel", members, {"keep": 1} if about is None else about)
    return tmp_path / "made.parcel"


def refused(other: Store, parcel: Path, match: str = "refusing to") -> None:
    other.put([NewFile("/r", "projects/p/mine.jsonl", "p", "mine", b"mine\n")])
    before = files_of(other.folder)
    with pytest.raises(Refused, match=match):
        other.unpack(parcel)
    assert files_of(other.folder) == before


def test_a_valid_parcel_is_accepted(other: Store, tmp_path: Path) -> None:
    assert other.unpack(made(tmp_path, journal=encode_line(STATE))).files == 1
    assert [other.read(file) for file in kept_files(other)] == [b"{}\n"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_state_is_refused(other: Store, tmp_path: Path, name: str) -> None:
    refused(other, made(tmp_path, journal=encode_line(HOSTILE[name])))


def _forgetting() -> bytes:
    line = Forgotten(root="/r", path="projects/p/mine.jsonl", size=0, modified=0, kept=STATE.kept)
    return encode_line(line)


@pytest.mark.parametrize(
    "journal",
    [
        _forgetting(),
        b"x\n",
        encode_line(STATE)[:-9] + b"\n",
        encode_line(STATE).replace(b"p/s", b"p/t"),
    ],
)
def test_a_damaged_or_forgetting_journal_is_refused(
    other: Store, tmp_path: Path, journal: bytes
) -> None:
    refused(other, made(tmp_path, journal=journal))


def test_other_archive_formats_are_refused(other: Store, tmp_path: Path) -> None:
    parcel = made(tmp_path, journal=encode_line(STATE), about={"sessions": []})
    refused(other, parcel, "was not made by `plait keep pack`")


def _cut(parcel: Path) -> None:
    parcel.write_bytes(parcel.read_bytes()[:-40])


def _flipped(parcel: Path) -> None:
    data = bytearray(parcel.read_bytes())
    data[data.index(b"\x28\xb5\x2f\xfd") + 30] ^= 1  # within the first frame
    parcel.write_bytes(data)


def _with_another_file(parcel: Path) -> None:
    with zipfile.ZipFile(parcel, "a") as file:
        file.writestr("store/packs/evil.sh", "rm -rf")


def _no_archive(parcel: Path) -> None:
    parcel.write_bytes(b"no archive at all")


@pytest.mark.parametrize("harm", [_cut, _flipped, _with_another_file, _no_archive])
def test_a_manipulated_parcel_is_refused(
    other: Store, parcel: Path, harm: Callable[[Path], None]
) -> None:
    harm(parcel)
    refused(other, parcel)


def test_a_decompression_bomb_is_refused(other: Store, tmp_path: Path) -> None:
    """An index that speaks of more bytes than any frame has is not even unpacked."""
    parcel = made(tmp_path, journal=encode_line(STATE))
    lie = b'{"sha256":"%s","at":0,"size":%d,"frame":0,"packed":10}\n' % (
        STATE.blocks[0].encode(),
        1 << 40,
    )
    source = Store.open(tmp_path / "made")
    bad = tmp_path / "bad.parcel"
    members = [
        Member("store/journal.jsonl", lambda: [encode_line(STATE)]),
        Member("store/packs/000001.pack", lambda: [source.packs.path(1).read_bytes()[44:]]),
        Member("store/packs/000001.index", lambda: [lie]),
    ]
    write_pack(bad, members, {"keep": 1})
    assert parcel.exists()
    refused(other, bad, "is damaged")


def test_a_missing_parcel_is_reported(other: Store, tmp_path: Path) -> None:
    with pytest.raises(PlaitError, match="no such file"):
        other.unpack(tmp_path / "nothing")
