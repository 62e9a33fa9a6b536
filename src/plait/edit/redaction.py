"""Redacting a session: as a new session, or in place with everything that belongs to it.

Every copy of a text goes through the same redactor after all of them were read: the log, agents'
logs, outputs, file backups, lists and titles; in place also the prompts in the client's history and
the entry in an index of sessions. What a session is found and resumed by stays: ids, times,
signatures, the directory of each line, tracked paths. A redacted thinking block no longer matches
its signature, so it is removed.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from plait.edit.clone import (
    COPIED_AS_IS,
    NEW_IDS,
    NO_IDS,
    CopiedLine,
    LogCopy,
    build_title_lines,
    collect_ids,
    plan_copy,
)
from plait.edit.journal import Journal, find_home
from plait.edit.log import (
    RewrittenLines,
    measure_log,
    read_existing,
    read_stamp,
    rewrite_lines,
    rewrite_log,
    split_lines,
)
from plait.edit.move import INDEX
from plait.edit.plan import (
    Change,
    CopyOf,
    Difference,
    Fate,
    Plan,
    Subject,
    Write,
)
from plait.edit.side_files import SideFile, list_side_files
from plait.line import Line, iter_lines, read_small
from plait.line.discovery import PROMPT_HISTORY
from plait.record import Blank, Record, parse_entry, parse_record
from plait.record.codec import encode
from plait.record.json_text import with_field
from plait.redact import restore_text
from plait.view.formats import format_count

if TYPE_CHECKING:
    from plait.redact import Redactor


PLACES = frozenset(
    "cwd originalCwd worktreePath realParentDir trackingPath project projectPath fullPath".split()
)
"""Fields with which the client finds directories and files."""
TRACKED = "trackedFileBackups"
OF_PLACES = frozenset({"worktree-state", "file-history-snapshot", "file-history-delta"})
"""Lines that have such fields besides their own directory."""
THOUGHTS = frozenset({"thinking", "redacted_thinking"})
THOUGHT = "a signed thinking block with sensitive text was removed"
OF_ANSWERS = frozenset({"message", "requestId", "apiError", "error", "isApiErrorMessage"})
SECRET = "‹secret "
DIRECTORY, NOWHERE = b'"cwd":', b'"cwd":""'
HEAD = 8192
"""Bytes at the beginning of a file that are tested for being text."""


class SessionRedactor:
    """Applies one redactor to everything that belongs to a session."""

    def __init__(self, redactor: "Redactor", *, keeps_places: bool = True) -> None:
        self.redactor = redactor
        self.keeps_places = keeps_places
        """Whether directories stay, so that the client still finds the session."""
        self.thoughts = 0
        """The number of removed thinking blocks; counted at each pass over the lines."""

    def learn_log(self, path: Path) -> None:
        """Let the redactor learn from a log."""
        for line in iter_lines(path):
            entry = parse_entry(line)
            if isinstance(entry, Record):
                self.redactor.learn(entry)
            elif not isinstance(entry, Blank):
                self.redactor.learn(_decode_text(line.data))

    def learn_file(self, path: Path) -> None:
        """Let the redactor learn from a side file."""
        data = read_small(path) or b""
        if not is_text(data):
            return
        value = _load_json_file(path, data)
        self.redactor.learn(_decode_text(data) if value is None else value)

    def redact_line(self, line: Line) -> bytes:
        """Return a line of a log, redacted."""
        entry = parse_entry(line)
        if isinstance(entry, Record):
            return self.redact_record(entry)
        return line.data if isinstance(entry, Blank) else self.redact_text(line.data)

    def redact_text(self, data: bytes) -> bytes:
        """Return a text that is not JSON, redacted."""
        text = _decode_text(data)
        new = self.redactor.text(text)
        return data if new is text else new.encode("utf-8", "surrogateescape")

    def redact_record(self, record: Record) -> bytes:
        """Return the line of a record, redacted; unchanged byte for byte if there was nothing to
        redact.
        """
        masked, cwd = _remove_directory(record) if self.keeps_places else (record, None)
        found = self.redactor.record(masked)
        data = found.raw
        if data == masked.raw:
            return record.raw
        if record.type in OF_PLACES and self.keeps_places:
            fields = _restore_places(found.fields, self._restore_path)
            data = masked.raw if fields == masked.fields else encode(fields)
        elif record.type == "assistant":
            data = self._remove_changed_thoughts(masked, found)
        if data == masked.raw:
            return record.raw
        return data if cwd is None else _restore_directory(data, cwd)

    def _remove_changed_thoughts(self, before: Record, after: Record) -> bytes:
        """Return a response without thinking that no longer matches its signature."""
        old, new = _get_blocks(before.fields), _get_blocks(after.fields)
        if len(old) != len(new):
            return after.raw
        kept = [
            two
            for item, two in zip(old, new, strict=True)
            if item == two or not (isinstance(item, dict) and item.get("type") in THOUGHTS)
        ]
        if len(kept) == len(new):
            return after.raw
        self.thoughts += len(new) - len(kept)
        fields = dict(after.fields)
        if kept:
            fields["message"] = {**fields["message"], "content": kept}
            return encode(fields)
        # An unsent placeholder replaces the response, so that what follows it stays attached.
        rest = {name: field for name, field in fields.items() if name not in OF_ANSWERS}
        note = {"type": "system", "subtype": "informational", "content": THOUGHT, "level": "info"}
        return encode({**rest, **note, "isMeta": False})

    def redact_prompt(self, line: Line) -> bytes:
        """Return a prompt of the client's history, redacted."""
        fields = _load_json(line.data)
        if not isinstance(fields, dict):
            return line.data
        found = _restore_places(self.redactor.value(fields), self._restore_path)
        return line.data if found == fields else encode(found)

    def redact_file(self, path: Path) -> bytes:
        """Return a side file, redacted."""
        data = read_existing(path)
        if not is_text(data):
            return data
        value = _load_json_file(path, data)
        return self.redact_text(data) if value is None else self.redact_json(data, value)

    def redact_json(self, data: bytes, value: Any) -> bytes:
        """Return a JSON text, redacted, in its original format."""
        found = _restore_places(self.redactor.value(value), self._restore_path)
        if found == value:
            return data
        indent = 2 if data[1:2] in (b"\n", b"\r") else None
        marks = None if indent or b'": ' in data else (",", ":")
        text = json.dumps(found, indent=indent, separators=marks, ensure_ascii=False)
        end = b"\n" if data.endswith(b"\n") else b""
        return text.encode("utf-8", "surrogatepass") + end

    def _restore_path(self, path: str) -> str:
        """Return a path with everything except secrets restored."""
        if not self.keeps_places or "‹" not in path:
            return path
        key = self.redactor.key
        return restore_text(path, {name: key[name] for name in key if not name.startswith(SECRET)})


def _remove_directory(record: Record) -> tuple[Record, str | None]:
    """Return a record without its working directory, and the directory."""
    cwd = record.cwd
    if not cwd:
        return record, None
    usual = DIRECTORY + encode({"": cwd})[4:-1]
    if record.raw.count(DIRECTORY[:-1]) == 1 and usual in record.raw:
        data = record.raw.replace(usual, NOWHERE)
    else:
        data = with_field(record.raw, b"cwd", b'""')
    return parse_record(data, record.line, record.offset), cwd


def _restore_directory(data: bytes, cwd: str) -> bytes:
    value = encode({"": cwd})[4:-1]
    if data.count(DIRECTORY[:-1]) == 1 and NOWHERE in data:
        return data.replace(NOWHERE, DIRECTORY + value)
    return with_field(data, b"cwd", value)


def _restore_places(value: Any, kept: Any) -> Any:
    """Return a value with its directories and tracked paths restored."""
    complete = [value]
    waiting: list[tuple[Any, Any, Any]] = [(complete, 0, value)]
    while waiting:
        holder, key, item = waiting.pop()
        if isinstance(item, list):
            holder[key] = new_list = list(item)
            waiting += [(new_list, place, inner) for place, inner in enumerate(new_list)]
        elif isinstance(item, dict):
            is_tracked = key == TRACKED
            holder[key] = new = {
                (kept(name) if is_tracked and isinstance(name, str) else name): inner
                for name, inner in item.items()
            }
            waiting += [(new, name, inner) for name, inner in new.items()]
        elif isinstance(item, str) and key in PLACES:
            holder[key] = kept(item)
    return complete[0]


def _get_blocks(fields: dict[str, Any]) -> list[Any]:
    message = fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def is_text(data: bytes) -> bool:
    """Return whether bytes look like text."""
    return b"\0" not in data[:HEAD]


def _decode_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _load_json_file(path: Path, data: bytes) -> Any:
    """Return the object or list in a file; None if it is not JSON."""
    return _load_json(data) if path.suffix == ".json" else None


def _load_json(data: bytes) -> Any:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


REDACTED = "contained sensitive text"
NOTHING = "nothing to redact"
STAYS = "the working directory is kept, so that Claude Code can find and resume the session"
KEPT = (
    "the journal keeps the original: `plait undo ID --forget` deletes it permanently",
    "the search index drops the original text at its next update",
)
LEAD, BACKUPS = 24, "file-history"
NOUNS = {
    "user": ("user name", "user names"),
    "email": ("address", "addresses"),
    "phone": ("telephone number", "telephone numbers"),
}
MOST_ROUNDS = 3


def plan_redacted_copy(subject: Subject, redactor: "Redactor", *, title: str | None = None) -> Plan:
    """Return the plan of a redacted copy of a session."""
    session = str(uuid4())
    side_files = list_side_files(subject, session)
    cleaner = _learn_session(subject, side_files, redactor)
    stamp = read_stamp(subject.log.path)
    ids = collect_ids(subject, session)
    copy = RedactedCopy(
        subject.log, stamp.size, ids, added=build_title_lines(session, title), cleaner=cleaner
    )
    before = measure_log(subject.log, stamp.size)
    plan = plan_copy("redact", subject, copy, stamp, side_files, before, before)

    def redact_side_file(side_file: SideFile) -> Iterator[bytes]:
        if side_file.is_log:
            redacted = split_lines(rewrite_log(side_file.source, cleaner.redact_line))
            yield from rewrite_lines(redacted, ids.rewrite_line)
        else:
            data = cleaner.redact_file(side_file.source)
            yield ids.rewrite_paths(ids.rewrite_json(data)) if side_file.is_named else data

    contents = {
        side_file.target: CopyOf(side_file.source)
        if not side_file.is_log and not is_text(read_small(side_file.source) or b"")
        else partial(redact_side_file, side_file)
        for side_file in side_files
    }
    steps = [
        replace(step, content=contents[step.path])
        if isinstance(step, Write) and step.path in contents
        else step
        for step in plan.steps
    ]
    notes = tuple(_build_notes(cleaner, side_files))
    return replace(plan, steps=tuple(steps), notes=notes, keeps_line_order=True)


@dataclass(frozen=True, slots=True)
class RedactedCopy(LogCopy):
    """The redacted log of a session under new ids."""

    cleaner: SessionRedactor | None = None

    def lines(self) -> Iterator[CopiedLine]:
        """Yield what happens to each line."""
        for line in iter_lines(self.log.path, end=self.size):
            clean = self.cleaner.redact_line(line) if self.cleaner else line.data
            entry = parse_entry(line._replace(data=clean))
            is_clean = clean == line.data
            note = None if is_clean else _excerpt_change(line.data, clean)
            if not isinstance(entry, Record):
                why = COPIED_AS_IS if is_clean else REDACTED
                fate: Fate = "kept" if is_clean else "rewritten"
                yield CopiedLine(line, clean, fate, why, shown=note)
                continue
            is_mentioned = self.origins is None or entry.line <= self.origins
            data = self.ids.rewrite_record(entry, is_main=is_mentioned)
            why = REDACTED if not is_clean else NO_IDS if data == line.data else NEW_IDS
            fate = "kept" if data == line.data else "rewritten"
            yield CopiedLine(line, data, fate, why, entry.uuid, note)


def plan_redact_in_place(subject: Subject, redactor: "Redactor") -> Plan:
    """Return the plan that redacts a session and its side files in place.

    It has no steps if there is nothing to redact.
    """
    side_files = list_side_files(subject, subject.id)
    cleaner = _learn_session(subject, side_files, redactor, is_in_place=True)
    stamp = read_stamp(subject.log.path)
    before = measure_log(subject.log, stamp.size)
    rewritten = RewrittenLines()

    def show(line: Line, data: bytes) -> Difference:
        entry = parse_entry(line)
        uuid = entry.uuid if isinstance(entry, Record) else None
        return Difference(line.number, uuid, None, _excerpt_change(line.data, data), REDACTED)

    rewritten.count(subject.log.path, stamp.size, cleaner.redact_line, show)
    changed = rewritten.lines
    steps = [_plan_rewrite(subject.log.path, cleaner)] if changed else []
    for side_file in side_files:
        path = side_file.source
        if side_file.is_log:
            if any(cleaner.redact_line(line) != line.data for line in iter_lines(path)):
                steps.append(_plan_rewrite(path, cleaner))
        elif cleaner.redact_file(path) != read_small(path):
            content = partial(_iter_redacted_file, cleaner, path)
            steps.append(Write(path, content, read_stamp(path)))
    steps += _plan_shared_files(subject, cleaner)
    kept = before.lines - changed
    found = (Change("rewritten", changed, REDACTED), Change("kept", kept, NOTHING))
    notes = [*_build_notes(cleaner, side_files), *(KEPT if steps else ())]
    # Earlier edits keep bytes of the session in the journal.
    earlier = sum(
        any(
            step.before is not None and any(subject.id in part for part in step.path.parts)
            for step in edit.steps
        )
        for edit in Journal(find_home(subject.log.path, subject.config)).entries()
    )
    if earlier:
        count = format_count(earlier, "earlier edit")
        notes.append(
            f"the journal also keeps parts of the original from {count}: see `plait undo --list`"
        )
    if files := len(steps) - bool(changed):
        notes.insert(0, f"also changes {format_count(files, 'file')} next to the log")
    return Plan(
        operation="redact",
        source=subject,
        session=subject.id,
        path=subject.log.path,
        steps=tuple(steps),
        before=before,
        after=replace(before, bytes=before.bytes + rewritten.grown),
        changes=tuple(change for change in found if change.lines),
        differences=tuple(rewritten.differences),
        read=(
            (subject.log.path, stamp),
            *((side_file.source, read_stamp(side_file.source)) for side_file in side_files),
        ),
        notes=tuple(notes),
        keeps_line_order=True,
    )


def _learn_session(
    subject: Subject,
    side_files: Iterable[SideFile],
    redactor: "Redactor",
    *,
    is_in_place: bool = False,
) -> SessionRedactor:
    """Return a redactor that has read all of a session, so that what one place reveals is hidden
    in all.
    """
    cleaner = SessionRedactor(redactor)
    for _ in range(MOST_ROUNDS):  # what was just learnt may reveal more in earlier texts
        known = redactor.learnt
        cleaner.learn_log(subject.log.path)
        for side_file in side_files:
            (cleaner.learn_log if side_file.is_log else cleaner.learn_file)(side_file.source)
        if is_in_place and (history := _find_history(subject)):
            name = subject.id.encode("utf-8", "surrogatepass")
            for line in iter_lines(history):
                fields = _load_json(line.data) if name in line.data else None
                if isinstance(fields, dict):
                    cleaner.redactor.learn(fields)
        if redactor.learnt == known:
            break
    return cleaner


def _excerpt_change(was: bytes, data: bytes) -> bytes:
    """Return the new form of a line from shortly before its first change: the old form is never
    shown.
    """
    at = next(
        (at for at, (number, two) in enumerate(zip(was, data, strict=False)) if number != two), 0
    )
    return "…".encode() + data[at - LEAD :] if at > LEAD else data


def _plan_rewrite(path: Path, cleaner: SessionRedactor) -> Write:
    return Write(path, partial(rewrite_log, path, cleaner.redact_line), read_stamp(path))


def _iter_redacted_file(cleaner: SessionRedactor, path: Path) -> Iterator[bytes]:
    yield cleaner.redact_file(path)


def _plan_shared_files(subject: Subject, cleaner: SessionRedactor) -> Iterator[Write]:
    """Yield the changes in shared files, limited to what belongs to this session."""
    history, name = _find_history(subject), subject.id.encode("utf-8", "surrogatepass")

    def redact_own(line: Line) -> bytes:
        return cleaner.redact_prompt(line) if name in line.data else line.data

    if history and any(redact_own(line) != line.data for line in iter_lines(history)):
        content = partial(rewrite_log, history, redact_own)
        yield Write(history, content, read_stamp(history), is_shared=True)
    index = subject.log.path.with_name(INDEX)
    data = read_small(index)
    if data and _redact_index(data, subject.id, cleaner) != data:
        yield Write(index, lambda: [_redact_index(data, subject.id, cleaner)], read_stamp(index))


def _find_history(subject: Subject) -> Path | None:
    path = subject.config / PROMPT_HISTORY if subject.config else None
    return path if path and path.is_file() and not path.is_symlink() else None


def _redact_index(data: bytes, session: str, cleaner: SessionRedactor) -> bytes:
    """Return the index of a folder's sessions with the entry of one of them redacted."""
    try:
        value = json.loads(data)
        entries = value["entries"]
        own = [at for at, entry in enumerate(entries) if entry.get("sessionId") == session]
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return data
    for at in own:
        part = json.dumps(entries[at]).encode()
        entries[at] = json.loads(cleaner.redact_json(part, json.loads(part)))
    if value == json.loads(data):
        return data
    indent = 2 if data[1:2] == b"\n" else None
    marks = None if indent else (",", ":")
    return json.dumps(value, indent=indent, separators=marks, ensure_ascii=False).encode()


def _build_notes(cleaner: SessionRedactor, side_files: Iterable[SideFile]) -> list[str]:
    found = Counter(found.kind for found in cleaner.redactor.report.found.values())
    words = [
        format_count(count, *NOUNS.get(kind, (kind, f"{kind}s"))) for kind, count in found.items()
    ]
    notes = [f"redacted: {', '.join(words)}" if words else "nothing found to redact", STAYS]
    if any(
        BACKUPS in side_file.source.parts
        and (cleaner.redact_file(side_file.source) != read_small(side_file.source))
        for side_file in side_files
    ):
        notes.append(
            "file backups are redacted too: rewinding files would restore the placeholders"
        )
    if cleaner.thoughts:
        notes.append("thinking blocks with sensitive text are removed, because they are signed")
    binary = [
        side_file.source
        for side_file in side_files
        if not side_file.is_log and not is_text(read_small(side_file.source) or b"")
    ]
    if binary:
        notes.append(f"not checked: {format_count(len(binary), 'binary file')}")
    return notes
