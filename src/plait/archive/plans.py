"""Sessions of an archive to plans that change them: its verbs for whoever edits."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from plait.archive.model import Named, Session, Several
from plait.edit.model import Subject, Violation
from plait.errors import Refused, UserError
from plait.line.discover import config_above

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.edit.compress import Calls
    from plait.edit.model import Plan
    from plait.edit.packing import Packing
    from plait.edit.trim import Preset, TrimChoice
    from plait.redact import Redactor


class Plans:
    """What can be done to the sessions of an archive; nothing happens before a plan is applied."""

    def __init__(self, archive: "Archive") -> None:
        self._archive = archive

    def check(self, session: Named) -> tuple[Violation, ...]:
        """Returns what is wrong with a session as it is, its agents' logs included.

        What belongs to an interrupted session is no fault: calls at its end have no result.
        """
        from plait.edit.check import violations_of

        meant = self._archive.session(session)
        logs = (*((meant.file,) if meant.file else ()), *meant.agents)
        known_of = self._known_beside(meant)
        return tuple(found for log in logs for found in violations_of(log, known_of))

    def repair(self, session: Named, *, in_place: bool = False) -> "Plan":
        """Returns what mends a session: as a new one, or in its place.

        It has no steps where nothing is wrong; what stays wrong is said.
        """
        from plait.edit.journal import noted_if_live
        from plait.edit.repair import repair

        meant = self._archive.session(session)
        known_of = self._known_beside(meant)
        return noted_if_live(repair(subject_of(meant), is_in_place=in_place, known_of=known_of))

    def repairs(self, sessions: Several = None, *, in_place: bool = False) -> Iterator["Plan"]:
        """Yields what mends those of some sessions, or of all, that can be mended."""
        for meant in self._archive.named(sessions):
            if self.can_mend(meant):
                yield self.repair(meant, in_place=in_place)

    def can_mend(self, session: Named) -> bool:
        """Tells whether a repair would do anything."""
        from plait.edit.repair import needs_repair

        meant = self._archive.session(session)
        is_here = bool(meant.file) and not meant.is_kept
        return is_here and needs_repair(subject_of(meant), self._known_beside(meant))

    def _known_beside(self, session: Session) -> Callable[[frozenset[str]], frozenset[str]]:
        """Returns what tells which of some uuids are records of the same project."""

        def known_of(uuids: frozenset[str]) -> frozenset[str]:
            from plait.edit.check import records_among

            near = [one.path for one in self._archive.files if one.project == session.project]
            return records_among(near, uuids)

        return known_of

    def clone(
        self,
        session: Named,
        *,
        title: str | None = None,
        clean: bool = False,
        active_only: bool = False,
    ) -> "Plan":
        """Returns a copy of a session that goes on by itself: new ids, the same conversation.

        Lines that hold no record are copied as they are, or left out where it is to be clean.
        Only the way to where the session goes on is copied where no more is wanted.
        """
        from plait.edit.clone import clone
        from plait.edit.fork import active_only as only_active
        from plait.edit.journal import noted_if_live

        subject = self._subject(session)
        if active_only:
            return noted_if_live(only_active(subject, title=title))
        return noted_if_live(clone(subject, title=title, is_clean=clean))

    def fork(
        self,
        session: Named,
        at: str | int | None = None,
        *,
        before: bool = False,
        title: str | None = None,
    ) -> "Plan":
        """Returns a session that goes on from any message of another, abandoned ones included.

        A record's id means that record, with its response and the results of its calls; a number,
        or the words of a prompt, the end of that turn. With `before` the turn is left out, to ask
        it differently. Without any it is where the session goes on.
        """
        from plait.archive.choosing import place_named
        from plait.edit.fork import fork
        from plait.edit.journal import noted_if_live

        meant = self._archive.session(session)
        opened = self._archive.open(meant)
        place = place_named(opened, -1 if at is None else at, is_before=before)
        prices = self._archive.prices
        plan = fork(subject_of(meant), place, is_before=before, title=title, prices=prices)
        return noted_if_live(plan)

    def graft(
        self,
        session: Named,
        onto: Named,
        at: str | int | None = None,
        *,
        in_place: bool = False,
        title: str | None = None,
    ) -> "Plan":
        """Returns another session with a branch of this one at its end: as a new one, or in place.

        The branch is the one that a record, a turn or a prompt stands on, up to there; of the line
        that goes on it is all. What both sessions have already is not repeated.
        """
        from plait.archive.choosing import branch_start, place_named
        from plait.edit.graft import graft
        from plait.edit.journal import noted_if_live

        meant = self._archive.session(session)
        opened = self._archive.open(meant)
        place = place_named(opened, -1 if at is None else at)
        since = branch_start(opened, place)
        target = self._subject(onto)
        plan = graft(
            subject_of(meant), target, place, since=since, is_in_place=in_place, title=title
        )
        return noted_if_live(plan)

    def trim(
        self,
        session: Named,
        preset: "Preset | None" = None,
        *,
        in_place: bool = False,
        choice: "TrimChoice | None" = None,
        **wanted: Any,
    ) -> "Plan":
        """Returns a session without what is not wanted any more: as a new one, or in its place.

        What may go is said by a preset and by the fields of a TrimChoice, also by their names. It
        has no steps where there is nothing of it.
        """
        from plait.edit.journal import noted_if_live
        from plait.edit.trim import TrimChoice, trim

        meant = choice or TrimChoice(preset=preset, **wanted)
        subject, prices = self._subject(session), self._archive.prices
        return noted_if_live(trim(subject, meant, is_in_place=in_place, prices=prices))

    def switch(self, session: Named, branch: str) -> "Plan":
        """Returns another branch as the one that resume takes: its name, its number, a record."""
        from plait.archive.choosing import tip_named
        from plait.edit.switch import switch

        meant = self._archive.session(session)
        return switch(subject_of(meant), tip_named(self._archive.open(meant), branch))

    def compress(
        self,
        session: Named,
        *,
        until: str | int | None = None,
        keep_last: int | None = None,
        command: str | Sequence[str] | None = None,
        calls: "Calls" = "metadata",
        in_place: bool = False,
    ) -> "Plan":
        """Returns a session whose older turns are prompts and summaries: a new one, or in place.

        The turns before one are compressed, named by its number, its prompt or a record in it, or
        all but the newest so many. A command sums up each turn that it is given, else its
        weightiest sentences stand for it. Calls are told a line each, or go with their results.
        """
        from plait.archive.choosing import place_named
        from plait.edit.compress import compress, summariser_of
        from plait.edit.journal import noted_if_live

        meant = self._archive.session(session)
        place = None
        if until is not None:
            place = place_named(self._archive.open(meant), until, is_before=True)
        plan = compress(
            subject_of(meant),
            until=place,
            keep_last=keep_last,
            summariser=summariser_of(command),
            calls=calls,
            is_in_place=in_place,
            prices=self._archive.prices,
        )
        return noted_if_live(plan)

    def rename(self, session: Named, title: str) -> "Plan":
        """Returns another title of a session, as the client gives it one."""
        from plait.edit.rename import rename

        return rename(self._subject(session), title)

    def tag(self, session: Named, word: str | None) -> "Plan":
        """Returns another tag of a session, or none."""
        from plait.edit.rename import tag

        return tag(self._subject(session), word)

    def delete(self, session: Named) -> "Plan":
        """Returns the end of a session and of all that belongs to it; undo brings it back."""
        from plait.edit.delete import delete

        return delete(self._subject(session))

    def redact(
        self,
        session: Named,
        *,
        in_place: bool = False,
        redactor: "Redactor | None" = None,
        title: str | None = None,
    ) -> "Plan":
        """Returns a session without what should not be shared: as a new one, or in its place.

        The rules are those of what leaves the machine, or of a redactor that is given.
        """
        from plait.edit.journal import noted_if_live
        from plait.edit.redacting import redact_copy, redact_in_place
        from plait.redact import Redactor

        subject, by = self._subject(session), redactor or Redactor()
        if in_place:
            return redact_in_place(subject, by)
        return noted_if_live(redact_copy(subject, by, title=title))

    def move(self, project: str, new: Path | str, *, texts: bool = False) -> "list[Plan]":
        """Returns what moves the sessions of a directory to another, once for each client.

        Directories within it move along. What was said keeps its paths, unless texts are meant too.
        """
        from plait.archive.travel import moves

        return moves(self._archive, project, new, with_texts=texts)

    def pack(
        self, what: Named, file: Path | str, *, redactor: "Redactor | None" = None
    ) -> "Packing":
        """Returns a session or a project as one file, which `write` writes: for another machine."""
        from plait.archive.travel import packed

        return packed(self._archive, what, Path(file), redactor)

    def port(self, file: Path | str, into: Path | str) -> "Plan":
        """Returns what brings the sessions of such a file to a directory of this machine.

        Paths are those of this machine then. What is here already stays, and is told.
        """
        from plait.archive.travel import brought

        return brought(self._archive, Path(file), into)

    def _subject(self, session: Named) -> Subject:
        return subject_of(self._archive.session(session))


def subject_of(session: Session) -> Subject:
    """Returns where all of a session lies, or raises where it has no file to edit."""
    if session.is_kept:
        raise Refused(
            f"session '{session.id}' is only kept: there is nothing to edit at its source",
            f"`plait restore {quote(session.id[:8])}` puts it back first",
        )
    if session.file is None:
        raise UserError(
            f"session '{session.id}' has no file of its own, only its agents are left",
            f"`plait ls --long` shows where '{session.id[:8]}' lies",
        )
    config = session.config or config_above(session.file.path)
    return Subject(session.id, session.file, session.agents + session.journals, config)
