"""Back up, restore and forget sessions of an archive, and the status of its backups."""

import os
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, structs

from plait.errors import UserError
from plait.line import Root
from plait.line.discovery import PROJECTS, find_config_folder
from plait.record.time import parse_time
from plait.sessions.kept import earlier_places, group_by_session
from plait.sessions.model import Session, SessionRef, SessionRefs
from plait.sources.places import KEPT_ROWS
from plait.store.model import (
    Damage,
    Freed,
    KeepPlan,
    KeepReport,
    KeptSession,
    Limits,
    Merged,
    Report,
    Restored,
    Source,
    SourceFile,
    Unread,
)
from plait.store.sources import build_stamp, find_sources
from plait.store.store import Store

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.keep.rescue import KnownSession, Leftovers, Rescued


class AtRisk(Struct, frozen=True):
    """A session that will be lost when the cleanup deletes it."""

    session: str
    deleted_on: date
    """The local day from which a starting client deletes it."""
    title: str | None
    project: str
    path: str
    bytes: int
    is_older_kept: bool
    """Whether the store has an older state of it."""


class KeepStatus(Struct, frozen=True, kw_only=True):
    """How much of an archive is backed up, and what is at risk."""

    folder: str
    kept: int
    """Sessions that are completely backed up, including deleted ones."""
    unkept: int
    """Sessions that are not completely backed up."""
    gone: int
    """Sessions that no longer exist at their source."""
    incomplete: int
    """Those that were reconstructed from what was left."""
    elsewhere: int
    """Sessions in the store from folders outside the archive."""
    at_risk: tuple[AtRisk, ...]
    """Sessions that will be lost, the first to be deleted first."""
    bytes: int
    """The size of everything in the store."""
    stored_bytes: int
    """Its size on disk."""

    @property
    def ratio(self) -> float | None:
        """The compression ratio."""
        return self.bytes / self.stored_bytes if self.stored_bytes else None


DAY = 86400


class CountedSources:
    """The sessions of an archive, and which of the files to back up belong to each."""

    def __init__(self, sessions: Sequence[Session], sources: Iterable[Source]) -> None:
        self._sessions = sessions
        logs = {
            str(file.path.absolute()): number
            for number, session in enumerate(sessions)
            for file in session.files
        }
        logs |= {
            str(session.source_path.absolute()): number
            for number, session in enumerate(sessions)
            if session.origin
        }
        names = {session.id: number for number, session in enumerate(sessions)}
        self._owners: dict[str, int] = {}
        for source in sources:
            own = [logs[file.place] for file in source.files if file.place in logs]
            if all(file.path.startswith(f"{KEPT_ROWS}/") for file in source.files):
                own = [names[source.session]] if source.session in names else []
            for file in source.files:
                number = logs.get(file.place, own[0] if own else None)
                if number is not None:
                    self._owners[file.place] = number

    def sessions_of(self, places: Iterable[str]) -> list[Session]:
        """Return the sessions of some files, each once."""
        found = {self._owners[place] for place in places if place in self._owners}
        return [self._sessions[number] for number in sorted(found)]

    def regroup(self, sources: Collection[Source]) -> Iterator[Source]:
        """Yield the files of some sources regrouped by session."""
        found: dict[int | str, Source] = {}
        for source in sources:
            for file in source.files:
                key = self._owners.get(file.place, source.session)
                name = self._sessions[key].id if isinstance(key, int) else key
                known = found.get(key)
                before = known.files if known else ()
                found[key] = structs.replace(known or source, session=name, files=(*before, file))
        yield from found.values()


class Backups:
    """The backups of an archive."""

    def __init__(self, archive: "Archive") -> None:
        self._archive = archive

    @property
    def store(self) -> Store:
        """The store, which need not exist yet."""
        place = self._archive.store
        if place is None:
            raise UserError("this archive has no store", "pass a folder: Archive(roots, store=…)")
        return Store.open(place.folder)

    def plan(self, sessions: SessionRefs = None, *, backups: bool = False) -> KeepPlan:
        """Return what a run would back up of some sessions, or of all; nothing is written."""
        chosen = None if sessions is None else self._archive.resolve_sessions(sessions)
        unread: list[Unread] = []
        found = self._find_sources(chosen, backups=backups, unread=unread)
        planned = self.store.plan(found, again=sessions is not None)
        planned = replace(planned, unread=tuple(unread))
        if not planned.sessions:
            return planned
        counted = CountedSources(self._archive.resolve_sessions(chosen), found)
        return replace(planned, sessions=tuple(counted.regroup(planned.sessions)))

    def run(
        self,
        sessions: SessionRefs = None,
        *,
        backups: bool = False,
        report: Report | None = None,
    ) -> KeepReport:
        """Back up what is new in some sessions, or in all, with their side files.

        Backups of edited files are included on request. What was forgotten is backed up again only
        if it is named.
        """
        chosen = None if sessions is None else self._archive.resolve_sessions(sessions)
        unread: list[Unread] = []
        found = self._find_sources(chosen, backups=backups, unread=unread)
        if sessions is None:
            from plait.store.sdk import LIVE, SessionStore

            if (self.store.folder / LIVE).is_dir():
                SessionStore(self.store.folder).pack()
        done = self.store.keep(found, report=report, again=sessions is not None)
        done.unread += unread
        if done.places:
            counted = CountedSources(self._archive.resolve_sessions(chosen), found).sessions_of(
                done.places
            )
            done.sessions = [session.id for session in counted]
        return done

    def rescue(self, *, is_dry: bool = False) -> "Rescued":
        """Reconstruct sessions whose logs are gone from what is left, marked incomplete."""
        from plait.keep.rescue import find_leftovers, merge_rescued, rescue

        if not self._archive.inventory.configs:
            raise UserError(
                "none of the roots is a configuration folder", "name one: `--root ~/.claude`"
            )
        left = map(find_leftovers, self._archive.inventory.configs)
        return merge_rescued(
            rescue(self.store, leftovers, self._list_known_sessions(leftovers), is_dry=is_dry)
            for leftovers in left
        )

    def _list_known_sessions(self, left: "Leftovers") -> "list[KnownSession]":
        """Return the existing sessions; with their times if prompts name no session."""
        from plait.keep.rescue import KnownSession

        there = [
            session
            for session in self._archive.sessions
            if session.file and not session.is_incomplete
        ]
        if all(prompt.session for prompt in left.prompts):
            return [KnownSession(session.id) for session in there]
        facts_by_id = ((session.id, self._archive.facts(session)) for session in there)
        return [
            KnownSession(name, facts.cwd, parse_time(facts.started), parse_time(facts.ended))
            for name, facts in facts_by_id
        ]

    def status(self) -> KeepStatus:
        """Return what is backed up, what is not, and what the client's cleanup will delete when."""
        store, archive = self.store, self._archive
        sources = self._find_sources(None)
        planned = store.plan(sources, again=True)
        counted = CountedSources(archive.sessions, sources)
        unkept = counted.sessions_of(file.place for file in planned.files)
        older = {file.place for file in (*planned.grown, *planned.changed)}
        gone, size = archive.inventory.deleted.sessions, store.size()
        shown = {os.path.realpath(root.config or root.path) for root in archive.roots}
        shown |= {
            os.path.realpath(session.root) for session in archive.inventory.deleted.kept.values()
        }
        at_risk = []
        for session in unkept:
            facts = archive.facts(session)
            if facts.deleted_at is not None:
                path = str(session.path.absolute())
                try:
                    local = facts.deleted_at.astimezone()
                except (OverflowError, ValueError):  # a year beyond the calendar
                    local = facts.deleted_at.astimezone(UTC)
                at_risk.append(
                    AtRisk(
                        session=session.id,
                        deleted_on=local.date(),
                        title=facts.title,
                        project=facts.cwd or facts.project,
                        path=path,
                        bytes=sum(file.size for file in session.files),
                        is_older_kept=path in older,
                    )
                )
        return KeepStatus(
            folder=str(store.folder),
            kept=len(archive.sessions) - len(unkept),
            unkept=len(unkept),
            gone=len(gone),
            incomplete=sum(session.is_incomplete for session in gone),
            elsewhere=sum(
                os.path.realpath(session.root) not in shown for session in store.sessions()
            ),
            at_risk=tuple(sorted(at_risk, key=lambda item: item.deleted_on)),
            bytes=size.bytes,
            stored_bytes=size.stored_bytes,
        )

    def verify(self, *, report: Report | None = None) -> tuple[Damage, ...]:
        """Read the whole backup once and return what is damaged, with the files that need it."""
        return self.store.verify(report=report)

    def kept(self, name: SessionRef) -> KeptSession:
        """Return a session as the store has it."""
        session = self._archive.session(name)
        deleted = self._archive.inventory.deleted.kept.get(session.path)
        if deleted is not None:
            return deleted
        places = {os.path.realpath(file.path) for file in session.files[:1]}
        kept = group_by_session(self.store)
        here = []
        for candidate in kept:
            root = os.path.realpath(candidate.root)
            files = [candidate.log] if candidate.log else candidate.files
            if any(os.path.join(root, *file.path.split("/")) in places for file in files):  # noqa: PTH118
                here.append(candidate)
        same = here or [candidate for candidate in kept if candidate.session == session.id]
        if not same:
            hint = f"`plait keep {session.id}` backs it up"
            raise UserError(f"session '{session.id}' is not backed up", hint)
        return max(same, key=lambda candidate: candidate.modified)

    def restore(
        self,
        session: SessionRef,
        to: Path | str | None = None,
        *,
        overwrite: bool = False,
        is_fresh: bool = False,
        report: Report | None = None,
    ) -> Restored:
        """Restore a session to where it was, or below a folder: bytes, times, modes.

        One from another machine goes to this machine's client. With `is_fresh` it gets the present
        time, so that the cleanup leaves it alone.
        """
        kept = self.kept(session)
        place = Path(to) if to is not None else self._choose_home(kept)
        restored = self.store.restore(kept, place, overwrite=overwrite, report=report)
        if is_fresh:
            for path in (*restored.files, *restored.same):
                os.utime(path)
        return restored

    def forget(self, sessions: SessionRefs) -> Freed:
        """Delete sessions from the store; those at their source stay there."""
        return self.store.forget(self.with_earlier_places(self._list_kept(sessions)))

    def with_earlier_places(self, sessions: Iterable[KeptSession]) -> tuple[KeptSession, ...]:
        """Return backed-up sessions, including earlier states from before they were moved."""
        all_kept = group_by_session(self.store)
        both = ((session, *earlier_places(session, all_kept)) for session in sessions)
        return tuple(kept for some in both for kept in some)

    def select_expired(
        self, *, max_days: float | None = None, max_bytes: int | None = None
    ) -> tuple[KeptSession, ...]:
        """Return what must be forgotten to stay within limits, oldest first."""
        return self.store.select_expired(Limits(max_days, max_bytes), time.time())

    def pack(self, file: Path | str, sessions: SessionRefs = None) -> Merged:
        """Write the backup of some sessions, or all, to one file for another machine."""
        return self.store.pack(Path(file), None if sessions is None else self._list_kept(sessions))

    def unpack(self, file: Path | str) -> Merged:
        """Add what was packed elsewhere; what exists here stays as it is."""
        return self.store.unpack(Path(file))

    def _list_kept(self, sessions: SessionRefs) -> list[KeptSession]:
        names = [sessions] if isinstance(sessions, Session | Path | str) else sessions or ()
        return [self.kept(name) for name in names]

    def _choose_home(self, kept: KeptSession) -> Path | None:
        """Return the folder to restore to: None for the original place, another if that is not on
        this machine.
        """
        if Path(kept.root).is_dir() and not kept.is_foreign:
            return None
        configs = self._archive.inventory.configs
        if not configs:
            raise UserError(
                f"'{kept.root}' does not exist here", "choose where to restore it: `--to DIR`"
            )
        return configs[0]

    def _find_sources(
        self,
        sessions: SessionRefs,
        *,
        backups: bool = False,
        unread: list[Unread] | None = None,
    ) -> tuple[Source, ...]:
        roots = self._archive.roots
        owners = {
            str(Path(kept.root, *file.path.split("/"))): kept.session
            for kept in self.store.sessions()
            for file in kept.files
            if file.kind == "agent"
        }
        if sessions is None:
            found = find_sources(roots, backups=backups, owners=owners, unread=unread)
            return (*found, *self._export_sources(self._archive.sessions))
        chosen = self._archive.resolve_sessions(sessions)
        for session in chosen:
            if session.is_kept:
                raise UserError(
                    f"session '{session.id}' is backed up already and no longer at its source"
                )
        wanted = {str(file.path.absolute()) for item in chosen for file in item.files}
        # Roots of logs outside all known roots: they were named as files.
        known = [root.logs.absolute() for root in roots]
        others: list[Root] = []
        for place in map(Path, wanted):
            if not any(logs in (place, *place.parents) for logs in known):
                config = find_config_folder(place)
                own = (
                    Root(config, config, config / PROJECTS) if config else Root(place, None, place)
                )
                others.append(own)
        found = find_sources((*roots, *others), backups=backups, owners=owners, unread=unread)
        named = [source for source in found if any(file.place in wanted for file in source.files)]
        return (*named, *self._export_sources(chosen))

    def _export_sources(self, sessions: Iterable[Session]) -> Iterator[Source]:
        """Yield the sessions of databases, whose rows alone are backed up."""
        from plait.sources.cache import get_export_place

        for session in sessions:
            if session.origin is None or not session.origin.key or session.is_kept:
                continue
            files = []
            root = str(Path(session.origin.path).parent.absolute())
            for log, exported in self._archive.inventory.export_session(session):
                place = get_export_place(log).absolute()
                stamp = build_stamp(exported.stat())
                kind: Literal["session", "agent"] = "agent" if log.parent else "session"
                path = place.relative_to(root).as_posix()
                files.append(SourceFile(str(exported), path, kind, stamp))
            if files:
                yield Source(root, session.project, session.id, tuple(files))
