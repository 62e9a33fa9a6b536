"""Sessions of an archive to plans that change them: its verbs for whoever edits."""

from typing import TYPE_CHECKING

from plait.archive.model import Named, Session
from plait.edit.model import Subject, Violation
from plait.errors import UserError

if TYPE_CHECKING:
    from plait.archive.archive import Archive


class Plans:
    """What can be done to the sessions of an archive; nothing happens before a plan is applied."""

    def __init__(self, archive: "Archive") -> None:
        self._archive = archive

    def check(self, session: Named) -> tuple[Violation, ...]:
        """Returns what is wrong with a session as it is, its agents' logs included.

        What belongs to an interrupted session is no fault: calls at its end have no result.
        """
        from plait.edit.check import records_among, violations_of

        meant = self._archive.session(session)

        def known_of(uuids: frozenset[str]) -> frozenset[str]:
            near = [one.path for one in self._archive.files if one.project == meant.project]
            return records_among(near, uuids)

        logs = (*((meant.file,) if meant.file else ()), *meant.agents)
        return tuple(found for log in logs for found in violations_of(log, known_of))


def subject_of(session: Session) -> Subject:
    """Returns where all of a session lies, or raises where it has no file to edit."""
    if session.file is None:
        raise UserError(
            f"session '{session.id}' has no file of its own, only its agents are left",
            f"`plait ls --long` shows where '{session.id[:8]}' lies",
        )
    return Subject(session.id, session.file, session.agents + session.journals, session.config)
