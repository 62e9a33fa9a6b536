"""An archive to its index, brought up to date: only what has changed is read."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct

from plait.archive.growth import Growth, growth_of
from plait.archive.indexed import Reading
from plait.archive.model import Session
from plait.errors import SourceError
from plait.index.catalogue import Catalogue, ignoring
from plait.index.model import FileMark
from plait.index.scan import META, OUTPUTS, TITLE, Stamp, stamps
from plait.index.schema import NAME
from plait.index.store import Writer, writing
from plait.line import Root
from plait.line.discover import SUFFIX

MUCH = 8_000_000
"""Bytes to be read from which on the text index works with all it can use."""
Watch = Callable[[int, int], None]
"""Is told how many bytes have been read, and how many there are to read."""
Sessions = Callable[[], Iterable[Session]]


class Report(Struct, frozen=True, kw_only=True):
    """What was done to an index."""

    read: int = 0
    """Sessions that were read whole."""
    grown: int = 0
    """Files of which only the new lines were read."""
    forgotten: int = 0
    """Sessions that have gone."""
    bytes: int = 0
    took_ms: float = 0

    @property
    def is_unchanged(self) -> bool:
        """Tells whether there was nothing to do."""
        return not (self.read or self.grown or self.forgotten)


def refresh(
    roots: Iterable[Root],
    folder: Path,
    sessions: Sessions,
    *,
    rebuild: bool = False,
    watch: Watch | None = None,
    wait: float = 30.0,
) -> Report:
    """Brings an index up to date and says what that took."""
    started = time.perf_counter()
    now = stamps(root.logs for root in roots)
    if not rebuild and is_fresh(folder, now):
        return Report(took_ms=since(started))
    known = {} if rebuild else known_stamps(folder)
    much = sum(stamp.size - known.get(path, (0,))[0] for path, stamp in now.items()) > MUCH
    with writing(folder, is_large=much or rebuild, wait=wait) as writer:
        if rebuild:
            for sid in writer.catalogue.keys().values():
                writer.forget(sid)
        update = Update(writer, now, sessions, watch)
        done = update.run(rebuild=rebuild)
    read, grown, forgotten, size = done
    return Report(
        read=read, grown=grown, forgotten=forgotten, bytes=size, took_ms=since(started)
    )


def since(started: float) -> float:
    """Returns the milliseconds since a moment."""
    return round((time.perf_counter() - started) * 1000, 3)


def is_fresh(folder: Path, now: Mapping[str, Stamp]) -> bool:
    """Tells whether an index is whole and every file as it was."""
    try:
        catalogue = Catalogue(folder)
    except SourceError:
        return False
    try:
        is_whole = catalogue.is_current() and not catalogue.pending()
        return is_whole and catalogue.stamps() == now
    finally:
        catalogue.close()


def known_stamps(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Returns the stamps of an index, none where there is none."""
    if not (folder / NAME).exists():
        return {}
    try:
        catalogue = Catalogue(folder)
    except SourceError:
        return {}
    try:
        return catalogue.stamps()
    finally:
        catalogue.close()


@dataclass
class Update:
    """One round of changes."""

    writer: Writer
    now: Mapping[str, Stamp]
    sessions: Sessions
    watch: Watch | None

    def run(self, *, rebuild: bool) -> tuple[int, int, int, int]:
        """Makes the changes; returns sessions read, files grown, sessions gone, bytes read."""
        catalogue = self.writer.catalogue
        known = {} if rebuild else catalogue.stamps()
        changed = {path for path, stamp in self.now.items() if known.get(path) != stamp}
        gone = known.keys() - self.now.keys()
        growths = self.growths(changed) if not gone else None
        if growths is not None:
            for one in growths:
                self.grow(one)
            self.writer.commit()
            return 0, len(growths), 0, sum(len(one.text) for g in growths for one in g.passages)
        read, forgotten, size = self.read_anew(changed | gone, rebuild=rebuild)
        return read, 0, forgotten, size

    def growths(self, changed: Iterable[str]) -> list[Growth] | None:
        """Returns what was added to files, None where any of them did more than grow."""
        found: list[Growth] = []
        for path in sorted(changed):
            one = growth_of(self.writer.catalogue, path, self.now[path])
            if one is None or any(other.sid == one.sid for other in found):
                return None
            found.append(one)
        return found

    def grow(self, one: Growth) -> None:
        """Takes in what was added to a file."""
        if one.has_new_title:
            self.writer.forget_title(one.sid)
        self.writer.extend(one.sid, one.file, one.rows, one.passages, one.dag)

    def read_anew(self, changed: set[str], *, rebuild: bool) -> tuple[int, int, int]:
        """Reads the sessions that have changed, and forgets those that have gone."""
        known = {} if rebuild else self.writer.catalogue.keys()
        held = self.held()
        sides = sides_of(self.now)
        chosen = list(self.sessions())
        alive = {str(session.path) for session in chosen}
        left = [key for key in known if key not in alive]
        for key in left:
            self.writer.forget(known[key])
        due = []
        for session in chosen:
            paths = paths_of(session, sides)
            key = str(session.path)
            if key not in known or held.get(known[key]) != paths or paths & changed:
                due.append((session, paths))
        size = self.read_all(due, known)
        self.ignore([path for _, paths in due for path in paths] + list(self.owned(chosen, sides)))
        self.writer.commit()
        return len(due), len(left), size

    def held(self) -> dict[int, set[str]]:
        """Returns the files of each session that the catalogue knows."""
        found: dict[int, set[str]] = defaultdict(set)
        for path, sid in self.writer.catalogue.owners().items():
            found[sid].add(path)
        return found

    def read_all(self, due: list[tuple[Session, set[str]]], known: Mapping[str, int]) -> int:
        """Reads sessions one by one."""
        total = sum(file.size for session, _ in due for file in session.files)
        done = 0
        for session, paths in due:
            reading = Reading.of(session)
            logs = {file.path for file in reading.graph.files}
            rows = reading.rows(self.now, sorted(paths - logs))
            self.writer.replace(known.get(rows.key), rows, reading.passages())
            done += sum(file.size for file in session.files)
            if self.watch:
                self.watch(done, total)
        return done

    def owned(self, chosen: Iterable[Session], sides: Mapping[str, list[str]]) -> Iterable[str]:
        """Yields all files that belong to a session."""
        for session in chosen:
            yield from paths_of(session, sides)

    def ignore(self, owned: Iterable[str]) -> None:
        """Remembers the files that belong to nobody, so that they do not look new."""
        mine = set(owned)
        strays = [
            FileMark(path, *stamp, "side") for path, stamp in self.now.items() if path not in mine
        ]
        self.writer.also(ignoring(strays))


def paths_of(session: Session, sides: Mapping[str, list[str]]) -> set[str]:
    """Returns the files of a session with what lies beside them."""
    logs = {str(file.path) for file in session.files}
    return logs.union(*(sides.get(log, ()) for log in logs))


def sides_of(now: Iterable[str]) -> dict[str, list[str]]:
    """Returns side files by the log that they belong to."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in now:
        owner = owner_of(path)
        if owner:
            found[owner].append(path)
    return found


def owner_of(path: str) -> str | None:
    """Returns the log that a side file belongs to, None for a log."""
    folder, _, name = path.rpartition("/")
    if name == TITLE:
        return folder + SUFFIX
    if folder.endswith(f"/{OUTPUTS}"):
        return folder.removesuffix(f"/{OUTPUTS}") + SUFFIX
    return path.removesuffix(META) + SUFFIX if path.endswith(META) else None
