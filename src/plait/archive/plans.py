"""Sessions of an archive to plans that change them: its verbs for whoever edits."""

from typing import TYPE_CHECKING

from plait.archive.model import Session
from plait.edit.model import Subject
from plait.errors import UserError

if TYPE_CHECKING:
    from plait.archive.archive import Archive


class Plans:
    """What can be done to the sessions of an archive; nothing happens before a plan is applied."""

    def __init__(self, archive: "Archive") -> None:
        self._archive = archive


def subject_of(session: Session) -> Subject:
    """Returns where all of a session lies, or raises where it has no file to edit."""
    if session.file is None:
        raise UserError(
            f"session '{session.id}' has no file of its own, only its agents are left",
            f"`plait ls --long` shows where '{session.id[:8]}' lies",
        )
    return Subject(session.id, session.file, session.agents + session.journals, session.config)
