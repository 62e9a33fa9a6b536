"""The edit operations of an archive (`archive.plan`), and which project a name means."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from plait.edit.branches import plan_active_only, plan_fork, plan_graft, plan_switch
from plait.edit.check import find_records, find_violations
from plait.edit.clone import plan_clone, redirect_copy
from plait.edit.compress import plan_compress
from plait.edit.journal import note_if_live
from plait.edit.move import DirectoryMap, MovedFolder, is_within, plan_move, strip_separator
from plait.edit.plan import Plan, Subject, Violation
from plait.edit.redaction import plan_redact_in_place, plan_redacted_copy
from plait.edit.rename import plan_rename, plan_tag
from plait.edit.repair import needs_repair, plan_repair
from plait.edit.side_files import list_side_files, plan_delete
from plait.edit.summaries import Calls, build_summariser
from plait.edit.transfer import PackPlan, PackSource, plan_pack, plan_unpack
from plait.edit.trim import CustomPreset, Preset, TrimChoice, plan_trim
from plait.errors import Refused, UserError
from plait.line import list_files, make_project_slug
from plait.line.discovery import find_config_folder, is_foreign_path
from plait.record.reader import read_if_exists
from plait.sessions.model import Session, SessionRef, SessionRefs
from plait.sessions.names import find_branch_start, matches_project, resolve_place, resolve_tip

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.redact import Redactor


LINES_TO_READ = 200
"""Records after which a log that names no directory is assumed to have none."""
MOST_LISTED = 4
LIST_THEM = "`plait ls` lists your projects"


@dataclass(frozen=True, slots=True)
class ProjectSessions:
    """The sessions of one directory, in one folder of a client's projects."""

    folder: Path
    directory: str
    sessions: tuple[Session, ...]
    is_full_folder: bool
    """Whether these are all sessions in the folder: directories may share one."""

    @property
    def config(self) -> Path:
        """The client's configuration folder."""
        return self.folder.parent.parent


def iter_projects(archive: "Archive") -> Iterator[ProjectSessions]:
    """Yield the sessions of each directory among a client's projects.

    A directory is recognised by the folder named after it. A session that names none belongs to the
    only one there is; if there is none, the newest session says which it is.
    """
    folders: dict[Path, list[Session]] = {}
    for session in archive.sessions:
        if session.file and not session.is_kept and find_config_folder(session.path):
            folders.setdefault(session.path.parent, []).append(session)
    for folder, sessions in folders.items():
        named = {session: _read_directories(session) for session in sessions}
        own = {
            session: next((item for item in found if make_project_slug(item) == folder.name), None)
            for session, found in named.items()
        }
        found = list(dict.fromkeys(item for item in own.values() if item))
        if not found:
            found = [name for names in reversed(named.values()) for name in names[:1]][:1]
        for directory in found:
            is_full_folder = len(found) == 1
            members = tuple(
                session for session in sessions if is_full_folder or own[session] == directory
            )
            yield ProjectSessions(folder, directory, members, is_full_folder)


def _read_directories(session: Session) -> list[str]:
    """Return the directories in which a session began."""
    records = islice(read_if_exists(session.path), LINES_TO_READ)
    return list(dict.fromkeys(record.cwd for record in records if record.cwd))


def find_directory(session: Session) -> str | None:
    """Return the directory that a session's folder is named after, else the one it began in."""
    found = _read_directories(session)
    own = (item for item in found if make_project_slug(item) == session.path.parent.name)
    return next(own, found[0] if found else None)


def match_directory(known: Sequence[ProjectSessions], name: str) -> str:
    """Return the directory that a name means: its path, the name of its folder, or a part of one.

    A path that contains projects counts too. If a part matches several, the one with exactly that
    name is meant, or the one that contains all others.
    """
    path = strip_separator(name)
    exact = {
        project.directory
        for project in known
        if name == project.folder.name or path == project.directory
    }
    if not exact and any(is_within(project.directory, path) for project in known):
        return path
    meant = exact or {
        project.directory for project in known if matches_project(project.folder.name, name)
    }
    if not meant:
        raise UserError(f"no project named '{name}'", LIST_THEM)
    called = [item for item in meant if re.split(r"[/\\]", item)[-1] == name]
    around = [item for item in meant if all(is_within(other, item) for other in meant)]
    for found in (meant if exact else called, meant, around):
        if len(found) == 1:
            return next(iter(found))
    shown = ", ".join(f"'{item}'" for item in sorted(meant)[:MOST_LISTED])
    raise UserError(f"'{name}' matches {len(meant)} directories", f"choose one of {shown}")


class Plans:
    """Plans edits of an archive's sessions; nothing changes before a plan is applied."""

    def __init__(self, archive: "Archive") -> None:
        self._archive = archive

    def check(self, session: SessionRef) -> tuple[Violation, ...]:
        """Return the violations of a session, its agents' logs included.

        An interrupted session is not damaged: calls at its end have no result.
        """
        meant = self._archive.session(session)
        logs = (*((meant.file,) if meant.file else ()), *meant.agents)
        known_of = self._find_known_records(meant)
        return tuple(found for log in logs for found in find_violations(log, known_of))

    def repair(self, session: SessionRef, *, in_place: bool = False) -> Plan:
        """Plan the repair of a session, as a new one or in place.

        It has no steps if nothing is wrong, and lists what stays wrong.
        """
        meant = self._archive.session(session)
        known_of = self._find_known_records(meant)
        return note_if_live(
            plan_repair(find_subject(meant), is_in_place=in_place, known_of=known_of)
        )

    def repairs(self, sessions: SessionRefs = None, *, in_place: bool = False) -> Iterator[Plan]:
        """Yield the repairs of the given sessions, or of all that can be repaired."""
        for meant in self._archive.resolve_sessions(sessions):
            if self.can_mend(meant):
                yield self.repair(meant, in_place=in_place)

    def can_mend(self, session: SessionRef) -> bool:
        """Return whether a repair would change anything."""
        meant = self._archive.session(session)
        is_here = bool(meant.file) and not meant.is_kept
        return is_here and needs_repair(find_subject(meant), self._find_known_records(meant))

    def _find_known_records(self, session: Session) -> Callable[[frozenset[str]], frozenset[str]]:
        """Return a function that finds uuids among the records of the same project."""

        def known_of(uuids: frozenset[str]) -> frozenset[str]:
            near = [log.path for log in self._archive.files if log.project == session.project]
            return find_records(near, uuids)

        return known_of

    def clone(
        self,
        session: SessionRef,
        *,
        title: str | None = None,
        clean: bool = False,
        active_only: bool = False,
        output: Path | None = None,
    ) -> Plan:
        """Plan a copy of a session under new ids that can be continued on its own.

        Lines without a record are copied as they are, or left out with `clean`. With `active_only`
        only the active branch is copied. With `output` the log is written to that file.
        """
        subject = self._find_subject(session)
        if active_only:
            plan = plan_active_only(subject, title=title)
        else:
            plan = plan_clone(subject, title=title, is_clean=clean)
        return note_if_live(plan if output is None else redirect_copy(plan, output))

    def fork(
        self,
        session: SessionRef,
        at: str | int | None = None,
        *,
        before: bool = False,
        title: str | None = None,
    ) -> Plan:
        """Plan a new session that continues from any message of another one, abandoned ones
        included.

        A record's id means that record with its response and the results of its calls; a number or
        the words of a prompt mean the end of that turn. With `before` the turn is left out, to ask
        differently. By default the fork starts where the session would resume.
        """
        meant = self._archive.session(session)
        opened = self._archive.open(meant)
        place = resolve_place(opened, at, is_before=before)
        prices = self._archive.prices
        plan = plan_fork(find_subject(meant), place, is_before=before, title=title, prices=prices)
        return note_if_live(plan)

    def graft(
        self,
        session: SessionRef,
        onto: SessionRef,
        at: str | int | None = None,
        *,
        in_place: bool = False,
        title: str | None = None,
    ) -> Plan:
        """Plan to append a branch of this session to another one, as a new session or in place.

        The branch is the one with the given record, turn or prompt, up to there, or all of the
        active branch. What both sessions already have is not repeated.
        """
        meant = self._archive.session(session)
        opened = self._archive.open(meant)
        place = resolve_place(opened, at)
        since = find_branch_start(opened, place)
        target = self._find_subject(onto)
        plan = plan_graft(
            find_subject(meant), target, place, since=since, is_in_place=in_place, title=title
        )
        return note_if_live(plan)

    def trim(
        self,
        session: SessionRef,
        preset: Preset | CustomPreset | None = None,
        *,
        in_place: bool = False,
        choice: TrimChoice | None = None,
        **wanted: Any,
    ) -> Plan:
        """Plan to remove or shorten parts of a session, as a new one or in place.

        A preset and the fields of a `TrimChoice`, also as keywords, say what may go. The plan has
        no steps if there is nothing of it.
        """
        meant = choice or TrimChoice(preset=preset, **wanted)
        subject, prices = self._find_subject(session), self._archive.prices
        return note_if_live(plan_trim(subject, meant, is_in_place=in_place, prices=prices))

    def switch(self, session: SessionRef, branch: str) -> Plan:
        """Plan to make another branch the active one: by name, number or record."""
        meant = self._archive.session(session)
        return plan_switch(find_subject(meant), resolve_tip(self._archive.open(meant), branch))

    def compress(
        self,
        session: SessionRef,
        *,
        until: str | int | None = None,
        keep_last: int | None = None,
        command: str | Sequence[str] | None = None,
        calls: Calls = "metadata",
        in_place: bool = False,
    ) -> Plan:
        """Plan to compress older turns to prompts and summaries, as a new session or in place.

        The turns before one are compressed (given by its number, its prompt or a record in it), or
        all but the newest `keep_last`. A command summarises each turn it is given; without one, the
        most important sentences are extracted. Calls become a line each, or are removed with their
        results.
        """
        meant = self._archive.session(session)
        place = None
        if until is not None:
            place = resolve_place(self._archive.open(meant), until, is_before=True)
        plan = plan_compress(
            find_subject(meant),
            until=place,
            keep_last=keep_last,
            summariser=build_summariser(command),
            calls=calls,
            is_in_place=in_place,
            prices=self._archive.prices,
        )
        return note_if_live(plan)

    def rename(self, session: SessionRef, title: str) -> Plan:
        """Plan a new title, as the client sets it."""
        return plan_rename(self._find_subject(session), title)

    def tag(self, session: SessionRef, word: str | None) -> Plan:
        """Plan a new tag, or none."""
        return plan_tag(self._find_subject(session), word)

    def delete(self, session: SessionRef) -> Plan:
        """Plan to delete a session and all that belongs to it; undo restores it."""
        return plan_delete(self._find_subject(session))

    def redact(
        self,
        session: SessionRef,
        *,
        in_place: bool = False,
        redactor: "Redactor | None" = None,
        title: str | None = None,
    ) -> Plan:
        """Plan to redact a session, as a new one or in place.

        The rules are those for exports, or those of the given redactor.
        """
        from plait.redact import Redactor

        subject, by = self._find_subject(session), redactor or Redactor()
        if in_place:
            return plan_redact_in_place(subject, by)
        return note_if_live(plan_redacted_copy(subject, by, title=title))

    def move(self, project: str, new: Path | str, *, texts: bool = False) -> "list[Plan]":
        """Return the plans that move the sessions of a directory to another, one for each client.

        Subdirectories move along. Texts keep their paths unless `with_texts` is given.
        """
        known = list(iter_projects(self._archive))
        old, target = match_directory(known, project), _resolve_directory(new)
        if target == old:
            raise UserError(
                f"the sessions of '{old}' are already there", "choose another directory"
            )
        names = DirectoryMap(((old, target),))
        clients: dict[Path, list[MovedFolder]] = {}
        for project_sessions in sorted(known, key=lambda item: len(item.directory)):
            if is_within(project_sessions.directory, old):
                subjects = tuple(map(find_subject, project_sessions.sessions))
                files = _list_files_of(
                    project_sessions.folder,
                    subjects,
                    is_full_folder=project_sessions.is_full_folder,
                )
                folder = MovedFolder(
                    project_sessions.folder,
                    project_sessions.directory,
                    names.rewrite_path(project_sessions.directory),
                    files,
                    subjects,
                )
                clients.setdefault(project_sessions.config, []).append(folder)
        return [
            plan_move(config, folders, (old, target), with_texts=texts)
            for config, folders in clients.items()
        ]

    def pack(
        self, what: SessionRef, file: Path | str, *, redactor: "Redactor | None" = None
    ) -> PackPlan:
        """Return the plan that packs a session or a project into one file for another machine."""

        file = Path(file)
        project = _match_project(self._archive, what)
        if project is not None:
            subjects = tuple(map(find_subject, project.sessions))
            files = _list_files_of(project.folder, subjects, is_full_folder=project.is_full_folder)
            return plan_pack(
                file,
                PackSource(project.folder, project.directory, subjects, files, is_project=True),
                redactor,
            )
        session = self._archive.session(what)
        subject = find_subject(session)
        folder = subject.log.path.parent
        files = _list_files_of(folder, (subject,), is_full_folder=False)
        return plan_pack(
            file, PackSource(folder, find_directory(session), (subject,), files), redactor
        )

    def port(self, file: Path | str, into: Path | str) -> Plan:
        """Return the plan that unpacks the sessions of such a file into a directory of this
        machine.

        Paths are rewritten to this machine. Sessions that exist already stay unchanged and are
        reported.
        """
        if not self._archive.roots:
            raise UserError("no configuration folder to unpack into", "name one with `--root`")
        root = self._archive.roots[0]
        config = (root.config or root.path).resolve()
        if not config.is_dir() or (root.config is None and any(self._archive.files)):
            raise UserError(
                f"'{root.path}' is not a configuration folder",
                "choose one with `--root`",
            )
        here: dict[str, Path] = {
            session.id: session.path.resolve()
            for session in self._archive.sessions
            if session.file and config in session.path.resolve().parents
        }
        return plan_unpack(Path(file), config, _resolve_directory(into), here)

    def _find_subject(self, session: SessionRef) -> Subject:
        return find_subject(self._archive.session(session))


def find_subject(session: Session) -> Subject:
    """Return the files of a session; raise if it has no log to edit."""
    if session.origin is not None:
        raise Refused(
            f"session '{session.id}' was written by {session.agent}: Plait edits only Claude"
            " Code sessions",
            f"`plait handoff {quote(session.id[:8])}` hands it over to another agent",
        )
    if session.is_kept:
        raise Refused(
            f"session '{session.id}' exists only in the backup and cannot be edited",
            f"`plait restore {quote(session.id[:8])}` restores it first",
        )
    if session.file is None:
        raise UserError(
            f"session '{session.id}' has no log; only agent logs are left",
            f"`plait ls --long` shows the folder of '{session.id[:8]}'",
        )
    config = session.config or find_config_folder(session.file.path)
    return Subject(session.id, session.file, session.agents + session.journals, config)


def _resolve_directory(named: Path | str) -> str:
    """Return a directory as the client would name it: its real path."""
    text = str(named)
    return strip_separator(text) if is_foreign_path(text) else str(Path(text).resolve())


def _list_files_of(
    folder: Path, subjects: tuple[Subject, ...], *, is_full_folder: bool
) -> tuple[Path, ...]:
    """Return the files in a folder that belong to some sessions, or all."""
    files = list_files(folder)
    if is_full_folder:
        return files
    own = {subject.log.path for subject in subjects}
    own |= {
        side_file.source
        for subject in subjects
        for side_file in list_side_files(subject, subject.id)
    }
    return tuple(path for path in files if path in own)


def _match_project(archive: "Archive", what: SessionRef) -> ProjectSessions | None:
    """Return the project that a name means; None if it means a session."""
    if not isinstance(what, str) or what in (".", "latest"):
        return None
    is_session_name = what.startswith("latest:") or what.endswith(".jsonl")
    if is_session_name or any(item.id.startswith(what.lower()) for item in archive.sessions):
        return None
    known = list(iter_projects(archive))
    try:
        directory = match_directory(known, what)
    except UserError:
        archive.session(what)  # a title, or an error with suggestions
        return None
    found = [project for project in known if project.directory == directory]
    if len(found) > 1:
        places = ", ".join(f"'{item.config}'" for item in found)
        raise UserError(
            f"'{what}' is in several configuration folders: {places}", "choose one with `--root`"
        )
    if not found:
        raise UserError(f"no session was started in '{directory}' itself", LIST_THEM)
    return found[0]
