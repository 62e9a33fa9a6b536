"""Cloning a session: a copy under new ids, together with its side files.

`IdMap` replaces every string that is the id of the session or of one of its records, wherever it
occurs except in texts of users, the model or tools: a pointer in an unknown field is still a
pointer. Ids that are not UUIDs, as other programs write them, could be ordinary words, so they are
replaced only in fields that hold nothing but ids. All other bytes stay as they are.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from secrets import token_bytes
from typing import TypeAlias
from uuid import uuid4

from plait.edit.log import SHOWN, join_pieces, measure_log, read_existing, read_stamp, rewrite_log
from plait.edit.plan import (
    Change,
    Content,
    CopyOf,
    Difference,
    Fate,
    Measures,
    Operation,
    Plan,
    Subject,
    Write,
)
from plait.edit.rename import check_title
from plait.edit.side_files import SideFile, list_side_files
from plait.errors import UserError
from plait.graph.client.entries import FULL_READ_LIMIT
from plait.graph.leaf import CHAIN_TYPES
from plait.line import (
    FileStamp,
    Line,
    LogFile,
    iter_lines,
    read_file_mode,
    read_file_times,
)
from plait.line.discovery import LOG_SUFFIX
from plait.record import Blank, Broken, Record, get_client_record, parse_entry, parse_record
from plait.record.json_text import (
    SESSION_FIELD,
    USUAL,
    JsonString,
    decode_string,
    is_pointer_field,
    is_session_field,
    iter_json_strings,
    with_origin,
)
from plait.write.lines import make_title_line

UUID = re.compile(rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
QUOTED = re.compile(rb'"(%b)"' % UUID.pattern)
OWN_FOLDERS = rb"(?=(?:/|\\\\)(?:tool-results|subagents|workflows)(?:/|\\\\|\"))"
LINK_TYPES = CHAIN_TYPES | {"progress"}


class IdMap:
    """The ids of a session and their replacements in a copy.

    A new id is derived from the old one and a secret of this copy, so that only the set of ids
    has to be stored.
    """

    def __init__(self, subject: Subject, session: str) -> None:
        self.session = session
        """The id of the copy."""
        self.source = subject.id
        self._secret = token_bytes(32)
        self._own = frozenset({subject.id, subject.log.path.stem})
        self._known: set[bytes] = set()
        self._irregular: set[str] = set()
        self._instead: dict[bytes, bytes] = {}
        self._new_session = session.encode()
        plain = [name.encode() for name in self._own]
        self._folders = [name + end for name in plain for end in (b"/", b"\\\\")]
        names = b"|".join(map(re.escape, plain))
        self._folder = re.compile(rb"(?<=[/\\])(?:%b)%b" % (names, OWN_FOLDERS))
        self._is_regular = all(UUID.fullmatch(name) for name in plain)

    def for_session(self, session: str) -> "IdMap":
        """Return the same record ids for a copy inside another session."""
        found = copy(self)
        found.session, found._new_session = session, session.encode()
        return found

    def add(self, uuid: str) -> None:
        """Add the id of a record."""
        data = uuid.encode("utf-8", "surrogatepass")
        self._known.add(data)
        if not UUID.fullmatch(data):
            self._irregular.add(uuid)

    def substitute(self, gone: str, uuid: str) -> None:
        """Map a record that is not copied to another one."""
        self._instead[gone.encode("utf-8", "surrogatepass")] = uuid.encode("utf-8", "surrogatepass")
        self.add(gone)

    def map_id(self, uuid: str) -> str:
        """Return the new id for an id; other ids are returned unchanged."""
        data = uuid.encode("utf-8", "surrogatepass")
        return self._derive(data).decode() if data in self._known else uuid

    def _derive(self, data: bytes) -> bytes:
        data = self._instead.get(data, data)
        digits = blake2b(data, key=self._secret, digest_size=16).hexdigest()
        variant = "89ab"[int(digits[16], 16) & 3]
        return (
            f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
        ).encode()

    def rewrite_line(self, line: Line) -> bytes:
        """Return a line under new ids; of a broken one, what the client reads of it."""
        entry = parse_entry(line)
        if isinstance(entry, Record):
            return self.rewrite_record(entry)
        begun = get_client_record(entry)
        if begun is None:
            return line.data
        start = begun.offset - line.offset
        end = start + len(begun.raw)
        return line.data[:start] + self.rewrite_record(begun, is_main=False) + line.data[end:]

    def rewrite_record(self, record: Record, *, is_main: bool = True) -> bytes:
        """Return the line of a record under new ids; in the main log also with its origin."""
        renamed = self._rewrite_usual_line(record)
        if renamed is None:
            renamed = self.rewrite_json(record.raw)
        if record.type != "assistant":
            # texts of the model are signed, or quoted later: no path in them changes
            renamed = self.rewrite_paths(renamed)
        if is_main and record.uuid and record.type in LINK_TYPES:
            renamed = with_origin(renamed, self.source, record.uuid)
        return renamed

    def _rewrite_usual_line(self, record: Record) -> bytes | None:
        """Return a line whose ids are all in their usual places; None for any other line."""
        if self._irregular or not self._is_regular:
            return None
        data, found, parts, end = record.raw, set[bytes](), list[bytes](), 0
        for match in QUOTED.finditer(data):
            old = match[1]
            new = self._map_quoted_id(old)
            if new is None:
                continue
            if not data.endswith(USUAL, 0, match.start()):
                return None
            found.add(old)
            parts += data[end : match.start(1)], new
            end = match.end(1)
        return None if self._is_missing(record, found) else b"".join((*parts, data[end:]))

    def _map_quoted_id(self, old: bytes) -> bytes | None:
        if old in self._known:
            return self._derive(old)
        return self._new_session if old.decode() in self._own else None

    def _is_missing(self, record: Record, found: set[bytes]) -> bool:
        """Return whether an id was not found in its plain form: it is escaped, or of a foreign
        session.
        """
        if record.session_id is not None and record.session_id not in self._own:
            return True
        named = (record.uuid, record.parent_uuid, record.session_id)
        plain = {name.encode("utf-8", "surrogatepass") for name in named if name}
        return any(item not in found and self._map_quoted_id(item) for item in plain)

    def rewrite_json(self, data: bytes) -> bytes:
        """Return a JSON text under new ids."""
        parts, end = list[bytes](), 0
        for spot in iter_json_strings(data):
            new = None if spot.is_words else self._map_id_at(data, spot)
            if new is not None:
                parts += data[end : spot.start], b'"', new, b'"'
                end = spot.stop
        return b"".join((*parts, data[end:]))

    def _map_id_at(self, data: bytes, spot: JsonString) -> bytes | None:
        if spot.field == SESSION_FIELD and spot.depth == 1 and not spot.is_name:
            return self._new_session  # including a line that came from another session
        text = decode_string(data, spot)
        if text in self._own and (self._is_regular or is_session_field(spot)):
            return self._new_session
        plain = text.encode("utf-8", "surrogatepass")
        if plain not in self._known:
            return None
        is_pointer = text not in self._irregular or is_pointer_field(spot)
        return self._derive(plain) if is_pointer else None

    def rewrite_paths(self, data: bytes) -> bytes:
        """Return a text with paths into the session's folder changed to that of the copy."""
        if not any(folder in data for folder in self._folders):
            return data
        return self._folder.sub(self._new_session, data)

    def rewrite_side_file(self, path: Path) -> Iterator[bytes]:
        """Yield a file next to the log, one JSON text, under new ids."""
        yield self.rewrite_paths(self.rewrite_json(read_existing(path)))

    def add_all(self, lines: Iterable[Line]) -> None:
        """Add the ids of all records on some lines."""
        for line in lines:
            record = get_client_record(parse_entry(line))
            if record and record.uuid:
                self.add(record.uuid)


NEW_IDS = "new ids"
NO_IDS = "session id not mentioned"
COPIED_AS_IS = "not a record: copied unchanged"
BLANK, BROKEN = "blank", "unreadable: no record can be recovered"
CLIENT_READING = "the part of a broken line that Claude Code can read"
SPLIT = "records from a broken line, each on its own line"

Choice: TypeAlias = Callable[[Record], str | None]
"""Returns why a record is left out; None if it is copied."""


@dataclass(frozen=True, slots=True)
class CopiedLine:
    """What happens to one line."""

    line: Line
    data: bytes | None
    """Its bytes; None if it is left out."""
    fate: Fate
    reason: str
    uuid: str | None = None
    shown: bytes | None = None
    """What is shown of it, if its own bytes are private."""


@dataclass(frozen=True, slots=True)
class LogCopy:
    """The log of a session as it will be under new ids."""

    log: LogFile
    size: int
    """The size of the log when the plan was made."""
    ids: IdMap
    choose: Choice | None = None
    is_clean: bool = False
    """Whether blank and broken lines are left out, except for records that can be read from them."""
    added: tuple[tuple[bytes, str], ...] = ()
    """Lines that follow, each with its purpose."""
    origins: int | None = None
    """The last line that says where it was copied from; None where all do."""

    def lines(self) -> Iterator[CopiedLine]:
        """Yield what happens to each line."""
        for line in iter_lines(self.log.path, end=self.size):
            entry = parse_entry(line)
            if isinstance(entry, Record):
                yield self._copy_record(line, entry)
            elif self.choose:
                yield self._copy_begun_record(line, entry, self.choose)
            elif self.is_clean:
                yield self._copy_recovered_records(line, entry)
            else:
                data = self.ids.rewrite_line(line)
                is_same = data == line.data
                fate: Fate = "kept" if is_same else "rewritten"
                yield CopiedLine(line, data, fate, COPIED_AS_IS if is_same else NEW_IDS)

    def _copy_record(self, line: Line, record: Record) -> CopiedLine:
        why = self.choose(record) if self.choose else None
        if why is not None:
            return CopiedLine(line, None, "dropped", why, record.uuid)
        is_main = self.origins is None or record.line <= self.origins
        data = self.ids.rewrite_record(record, is_main=is_main)
        is_same = data == line.data
        return CopiedLine(
            line,
            data,
            "kept" if is_same else "rewritten",
            NO_IDS if is_same else NEW_IDS,
            record.uuid,
        )

    def _copy_begun_record(self, line: Line, entry: Blank | Broken, choose: Choice) -> CopiedLine:
        record = get_client_record(entry)
        if record is None:
            return _drop_line(line, entry)
        if why := choose(record):
            return CopiedLine(line, None, "dropped", why, record.uuid)
        return CopiedLine(
            line, self.ids.rewrite_record(record), "rewritten", CLIENT_READING, record.uuid
        )

    def _copy_recovered_records(self, line: Line, entry: Blank | Broken) -> CopiedLine:
        found = entry.recovered if isinstance(entry, Broken) else ()
        records = [parse_record(recovered.data) for recovered in found if recovered.is_whole]
        if not records:
            return _drop_line(line, entry)
        data = b"\n".join(self.ids.rewrite_record(record) for record in records)
        return CopiedLine(line, data, "rewritten", SPLIT, records[0].uuid)

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the copy."""
        return join_pieces(self._iter_data_and_ends())

    def _iter_data_and_ends(self) -> Iterator[bytes]:
        is_open = False
        for line in self.lines():
            if line.data is not None:
                yield from (line.data, b"\n") if line.line.is_ended else (line.data,)
                is_open = not line.line.is_ended
        for data, _ in self.added:
            yield from (b"\n", data, b"\n") if is_open else (data, b"\n")
            is_open = False


def _drop_line(line: Line, entry: Blank | Broken) -> CopiedLine:
    return CopiedLine(line, None, "dropped", BLANK if isinstance(entry, Blank) else BROKEN)


@dataclass(slots=True)
class Tally:
    """A summary of what happens to a log."""

    fates: Counter[tuple[Fate, str]] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    lines: int = 0
    bytes: int = 0

    @property
    def changes(self) -> tuple[Change, ...]:
        """How many lines change, and why."""
        return tuple(Change(fate, count, why) for (fate, why), count in self.fates.items())


def tally_copy(copy: LogCopy) -> Tally:
    """Count what happens to each line, and keep a few differences to show."""
    found = Tally()
    is_open = False
    for line in copy.lines():
        found.fates[line.fate, line.reason] += 1
        if line.data is not None:
            found.bytes += len(line.data) + line.line.is_ended
            found.lines += line.data.count(b"\n") + 1
            is_open = not line.line.is_ended
        if line.fate != "kept" and found.fates[line.fate, line.reason] <= SHOWN:
            # Where only part of a line may be shown, its own bytes are not.
            was, data = (
                (None, line.shown) if line.shown is not None else (line.line.data, line.data)
            )
            found.differences.append(
                Difference(line.line.number, line.uuid, was, data, line.reason)
            )
    for data, why in copy.added:
        found.fates["added", why] += 1
        found.bytes += len(data) + 1 + is_open
        found.lines += 1
        is_open = False
        found.differences.append(Difference(None, None, None, data, why))
    return found


def select_lines(numbers: Container[int], why: str) -> Choice:
    """Return a choice of lines by their numbers."""

    def choice(record: Record) -> str | None:
        return None if record.line in numbers else why

    return choice


TITLE = "the title"
BOUNDARY = b"compact_boundary"


def plan_clone(subject: Subject, *, title: str | None = None, is_clean: bool = False) -> Plan:
    """Return the plan of a copy of a session with its side files."""
    session = str(uuid4())
    ids = collect_ids(subject, session)
    stamp = read_stamp(subject.log.path)
    added = build_title_lines(session, title)
    copy = LogCopy(subject.log, stamp.size, ids, is_clean=is_clean, added=added)
    before = measure_log(subject.log, stamp.size)
    side_files = list_side_files(subject, session)
    return plan_copy("clone", subject, copy, stamp, side_files, before, before)


def redirect_copy(plan: Plan, file: Path) -> Plan:
    """Return the plan of a copy whose log is written to another file or folder.

    Files that the client keeps elsewhere under the session's id, such as file checkpoints, are left
    out: they belong to the client's own folder.
    """
    if file.is_dir():
        file /= plan.path.name
    if file.suffix != LOG_SUFFIX:
        raise UserError(f"'{file}' is not the name of a log", "use a .jsonl file or a folder")
    folder, new_folder = plan.path.with_suffix(""), file.with_suffix("")
    steps = []
    for step in plan.steps:
        if isinstance(step, Write) and step.path == plan.path:
            steps.append(replace(step, path=file))
        elif isinstance(step, Write) and folder in step.path.parents:
            steps.append(replace(step, path=new_folder / step.path.relative_to(folder)))
    note = f"`claude --resume` finds the session only at '{plan.path}'"
    return replace(plan, path=file, steps=tuple(steps), notes=(*plan.notes, note))


def build_title_lines(session: str, title: str | None) -> tuple[tuple[bytes, str], ...]:
    """Return the title line of a copy; none if it keeps its title."""
    return () if title is None else ((make_title_line(session, check_title(title)), TITLE),)


def plan_copy(
    operation: Operation,
    subject: Subject,
    copy: LogCopy,
    stamp: FileStamp,
    side_files: Sequence[SideFile],
    before: Measures,
    after: Measures,
) -> Plan:
    """Return the plan of a new session from a copied log with known turns and tokens."""
    log, session = subject.log, copy.ids.session
    copy, found = _fit_full_read_limit(copy, stamp.size)
    path = log.path.with_name(session + LOG_SUFFIX)
    return Plan(
        operation=operation,
        source=subject,
        session=session,
        path=path,
        steps=(
            Write(path, copy.pieces, mode=read_file_mode(log.path)),
            *build_side_writes(side_files, copy.ids),
        ),
        before=before,
        after=replace(after, lines=found.lines, bytes=found.bytes),
        changes=found.changes,
        differences=tuple(found.differences),
        read=((log.path, stamp), *read_side_stamps(side_files)),
    )


def _fit_full_read_limit(copy: LogCopy, size: int) -> tuple[LogCopy, Tally]:
    """Return a copy that the client reads like its source, and what happens to its lines.

    Of a log above a certain size the client reads only what follows the last compaction: if the
    origin on every line would make it that large, only the first line gets it, or none.
    """
    found = tally_copy(copy)
    if not size <= FULL_READ_LIMIT < found.bytes or not any(
        line.data is not None and BOUNDARY in line.data for line in copy.lines()
    ):
        return copy, found
    linked = (line.line.number for line in copy.lines() if line.uuid and line.data is not None)
    for last in (next(linked, 0), 0):
        shorter = replace(copy, origins=last)
        found = tally_copy(shorter)
        if found.bytes <= FULL_READ_LIMIT:
            break
    return shorter, found


def collect_ids(subject: Subject, session: str) -> IdMap:
    """Return the ids of a session and its agents with their replacements."""
    ids = IdMap(subject, session)
    for log in (subject.log, *subject.others):
        ids.add_all(iter_lines(log.path))
    return ids


def build_side_writes(side_files: Iterable[SideFile], ids: IdMap) -> Iterator[Write]:
    """Yield the side files of a copy."""
    for side_file in side_files:
        path = side_file.source
        content: Content = CopyOf(path)
        if side_file.is_log:
            content = partial(rewrite_log, path, ids.rewrite_line)
        elif side_file.is_named:
            content = partial(ids.rewrite_side_file, path)
        mode, times = read_file_mode(path), read_file_times(path)
        yield Write(side_file.target, content, mode=mode, times=times)


def read_side_stamps(side_files: Iterable[SideFile]) -> Iterator[tuple[Path, FileStamp]]:
    """Yield the states of the side files when the plan was made."""
    for side_file in side_files:
        yield side_file.source, read_stamp(side_file.source)
