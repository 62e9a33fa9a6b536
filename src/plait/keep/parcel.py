"""Sessions of a store to one file for another machine, and such a file into a store.

    manifest.json                       what is in it, with sizes and SHA-256
    store/journal.jsonl, store/packs/…  a store, as any other

Whoever made it may mean harm: names lead nowhere but to where sessions lie, sizes are bounded
before anything is unpacked, and every block and every file is what its name says.
"""

import re
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import sha256
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from plait.errors import Refused, UserError
from plait.keep.journal import JOURNAL, States
from plait.keep.keeping import Run
from plait.keep.model import KeptFile, KeptSession, Merged
from plait.keep.packs import INDEX, PACK, LostBlock
from plait.keep.sources import HISTORY, LISTS, SIGNS, TASKS, TITLE
from plait.line.discover import PROJECTS, SUFFIX
from plait.line.folder import is_plain_name, unwritable
from plait.line.pack import LARGE, MOST_TIMES, Member, Pack, write_pack
from plait.line.split import pieces

if TYPE_CHECKING:
    from plait.keep.store import Store

STORE, PACKS = "store", "packs"
FORM = 1
HOMES = frozenset({PROJECTS, TASKS, LISTS, HISTORY})
NAME = re.compile(r"[0-9a-f]{64}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
PACK_NAME = re.compile(r"\d{6,9}\.(pack|index)")
LATEST = 1 << 62


def pack(store: "Store", path: Path, sessions: tuple[KeptSession, ...]) -> Merged:
    """Writes sessions with all their states to a file; one that is there is not written over."""
    from plait.keep.store import Store

    found = [file for one in sessions for file in (*one.earlier, *one.files)]
    chosen = [file for file in found if _is_sound(file)]
    left_out = tuple(dict.fromkeys(file.path for file in found if not _is_sound(file)))
    if not chosen:
        raise UserError("there is nothing to pack", "`plait keep` keeps sessions first")
    folder = path.absolute().parent
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".packing-") as draft:
            small = Store(Path(draft))
            with small.writing() as states:
                _take(store, Run(small.journal, small.packs, states), chosen)
            about = {"keep": FORM, "sessions": sorted({one.session for one in sessions})}
            write_pack(path, _members(small), about)
    except OSError as error:
        raise unwritable(path, error) from error
    return _merged(chosen, path.stat().st_size, left_out)


def _take(source: "Store", run: Run, chosen: Iterable[KeptFile]) -> None:
    """Takes states of one store into another, with the blocks that are not there."""
    with run.whole():
        for state in sorted(chosen, key=_by_session):
            run.turn_to(state)
            for name in state.blocks:
                if not run.has(name):
                    run.store(name, source.block(name, state))
            run.add(state)


def _by_session(state: KeptFile) -> tuple[str, ...]:
    """Returns what states are taken by: those of one file in the order in which they were kept."""
    return state.root, state.project, state.session, state.kept


def _members(store: "Store") -> Iterator[Member]:
    paths = [store.journal.path]
    for number in store.packs.numbers():
        paths += [store.packs.path(number, PACK), store.packs.path(number, INDEX)]
    for path in paths:
        if path.exists():
            name = f"{STORE}/{path.relative_to(store.folder).as_posix()}"
            yield Member(name, partial(pieces, path), 0, is_compressed=path.suffix == PACK)


def _merged(states: Iterable[KeptFile], stored: int, left_out: tuple[str, ...] = ()) -> Merged:
    states = tuple(states)
    names = tuple(dict.fromkeys(state.session for state in states))
    return Merged(names, len(states), sum(state.size for state in states), stored, left_out)


def unpack(store: "Store", path: Path, wait: float) -> Merged:
    """Takes in what is in a file and not in the store, once all of it has been checked."""
    from plait.keep.store import DRAFT, Store

    parcel = Pack(path, _is_ours)
    if parcel.manifest.about.get("keep") != FORM:
        raise _refusal(path, "it was not made by `plait keep pack`")
    with (
        store.writing(wait) as states,
        tempfile.TemporaryDirectory(dir=store.folder, prefix=DRAFT) as draft,
    ):
        other = Store(Path(draft))
        _extract(parcel, other.folder)
        there = other.states()
        _check(path, there)
        _verify(path, other, there)
        run = Run(store.journal, store.packs, states)
        found = [*_missing(store, states, other, there)]
        _take(other, run, found)
    return _merged(found, run.report.stored_bytes)


def _is_ours(parts: tuple[str, ...]) -> bool:
    if parts == (STORE, JOURNAL):
        return True
    return len(parts) == 3 and parts[:2] == (STORE, PACKS) and bool(PACK_NAME.fullmatch(parts[2]))


def _extract(parcel: Pack, folder: Path) -> None:
    (folder / PACKS).mkdir()
    for name in parcel.files:
        with folder.joinpath(*PurePosixPath(name).parts[1:]).open("xb") as out:
            for piece in parcel.content(name)():
                out.write(piece)


def _check(path: Path, states: States) -> None:
    """Refuses a journal that says anything which no store would say."""
    if states.damaged or states.forgotten:
        raise _refusal(path, "its journal is damaged")
    whole = 0
    for state in states.all():
        whole += state.size
        if not _is_sound(state):
            raise _refusal(path, f"'{state.path[:80]}' is no file of a session")
    if whole > LARGE and whole > MOST_TIMES * path.stat().st_size:
        raise _refusal(path, "its files are far larger than it is")


def _is_sound(state: KeptFile) -> bool:
    parts = tuple(state.path.split("/"))
    names = (*parts, state.session, *filter(None, [state.project]))
    is_text = state.root.isprintable() and state.mark.isprintable() and len(state.root) < 4096
    return (
        all("/" not in name and is_plain_name(name) for name in names)
        and _is_place(parts)
        and is_text
        and all(map(NAME.fullmatch, (state.sha256, *state.blocks)))
        and TIME.fullmatch(state.kept) is not None
        and 0 <= state.modified < LATEST
        and 0 <= state.mode <= 0o777
        and state.size >= 0
    )


def _is_place(parts: tuple[str, ...]) -> bool:
    """Tells whether sessions have files there; settings, hooks and commands lie elsewhere."""
    if parts[0] in HOMES:
        return len(parts) > 1
    return parts[-1].endswith(SUFFIX) or parts[-1] == TITLE or not SIGNS.isdisjoint(parts[:-1])


def _verify(path: Path, other: "Store", there: States) -> None:
    """Refuses a parcel of which a block or a file is not what its name says."""
    for state in there.all():
        digest, size = sha256(), 0
        for name in state.blocks:
            try:
                data = other.packs.read(name)
            except LostBlock as error:
                raise _refusal(path, f"block {name[:16]} is damaged") from error
            digest.update(data)
            size += len(data)
            if size > state.size:
                break
        if size != state.size or digest.hexdigest() != state.sha256:
            raise _refusal(path, f"'{state.path}' is not what its journal says")


def _missing(store: "Store", states: States, other: "Store", there: States) -> Iterator[KeptFile]:
    """Yields the states of another store that no state of this one begins with."""
    for state in there.all():
        known = states.files.get(state.key, [])
        if any(_begins(store, one, other, state) for one in known):
            continue
        beginning = next((one for one in known if _begins(other, state, store, one)), None)
        grew_from = beginning.sha256 if beginning else ""
        yield replace(state, grew_from=grew_from, is_foreign=True, changed=0, inode=0)


def _begins(store: "Store", longer: KeptFile, other: "Store", shorter: KeptFile) -> bool:
    """Tells whether a state begins with another one; only its last block can be cut elsewhere."""
    pairs = zip(longer.blocks, shorter.blocks, strict=False)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    rest = shorter.blocks[alike:]
    if len(rest) > 1 or shorter.size > longer.size:
        return False
    if not rest:
        return True
    last, ahead = other.block(rest[0], shorter), b""
    for name in longer.blocks[alike:]:
        if len(ahead) >= len(last):
            break
        ahead += store.block(name, longer)
    return ahead.startswith(last)


def _refusal(path: Path, why: str) -> Refused:
    return Refused(f"refusing to unpack '{path}': {why}", "nothing was changed")
