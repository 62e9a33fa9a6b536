"""What is asked of files: who wrote their lines, what they held when, what they would give away."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from plait.archive.model import Named, Several

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.files.blame import Blame
    from plait.archive.files.history import FileHistory
    from plait.archive.files.noting import NotePlan
    from plait.archive.files.standing import FileAt, WrittenFile
    from plait.archive.files.touched import TouchedPath
    from plait.conversation.versions.model import NetChange
    from plait.index.touches import TouchRow
    from plait.redact import Redactor, Report


class Filing:
    """The part of an archive that answers such questions."""

    @property
    def _whole(self) -> "Archive":
        return cast("Archive", self)

    def file_history(
        self,
        path: Path | str,
        *,
        directory: Path | None = None,
        known_as: tuple[str, ...] = (),
        sessions: Several = None,
    ) -> "FileHistory":
        """Returns all that sessions did to a file, under whatever name, and what it held when."""
        from plait.archive.files.history import history_of

        archive = self._whole
        chosen = archive.named(sessions)
        return history_of(archive, str(path), directory or Path(), known_as, chosen)

    def blame(
        self,
        path: Path | str,
        *,
        directory: Path | None = None,
        known_as: tuple[str, ...] = (),
        sessions: Several = None,
        has_notes: bool = True,
    ) -> "Blame":
        """Returns who wrote each line of a file: session, turn, prompt, time, and Git's commit."""
        from plait.archive.files.blame import blame_of

        history = self.file_history(path, directory=directory, known_as=known_as, sessions=sessions)
        return blame_of(history, has_notes=has_notes)

    def plan_notes(self, path: Path | str, *, directory: Path | None = None) -> "NotePlan":
        """Returns the notes of git-ai that would say what `blame` says of committed lines."""
        from plait.archive.files.blame import blame_of
        from plait.archive.files.noting import plan_notes

        history = self.file_history(path, directory=directory)
        return plan_notes(blame_of(history, has_notes=False), history.names.git)

    def file_at(
        self,
        path: Path | str,
        at: str,
        *,
        directory: Path | None = None,
        known_as: tuple[str, ...] = (),
        time_of: Callable[[str], str] | None = None,
    ) -> "FileAt":
        """Returns what a file held at the end of a turn (`SESSION:TURN`, `TURN`), or at a time."""
        from plait.archive.files.moments import first_begun, moment_named
        from plait.archive.files.standing import file_at

        history = self.file_history(path, directory=directory, known_as=known_as)
        moment = moment_named(self._whole, at, history.events, time_of)
        story = history.story_at(moment)
        return file_at(story, moment, first_begun(self._whole, story.events))

    def touches(self, path: str | None = None, *, sessions: Several = None) -> "list[TouchRow]":
        """Returns what sessions did to files, or to the one with this path, as time went."""
        archive = self._whole
        return archive.answers.touches(archive.named(sessions), path)

    def touched_files(self, *, sessions: Several = None) -> "list[TouchedPath]":
        """Returns all paths that sessions touched, with what came of each, the newest first."""
        from plait.archive.files.touched import touched_paths

        return touched_paths(self.touches(sessions=sessions))

    def session_files(self, session: Named) -> "list[NetChange]":
        """Returns what became of each file that a session changed, in all."""
        from plait.archive.files.reading import session_events
        from plait.conversation.versions.net import net_changes

        return list(net_changes(session_events(self._whole.open(session))).values())

    def session_files_at(self, session: Named, turn: int) -> "list[FileAt]":
        """Returns what each file that a session changes held when a turn of it had ended."""
        from plait.archive.files.moments import end_of_turn
        from plait.archive.files.reading import session_events
        from plait.archive.files.standing import files_at

        opened = self._whole.open(session)
        events = session_events(opened)
        return files_at(events, end_of_turn(opened.conversations, turn, events))

    def write_session_files(
        self, session: Named, turn: int, folder: Path, *, is_forced: bool = False
    ) -> "list[WrittenFile]":
        """Writes the files of a session into a folder, as they stood when a turn had ended."""
        from plait.archive.files.reading import directory_of
        from plait.archive.files.standing import write_files

        found = self.session_files_at(session, turn)
        directory = directory_of(self._whole.open(session))
        return write_files(found, folder, directory, is_forced=is_forced)

    def disclosures(self, redactor: "Redactor | None" = None, **options: Any) -> "Report":
        """Returns what its logs, or other `files`, tell that should not be shared."""
        from plait.archive.disclosures import disclosures

        archive = self._whole
        return disclosures(redactor, options.pop("files", archive.files), archive.hands, **options)
