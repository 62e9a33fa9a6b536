"""Sessions of an archive to what keeps them beyond the cleanup and brings them back: its verbs."""

import os
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from plait.archive.keeping.counted import Counted
from plait.archive.keeping.joined import joined
from plait.archive.keeping.moved import earlier_places
from plait.archive.model import Named, Session, Several
from plait.errors import UserError
from plait.line import Root
from plait.line.discover import PROJECTS, config_above
from plait.record.time import moment

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.keeping.status import KeepStatus
    from plait.keep.model import (
        Damage,
        Freed,
        KeepPlan,
        KeepReport,
        KeptSession,
        Merged,
        Report,
        Restored,
        Source,
        Unread,
    )
    from plait.keep.rescue import Known, Leftovers, Rescued
    from plait.keep.store import Store

DAY = 86400


class Keeping:
    """What can be done with the store of an archive."""

    def __init__(self, archive: "Archive") -> None:
        self._archive = archive

    @property
    def store(self) -> "Store":
        """The store, which need not be there yet."""
        from plait.keep.store import Store

        place = self._archive.store
        if place is None:
            raise UserError("this archive has no store", "name its folder: Archive(roots, store=…)")
        return Store.open(place.folder)

    def plan(self, sessions: Several = None, *, backups: bool = False) -> "KeepPlan":
        """Returns what a run would keep of some sessions, or of all; nothing is written."""
        chosen = None if sessions is None else self._archive.named(sessions)
        found = self._sources(chosen, backups=backups)
        planned = self.store.plan(found, again=sessions is not None)
        if not planned.sessions:
            return planned
        counted = Counted(self._archive.named(chosen), found)
        return replace(planned, sessions=tuple(counted.grouped(planned.sessions)))

    def run(
        self,
        sessions: Several = None,
        *,
        backups: bool = False,
        report: "Report | None" = None,
    ) -> "KeepReport":
        """Keeps what is new in some sessions, or in all, with all that lies beside them.

        Backups of files that were edited come along where that is asked for. What was forgotten
        is kept again only where it is named.
        """
        chosen = None if sessions is None else self._archive.named(sessions)
        found = self._sources(chosen, backups=backups)
        if sessions is None:
            self._take_in_mirrored()
        done = self.store.keep(found, report=report, again=sessions is not None)
        if done.places:
            counted = Counted(self._archive.named(chosen), found).having(done.places)
            done.sessions = [one.id for one in counted]
        return done

    def _take_in_mirrored(self) -> None:
        """Packs what programs with an SDK have left in plain files."""
        from plait.keep.sdk_store import LIVE, SessionStore

        if (self.store.folder / LIVE).is_dir():
            SessionStore(self.store.folder).pack()

    def rescue(self, *, is_dry: bool = False) -> "Rescued":
        """Puts together what is left of sessions whose logs are gone, marked incomplete."""
        from plait.keep.rescue import leftovers_in, rescue, together

        if not self._archive.inventory.configs:
            raise UserError(
                "none of the roots is a configuration folder", "name one: `--root ~/.claude`"
            )
        left = map(leftovers_in, self._archive.inventory.configs)
        return together(rescue(self.store, one, self._known(one), is_dry=is_dry) for one in left)

    def _known(self, left: "Leftovers") -> "list[Known]":
        """Returns the sessions that are there; with their times where prompts name none."""
        from plait.keep.rescue import Known

        there = [one for one in self._archive.sessions if one.file and not one.is_incomplete]
        if all(prompt.session for prompt in left.prompts):
            return [Known(one.id) for one in there]
        told = ((one.id, self._archive.facts(one)) for one in there)
        return [
            Known(name, facts.cwd, moment(facts.started), moment(facts.ended))
            for name, facts in told
        ]

    def status(self) -> "KeepStatus":
        """Returns what is kept, what is not, and what the client's cleanup will delete when."""
        from plait.archive.keeping.status import status_of

        store, archive = self.store, self._archive
        sources = self._sources(None)
        planned = store.plan(sources, again=True)
        counted = Counted(archive.sessions, sources)
        unkept = counted.having(file.place for file in planned.files)
        older = {file.place for file in (*planned.grown, *planned.changed)}
        return status_of(archive, store, unkept, older)

    def verify(self, *, report: "Report | None" = None) -> "tuple[Damage, ...]":
        """Reads all that is kept once and returns what is damaged, with what needs it."""
        return self.store.verify(report=report)

    def kept(self, name: Named) -> "KeptSession":
        """Returns a session as the store has it."""
        session = self._archive.session(name)
        found = self._kept(session)
        if found is None:
            hint = f"`plait keep {session.id}` keeps it"
            raise UserError(f"session '{session.id}' is not kept", hint)
        return found

    def restore(
        self,
        session: Named,
        to: Path | str | None = None,
        *,
        overwrite: bool = False,
        is_fresh: bool = False,
        report: "Report | None" = None,
    ) -> "Restored":
        """Puts a session back where it was, or below a folder: bytes, times, modes.

        One from another machine comes to the client of this one. What is fresh has the time of
        now, so that the cleanup leaves it alone.
        """
        kept = self.kept(session)
        place = Path(to) if to is not None else self._home_of(kept)
        restored = self.store.restore(kept, place, overwrite=overwrite, report=report)
        if is_fresh:
            for path in (*restored.files, *restored.same):
                os.utime(path)
        return restored

    def forget(self, sessions: Several) -> "Freed":
        """Deletes sessions from the store; those at their source stay there."""
        return self.store.forget(self.wherever(self._all_kept(sessions)))

    def wherever(self, sessions: "Iterable[KeptSession]") -> "tuple[KeptSession, ...]":
        """Returns kept sessions, also as they were kept where they lay before they moved."""
        all_kept = joined(self.store)
        both = ((one, *earlier_places(one, all_kept)) for one in sessions)
        return tuple(kept for some in both for kept in some)

    def beyond(
        self, *, max_days: float | None = None, max_bytes: int | None = None
    ) -> "tuple[KeptSession, ...]":
        """Returns what is to be forgotten so that the store holds no more, the oldest first."""
        from plait.keep.model import Limits

        return self.store.beyond(Limits(max_days, max_bytes), time.time())

    def pack(self, file: Path | str, sessions: Several = None) -> "Merged":
        """Writes what is kept of some sessions, or all, to one file for another machine."""
        return self.store.pack(Path(file), None if sessions is None else self._all_kept(sessions))

    def unpack(self, file: Path | str) -> "Merged":
        """Takes in what was packed elsewhere; what is here already stays as it is."""
        return self.store.unpack(Path(file))

    def _all_kept(self, sessions: Several) -> "list[KeptSession]":
        names = [sessions] if isinstance(sessions, Session | Path | str) else sessions or ()
        return [self.kept(one) for one in names]

    def _kept(self, session: Session) -> "KeptSession | None":
        known = self._archive.inventory.gone.kept.get(session.path)
        if known is not None:
            return known
        places = {os.path.realpath(file.path) for file in session.files[:1]}
        kept = joined(self.store)
        here = [one for one in kept if places & set(_places_of(one))]
        same = here or [one for one in kept if one.session == session.id]
        return max(same, key=lambda one: one.modified, default=None)

    def _home_of(self, kept: "KeptSession") -> Path | None:
        """Returns the folder to restore to: None where it was, another where that is not here."""
        if Path(kept.root).is_dir() and not kept.is_foreign:
            return None
        configs = self._archive.inventory.configs
        if not configs:
            raise UserError(f"'{kept.root}' is not here", "say where to put it: `--to DIR`")
        return configs[0]

    def _sources(
        self,
        sessions: Several,
        *,
        backups: bool = False,
        unread: "list[Unread] | None" = None,
    ) -> "tuple[Source, ...]":
        from plait.keep.sources import sources_of

        roots, owners = self._archive.roots, self._owners()
        if sessions is None:
            return sources_of(roots, backups=backups, owners=owners, unread=unread)
        chosen = self._archive.named(sessions)
        _check_at_source(chosen)
        wanted = {str(file.path.absolute()) for one in chosen for file in one.files}
        found = sources_of((*roots, *_roots_beside(roots, wanted)), backups=backups, owners=owners)
        return tuple(one for one in found if any(file.place in wanted for file in one.files))

    def _owners(self) -> dict[str, str]:
        """Returns whose the agents are that lie beside sessions, as far as the store knows."""
        return {
            str(Path(kept.root, *file.path.split("/"))): kept.session
            for kept in self.store.sessions()
            for file in kept.files
            if file.kind == "agent"
        }


def _places_of(kept: "KeptSession") -> Iterable[str]:
    root = os.path.realpath(kept.root)
    own = [kept.log] if kept.log else kept.files
    return (os.path.join(root, *file.path.split("/")) for file in own)  # noqa: PTH118


def _roots_beside(roots: Iterable[Root], places: Iterable[str]) -> Iterable[Root]:
    """Returns the roots of logs that lie under none that is known: they were named as files."""
    known = [root.logs.absolute() for root in roots]
    for place in map(Path, places):
        if not any(logs in (place, *place.parents) for logs in known):
            config = config_above(place)
            yield Root(config, config, config / PROJECTS) if config else Root(place, None, place)


def _check_at_source(sessions: Iterable[Session]) -> None:
    for one in sessions:
        if one.is_kept:
            raise UserError(f"session '{one.id}' is kept already, and no longer at its source")
