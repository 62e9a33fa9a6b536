"""An export that lies there to what of it can stay: what would be drawn again as it is.

Each family has a mark, a keyed digest of all that decides how it is drawn: its sources as the
system has them, the form of the export, the rules and all that was learnt to be hidden, Plait
itself. The key stays with whoever exports, so that nobody can guess from a mark what is hidden.
A source that was written a moment ago has no mark: it may be written again within the same tick.
"""

import os
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from plait import __version__
from plait.archive.export.drawing import Drawing
from plait.archive.export.formats import Form, Told
from plait.archive.model import Members, Session
from plait.conversation.prices import Prices
from plait.line import FileStamp, stamp_of
from plait.view.transcript.coverage import Coverage
from plait.view.transcript.heading import Entry

if TYPE_CHECKING:
    from plait.redact import Redactor

DRAWN = ".plait-drawn"
"""Lies in the folder of an export: what it was drawn of."""
SETTLED_NS = 2_000_000_000
"""How long ago a source must have been written for its times to tell whether it was again."""
StampOf: TypeAlias = Callable[[str], FileStamp | None]
"""A file of the export to what the system says of it."""
FORM = 2


class _Family(msgspec.Struct, array_like=True):
    """What was drawn of one family."""

    mark: str
    files: dict[str, FileStamp]
    entries: list[Entry]
    pages: msgspec.Raw
    copies: list[str]
    unspoken: list[str]
    coverage: Coverage
    names: list[str]
    changed: int
    found: msgspec.Raw
    left_out: dict[str, int]


class _State(msgspec.Struct):
    """What an export was drawn of, and what was drawn."""

    form: int
    whole: str
    families: list[_Family]
    rest: dict[str, FileStamp]
    """The files that are of no family."""


class _Drawn(NamedTuple):
    """A family of this export, by its mark."""

    mark: str
    drawing: Drawing


@dataclass
class Earlier:
    """What lies in the folder of an export, and what will."""

    key: bytes
    data: bytes | None
    """What was noted when the folder was written last."""
    stamp_of: StampOf
    is_fresh: bool = False
    """Whether everything is to be drawn anew."""
    rest: list[str] = field(default_factory=list)
    """The files of this export that are of no family."""
    whole: str = ""
    _form: bytes = b""
    _sources: dict[Path, bytes | None] = field(default_factory=dict)
    _state: _State | None = None
    _drawn: list[_Drawn] = field(default_factory=list)
    _by_mark: dict[str, _Family] = field(default_factory=dict)

    def begin(self, form: Form, redactor: "Redactor | None", sessions: Sequence[Session]) -> None:
        """Looks at the sources before anything is read of them."""
        now = time.time_ns()
        self._form = repr((_form_of(form), redactor.rules if redactor else None)).encode()
        self._sources = {one.path: _source_of(one, now) for one in sessions}
        self.whole = self._mark(sessions, b"") if sessions else ""
        self._state = None if self.is_fresh or not self.data else _decoded(self.data)
        families = self._state.families if self._state else []
        self._by_mark = {one.mark: one for one in families if one.mark}

    def unchanged(self) -> list[Drawing] | None:
        """Returns all that was drawn, where nothing has changed at all; else None."""
        state = self._state
        if state is None or not self.whole or state.whole != self.whole:
            return None
        if not all(map(self._is_there, (state.rest, *(one.files for one in state.families)))):
            return None
        self.rest = list(state.rest)
        self._drawn = [_Drawn(one.mark, _drawing_of(one)) for one in state.families]
        return [one.drawing for one in self._drawn]

    def size(self, name: str) -> int:
        """Returns the size of a file that is of no family."""
        return self._state.rest[name].size if self._state else 0

    def mark(self, members: Members, learnt: bytes) -> str:
        """Returns the mark of a family, "" where it has none."""
        return self._mark(members, learnt)

    def stays(self, mark: str) -> Drawing | None:
        """Returns what was drawn of a family, where that is still there as it was."""
        found = self._by_mark.get(mark) if mark else None
        return _drawing_of(found) if found and self._is_there(found.files) else None

    def note(self, mark: str, drawing: Drawing) -> None:
        """Takes what this export has of a family."""
        if drawing.is_dated:
            self.whole = ""
        self._drawn.append(_Drawn(mark if drawing.is_alone else "", drawing))

    def packed(self) -> bytes | None:
        """Returns what is noted of this export; None where that cannot be written."""
        stamps = {name: self.stamp_of(name) for name in self.rest}
        families = [_family_of(one, self.stamp_of) for one in self._drawn]
        if None in stamps.values() or None in families:
            return None
        state = {"form": FORM, "whole": self.whole, "families": families, "rest": stamps}
        try:
            return zlib.compress(msgspec.json.encode(state), 1)
        except (UnicodeEncodeError, ValueError):  # a lone surrogate
            return None

    def _is_there(self, files: dict[str, FileStamp]) -> bool:
        return all(self.stamp_of(name) == stamp for name, stamp in files.items())

    def _mark(self, sessions: Iterable[Session], learnt: bytes) -> str:
        digest = blake2b(self._form, key=self.key, digest_size=16)
        digest.update(learnt)
        for one in sessions:
            source = self._sources.get(one.path)
            if source is None:
                return ""
            digest.update(source)
        return digest.hexdigest()


def _source_of(session: Session, now: int) -> bytes | None:
    """Returns what is known of the files of a session; None where that does not tell enough."""
    told: list[Any] = [session.id, session.project, session.is_kept, session.is_incomplete]
    for file in session.files:
        stamp = stamp_of(file.path)
        beside = file.path.with_suffix(".meta.json")
        if file.kind == "session":
            beside = file.folder / "custom-title.json"
        stamps = stamp, stamp_of(beside)
        if any(one and one.changed > now - SETTLED_NS for one in stamps):
            return None
        told.append((str(file.path), file.kind, file.project, file.session, file.agent, file.run))
        told.append([one and tuple(one) for one in stamps])
    return repr(told).encode()


def _form_of(form: Form) -> tuple[Any, ...]:
    """Returns all that decides how everything is told: prices, zone and Plait itself with it."""
    prices = form.pricing
    rates = ("listed", prices.own) if isinstance(prices, Prices) else repr(prices)
    return form._replace(pricing=None), rates, time.tzname, time.timezone, _plait()


def _plait() -> tuple[Any, ...]:
    """Returns which Plait this is, and how its files are: who works on it changes them."""
    kinds = (".py", ".js", ".css", ".json")
    files = [
        f"{folder}/{name}"
        for folder, _, names in os.walk(Path(__file__).parents[2])
        for name in names
        if name.endswith(kinds)
    ]
    comrak = find_spec("comrak")
    files += [comrak.origin] if comrak and comrak.origin else []
    return __version__, [(one, stamp_of(Path(one))) for one in sorted(files)]


def _decoded(data: bytes) -> _State | None:
    try:
        state = msgspec.json.decode(zlib.decompress(data), type=_State)
    except (zlib.error, msgspec.DecodeError, ValueError, RecursionError):
        return None
    return state if state.form == FORM else None


def _family_of(one: _Drawn, stamp: StampOf) -> dict[str, Any] | list[Any] | None:
    drawing, told = one.drawing, one.drawing.told
    stamps = {name: stamp(name) for name in drawing.sizes}
    if None in stamps.values():
        return None
    found = drawing.outcome.found if drawing.outcome else ()
    return [
        one.mark,
        stamps,
        told.entries,
        told.pages,
        told.copies,
        told.unspoken,
        told.coverage,
        drawing.names,
        drawing.changed,
        found,
        told.left_out,
    ]


def _drawing_of(one: _Family) -> Drawing:
    left_out = Counter(one.left_out)
    told = Told(one.entries, _pages(one.pages), one.copies, one.unspoken, one.coverage, left_out)
    sizes = {name: stamp.size for name, stamp in one.files.items()}
    return Drawing(told, sizes, one.names, one.changed, _outcome(one.found), bool(one.mark))


def _pages(data: msgspec.Raw) -> list[Any]:
    if bytes(data) == b"[]":
        return []
    from plait.view.page.lists.rows import SiteEntry

    return msgspec.json.decode(data, type=list[SiteEntry])


def _outcome(data: msgspec.Raw) -> Any:
    if bytes(data) == b"[]":
        return None
    from plait.redact.lessons import Outcome
    from plait.redact.model import Found

    return Outcome(msgspec.json.decode(data, type=tuple[Found, ...]), ())
