"""A folder to the store in it: what is kept there, and all that can be done with it.

store = Store.open(folder)
store.keep(sources_of(roots))
store.restore(store.session("3f2a"))
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from plait.errors import AmbiguousSession, NoSuchSession, SourceError, UserError
from plait.keep.damage import damaged_blocks, mark_damaged
from plait.keep.journal import Journal, States
from plait.keep.model import (
    Damage,
    Freed,
    KeepPlan,
    KeepReport,
    KeptFile,
    KeptSession,
    Limits,
    Merged,
    NewFile,
    Report,
    Restored,
    Sources,
    StoreSize,
)
from plait.keep.packs import LostBlock, Packs
from plait.line.atomic import held
from plait.line.folder import unwritable
from plait.line.split import unreadable

LOCK = "lock"
DRAFT = "unpacking-"
"""How the folder begins in which a parcel is looked at."""
PATIENCE = 60.0
"""Seconds that a run waits for another one."""


class Store:
    """What is kept; nothing is made on the disk before something is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.packs = Packs(folder / "packs")
        self.journal = Journal(folder)
        self.lock = folder / LOCK

    @classmethod
    def open(cls, folder: Path) -> "Store":
        """Returns the store in a folder, which need not be there yet."""
        if folder.exists() and not folder.is_dir():
            raise UserError(f"'{folder}' is no folder")
        return cls(folder)

    def states(self) -> States:
        """Returns what the journal says now."""
        try:
            return self.journal.read()
        except OSError as error:
            raise unreadable(self.journal.path, error) from error

    @contextmanager
    def writing(self, wait: float = PATIENCE, known: States | None = None) -> Iterator[States]:
        """Holds the store for one who writes, and clears away what a run that was cut off left.

        States that are known already are not read again, unless the journal is another one.
        """
        from shutil import rmtree

        from plait.keep.pack_writer import clear_away
        from plait.keep.readme import write_readme

        try:
            with held(self.lock, wait) as is_ours:
                if not is_ours:
                    where = f"another run is writing to '{self.folder}'"
                    raise UserError(where, "try again when it is done")
                self.packs.forget()
                clear_away(self.packs)
                for draft in self.folder.glob(f"{DRAFT}*"):
                    rmtree(draft, ignore_errors=True)
                write_readme(self.folder)
                is_known = known is not None and known.mark == self.journal.mark() != ()
                states = known if known is not None and is_known else self.states()
                if states.damaged and not states.lost:
                    self.journal.rewrite(states)
                yield states
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def plan(self, sources: Sources, *, again: bool = False) -> KeepPlan:
        """Returns what `keep` would read; nothing is written."""
        from plait.keep.keeping import plan

        return plan(self.states(), sources, again=again, damaged=damaged_blocks(self.folder))

    def keep(
        self,
        sources: Sources,
        *,
        report: Report | None = None,
        again: bool = False,
        wait: float = PATIENCE,
    ) -> KeepReport:
        """Keeps what is new in some sessions; `again` also what was forgotten as it is now."""
        from plait.keep.keeping import Run, plan
        from plait.keep.tidying import tidy

        found, damaged = tuple(sources), damaged_blocks(self.folder)
        known = self.states()
        planned = plan(known, found, again=again, damaged=damaged)
        if not planned.sessions:
            return KeepReport(unchanged=planned.unchanged)
        with self.writing(wait, known) as states:
            self.packs.miss(damaged)
            if states is not known:
                planned = plan(states, found, again=again, damaged=damaged)
            done = Run(self.journal, self.packs, states).keep(planned, report)
            mark_damaged(self.folder, damaged - self.packs.places.keys())
            tidy(self, states)
        return done

    def put(self, files: Iterable[NewFile], *, wait: float = PATIENCE) -> tuple[KeptFile, ...]:
        """Keeps files that lie nowhere else; where one is the same as it was, nothing changes."""
        from plait.keep.keeping import Run
        from plait.keep.tidying import tidy

        with self.writing(wait) as states:
            kept = Run(self.journal, self.packs, states).put(files)
            tidy(self, states)
        return kept

    def sessions(self) -> tuple[KeptSession, ...]:
        """Returns every session that is kept, with the newest state of each of its files."""
        together: dict[tuple[str, str, str], list[list[KeptFile]]] = {}
        for states in self.states().files.values():
            one = states[-1]
            together.setdefault((one.root, one.project, one.session), []).append(states)
        return tuple(_session(*key, files) for key, files in sorted(together.items()))

    def session(self, name: str) -> KeptSession:
        """Returns the session of that name, or whose name begins with it."""
        found = [one for one in self.sessions() if one.session.startswith(name)]
        exact = [one for one in found if one.session == name]
        if not found:
            raise NoSuchSession(f"no kept session starts with '{name}'")
        if len(exact or found) > 1:
            where = "', '".join(f"{one.root}/{one.project}" for one in (exact or found)[:3])
            raise AmbiguousSession(f"'{name}' means several kept sessions", f"in '{where}'")
        return (exact or found)[0]

    def read(self, file: KeptFile) -> bytes:
        """Returns the bytes of a file; raises where some of them are damaged."""
        return b"".join(self.pieces(file))

    def pieces(self, file: KeptFile) -> Iterator[bytes]:
        """Yields the bytes of a file, block by block; raises where one is damaged."""
        read = 0
        try:
            for name in file.blocks:
                data = self.block(name, file)
                yield data
                read += len(data)
        except SourceError:
            longer = self._grown(file)
            if longer is None:
                raise
            yield longer[read:]

    def _grown(self, file: KeptFile) -> bytes | None:
        """Returns the bytes of a state that a newer one has taken the place of meanwhile."""
        newer = self.states().newest(*file.key)
        if newer is None or newer.blocks == file.blocks or newer.size < file.size:
            return None
        data = b"".join(self.block(name, newer) for name in newer.blocks)[: file.size]
        return data if sha256(data).hexdigest() == file.sha256 else None

    def block(self, name: str, file: KeptFile) -> bytes:
        """Returns one block of a file; raises where it is damaged."""
        try:
            return self.packs.read(name)
        except LostBlock as error:
            raise SourceError(
                f"'{file.path}' is damaged in the store: block {name[:16]}, {error}",
                "`plait keep verify` says what else is",
            ) from error
        except OSError as error:
            raise unreadable(self.packs.folder, error) from error

    def restore(
        self,
        session: KeptSession,
        to: Path | None = None,
        *,
        overwrite: bool = False,
        partial: bool = False,
        report: Report | None = None,
    ) -> Restored:
        """Puts the files of a session back where they were, or below another folder.

        What is there and something else is not written over unless that is asked for. A file
        with a damaged block is left out; with `partial` it lacks the lines of that block.
        """
        from plait.keep.restoring import restore

        how = {"overwrite": overwrite, "partial": partial}
        return restore(self, session, to, report=report, **how)

    def verify(self, *, report: Report | None = None) -> tuple[Damage, ...]:
        """Reads every block once and returns what is damaged, with the files that need it."""
        from plait.keep.verifying import verify

        return verify(self, report)

    def forget(self, sessions: Iterable[KeptSession], *, wait: float = PATIENCE) -> Freed:
        """Deletes sessions from the store, and gives back the room that nobody else needs."""
        from plait.keep.forgetting import forget

        return forget(self, tuple(sessions), wait)

    def beyond(self, limits: Limits, now: float) -> tuple[KeptSession, ...]:
        """Returns the sessions that are to be forgotten so that limits hold, the oldest first."""
        from plait.keep.forgetting import beyond

        return beyond(self, limits, now)

    def pack(self, path: Path, sessions: Iterable[KeptSession] | None = None) -> Merged:
        """Writes sessions, or all, to one file for another machine."""
        from plait.keep.parcel import pack

        return pack(self, path, tuple(self.sessions() if sessions is None else sessions))

    def unpack(self, path: Path, *, wait: float = PATIENCE) -> Merged:
        """Takes in what another machine has packed; what is here already stays as it is."""
        from plait.keep.parcel import unpack

        return unpack(self, path, wait)

    def size(self) -> StoreSize:
        """Returns how much is kept, and how much room that takes."""
        sessions = self.sessions()
        stored = self.stored_bytes()
        files = [file for one in sessions for file in one.files]
        return StoreSize(len(sessions), len(files), sum(file.size for file in files), stored)

    def stored_bytes(self) -> int:
        """Returns how much room everything takes."""
        return self.packs.stored_bytes() + self.journal.stored_bytes()


def _session(root: str, project: str, session: str, files: list[list[KeptFile]]) -> KeptSession:
    newest = sorted((states[-1] for states in files), key=lambda file: file.path)
    earlier = tuple(file for states in files for file in states[:-1])
    return KeptSession(root, project, session, tuple(newest), earlier)
