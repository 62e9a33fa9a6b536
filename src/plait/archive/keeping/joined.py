"""Sessions as a store has them to sessions as an archive has them.

A store knows them by folder and name of file. An archive knows them by their ids, and an agent
that lies elsewhere is of the session that its log names, of the nearest where there are several.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from plait.archive.sessions import LOOK_AHEAD, is_uuid
from plait.errors import SourceError
from plait.line.model import Line
from plait.record.read import entry_of
from plait.record.record import Record

if TYPE_CHECKING:
    from plait.keep.model import KeptFile, KeptSession
    from plait.keep.store import Store


def joined(store: "Store") -> list["KeptSession"]:
    """Returns all sessions of a store under their ids, each with the agents that are its own."""
    found: list[KeptSession] = []
    alone: list[KeptSession] = []
    homes: dict[tuple[str, str], list[int]] = defaultdict(list)
    for kept in store.sessions():
        if kept.log is None:
            alone.append(kept)
            continue
        name = _id_of(store, kept.session, kept.log)
        homes[kept.root, name].append(len(found))
        found.append(kept if name == kept.session else replace(kept, session=name))
    for kept in alone:
        near = homes.get((kept.root, kept.session))
        if near is None:
            found.append(kept)
        else:
            place = max(near, key=lambda number: _shared_parts(found[number], kept))
            files = sorted((*found[place].files, *kept.files), key=lambda file: file.path)
            found[place] = replace(found[place], files=tuple(files))
    return found


def _id_of(store: "Store", name: str, log: "KeptFile") -> str:
    return name if is_uuid(name) else _named_in(store, log) or name


def _named_in(store: "Store", log: "KeptFile") -> str | None:
    try:
        data = next(store.pieces(log), b"")
    except SourceError:  # damaged: its name will do
        return None
    for number, line in enumerate(islice(data.split(b"\n"), LOOK_AHEAD), 1):
        entry = entry_of(Line(number, 0, line, True))
        if isinstance(entry, Record) and entry.session_id:
            return entry.session_id
    return None


def _shared_parts(one: "KeptSession", other: "KeptSession") -> int:
    left, right = _parts(one.files), _parts(other.files)
    return next(
        (at for at, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]),
        min(len(left), len(right)),
    )


def _parts(files: "Sequence[KeptFile]") -> list[str]:
    first = next((file for file in files if file.kind == "session"), files[0])
    return first.path.split("/")
