"""Rewinding a session to an earlier prompt, files included.

The content of file F at prompt P is the backup named by the snapshot of P, or by an update that
belongs to it; otherwise the first backup after P, since until then the session had not changed F.

The session knows a file's content from its own calls and from backups. If the file differs at the
next backup, or now, somebody else changed it: the user or a command. Such a file is kept unless
overwriting is requested, and then a copy of it is saved. Nothing is written outside the workspace
or through a link, whatever a log names.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from plait.chat.tools import files
from plait.chat.tools.base import ToolError
from plait.conversation.patches import diff_texts
from plait.errors import SourceError, UserError
from plait.line import iter_lines, read_file_stamp, read_small
from plait.line.discovery import find_history_folder
from plait.line.output import OutputFolder, is_plain_name
from plait.record import Record, iter_client_records
from plait.record.codec import as_mapping, get_text
from plait.record.prompts import is_human_prompt


@dataclass(frozen=True, slots=True)
class RewindPoint:
    """A prompt that can be rewound to."""

    uuid: str
    text: str
    time: str
    before: str | None
    """The message before it; None for the first prompt."""


def list_rewind_points(chain: Iterable[Record]) -> list[RewindPoint]:
    """Return the prompts of a conversation, oldest first."""
    found: list[RewindPoint] = []
    known: set[str | None] = {None}
    for record in chain:
        # the first message that a compaction preserved has nothing before it to go back to
        if is_human_prompt(record) and record.parent_uuid in known and record.message:
            details = record.message.text, record.timestamp or "", record.parent_uuid
            found.append(RewindPoint(record.uuid or "", *details))
        known.add(record.uuid)
    return found


def chain_before(chain: Sequence[Record], point: RewindPoint) -> list[Record]:
    """Return the messages before a prompt."""
    return list(takewhile(lambda record: record.uuid != point.uuid, chain))


def find_rewind_point(points: Sequence[RewindPoint], name: str) -> RewindPoint:
    """Return the prompt with this number (the newest is 1) or with an id that begins like this."""
    if not points:
        raise UserError("there is no prompt to rewind to yet")
    if name.isdecimal() and 1 <= int(name) <= len(points):
        return points[-int(name)]
    alike = [point for point in points if len(name) >= 4 and point.uuid.startswith(name)]
    if len(alike) == 1:
        return alike[0]
    raise UserError(
        f"there is no prompt '{name}'", f"use a number from 1 (newest) to {len(points)}"
    )


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup of a file."""

    data: bytes | None
    """Its content; None if the file did not exist."""
    is_lost: bool = False
    """Whether the copy is missing."""


@dataclass(slots=True)
class FileState:
    """The history of one file in a log."""

    target: Backup | None = None
    """Its content when the prompt was sent; None while unknown."""
    current: bytes | None = None
    """The content the session expects it to have."""
    is_current_known: bool = False
    is_foreign: bool = False
    """Whether somebody else changed it since the prompt."""
    seen: set[bytes | None] = field(default_factory=set)
    """Contents it had earlier: a rewind may have restored one of them."""

    def record_backup(self, kept: Backup, *, is_since: bool) -> None:
        """Note the content of a file at a backup."""
        if kept.is_lost:
            self.is_current_known = False
            return
        is_other = (
            self.is_current_known and kept.data != self.current and kept.data not in self.seen
        )
        self.is_foreign = self.is_foreign or (is_since and is_other)
        self.current, self.is_current_known = kept.data, True
        self.seen.add(kept.data)

    def record_call(self, output: Mapping[str, Any]) -> None:
        """Note the content of a file after a call, as far as its logged result says it."""
        texts = (output.get(name) for name in ("content", "updated_file"))
        text = next((text for text in texts if isinstance(text, str)), None)
        old, new = output.get("oldString"), output.get("newString")
        before = output.get("originalFile")
        if not isinstance(before, str) and self.is_current_known and self.current is not None:
            before = self.current.decode(errors="surrogateescape")
        if text is not None:
            self.current = text.encode()
        elif isinstance(before, str) and isinstance(old, str) and isinstance(new, str):
            after = before.replace(old, new, -1 if output.get("replaceAll") else 1)
            self.current = after.encode(errors="surrogateescape")
        else:
            self.current = None
        self.is_current_known = self.current is not None
        if self.current is not None:
            self.seen.add(self.current)


def build_file_states(
    records: Sequence[Record], prompt: str, folder: Path | None, root: Path
) -> dict[str, FileState] | None:
    """Return the files that a session changed, as of a prompt; None without backups for it.

    Messages come in order, each after its snapshot: the snapshot's line may be anywhere later.
    """

    @cache
    def read_backup(name: str) -> Backup:
        data = read_small(folder / name) if folder and is_backup_name(name) else None
        return Backup(data, is_lost=data is None)

    def resolve_backup(backup: object) -> Backup:
        if backup is None or isinstance(backup, str):  # format: 2.1.29 stores the text itself
            return Backup(backup.encode() if isinstance(backup, str) else None)
        name = as_mapping(backup).get("backupFileName")
        if name is None:
            return Backup(None, is_lost="backupFileName" not in as_mapping(backup))
        return read_backup(name) if isinstance(name, str) else Backup(None, is_lost=True)

    uuids = {record.uuid for record in records if record.uuid}
    by_message: dict[str | None, list[Snapshot]] = {}
    for record in records:
        if (snapshot := parse_snapshot(record)) and snapshot.message in uuids:
            by_message.setdefault(snapshot.message, []).append(snapshot)
    states: dict[str, FileState] = {}
    has_begun = False
    for record in records:
        if record.uuid:
            snapshots = by_message.pop(record.uuid, [])
        else:
            own = parse_snapshot(record)
            snapshots = [own] if own and own.message not in uuids else []
        for snapshot in snapshots:
            has_begun = has_begun or snapshot.prompt == prompt
            for name, backup in snapshot.backups.items():
                state = states.setdefault(name, FileState())
                kept = resolve_backup(backup)
                state.record_backup(kept, is_since=has_begun and state.target is not None)
                if has_begun and state.target is None:
                    state.target = kept
        if record.uuid and record.type == "user" and b'"toolUseResult"' in record.raw:
            output = as_mapping(record.fields.get("toolUseResult"))
            path = output.get("filePath") or output.get("notebook_path")
            is_change = "structuredPatch" in output or "updated_file" in output
            if isinstance(path, str) and is_change:
                is_inside = Path(path).is_relative_to(root)
                name = str(Path(path).relative_to(root)) if is_inside else path
                if name in states:
                    states[name].record_call(output)
    if not has_begun:
        return None
    return {name: state for name, state in states.items() if state.target}


class Snapshot(NamedTuple):
    """Backups of some files at one time."""

    message: str | None
    """The message it belongs to: the prompt, or the response that changes a file."""
    prompt: str | None
    backups: Mapping[str, Any]
    time: str


def parse_snapshot(record: Record) -> Snapshot | None:
    """Return the snapshot in a line; None if it has none."""
    fields = record.fields
    if record.type == "file-history-snapshot":
        held = as_mapping(fields.get("snapshot"))
        backups, time = (
            as_mapping(held.get("trackedFileBackups")),
            get_text(held, "timestamp") or "",
        )
        return Snapshot(get_text(fields, "messageId"), get_text(held, "messageId"), backups, time)
    if record.type == "file-history-delta" and (name := get_text(fields, "trackingPath")):
        prompt, time = get_text(fields, "snapshotMessageId"), record.timestamp or ""
        return Snapshot(get_text(fields, "messageId"), prompt, {name: fields.get("backup")}, time)
    return None


def is_backup_name(name: str) -> bool:
    """Return whether a backup's name stays inside its folder."""
    return "/" not in name and "\\" not in name and is_plain_name(name)


Problem: TypeAlias = Literal["", "foreign", "lost", "outside", "unreadable"]
PROBLEM_TEXTS: dict[Problem, str] = {
    "": "",
    "foreign": "modified outside this session since then",
    "lost": "backup missing",
    "outside": "outside the workspace or behind a symlink",
    "unreadable": "not a readable file",
}


@dataclass(frozen=True, slots=True)
class FileRewindStep:
    """What a rewind does to one file."""

    path: Path
    name: str
    """Its name in the log, relative to the working directory."""
    current: bytes | None = field(repr=False)
    """Its present content; None if it does not exist."""
    target: bytes | None = field(repr=False)
    problem: Problem = ""

    @property
    def verb(self) -> str:
        """What is done with it."""
        if self.current is None:
            return "restored"
        return "reverted" if self.target is not None else "deleted"

    @property
    def changed_lines(self) -> tuple[int, int]:
        """The numbers of lines added and removed."""
        old, new = ((data or b"").decode(errors="replace") for data in (self.current, self.target))
        marks = [line[:1] for hunk in diff_texts(old, new) for line in hunk.lines]
        return marks.count("+"), marks.count("-")


@dataclass(frozen=True, slots=True)
class FileRewindPlan:
    """What a rewind to a prompt would do to files."""

    steps: tuple[FileRewindStep, ...]
    backup_folder: Path | None = None
    """Where copies of files changed by somebody else are saved."""

    @property
    def safe_steps(self) -> tuple[FileRewindStep, ...]:
        """Steps that discard nobody's changes."""
        return tuple(step for step in self.steps if (not step.problem))

    @property
    def conflicting_steps(self) -> tuple[FileRewindStep, ...]:
        """Files that somebody else changed since."""
        return tuple(step for step in self.steps if step.problem == "foreign")

    def apply(self, *, overwrite: bool = False) -> tuple[FileRewindStep, ...]:
        """Restore the files; with `over` also those that somebody else changed.

        Return what was done. A file that has changed since the plan was made is left alone.
        """
        chosen = (*self.safe_steps, *self.conflicting_steps) if overwrite else self.safe_steps
        return tuple(step for step in chosen if self._apply_step(step))

    def _apply_step(self, step: FileRewindStep) -> bool:
        try:
            if _read_bytes(step.path) != step.current:
                return False
            if step.problem == "foreign" and step.current is not None and self.backup_folder:
                start = sha256(str(step.path).encode()).hexdigest()[:16]
                end = sha256(step.current or b"").hexdigest()[:8]
                OutputFolder(self.backup_folder).write(
                    f"{start}@by-hand-{end}", step.current or b""
                )
            if step.target is not None:
                files.write_bytes(_resolve_parent(step.path), step.target)
            elif step.current is not None:
                _resolve_parent(step.path).unlink()
        except (OSError, ToolError) as error:
            raise SourceError(f"cannot restore '{step.path}': {error}") from error
        return True


def plan_file_rewind(
    records: Iterable[Record],
    prompt: str,
    root: Path,
    *,
    extra_directories: Sequence[Path] = (),
    folder: Path | None = None,
) -> FileRewindPlan | None:
    """Return what a rewind to a prompt would do to files; None without backups for it.

    `folder` holds the backups of the session (`file-history/<session>`).
    """
    states = build_file_states(list(records), prompt, folder, root)
    if states is None:
        return None
    places = tuple(Path(os.path.realpath(path)) for path in (root, *extra_directories))
    steps: list[FileRewindStep] = []
    for name, state in states.items():
        path = Path(os.path.normpath(root / name))
        target = state.target
        assert target is not None
        try:
            if not _is_inside(path, places):
                steps.append(FileRewindStep(path, name, None, None, "outside"))
                continue
            now = _read_bytes(path)
        except (OSError, ToolError):
            steps.append(FileRewindStep(path, name, None, None, "unreadable"))
            continue
        if target.is_lost:
            steps.append(FileRewindStep(path, name, now, None, "lost"))
        elif now != target.data:
            is_known = state.is_current_known and now in (state.current, *state.seen)
            is_foreign = state.is_foreign or not is_known
            problem: Problem = "foreign" if is_foreign else ""
            steps.append(FileRewindStep(path, name, now, target.data, problem))
    return FileRewindPlan(tuple(steps), folder)


def plan_rewind_from_log(
    log: Path, prompt: str, root: Path, extra_directories: Sequence[Path] = ()
) -> FileRewindPlan | None:
    """Return what a rewind to a prompt of a log would do to files."""
    records = iter_client_records(iter_lines(log)) if read_file_stamp(log) else ()
    return plan_file_rewind(
        records, prompt, root, extra_directories=extra_directories, folder=find_history_folder(log)
    )


def _is_inside(path: Path, places: tuple[Path, ...]) -> bool:
    """Return whether a path is inside the workspace and involves no link that leads out."""
    with suppress(OSError, ValueError):
        real = _resolve_parent(path)
        return not path.is_symlink() and any(real.is_relative_to(place) for place in places)
    return False


def _read_bytes(path: Path) -> bytes | None:
    try:
        return files.read_bytes(_resolve_parent(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _resolve_parent(path: Path) -> Path:
    return Path(os.path.realpath(path.parent)) / path.name
