"""An archive to its index, brought up to date: only what has changed is read."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plait.archive.archive import Archive
from plait.archive.index.entries import entries, helpers, numbered
from plait.archive.index.fresh import stamps_of
from plait.archive.index.growth import Growth, growth_of
from plait.archive.index_or_logs import without_collector
from plait.archive.kept_pages import mark_of, pages_beside
from plait.archive.model import Meter, Session
from plait.errors import SourceError, UserError
from plait.index.catalogue import VERSION
from plait.index.freshness import META, OUTPUTS, TITLE, FileStamp, is_fresh, known_stamps
from plait.index.model import FileMark, IndexReport, IndexStatus, ms_since
from plait.index.rows import ignoring
from plait.index.search import IndexReader
from plait.index.store import Writer, writing
from plait.index.texts import is_damaged
from plait.line.discover import SUFFIX

if TYPE_CHECKING:
    from plait.line.workers import Workers

MUCH = 8_000_000
"""Bytes to be read from which on the text index works with all it can use."""


def folder_of(archive: Archive) -> Path:
    """Returns the folder of an archive's index, or raises where it has none."""
    if archive.index is None:
        raise UserError("this archive has no index", "name its folder: Archive(roots, index)")
    return archive.index


def refresh(
    archive: Archive,
    folder: Path,
    *,
    rebuild: bool = False,
    watch: Meter | None = None,
    wait: float = 30.0,
) -> IndexReport:
    """Brings an index up to date and says what that took."""
    started = time.perf_counter()
    losses, archive = archive.losses, _unread_archive(archive)
    now = stamps_of(archive)
    if not rebuild and is_fresh(folder, now):
        return IndexReport(took_ms=ms_since(started))
    known = {} if rebuild else known_stamps(folder)
    much = sum(stamp.size - known.get(path, (0,))[0] for path, stamp in now.items())
    with helpers(much, archive.jobs, losses) as workers:
        try:
            with writing(folder, is_large=much > MUCH or rebuild, wait=wait) as writer:
                done = Update(writer, now, archive, watch, workers).run(rebuild=rebuild)
        except SourceError as error:
            if not (rebuild and is_damaged(error.__cause__)):
                raise
            with writing(folder, wait=wait, is_anew=True) as writer:
                done = Update(writer, now, archive, watch, workers).run(rebuild=True)
    pages_beside(folder).keep_only(lambda: {*map(mark_of, archive.sessions)})
    read, grown, forgotten, size = done
    took = ms_since(started)
    return IndexReport(read=read, grown=grown, forgotten=forgotten, bytes=size, took_ms=took)


def _unread_archive(archive: Archive) -> Archive:
    """Returns an archive that is looked through once more, after the stamps are taken.

    A log that came since it was last looked through would else be taken for nobody's.
    """
    roots = [root.path.absolute() for root in archive.roots]
    return Archive(roots, jobs=archive.jobs, store=archive.store)


@dataclass
class Update:
    """One round of changes."""

    writer: Writer
    now: Mapping[str, FileStamp]
    archive: Archive
    watch: Meter | None
    workers: "Workers | None"

    def run(self, *, rebuild: bool) -> tuple[int, int, int, int]:
        """Makes the changes; returns sessions read, files grown, sessions gone, bytes read."""
        catalogue = self.writer.catalogue
        if rebuild:
            for sid in catalogue.keys().values():
                self.writer.forget(sid)
        known = {} if rebuild else catalogue.stamps()
        changed = {path for path, stamp in self.now.items() if known.get(path) != stamp}
        gone = known.keys() - self.now.keys()
        growths, rest = ([], changed) if rebuild else self.growths(changed)
        for one in growths:
            self.grow(one)
        size = sum(len(passage.text) for one in growths for passage in one.passages)
        if not (rest or gone or rebuild):
            self.writer.commit()
            return 0, len(growths), 0, size
        read, forgotten, more = self.read_anew(rest | gone, rebuild=rebuild)
        return read, len(growths), forgotten, size + more

    def growths(self, changed: Iterable[str]) -> tuple[list[Growth], set[str]]:
        """Returns what was added to files, a session's own last, and files that did not only grow.

        Where one file of a session is in doubt, the session is read anew.
        """
        found: dict[str, Growth] = {}
        rest: set[str] = set()
        doubtful: set[int] = set()
        for path in changed:
            one = growth_of(self.writer.catalogue, path, self.now[path])
            if one is not None:
                found[path] = one
                continue
            rest.add(path)
            known = self.writer.catalogue.mark(path)
            doubtful.update({known[1]} if known else ())
        rest.update(path for path, one in found.items() if one.sid in doubtful)
        sure = [path for path in found if path not in rest]
        return [found[path] for path in sorted(sure, key=lambda path: _is_own(found[path]))], rest

    def grow(self, one: Growth) -> None:
        """Takes in what was added to a file."""
        if one.has_new_title:
            self.writer.forget_title(one.sid)
        for call in one.replaced:
            self.writer.forget_passage(one.sid, one.file, call.line, call.part)
        self.writer.extend(one.sid, one.file, one.rows, one.passages, one.dag)

    def read_anew(self, changed: set[str], *, rebuild: bool) -> tuple[int, int, int]:
        """Reads the sessions that have changed, and forgets those that have gone."""
        known = {} if rebuild else self.writer.catalogue.keys()
        held = self.held()
        sides = _sides_of(self.now)
        chosen = self.archive.sessions
        alive = {str(session.path) for session in chosen}
        left = [key for key in known if key not in alive]
        for key in left:
            self.writer.forget(known[key])
        due = []
        for session in reversed(chosen):  # the newest are found first
            paths = _paths_of(session, sides)
            key = str(session.path)
            if key not in known or held.get(known[key]) != paths or paths & changed:
                due.append((session, paths))
        size = self.read_all(due, known)
        self.ignore({path for session in chosen for path in _paths_of(session, sides)})
        self.writer.commit()
        if left:
            self.writer.catalogue.settle()
        return len(due), len(left), size

    def held(self) -> dict[int, set[str]]:
        """Returns the files of each session that the catalogue knows."""
        found: dict[int, set[str]] = defaultdict(set)
        for path, sid in self.writer.catalogue.owners().items():
            found[sid].add(path)
        return found

    def read_all(self, due: list[tuple[Session, set[str]]], known: Mapping[str, int]) -> int:
        """Reads sessions and takes them in, one by one."""
        first = self.writer.numbers(len(due), sum(len(paths) for _, paths in due))
        wanted = numbered(due, self.now, first)
        total, done = sum(one.size for one in wanted), 0
        with without_collector():
            for one, entry in zip(wanted, entries(wanted, self.workers), strict=True):
                self.writer.take(known.get(one.key), entry)
                done += one.size
                if self.watch:
                    self.watch(done, total)
        return done

    def ignore(self, owned: set[str]) -> None:
        """Remembers the files that belong to nobody, so that they do not look new."""
        strays = [
            FileMark(path, *stamp, "side") for path, stamp in self.now.items() if path not in owned
        ]
        self.writer.also(ignoring(strays))


def _is_own(growth: Growth) -> bool:
    return growth.rows.files[0].path == growth.rows.key


def _paths_of(session: Session, sides: Mapping[str, list[str]]) -> set[str]:
    logs = {str(file.path) for file in session.files}
    return logs.union(*(sides.get(log, ()) for log in logs))


def _sides_of(now: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in now:
        owner = _owner_of(path)
        if owner:
            found[owner].append(path)
    return found


def _owner_of(path: str) -> str | None:
    folder, _, name = path.rpartition("/")
    if name == TITLE:
        return folder + SUFFIX
    if folder.endswith(f"/{OUTPUTS}"):
        return folder.removesuffix(f"/{OUTPUTS}") + SUFFIX
    return path.removesuffix(META) + SUFFIX if path.endswith(META) else None


def status_of(archive: Archive, folder: Path) -> IndexStatus:
    """Returns what an index holds; changes nothing."""
    try:
        reader = IndexReader(folder)
    except SourceError:
        return IndexStatus(folder=str(folder), exists=False)
    try:
        catalogue = reader.catalogue
        known, now = catalogue.stamps(), stamps_of(archive)
        changed = sum(known.get(path) != stamp for path, stamp in now.items())
        return IndexStatus(
            folder=str(folder),
            exists=True,
            sessions=catalogue.count("sessions"),
            files=catalogue.count("files"),
            turns=catalogue.count("turns"),
            bytes=catalogue.bytes(),
            size=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
            passages=reader.searcher.num_docs,
            schema=VERSION,
            changed=changed + len(known.keys() - now.keys()),
        )
    finally:
        reader.close()
