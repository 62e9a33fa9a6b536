"""Records of a session to what its files held when a prompt was sent, and who changed them since.

    F at P   the backup that the snapshot of P names, or a delta that joins it
             else the first backup after P: until then nothing of the session changed F

A file is known to hold what a call left in it, or what a backup has. Where it holds anything else
at the next backup, or now, somebody else changed it: a person, or a command that was run.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from plait.line import read_small
from plait.line.folder import is_plain_name
from plait.record import Record
from plait.record.codec import mapping, said

Load: TypeAlias = Callable[[object], "Kept"]


@dataclass(frozen=True, slots=True)
class Kept:
    """What was kept of a file."""

    data: bytes | None
    """What it held; None where there was none."""
    is_lost: bool = False
    """Whether the copy is not there any more."""


@dataclass(slots=True)
class FileState:
    """What a log tells of one file."""

    wanted: Kept | None = None
    """What it held when the prompt was sent; None where nothing says so yet."""
    known: bytes | None = None
    """What the session knows that it holds."""
    is_known: bool = False
    is_foreign: bool = False
    """Whether somebody else changed it since the prompt."""
    seen: set[bytes | None] = field(default_factory=set)
    """What it held at some time: a rewind may have put that back."""

    def backed_up(self, kept: Kept, *, is_since: bool) -> None:
        """Takes note of what a file held at a backup."""
        if kept.is_lost:
            self.is_known = False
            return
        is_other = self.is_known and kept.data != self.known and kept.data not in self.seen
        self.is_foreign = self.is_foreign or (is_since and is_other)
        self.known, self.is_known = kept.data, True
        self.seen.add(kept.data)

    def left(self, data: bytes | None) -> None:
        """Takes note of what a call left in it; None where nobody can say."""
        self.known, self.is_known = data, data is not None
        if data is not None:
            self.seen.add(data)


def states_at(
    records: Sequence[Record], prompt: str, folder: Path | None, root: Path
) -> dict[str, FileState] | None:
    """Returns the files that a session changed, as of a prompt; None where none were kept then."""
    load = _loader(folder)
    states: dict[str, FileState] = {}
    has_begun = False
    for step in _in_order(records):
        if isinstance(step, Record):
            for path, output in _left(step):
                if state := states.get(_name(path, root)):
                    state.left(_text_after(output, state))
            continue
        has_begun = has_begun or step.prompt == prompt
        for name, backup in step.backups.items():
            state = states.setdefault(name, FileState())
            kept = load(backup)
            state.backed_up(kept, is_since=has_begun and state.wanted is not None)
            if has_begun and state.wanted is None:
                state.wanted = kept
    return {name: one for name, one in states.items() if one.wanted} if has_begun else None


class Snapshot(NamedTuple):
    """What was kept of some files."""

    message: str | None
    """Before what was said: the prompt, or the message that calls for a change."""
    prompt: str | None
    backups: Mapping[str, Any]
    time: str


def snapshot_in(record: Record) -> Snapshot | None:
    """Returns what a line says that was kept, None where it says nothing of it."""
    fields = record.fields
    if record.type == "file-history-snapshot":
        held = mapping(fields.get("snapshot"))
        backups, time = mapping(held.get("trackedFileBackups")), said(held, "timestamp") or ""
        return Snapshot(said(fields, "messageId"), said(held, "messageId"), backups, time)
    if record.type == "file-history-delta" and (name := said(fields, "trackingPath")):
        prompt, time = said(fields, "snapshotMessageId"), record.timestamp or ""
        return Snapshot(said(fields, "messageId"), prompt, {name: fields.get("backup")}, time)
    return None


def _in_order(records: Sequence[Record]) -> Iterator[Record | Snapshot]:
    """Yields messages, and what was kept before each: its line may stand anywhere behind it."""
    uuids = {record.uuid for record in records if record.uuid}
    before: dict[str | None, list[Snapshot]] = {}
    for record in records:
        if (found := snapshot_in(record)) and found.message in uuids:
            before.setdefault(found.message, []).append(found)
    for record in records:
        if record.uuid:
            yield from before.pop(record.uuid, ())
            yield record
        elif (found := snapshot_in(record)) and found.message not in uuids:
            yield found


def _loader(folder: Path | None) -> Load:
    """Returns what reads backups; each copy once."""
    read: dict[str, Kept] = {}

    def load(backup: object) -> Kept:
        if backup is None or isinstance(backup, str):  # format: 2.1.29 keeps the text itself
            return Kept(backup.encode() if isinstance(backup, str) else None)
        copy = mapping(backup).get("backupFileName")
        if copy is None:
            return Kept(None, is_lost="backupFileName" not in mapping(backup))
        if not isinstance(copy, str) or folder is None or not is_copy_name(copy):
            return Kept(None, is_lost=True)
        if copy not in read:
            data = read_small(folder / copy)
            read[copy] = Kept(data, is_lost=data is None)
        return read[copy]

    return load


def is_copy_name(name: str) -> bool:
    """Tells whether a backup has a name that leads nowhere else."""
    return "/" not in name and "\\" not in name and is_plain_name(name)


def _left(record: Record) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields the file that a call changed, with what the log keeps of it."""
    if record.type != "user" or b'"toolUseResult"' not in record.raw:
        return
    output = mapping(record.fields.get("toolUseResult"))
    path = output.get("filePath") or output.get("notebook_path")
    if isinstance(path, str) and ("structuredPatch" in output or "updated_file" in output):
        yield path, output


def _text_after(output: Mapping[str, Any], state: FileState) -> bytes | None:
    """Returns what a file holds after a call, None where the log does not say."""
    for name in ("content", "updated_file"):
        if isinstance(text := output.get(name), str):
            return text.encode()
    old, new = output.get("oldString"), output.get("newString")
    before = output.get("originalFile")
    if not isinstance(before, str) and state.is_known and state.known is not None:
        before = state.known.decode(errors="surrogateescape")
    if not (isinstance(before, str) and isinstance(old, str) and isinstance(new, str)):
        return None
    count = -1 if output.get("replaceAll") else 1
    return before.replace(old, new, count).encode(errors="surrogateescape")


def _name(path: str, root: Path) -> str:
    """Returns the name by which backups know a file."""
    whole = Path(path)
    return str(whole.relative_to(root)) if whole.is_relative_to(root) else path
