"""A session to the plan of one without what should not be shared: a new one, or in its place.

Every copy of a text goes through the same redactor, after all of them were looked at: the log,
agents' logs, outputs, backups of files, lists and titles; in its place also the prompts in the
client's list, and what an index of sessions says of it.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from plait.edit.amounts import many
from plait.edit.check.line_source import lines_of
from plait.edit.clean import Cleaner, cleaned_lines, is_text
from plait.edit.clone import copy_plan, ids_of, title_lines
from plait.edit.copying import AS_IT_IS, NEW_IDS, NO_IDS, SHOWN, Copied, LogCopy, joined
from plait.edit.entry import EditStep
from plait.edit.held import stamp_now
from plait.edit.ids import Ids
from plait.edit.journal import Journal, home_of
from plait.edit.measure import measures_of
from plait.edit.model import (
    Change,
    Content,
    CopyOf,
    Difference,
    Fate,
    Measures,
    Plan,
    Subject,
    Write,
)
from plait.edit.move import INDEX
from plait.edit.side_files import SideFile, side_files
from plait.line import Line, lines, read_small
from plait.line.discover import PROMPTS
from plait.record import Record, entry_of

if TYPE_CHECKING:
    from plait.redact import Redactor

REDACTED = "held what should not be shared"
NOTHING = "nothing to hide in it"
STAYS = "the directory of its lines stays as it is, so that it is found and resumed there"
KEPT = (
    "the journal keeps what was there: `plait undo ID --forget` deletes that for ever",
    "an index that Plait has made forgets the old words when it is next brought up to date",
)
LEAD, BACKUPS = 24, "file-history"
NOUNS = {"user": "user name", "email": "address", "phone": "telephone number"}
MOST_ROUNDS = 3


def redact_copy(subject: Subject, redactor: "Redactor", *, title: str | None = None) -> Plan:
    """Returns the plan of a copy of a session that can be shown."""
    session = str(uuid4())
    beside = side_files(subject, session)
    cleaner = _taught(subject, beside, redactor)
    stamp = stamp_now(subject.log.path)
    ids = ids_of(subject, session)
    copy = RedactedCopy(
        subject.log, stamp.size, ids, added=title_lines(session, title), cleaner=cleaner
    )
    before = measures_of(subject.log, stamp.size)
    plan = copy_plan("redact", subject, copy, stamp, beside, before, before)
    contents = {one.target: _content_beside(one, cleaner, ids) for one in beside}
    steps = [
        replace(step, content=contents[step.path])
        if isinstance(step, Write) and step.path in contents
        else step
        for step in plan.steps
    ]
    notes = tuple(_notes(cleaner, beside))
    return replace(plan, steps=tuple(steps), notes=notes, keeps_lines=True)


@dataclass(frozen=True, slots=True)
class RedactedCopy(LogCopy):
    """The log of a session under new ids, without what should not be shared."""

    cleaner: Cleaner | None = None

    def lines(self) -> Iterator[Copied]:
        """Yields what becomes of each line."""
        for line in lines(self.log.path, end=self.size):
            clean = self.cleaner.line(line) if self.cleaner else line.data
            entry = entry_of(line._replace(data=clean))
            is_clean = clean == line.data
            told = None if is_clean else _shown(line.data, clean)
            if not isinstance(entry, Record):
                why = AS_IT_IS if is_clean else REDACTED
                yield Copied(line, clean, _fate(is_clean), why, told=told)
                continue
            is_told = self.origins is None or entry.line <= self.origins
            data = self.ids.record(entry, is_main=is_told)
            why = REDACTED if not is_clean else NO_IDS if data == line.data else NEW_IDS
            yield Copied(line, data, _fate(data == line.data), why, entry.uuid, told)


def _fate(is_same: bool) -> Fate:
    return "kept" if is_same else "rewritten"


def _content_beside(one: SideFile, cleaner: Cleaner, ids: Ids) -> Content:
    if one.is_log:
        return partial(_log_beside, one.source, cleaner, ids)
    if not is_text(read_small(one.source) or b""):
        return CopyOf(one.source)
    return partial(_file_beside, one, cleaner, ids)


def _log_beside(path: Path, cleaner: Cleaner, ids: Ids) -> Iterator[bytes]:
    for line in lines_of(cleaned_lines(path, cleaner)):
        yield ids.line(line) + (b"\n" if line.is_ended else b"")


def _file_beside(one: SideFile, cleaner: Cleaner, ids: Ids) -> Iterator[bytes]:
    data = cleaner.file(one.source)
    yield ids.paths(ids.text(data)) if one.is_named else data


def redact_in_place(subject: Subject, redactor: "Redactor") -> Plan:
    """Returns the plan that takes out of a session, and of all that lies beside it, what it tells.

    It has no steps where there is nothing to hide.
    """
    beside = side_files(subject, subject.id)
    cleaner = _taught(subject, beside, redactor, is_in_place=True)
    stamp = stamp_now(subject.log.path)
    before = measures_of(subject.log, stamp.size)
    tally = _tally(subject, stamp.size, cleaner)
    steps = [
        *([_rewritten(subject.log.path, cleaner)] if tally.changed else ()),
        *(step for one in beside for step in _changed(one, cleaner)),
        *_shared(subject, cleaner),
    ]
    kept = before.lines - tally.changed
    found = (Change("rewritten", tally.changed, REDACTED), Change("kept", kept, NOTHING))
    notes = [*_notes(cleaner, beside), *(KEPT if steps else ()), *_kept_before(subject)]
    if files := len(steps) - bool(tally.changed):
        notes.insert(0, f"{files} {'file' if files == 1 else 'files'} beside its log change too")
    return Plan(
        operation="redact",
        source=subject,
        session=subject.id,
        path=subject.log.path,
        steps=tuple(steps),
        before=before,
        after=_after(before, tally.grown),
        changes=tuple(one for one in found if one.lines),
        differences=tuple(tally.differences),
        read=((subject.log.path, stamp), *((one.source, stamp_now(one.source)) for one in beside)),
        notes=tuple(notes),
        keeps_lines=True,
    )


def _kept_before(subject: Subject) -> Iterator[str]:
    """Yields that earlier edits have kept bytes of the session, too."""
    edits = Journal(home_of(subject.log.path, subject.config)).entries()
    found = [edit for edit in edits if any(_is_of(step, subject.id) for step in edit.steps)]
    if found:
        count = many(len(found), "earlier edit")
        yield f"the journal has bytes of it from {count}, too: `plait undo --list` names them"


def _is_of(step: EditStep, session: str) -> bool:
    return step.before is not None and any(session in part for part in step.path.parts)


def _after(before: Measures, grown: int) -> Measures:
    return replace(before, bytes=before.bytes + grown)


def _taught(
    subject: Subject,
    beside: Iterable[SideFile],
    redactor: "Redactor",
    *,
    is_in_place: bool = False,
) -> Cleaner:
    """Returns what has seen all of a session, so that what one place tells is hidden in all."""
    cleaner = Cleaner(redactor)
    for _ in range(MOST_ROUNDS):  # what was just learnt may tell more of what came before
        known = redactor.learnt
        cleaner.learn_log(subject.log.path)
        for one in beside:
            (cleaner.learn_log if one.is_log else cleaner.learn_file)(one.source)
        if is_in_place and (history := _history(subject)):
            cleaner.learn_prompts(_own_prompts(history, subject.id))
        if redactor.learnt == known:
            break
    return cleaner


@dataclass(slots=True)
class _Tally:
    changed: int
    grown: int
    differences: list[Difference]


def _tally(subject: Subject, size: int, cleaner: Cleaner) -> _Tally:
    found = _Tally(0, 0, [])
    for line in lines(subject.log.path, end=size):
        data = cleaner.line(line)
        if data != line.data:
            found.changed += 1
            found.grown += len(data) - len(line.data)
            if found.changed <= SHOWN:
                found.differences.append(_difference(line, data))
    return found


def _difference(line: Line, data: bytes) -> Difference:
    entry = entry_of(line)
    uuid = entry.uuid if isinstance(entry, Record) else None
    return Difference(line.number, uuid, None, _shown(line.data, data), REDACTED)


def _shown(was: bytes, data: bytes) -> bytes:
    """Returns a line as it will be, from shortly before where it changes: never as it was."""
    at = next((at for at, (one, two) in enumerate(zip(was, data, strict=False)) if one != two), 0)
    return "…".encode() + data[at - LEAD :] if at > LEAD else data


def _rewritten(path: Path, cleaner: Cleaner) -> Write:
    return Write(path, lambda: joined(cleaned_lines(path, cleaner)), stamp_now(path))


def _changed(one: SideFile, cleaner: Cleaner) -> Iterator[Write]:
    """Yields the step that takes out of a file beside the log what it tells."""
    path = one.source
    if one.is_log:
        if any(cleaner.line(line) != line.data for line in lines(path)):
            yield _rewritten(path, cleaner)
    elif cleaner.file(path) != read_small(path):
        yield Write(path, lambda: [cleaner.file(path)], stamp_now(path))


def _shared(subject: Subject, cleaner: Cleaner) -> Iterator[Write]:
    """Yields what changes in files of all sessions: only what is of this one."""
    history = _history(subject)
    if history and any(
        cleaner.prompt(line) != line.data for line in _own_prompts(history, subject.id)
    ):
        content = partial(_prompts, history, subject.id, cleaner)
        yield Write(history, content, stamp_now(history), is_shared=True)
    index = subject.log.path.with_name(INDEX)
    data = read_small(index)
    if data and _index(data, subject.id, cleaner) != data:
        yield Write(index, lambda: [_index(data, subject.id, cleaner)], stamp_now(index))


def _history(subject: Subject) -> Path | None:
    path = subject.config / PROMPTS if subject.config else None
    return path if path and path.is_file() and not path.is_symlink() else None


def _own_prompts(history: Path, session: str) -> Iterator[Line]:
    name = session.encode("utf-8", "surrogatepass")
    return (line for line in lines(history) if name in line.data)


def _prompts(history: Path, session: str, cleaner: Cleaner) -> Iterator[bytes]:
    name = session.encode("utf-8", "surrogatepass")
    for line in lines(history):
        data = cleaner.prompt(line) if name in line.data else line.data
        yield data + (b"\n" if line.is_ended else b"")


def _index(data: bytes, session: str, cleaner: Cleaner) -> bytes:
    """Returns the index of a folder's sessions whose entry of one of them is clean."""
    try:
        value = json.loads(data)
        entries = value["entries"]
        own = [at for at, one in enumerate(entries) if one.get("sessionId") == session]
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return data
    for at in own:
        part = json.dumps(entries[at]).encode()
        entries[at] = json.loads(cleaner.json(part, json.loads(part)))
    return data if value == json.loads(data) else _like(data, value)


def _like(data: bytes, value: Any) -> bytes:
    indent = 2 if data[1:2] == b"\n" else None
    marks = None if indent else (",", ":")
    return json.dumps(value, indent=indent, separators=marks, ensure_ascii=False).encode()


def _notes(cleaner: Cleaner, beside: Iterable[SideFile]) -> list[str]:
    found = Counter(one.kind for one in cleaner.redactor.report.found.values())
    words = [many(count, NOUNS.get(kind, kind)) for kind, count in found.items()]
    notes = [f"hidden: {', '.join(words)}" if words else "nothing to hide was found", STAYS]
    if any(BACKUPS in one.source.parts and _is_told(one, cleaner) for one in beside):
        notes.append("backups of files are cleaned too: to rewind code would write the stand-ins")
    if cleaner.thoughts:
        notes.append("thoughts that held any of it are left out: they are signed")
    binary = [
        one.source
        for one in beside
        if not one.is_log and not is_text(read_small(one.source) or b"")
    ]
    if binary:
        notes.append(f"not looked into, because it is no text: {many(len(binary), 'file')}")
    return notes


def _is_told(one: SideFile, cleaner: Cleaner) -> bool:
    return cleaner.file(one.source) != read_small(one.source)
