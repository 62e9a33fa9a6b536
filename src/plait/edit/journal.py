"""The journal of edits: applies plans, and undoes or finishes them after any interruption.

    <home>/.plait/journal/<id>/entry.json    what was done
                               open.json     what is being done, and how far it has come
                               0003.was      the file of step 3 as it was
                               0003.add      the lines that step 3 appends
                               0003.aside    what was in the way when step 3 was undone by force
    <file>/../.<name>.<id>.new               what step 3 will put there

    begun ── drafts, backups ── ready ── names change ── done

A home is the client's configuration folder, else the folder of the file. Paths are stored relative
to it, and none that leads out of it is followed. Only one edit runs in a home at a time (a lock).

Until an entry is `ready`, nothing that existed has changed. Every step can be repeated: it sees by
the files whether it was done or undone before, so an edit that was interrupted anywhere, or an
interrupted undo, can be finished or undone. An edit that was interrupted before anything changed
is undone by the next one; any other is reported and waits for `undo` or `finish`. Nothing that
somebody else has written since is lost: undo refuses, and with force moves it aside.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain, takewhile
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import structs

from plait.edit.plan import Append, CopyOf, Move, Plan, Remove, Step, Subject, Write
from plait.errors import PlaitError, Refused, SessionIsLive, SourceError, UserError
from plait.line import FileStamp, Root, read_file_stamp, read_small
from plait.line import iter_bytes as pieces_of
from plait.line.discovery import (
    LOG_SUFFIX,
    PLAIT_FOLDER,
    PROJECTS,
    PROMPT_HISTORY,
    find_config_folder,
)
from plait.line.output import OWNER_FILE, lock_file, make_write_error, replace_file, sync_folder
from plait.line.replacement import (
    FileState,
    append_at,
    copy_draft,
    cut_from_end,
    finish_draft,
    has_bytes_at,
    hash_file,
    install_draft,
    install_new_file,
    is_plain,
    iter_bytes_from,
    iter_bytes_without,
    keep_copy,
    make_folder,
    move_file,
    read_file_state,
    remove_folder,
    remove_if_empty,
    sync_files,
    write_draft,
)
from plait.record.side_files import list_running_sessions

__all__ = ["Edit", "EditStep", "Journal", "State", "describe_activity", "find_home", "note_if_live"]


def emptied_folders(
    home: Path, gone: Set[Path], *, with_projects: bool = False
) -> tuple[tuple[Path, FileState], ...]:
    """Return the folders that become empty, outermost first.

    Empty folders inside them are removed too. The home and the top folders of a client stay, and so
    do project folders, unless they are what is removed.
    """
    going: set[Path] = set()
    for folder in _list_parent_folders(gone):
        if home not in folder.parents:
            continue
        parts = folder.relative_to(home).parts
        is_project = parts[0] == PROJECTS and len(parts) == 2
        is_of_the_client = len(parts) < 2 or (is_project and not with_projects)
        if is_of_the_client and (home / PROJECTS).is_dir():
            continue
        held: set[Path] = set()
        for place, folders, files in os.walk(folder):
            links = [name for name in folders if Path(place, name).is_symlink()]
            held.update(Path(place, name) for name in (*files, *links))
        if held <= gone:
            going.add(folder)
    within = {Path(place) for folder in going for place, _, _ in os.walk(folder)}
    return tuple((folder, state) for folder in sorted(within) if (state := read_file_state(folder)))


def _list_parent_folders(files: Set[Path]) -> set[Path]:
    parents = {path.parent for path in files}
    return parents.union(*(parent.parents for parent in parents))


State: TypeAlias = Literal["begun", "ready", "done", "undoing", "undone"]
StepKind: TypeAlias = Literal["write", "append", "remove", "move"]
STEP_KINDS: dict[type[Step], StepKind] = {
    Write: "write",
    Append: "append",
    Remove: "remove",
    Move: "move",
}
ENTRY_FILE, OPEN_FILE = "entry.json", "open.json"
EDIT_ID, EDIT_ID_FORMAT = re.compile(r"\d{8}-\d{6}-\d{6}"), "%Y%m%d-%H%M%S-%f"
"""The format of edit ids: the time of the edit to the microsecond."""
MOST_NAME_BYTES = 160
CLIENT_STATE, USUAL_CONFIG = ".claude.json", ".claude"
PARTS_OF_A_CONFIG = frozenset(
    {PROJECTS, "file-history", "tasks", "todos", PROMPT_HISTORY, CLIENT_STATE}
)
"""What edits may touch in a client's configuration folder; its settings are not among them."""
OUTER_STATE = f"../{CLIENT_STATE}"
"""The client's state file is beside its usual folder, but inside any other one."""


class EditStep(msgspec.Struct, frozen=True):
    """One file that an edit wrote, appended to, removed or moved."""

    kind: StepKind
    path: Path
    before: FileState | None
    """Its state before; None if there was no file."""
    after: FileState | None = None
    """Its state afterwards; None if there is no file, or not yet known."""
    digest: str | None = None
    """SHA-256 of what was written, if its bytes were seen."""
    target: Path | None = None
    """Where a file was moved to."""
    is_shared: bool = False
    """Whether the file is shared by all sessions, so that others continue to write to it."""

    @property
    def places(self) -> tuple[Path, ...]:
        """The files it touches."""
        return (self.path, self.target) if self.target else (self.path,)


class Edit(msgspec.Struct, frozen=True):
    """An edit of a session, as recorded in the journal."""

    id: str
    operation: str
    session: str
    path: Path
    """The log of the resulting session."""
    when: datetime
    state: State
    """`begun` and `ready` were interrupted before and after files began to change, `undoing` while
    they were restored.
    """
    steps: tuple[EditStep, ...]
    made: tuple[Path, ...] = ()
    """Folders that were created."""
    emptied: tuple[tuple[Path, FileState], ...] = ()
    """Folders that were removed because they became empty, outermost first."""

    @property
    def is_cut_off(self) -> bool:
        """Whether it was interrupted."""
        return self.state in ("begun", "ready", "undoing")


def journal_folder(home: Path) -> Path:
    """Return the journal folder of a home."""
    return home / PLAIT_FOLDER / "journal"


def list_edit_ids(home: Path) -> list[str]:
    """Return the ids of all edits in a home, newest first."""
    try:
        names = os.listdir(journal_folder(home))  # noqa: PTH208
    except OSError:
        return []
    return sorted(filter(EDIT_ID.fullmatch, names), reverse=True)


def is_incomplete(home: Path, id_: str) -> bool:
    """Return whether an edit was interrupted or has no entry, without reading it."""
    folder = journal_folder(home) / id_
    return (folder / OPEN_FILE).exists() or not (folder / ENTRY_FILE).exists()


def resolve_in_home(home: Path, name: str) -> Path:
    """Return the path of a file named relative to its home; raise if it is elsewhere."""
    if name == OUTER_STATE and (state := _find_outer_state(home)):
        return state
    parts = PurePosixPath(name).parts
    if not parts or "/" in parts or ".." in parts or "\0" in name or PLAIT_FOLDER in parts:
        raise ValueError("it names a file that does not belong to the session")
    if (home / PROJECTS).is_dir() and parts[0] not in PARTS_OF_A_CONFIG:
        raise ValueError("it names a file that does not belong to the session")
    return home.joinpath(*parts)


def _find_outer_state(home: Path) -> Path | None:
    return home.parent / CLIENT_STATE if home.name == USUAL_CONFIG else None


def resolve_real_path(home: Path, path: Path) -> Path:
    """Return the real path of a file; refuse if a link leads out of its home."""
    real = path.parent.resolve() / path.name
    if real == _find_outer_state(home):
        return real
    try:
        return resolve_in_home(home, real.relative_to(home).as_posix())
    except ValueError:
        if real.is_relative_to(home):
            hint = f"write the session to a folder in '{home / PROJECTS}', or outside '{home}'"
            raise Refused(f"sessions cannot be written to '{path}'", hint) from None
        hint = f"`--root '{path.parent.resolve()}'` edits the file there"
        raise Refused(f"'{path}' is outside '{home}'", hint) from None


def check_real_path(home: Path, path: Path) -> None:
    """Refuse a file of the journal whose folder has become a link since."""
    if path.parent.resolve() != path.parent:
        raise Refused(f"'{path}' has moved: its folder is now a symlink")


# Is a session being written to?
#
# A client says in `sessions/<pid>.json` which session it runs; it may have exited since, or be a
# version that writes no such file, and then only the time of the last line tells. What Plait itself
# wrote last does not count.


IDLE_SECONDS = 60.0
"""Seconds after its last line during which a session counts as live."""
MAX_LOOK_BACK = 3600.0
"""Longest time in seconds from an edit's id to its last byte."""
NANOSECONDS = 1_000_000_000


def find_activity(
    home: Path, files: Iterable[Path], names: Iterable[str], edits: Iterable[Edit], now: float
) -> str | None:
    """Return the sign that files are being written to, or None if there is none.

    Edits are given newest first. A client is recognised by the session it names: an id, or part of
    a path.
    """
    found = [path.parent.resolve() / path.name for path in files]
    parts = [*names, *(part for path in found for part in path.parts)]
    for session in list_running_sessions(home):
        if any(session in part for part in parts):
            return "a running Claude Code has it open"
    logs = [path for path in found if path.suffix == LOG_SUFFIX]
    if not any(_is_recent(read_file_state(path), now) for path in logs):
        return None
    known = [
        edit
        for edit in takewhile(lambda edit: edit.when.timestamp() > (now - MAX_LOOK_BACK), edits)
        if edit.state == "done"
    ]
    states = [
        state for path in logs if _is_recent(state := _find_last_foreign_state(path, known), now)
    ]
    if not states:
        return None
    last = max(state.modified for state in states if state)
    return f"a line was added {max(0, now - last / NANOSECONDS):.0f} s ago"


def _is_recent(state: FileState | None, now: float) -> bool:
    return state is not None and abs(now - state.modified / NANOSECONDS) < IDLE_SECONDS


def _find_last_foreign_state(path: Path, edits: Sequence[Edit]) -> FileState | None:
    """Return the state of a file before Plait last wrote to it; None if nobody else has written to
    it.
    """
    state = read_file_state(path)
    for step in (step for edit in edits for step in edit.steps if step.path == path):
        if (
            state
            and step.after
            and ((step.after.size, step.after.modified) == (state.size, state.modified))
        ):
            state = step.before
    return state


PLAN_AGAIN = "create the plan again"


class SourceStamps:
    """The states of the files that a plan was made from or changes, when it is about to be applied.

    They are checked again when the drafts are written, since their sources may have grown
    meanwhile.
    """

    def __init__(self, plan: Plan) -> None:
        known = dict(plan.read) | {step.path: step.was for step in plan.steps if step.was}
        comes = [step.path for step in plan.steps if step.was is None]
        comes += [step.target for step in plan.steps if isinstance(step, Move)]
        self._states: dict[Path, FileState | None] = dict.fromkeys(comes)
        for path, was in known.items():
            self._states[path] = read_file_state(path.resolve())
            now = read_file_stamp(path)
            if now != was:
                raise _make_refusal(path, was, now)
        self.refuse_changed()

    def refuse_changed(self) -> None:
        """Refuse a plan whose sources have changed."""
        for path, was in self._states.items():
            now = read_file_state(path.resolve() if was else path)
            if was is None and now:
                raise Refused(f"'{path}' already exists", PLAN_AGAIN)
            if was and not was.is_same_as(now):
                raise _make_refusal(path, was, now)


def _make_refusal(
    path: Path, was: FileStamp | FileState, now: FileStamp | FileState | None
) -> Refused:
    if now is None:
        return Refused(f"'{path}' was deleted since the plan was made", PLAN_AGAIN)
    what = "grown" if now.inode == was.inode and now.size > was.size else "changed"
    return Refused(f"'{path}' has {what} since the plan was made", PLAN_AGAIN)


@contextmanager
def wrap_os_errors(path: Path) -> Iterator[None]:
    """Turn system errors into errors that name the file."""
    try:
        yield
    except OSError as error:
        raise make_write_error(path, error) from error


def _apply_move(step: EditStep) -> bool:
    """Rename a file; if it has both names already, remove the old one."""
    if step.target is None or step.before is None:
        return False
    here, there = read_file_state(step.path), read_file_state(step.target)
    if here is None:
        return there is not None and there.inode == step.before.inode
    if there is None:
        return here.is_same_as(step.before) and _is_rename_target(step.path, step.target)
    if there.inode == here.inode:
        step.path.unlink()
        return True
    return False


def _is_rename_target(path: Path, target: Path) -> bool:
    try:
        install_new_file(path, target)
    except FileExistsError:
        return False
    return True


def _is_after(step: EditStep, there: FileState) -> bool:
    if there.is_same_as(step.after):
        return True
    is_alike = step.after is not None and step.after.size == there.size
    return is_alike and step.digest is not None and hash_file(step.path) == step.digest


def _check_kept(step: EditStep, kept: FileState | None, *, is_needed: bool) -> None:
    if kept is None and is_needed:
        raise SourceError(f"the backup of '{step.path}' is no longer in the journal")
    if kept and step.before and kept.size < step.before.size:
        raise SourceError(f"the backup of '{step.path}' in the journal is truncated")


def _has_moved(step: EditStep) -> bool:
    there = read_file_state(step.target) if step.target else None
    return there is not None and step.before is not None and there.inode == step.before.inode


def _restore_times(step: EditStep) -> None:
    there = read_file_state(step.path)
    if step.before and there and there.size == step.before.size and not step.path.is_symlink():
        step.path.chmod(step.before.mode)
        os.utime(step.path, ns=(step.before.accessed, step.before.modified))


class JournalEntry:
    """One edit and its files in the journal."""

    def __init__(self, home: Path, edit: Edit) -> None:
        self.home = home
        self.edit = edit
        self.folder = journal_folder(home) / edit.id

    def save(self, state: State, steps: tuple[EditStep, ...] | None = None) -> None:
        """Save the progress of the edit, and sync it to disk."""
        steps = self.edit.steps if steps is None else steps
        edit = structs.replace(self.edit, state=state, steps=steps)
        make_folder(self.folder)
        name = OPEN_FILE if edit.is_cut_off else ENTRY_FILE

        def encode_path(path: Any) -> str:
            if not isinstance(path, Path):
                raise NotImplementedError(type(path))
            return (
                OUTER_STATE
                if path == _find_outer_state(self.home)
                else path.relative_to(self.home).as_posix()
            )

        # Escaped, because file names need not be valid Unicode.
        replace_file(
            self.folder / name, json.dumps(msgspec.to_builtins(edit, enc_hook=encode_path)).encode()
        )
        self.edit = edit
        if name == ENTRY_FILE:
            (self.folder / OPEN_FILE).unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete the edit and its backups for good."""
        remove_folder(self.folder)

    def backup_path(self, number: int) -> Path:
        """Return the path of a step's backup."""
        return self.folder / f"{number:04}.was"

    def appended_path(self, number: int) -> Path:
        """Return the path of the lines that a step appends."""
        return self.folder / f"{number:04}.add"

    def displaced_path(self, number: int) -> Path:
        """Return the path of what was in the way when a step was undone."""
        return self.folder / f"{number:04}.aside"

    def draft_path(self, number: int) -> Path:
        """Return the path of a step's new bytes, beside their target."""
        path = self.edit.steps[number].path
        name = path.name.encode(errors="surrogateescape")[:MOST_NAME_BYTES]
        shown = name.decode(errors="ignore")
        return path.with_name(f".{shown}.{self.edit.id}-{number}.new")

    def prepare(self, plan: Plan, seen: SourceStamps) -> None:
        """Write the drafts and back up what they replace, so that nothing can be missing later."""
        with wrap_os_errors(self.folder):
            self.save("begun")
            for folder in self.edit.made:
                make_folder(folder)
        steps = list(self.edit.steps)
        for number, (planned, step) in enumerate(zip(plan.steps, steps, strict=True)):
            with wrap_os_errors(step.path):
                if isinstance(planned, Write):
                    draft, digest = self.draft_path(number), None
                    if isinstance(planned.content, CopyOf):
                        copy_draft(draft, planned.content.path)
                    else:
                        digest = write_draft(draft, planned.content())
                    mode = planned.mode
                    if mode is None:
                        mode = step.before.mode if step.before else OWNER_FILE
                    finish_draft(
                        draft, mode, planned.times, like=step.path if step.before else None
                    )
                    steps[number] = structs.replace(
                        step, after=read_file_state(draft), digest=digest
                    )
                elif isinstance(planned, Append):
                    replace_file(self.appended_path(number), planned.data)
        with wrap_os_errors(self.edit.path):
            sync_files(
                [self.draft_path(at) for at, step in enumerate(steps) if step.kind == "write"]
            )
        # Writing the drafts may have taken long: what they were made from must still be the same.
        seen.refuse_changed()
        for number, step in enumerate(steps):
            if step.kind == "write" and step.before:
                with wrap_os_errors(step.path):
                    keep_copy(step.path, self.backup_path(number))
        # Only what has reached the disk can be finished or undone after a power failure, so all
        # of it is synced before the entry says that files may have changed.
        with wrap_os_errors(self.folder):
            self._sync_folders()
            self.save("ready", tuple(steps))

    def commit(self) -> None:
        """Do the remaining steps in order, and check that all are done."""
        for number, step in enumerate(self.edit.steps):
            for path in step.places:
                check_real_path(self.home, path)
            with wrap_os_errors(step.path):
                match step.kind:
                    case "write":
                        draft = self.draft_path(number)
                        waiting, there = read_file_state(draft), read_file_state(step.path)
                        if waiting is None:  # installed before an interruption
                            is_done = step.after is not None and step.after.is_same_as(there)
                        elif step.before:
                            is_done = install_draft(draft, step.path, step.before)
                        elif there and there.inode == waiting.inode:
                            draft.unlink()
                            is_done = True
                        else:
                            is_done = _is_rename_target(draft, step.path)
                    case "append":
                        data = self.appended_path(number).read_bytes()
                        is_done = step.before is not None and append_at(
                            step.path, data, step.before.size
                        )
                    case "remove":
                        kept, there = self.backup_path(number), read_file_state(step.path)
                        if there is None:
                            is_done = read_file_state(kept) is not None
                        elif is_done := there.is_same_as(step.before):
                            move_file(step.path, kept)
                    case "move":
                        is_done = _apply_move(step)
                if not is_done:
                    raise Refused(f"'{step.path}' has changed since the edit began")
        for folder, _ in reversed(self.edit.emptied):
            remove_if_empty(folder)
        steps = tuple(self._record_result(number) for number in range(len(self.edit.steps)))
        self._sync_folders()
        with wrap_os_errors(self.folder):
            self.save("done", steps)

    def undo(self, *, force: bool = False) -> None:
        """Restore everything, after checking that nothing is in the way."""
        was_complete = self.edit.state == "done"
        for number, step in enumerate(self.edit.steps):
            for path in step.places:
                check_real_path(self.home, path)
            objection = self._find_objection(number, step, was_complete=was_complete)
            if objection and not force:
                raise Refused(
                    f"'{step.places[-1]}' {objection}", "`--force` undoes the edit anyway"
                )
        with wrap_os_errors(self.folder):
            if was_complete:
                self.save("undoing")
            self._reverse_steps()
            self.save("undone")

    def roll_back(self) -> None:
        """Roll back an edit that failed, for example on a full disk; the journal keeps what cannot be
        restored.

        What others have written meanwhile is set aside in the journal.
        """
        with suppress(PlaitError, OSError):
            self._reverse_steps()
            if any(
                read_file_state(self.displaced_path(number))
                for number in range(len(self.edit.steps))
            ):
                self.save("undone")
            else:
                self.remove()

    def is_unapplied(self, number: int, step: EditStep) -> bool:
        there = read_file_state(step.path)
        match step.kind:
            case "write":
                waiting = read_file_state(self.draft_path(number))
                return waiting is not None and (there is None or there.inode != waiting.inode)
            case "remove":
                return read_file_state(self.backup_path(number)) is None
            case "move":
                return there is not None and not _has_moved(step)
            case "append":
                if there is None or step.before is None or there.size <= step.before.size:
                    return True
                if read_file_state(self.appended_path(number)) is None:
                    return True
                data, at = self.appended_path(number).read_bytes(), step.before.size
                return not has_bytes_at(step.path, data[: there.size - at], at)

    def _reverse_steps(self) -> None:
        for folder, _ in self.edit.emptied:
            make_folder(folder)
        for number, step in reversed(list(enumerate(self.edit.steps))):
            with wrap_os_errors(step.path):
                match step.kind:
                    case "write":
                        draft, kept = self.draft_path(number), self.backup_path(number)
                        waiting, there = read_file_state(draft), read_file_state(step.path)
                        is_placed = waiting is None or (
                            there is not None and there.inode == waiting.inode
                        )
                        draft.unlink(missing_ok=True)
                        if step.after is None or not is_placed:
                            kept.unlink(missing_ok=True)
                        elif step.before:
                            if read_file_state(kept) and not (
                                step.is_shared and there and self._keep_foreign_lines(number, there)
                            ):
                                self._restore_backup(number, step)
                        elif there and _is_after(step, there):
                            step.path.unlink()
                        elif there:
                            move_file(step.path, self.displaced_path(number))
                    case "append":
                        self._undo_append(number, step)
                    case "remove":
                        if read_file_state(self.backup_path(number)):
                            self._restore_backup(number, step)
                    case "move":
                        self._undo_move(number, step)
        for emptied in reversed(self.edit.made):
            remove_if_empty(emptied)
        for emptied, was in reversed(self.edit.emptied):
            emptied.chmod(was.mode)
            sync_folder(emptied)
            os.utime(emptied, ns=(was.accessed, was.modified))
        for emptied in sorted({path.parent for step in self.edit.steps for path in step.places}):
            sync_folder(emptied)

    def _find_objection(self, number: int, step: EditStep, *, was_complete: bool) -> str | None:
        """Return what has happened to a file since it was edited."""
        if not was_complete and self.is_unapplied(number, step):
            return None
        there = read_file_state(step.path)
        match step.kind:
            case "write":
                if step.after is None or step.is_shared:
                    return None  # it was interrupted before the drafts were complete, or others write to it
                backup = read_file_state(self.backup_path(number))
                if step.before:
                    _check_kept(step, backup, is_needed=was_complete)
                    if backup is None:
                        return None  # it is restored already
                if there is None:
                    return "has been deleted since the edit" if step.before else None
                return None if _is_after(step, there) else "has changed since the edit"
            case "append":
                if step.before is None or read_file_state(self.appended_path(number)) is None:
                    return None
                if there is None:
                    return "has been deleted since the edit"
                data, at = self.appended_path(number).read_bytes(), step.before.size
                done = data[: max(0, there.size - at)]
                if there.size < at or not has_bytes_at(step.path, done, at):
                    raise Refused(
                        f"'{step.path}' no longer contains the added lines where the edit put them"
                    )
                is_grown = there.size > at + len(data) and not step.is_shared
                return "has grown since the edit" if is_grown else None
            case "remove":
                kept = read_file_state(self.backup_path(number))
                _check_kept(step, kept, is_needed=was_complete)
                return "exists again" if kept and there and not there.is_same_as(kept) else None
            case "move":
                moved = read_file_state(step.target) if step.target else None
                if moved is None:
                    return None if there else "has been deleted since the edit"
                if there:
                    return (
                        None
                        if there.inode == moved.inode
                        else "cannot be moved back: a file with its old name exists"
                    )
                return None if moved.is_same_as(step.before) else "has changed since the edit"

    def _keep_foreign_lines(self, number: int, there: FileState) -> bool:
        """Keep what others have written to a shared file since.

        If they have only appended to it, its former content is restored before what they added.
        """
        step, draft = self.edit.steps[number], self.draft_path(number)
        if _is_after(step, there) or step.after is None:
            return False
        size = step.after.size
        if there.size > size and hash_file(step.path, size) == step.digest:
            write_draft(
                draft, chain(pieces_of(self.backup_path(number)), iter_bytes_from(step.path, size))
            )
            finish_draft(draft, there.mode, (there.accessed, there.modified), like=step.path)
            sync_files([draft])
            if not install_draft(draft, step.path, there):
                draft.unlink()
        self.backup_path(number).unlink(missing_ok=True)
        return True

    def _undo_move(self, number: int, step: EditStep) -> None:
        here, there = (
            read_file_state(step.path),
            read_file_state(step.target) if step.target else None,
        )
        if step.target is None or there is None or (here and not _has_moved(step)):
            return  # it was never removed, or is restored, or somebody has removed it
        if here and here.inode == there.inode:
            step.target.unlink()
            return
        if here:
            move_file(step.path, self.displaced_path(number))
        make_folder(step.path.parent)
        install_new_file(step.target, step.path)

    def _restore_backup(self, number: int, step: EditStep) -> None:
        """Restore a backup; a file that is there and is not ours is set aside."""
        kept, there = self.backup_path(number), read_file_state(step.path)
        if there and not there.is_same_as(read_file_state(kept)) and not _is_after(step, there):
            keep_copy(step.path, self.displaced_path(number))
        make_folder(step.path.parent)
        move_file(kept, step.path)
        _restore_times(step)

    def _undo_append(self, number: int, step: EditStep) -> None:
        there, added = read_file_state(step.path), self.appended_path(number)
        if step.before is None or there is None or read_file_state(added) is None:
            return
        data, at = added.read_bytes(), step.before.size
        if step.before.is_same_as(there):
            pass  # nothing was appended yet, so even its times are left unchanged
        elif cut_from_end(step.path, data, at):
            _restore_times(step)
        elif has_bytes_at(step.path, data, at):
            draft = self.draft_path(number)
            draft.unlink(missing_ok=True)
            write_draft(draft, iter_bytes_without(step.path, at, len(data)))
            finish_draft(draft, there.mode, (there.accessed, there.modified), like=step.path)
            sync_files([draft])
            if not install_draft(draft, step.path, there):
                draft.unlink()
                raise Refused(f"'{step.path}' is being written to", "wait until it is idle")
        added.unlink()

    def _record_result(self, number: int) -> EditStep:
        """Return a step with the state it left; others may have written to the file since."""
        step = self.edit.steps[number]
        there = read_file_state(step.places[-1])
        if step.kind == "move":
            return structs.replace(step, after=there)
        if step.kind == "append" and step.before:
            added = read_file_state(self.appended_path(number))
            is_last = there and added and there.size == step.before.size + added.size
            return structs.replace(step, after=there if is_last else None)
        if (
            there
            and step.after
            and there.inode == step.after.inode
            and there.size < step.after.size
        ):
            raise SourceError(f"'{step.path}' differs from what was written")
        return step

    def _sync_folders(self) -> None:
        places = {path.parent for step in self.edit.steps for path in step.places}
        for folder in sorted(places | {self.folder}):
            sync_folder(folder)


def create_entry(home: Path, plan: Plan, id_: str, when: datetime) -> JournalEntry:
    """Create the entry of a plan; nothing has been written yet."""
    made: list[EditStep] = []
    for step in plan.steps:
        path = resolve_real_path(home, step.path)
        before = read_file_state(path)
        if before and not is_plain(path) and not isinstance(step, Remove):
            raise Refused(f"'{path}' is not a regular file")
        target = resolve_real_path(home, step.target) if isinstance(step, Move) else None
        is_shared = isinstance(step, Write | Append) and step.is_shared
        kind = STEP_KINDS[type(step)]
        made.append(EditStep(kind, path, before, target=target, is_shared=is_shared))
    steps = tuple(made)
    places = [path for step in steps for path in step.places]
    if len(set(places)) < len(places):
        raise ValueError("a plan can have only one step per file")
    comes = {step.places[-1] for step in steps if step.kind in ("write", "move")}
    goes = {step.path for step in steps if step.kind in ("remove", "move")}
    edit = Edit(
        id=id_,
        operation=plan.operation,
        session=plan.session,
        path=resolve_real_path(home, plan.path),
        when=when,
        state="begun",
        steps=steps,
        made=tuple(sorted(folder for folder in _list_parent_folders(comes) if not folder.is_dir())),
        emptied=emptied_folders(home, goes, with_projects=plan.operation == "move"),
    )
    return JournalEntry(home, edit)


def read_entry(home: Path, id_: str) -> JournalEntry:
    """Return the entry of an edit, or raise if it cannot be read."""
    folder = journal_folder(home) / id_
    data = read_small(folder / OPEN_FILE) or read_small(folder / ENTRY_FILE)
    try:
        if data is None or folder.is_symlink():
            raise ValueError("the file is missing")

        def path(kind: type, value: Any) -> Path:
            if kind is not Path or not isinstance(value, str):
                raise NotImplementedError(kind)
            return resolve_in_home(home, value)

        edit = msgspec.convert(json.loads(data), Edit, dec_hook=path)
        if edit.id != id_:
            raise ValueError(f"it belongs to edit '{edit.id}'")
    except (ValueError, msgspec.ValidationError) as error:
        raise SourceError(f"cannot read the record of the edit '{id_}': {error}") from error
    return JournalEntry(home, edit)


NO_EDIT = ""
"""The id of an edit that changed nothing; the journal does not have it."""
LOCK_SECONDS = 5.0
"""Seconds to wait for another edit to end."""
LIST_THEM = "`plait undo --list` shows all edits"


def find_home(path: Path, config: Path | None = None) -> Path:
    """Return the folder whose journal has the edits of a session: the client's, else its own."""
    if config and config in path.parents:
        return config
    return find_config_folder(path) or path.parent


def describe_activity(subject: Subject) -> str | None:
    """Return the sign that a session is being written to, or None if there is none."""
    journal = Journal(find_home(subject.log.path, subject.config))
    return journal.find_activity(_list_session_files(subject), [subject.id])


def note_if_live(plan: Plan) -> Plan:
    """Add a note to a plan that copies a session which is being written to."""
    is_new = plan.steps and not plan.is_in_place
    sign = describe_activity(plan.source) if is_new else None
    note = f"the session is live: {sign}; later messages are not in the new session"
    return replace(plan, notes=(*plan.notes, note)) if sign else plan


def _list_session_files(subject: Subject) -> list[Path]:
    return [subject.log.path, *(file.path for file in subject.others)]


class Journal:
    """The edits of the sessions in one home."""

    def __init__(self, home: Path, clock: Callable[[], float] = time.time) -> None:
        self.home = home.resolve()
        self.clock = clock

    def entries(self) -> list[Edit]:
        """Return the edits, newest first; unreadable entries are left out."""
        return list(self._iter_edits(list_edit_ids(self.home)))

    def _iter_edits(self, ids: Iterable[str]) -> Iterator[Edit]:
        for id_ in ids:
            with suppress(SourceError):
                yield read_entry(self.home, id_).edit

    def apply(self, plan: Plan, *, force: bool = False) -> Edit:
        """Apply a plan completely or not at all; a plan without steps leaves no entry."""
        if not plan.steps:
            now = datetime.fromtimestamp(self.clock(), UTC)
            return structs.replace(create_entry(self.home, plan, NO_EDIT, now).edit, state="done")
        with self._hold_lock():
            seen = SourceStamps(plan)
            self._settle()
            if not force:
                changed, names = list[Path](), list[str]()
                for step in plan.steps:
                    is_shared = isinstance(step, Write | Append) and step.is_shared
                    if step.was is not None and not is_shared:
                        changed.append(step.path)
                if plan.source.log.path in changed:
                    changed += _list_session_files(plan.source)
                    names = [plan.source.id]
                if changed:
                    self._refuse_living(plan.session, changed, names)
            when, others = datetime.fromtimestamp(self.clock(), UTC), list_edit_ids(self.home)
            if others and f"{when:{EDIT_ID_FORMAT}}" <= others[0]:
                last = datetime.strptime(others[0], EDIT_ID_FORMAT).replace(tzinfo=UTC)
                when = last + timedelta(microseconds=1)
            entry = create_entry(self.home, plan, *(f"{when:{EDIT_ID_FORMAT}}", when))
            try:
                entry.prepare(plan, seen)
                entry.commit()
            except BaseException:
                entry.roll_back()
                raise
            return entry.edit

    def undo(self, id_: str, *, force: bool = False) -> Edit:
        """Undo an edit."""
        with self._hold_lock():
            entry = self._find_entry(id_)
            self._settle(but=entry.edit.id)
            if entry.edit.state == "undone":
                raise Refused(f"the edit '{entry.edit.id}' is already undone", LIST_THEM)
            if not force:
                names = [part for step in entry.edit.steps for part in step.path.parts]
                own = [step for step in entry.edit.steps if not step.is_shared]
                files = (
                    [] if entry.edit.is_cut_off else [path for step in own for path in step.places]
                )
                self._refuse_living(entry.edit.session, files, names)
            try:
                entry.undo(force=force)
            except Refused as refusal:
                raise self._name_later_edit(refusal, entry.edit) from None
            return entry.edit

    def finish(self, id_: str) -> Edit:
        """Finish an edit or an undo that was interrupted."""
        with self._hold_lock():
            entry = self._find_entry(id_)
            match entry.edit.state:
                case "ready":
                    entry.commit()
                case "undoing":
                    entry.undo()
                case "begun":
                    hint = f"`plait undo {entry.edit.id}` discards what it had prepared"
                    raise Refused(
                        f"the edit '{entry.edit.id}' stopped before it changed any files", hint
                    )
                case state:
                    raise Refused(f"the edit '{entry.edit.id}' is {state}: nothing to finish")
            return entry.edit

    def forget(self, id_: str) -> Edit:
        """Delete the backups of an edit for good: it can no longer be undone."""
        with self._hold_lock():
            entry = self._find_entry(id_)
            if entry.edit.is_cut_off:
                raise _make_incomplete_error(entry.edit)
            entry.remove()
            return entry.edit

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        """Hold the lock of the home while the block runs."""
        folder, lock = journal_folder(self.home), self.home / PLAIT_FOLDER / "lock"
        if folder.resolve() != folder:
            raise Refused(f"'{folder}' is a symlink to another location")
        with ExitStack() as stack:
            try:
                is_ours = stack.enter_context(lock_file(lock, LOCK_SECONDS))
            except OSError as error:
                raise make_write_error(lock, error) from error
            if not is_ours:
                raise Refused(f"another edit is running in '{self.home}'", "wait until it ends")
            yield

    def find_ids(self, id_: str) -> list[str]:
        """Return the edits that a name means: an id, or its beginning or end."""
        ids = list_edit_ids(self.home)
        if id_ in ids:
            return [id_]
        return [name for name in ids if id_ and (name.startswith(id_) or name.endswith(id_))]

    def _find_entry(self, id_: str) -> JournalEntry:
        found = self.find_ids(id_)
        if not found:
            raise UserError(f"unknown edit '{id_}'", LIST_THEM)
        if len(found) > 1:
            raise UserError(f"'{id_}' matches {len(found)} edits", LIST_THEM)
        return read_entry(self.home, found[0])

    def _settle(self, but: str | None = None) -> None:
        """Undo interrupted edits that changed nothing yet; refuse any other."""
        for id_ in list_edit_ids(self.home):
            if id_ != but and is_incomplete(self.home, id_):
                # Delete the folder of an edit that was interrupted before it had an entry.
                folder = journal_folder(self.home) / id_
                if not folder.is_symlink() and not any(
                    (folder / name).exists() for name in (OPEN_FILE, ENTRY_FILE)
                ):
                    remove_folder(folder)
                for edit in self._iter_edits([id_]):
                    entry = JournalEntry(self.home, edit)
                    steps = enumerate(edit.steps)
                    if edit.state != "begun" and not all(
                        entry.is_unapplied(number, step) for number, step in steps
                    ):
                        raise _make_incomplete_error(edit)
                    entry.undo()

    def find_activity(self, files: list[Path], names: list[str]) -> str | None:
        """Return the sign that a session is being written to, or None if there is none."""
        edits = self._iter_edits(list_edit_ids(self.home))
        return find_activity(self.home, files, names, edits, self.clock())

    def _refuse_living(self, session: str, files: list[Path], names: list[str]) -> None:
        sign = self.find_activity(files, names)
        if sign:
            raise SessionIsLive(f"session '{session}' is live: {sign}", "`--force` edits it anyway")

    def _name_later_edit(self, refusal: Refused, edit: Edit) -> Refused:
        paths = {step.path for step in edit.steps}
        for later in self._iter_edits(id_ for id_ in list_edit_ids(self.home) if id_ > edit.id):
            if later.state == "done" and paths & {step.path for step in later.steps}:
                hint = f"`plait undo {later.id}` undoes the later edit"
                return Refused(refusal.message, hint, *refusal.hints)
        return refusal


def _make_incomplete_error(edit: Edit) -> Refused:
    what = "its undo" if edit.state == "undoing" else "it"
    return Refused(
        f"the edit '{edit.id}' ({edit.operation}) is incomplete: {what} was interrupted",
        f"`plait undo {edit.id}` restores the files as they were",
        f"`plait undo {edit.id} --finish` finishes it",
    )


class Journals:
    """The edits of all sessions under some roots."""

    def __init__(self, roots: Iterable[Root]) -> None:
        homes = {home.resolve(): None for root in roots for home in _find_homes(root)}
        self._journals = [Journal(home) for home in homes if journal_folder(home).is_dir()]

    def edits(self) -> list[Edit]:
        """Return the edits, newest first."""
        found = [edit for journal in self._journals for edit in journal.entries()]
        return sorted(found, key=lambda edit: (edit.when, edit.id), reverse=True)

    def undo(self, id_: str | None = None, *, force: bool = False) -> Edit:
        """Undo an edit; without an id, an interrupted one, else the newest."""
        edits = self.edits()
        if id_ is None:
            left = [edit for edit in edits if edit.state != "undone"]
            if not left:
                raise Refused("nothing to undo", LIST_THEM)
            id_ = next((edit.id for edit in left if edit.is_cut_off), left[0].id)
        return self._find_journal(id_).undo(id_, force=force)

    def finish(self, id_: str | None = None) -> Edit:
        """Finish an interrupted edit: the named one, else the only one."""
        if id_ is None:
            id_ = next((edit.id for edit in self.edits() if edit.is_cut_off), None)
            if id_ is None:
                raise Refused("no edit was interrupted", LIST_THEM)
        return self._find_journal(id_).finish(id_)

    def forget(self, id_: str) -> Edit:
        """Delete the backups of an edit for good."""
        return self._find_journal(id_).forget(id_)

    def find_root_of(self, id_: str, path: Path) -> Path | None:
        """Return the root to pass so that an edit of a session is found; None if it is found
        anyway.
        """
        is_here = any(journal.find_ids(id_) for journal in self._journals)
        return None if is_here else find_home(path.parent.resolve() / path.name)

    def _find_journal(self, id_: str) -> Journal:
        found = [journal for journal in self._journals if journal.find_ids(id_)]
        if not found:
            raise UserError(f"unknown edit '{id_}'", LIST_THEM)
        if len(found) > 1:
            raise UserError(f"'{id_}' matches several edits", LIST_THEM)
        return found[0]


def _find_homes(root: Root) -> Iterator[Path]:
    """Yield the possible homes under a root, wherever a session was edited."""
    if root.config:
        yield root.config
        return
    is_file = root.path.is_file()
    yield find_home(root.path if is_file else root.path / "a session")
    if not is_file:
        for folder, folders, _ in os.walk(root.path):
            if PLAIT_FOLDER in folders:
                folders.remove(PLAIT_FOLDER)
                yield Path(folder)
