"""Move the sessions of a directory to another one.

    projects/<slug>/**        to the folder of the other slug; files that name the directory are
                              rewritten, all others only renamed
    history.jsonl             the project of each prompt
    .claude.json              what the client knows of the directory

Projects of directories within it move along. Nothing is overwritten.

`DirectoryMap` rewrites lines and JSON texts byte for byte except for the directories. A path is a
string that is a directory or leads into it: `/a/bc` is not in `/a/b`. What people, the model and
tools said is left alone unless asked for; thinking blocks are signed and never change. Paths into
the client's project folders are followed on resume, so they are rewritten too.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from plait.edit.journal import CLIENT_STATE, USUAL_CONFIG
from plait.edit.log import RewrittenLines, measure_log, read_existing, read_stamp, rewrite_log
from plait.edit.plan import (
    Change,
    Difference,
    Measures,
    Move,
    Plan,
    Remove,
    Step,
    Subject,
    Write,
)
from plait.edit.side_files import JSON, OUTPUTS
from plait.errors import Refused
from plait.line import (
    Line,
    iter_lines,
    make_project_slug,
    read_file_mode,
    read_file_times,
    read_small,
)
from plait.line.discovery import LOG_SUFFIX, PROMPT_HISTORY
from plait.record import Record, parse_entry
from plait.record.codec import encode
from plait.record.json_text import JsonString, decode_string, iter_json_strings
from plait.view.formats import format_count

SEPARATORS = ("/", "\\")
SIGNED = frozenset({b"thinking", b"signature"})
NAME_BEFORE, NAME_BEHIND = rb"(?<![\w.~\x80-\xff-])", rb"(?![\w\x80-\xff-])(?!\.\w)"
"""Characters that make a path in a text part of a longer name."""
UNUSUAL = (b"\\/", b"\\u")
CWD, PROJECTS = b'"cwd":"', b"projects"


@dataclass(frozen=True)
class DirectoryMap:
    """Directories and their new names."""

    pairs: tuple[tuple[str, str], ...]
    slugs: tuple[tuple[str, str], ...] = ()
    """Folders of the client's projects and their new names."""
    with_texts: bool = False
    """Whether to rewrite texts too."""
    config: tuple[str, str] | None = None
    """The client's configuration folder and its new place."""
    _forms: tuple["_Form", ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        pairs = sorted(dict(self.pairs).items(), key=lambda pair: -len(pair[0]))
        forms = tuple(_Form(old, new) for old, new in pairs if old != new)
        object.__setattr__(self, "_forms", forms)

    def rewrite_path(self, path: str) -> str:
        """Return the new form of a path; other texts are returned unchanged."""
        for form in self._forms:
            if form.holds(path):
                return form.new + form.rest(path[len(form.old) :])
        return path

    def rewrite_line(self, line: Line) -> bytes:
        """Return a line with its directories renamed; a line without a record is unchanged."""
        entry = parse_entry(line)
        return self.rewrite_record(entry) if isinstance(entry, Record) else line.data

    def rewrite_record(self, record: Record) -> bytes:
        """Return the line of a record with its directories renamed."""
        data = self._rewrite_own_directory(record)
        if data is None:
            data = self._rewrite_strings(record.raw)
        return data if record.type == "assistant" else self._rename_project_folders(data)

    def rewrite_json(self, data: bytes) -> bytes:
        """Return a JSON text with its directories renamed."""
        return self._rename_project_folders(self._rewrite_strings(data))

    def rewrite_file(self, path: Path) -> Iterator[bytes]:
        """Yield a file that is one JSON text, with the other directories."""
        yield self.rewrite_json(read_existing(path))

    def _rewrite_own_directory(self, record: Record) -> bytes | None:
        """Return a line that names a directory only in its own field; None for any other."""
        data = record.raw
        found = [form for form in self._forms if form.written in data]
        if not found:
            return None if _is_unusual(data) else data
        form, cwd = found[0], record.cwd
        is_its_own = len(found) == 1 and cwd is not None and form.holds(cwd)
        at = data.find(CWD + form.written)
        if not is_its_own or at < 0 or data.count(form.written) > 1 or _is_unusual(data):
            return None
        end = data.index(b'"', at + len(CWD))
        assert cwd is not None
        return data[: at + len(CWD)] + _escape(self.rewrite_path(cwd)) + data[end:]

    def _rewrite_strings(self, data: bytes) -> bytes:
        if not _is_unusual(data) and not any(form.written in data for form in self._forms):
            return data
        parts, end = list[bytes](), 0
        for spot in iter_json_strings(data):
            new = self._rename_string(data, spot)
            if new is not None:
                parts += data[end : spot.start + 1], new
                end = spot.stop - 1
        return b"".join((*parts, data[end:]))

    def _rename_string(self, data: bytes, spot: JsonString) -> bytes | None:
        if spot.is_words:
            is_named = self.with_texts and spot.field not in SIGNED
            return self._rename_in_words(data[spot.start + 1 : spot.stop - 1]) if is_named else None
        inner = data[spot.start + 1 : spot.stop - 1]
        for form in self._forms:
            if form.begins(inner):
                return form.written_new + form.written_rest(inner[len(form.written) :])
        if b"\\" not in inner:
            return None
        text = decode_string(data, spot)
        new = self.rewrite_path(text)
        return None if new == text else _escape(new)

    def _rename_in_words(self, text: bytes) -> bytes:
        new = {form.written: form.written_new for form in self._forms}
        return self._in_text.sub(lambda match: new[match[0]], text) if new else text

    @cached_property
    def _in_text(self) -> re.Pattern[bytes]:
        names = b"|".join(re.escape(form.written) for form in self._forms)
        return re.compile(NAME_BEFORE + b"(?:%b)" % names + NAME_BEHIND)

    def _rename_project_folders(self, data: bytes) -> bytes:
        if not self._folders or PROJECTS not in data:
            return data
        names = b"|".join(map(re.escape, self._folders))
        config = re.escape(_escape(self.config[0])) if self.config else b"(?!)"
        return re.compile(
            rb"(%b)?([/\\]{1,2}projects(?:/|\\\\?))(%b)(?=[/\\\"])" % (config, names)
        ).sub(self._replace_project_folder, data)

    def _replace_project_folder(self, match: re.Match[bytes]) -> bytes:
        config = _escape(self.config[1]) if self.config and match[1] else match[1] or b""
        return config + match[2] + self._folders[match[3]]

    @cached_property
    def _folders(self) -> dict[bytes, bytes]:
        is_elsewhere = self.config is not None
        return {old.encode(): new.encode() for old, new in self.slugs if old != new or is_elsewhere}


class _Form:
    """One written form of a directory, and its replacement."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new
        self.written, self.written_new = _escape(old), _escape(new)
        kinds = [
            ("\\" if "\\" in item and not item.startswith("/") else "/") for item in (old, new)
        ]
        self._turned = None if kinds[0] == kinds[1] else kinds

    def holds(self, path: str) -> bool:
        """Return whether a path is the directory or inside it."""
        return path.startswith(self.old) and path[len(self.old) :][:1] in ("", *SEPARATORS)

    def begins(self, inner: bytes) -> bool:
        """Return the same of a path in its written form."""
        if not inner.startswith(self.written):
            return False
        rest = inner[len(self.written) :]
        return not rest or rest.startswith((b"/", b"\\\\"))

    def rest(self, path: str) -> str:
        """Return what follows the directory, with the new separators."""
        return path.replace(self._turned[0], self._turned[1]) if self._turned else path

    def written_rest(self, inner: bytes) -> bytes:
        """Return the same in its written form."""
        if not self._turned:
            return inner
        old, new = (_escape(item) for item in self._turned)
        return inner.replace(old, new)


def _escape(text: str) -> bytes:
    return encode({"": text})[5:-2]


def _is_unusual(data: bytes) -> bool:
    return any(mark in data for mark in UNUSUAL)


def is_within(path: str, directory: str) -> bool:
    """Return whether a path is a directory or inside it."""
    return _Form(directory, directory).holds(path)


def strip_separator(path: str) -> str:
    """Return a directory without a trailing separator."""
    ends = "/" if path.startswith("/") else "".join(SEPARATORS)
    return path.rstrip(ends) or path


INDEX = "sessions-index.json"
DIRECTORY, OTHERWISE = "the directory", "directory not mentioned"
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class MovedFolder:
    """The sessions of one directory and its new name."""

    folder: Path
    old: str
    new: str
    files: tuple[Path, ...]
    """All files that are moved."""
    subjects: tuple[Subject, ...]

    @property
    def target(self) -> Path:
        """The folder they move to."""
        return self.folder.with_name(make_project_slug(self.new))

    def place(self, path: Path) -> Path:
        """Return the new path of a file."""
        return self.target / path.relative_to(self.folder)


def plan_move(
    config: Path,
    folders: Iterable[MovedFolder],
    names: tuple[str, str],
    *,
    with_texts: bool = False,
) -> Plan:
    """Return the plan that moves the sessions of a directory and its subdirectories."""
    found = tuple(folders)
    directories = DirectoryMap(
        (names, *((folder.old, folder.new) for folder in found)),
        tuple((folder.folder.name, folder.target.name) for folder in found),
        with_texts,
    )
    # Nothing is overwritten that is not itself moved away.
    goes = {path for item in found for path in item.files}
    existing = [
        place
        for folder in found
        for path in folder.files
        if (place := folder.place(path)) not in goes and place.exists() and path.name != INDEX
    ]
    if existing:
        listed = ", ".join(f"'{path.name}'" for path in existing[:MOST_NAMED])
        more = f" and {len(existing) - MOST_NAMED} more" if len(existing) > MOST_NAMED else ""
        raise Refused(
            f"'{existing[0].parent}' already contains {listed}{more}", "nothing was changed"
        )
    moved = {path: _move_file(item, path, directories) for item in found for path in item.files}
    shared, notes = _plan_shared_files(config, found, directories)
    subjects = [subject for item in found for subject in item.subjects]
    logs = tuple(log for subject in subjects for log in (subject.log, *subject.others))
    sizes: list[Measures] = []
    rewritten = RewrittenLines()

    def show(line: Line, data: bytes) -> Difference:
        entry = parse_entry(line)
        uuid = entry.uuid if isinstance(entry, Record) else None
        return Difference(line.number, uuid, line.data, data, DIRECTORY)

    for subject in subjects:
        size = read_stamp(subject.log.path).size
        sizes.append(measure_log(subject.log, size))
        rewritten.count(subject.log.path, size, directories.rewrite_line, show)
    before = sum_measures(sizes)
    changes = (
        Change("rewritten", rewritten.lines, DIRECTORY),
        Change("kept", before.lines - rewritten.lines, OTHERWISE),
    )
    steps = (*(step for steps in moved.values() for step in steps), *shared)
    session_notes: list[str] = []
    old = names[0]
    within = [folder for folder in found if folder.old != old]
    sessions = sum(len(folder.subjects) for folder in found)
    session_notes.append(f"{format_count(sessions, 'session')} of '{old}'")
    if within:
        listed = ", ".join(f"'{item.old}'" for item in within[:MOST_NAMED])
        others = f" and {len(within) - MOST_NAMED} more" if len(within) > MOST_NAMED else ""
        session_notes.append(f"also moves its subdirectories: {listed}{others}")
    session_notes.append("only the sessions are moved, not the directory itself")
    if not with_texts:
        session_notes.append("paths in messages are unchanged: `--texts` rewrites them too")
    if any(folder.target != folder.folder and (folder.target / INDEX).exists() for folder in found):
        session_notes.append(
            f"the '{INDEX}' in the new folder is kept: Claude Code continues with it"
        )
    return Plan(
        operation="move",
        source=Subject(names[0], logs[0], logs[1:], config),
        session=names[1],
        path=found[0].target,
        steps=steps,
        before=before,
        after=Measures(before.lines, before.turns, before.bytes + rewritten.grown, before.tokens),
        changes=tuple(change for change in changes if change.lines),
        differences=tuple(rewritten.differences),
        read=tuple((path, read_stamp(path)) for path in moved),
        notes=(*session_notes, *notes),
    )


def _move_file(folder: MovedFolder, path: Path, directories: DirectoryMap) -> tuple[Step, ...]:
    """Return the steps that move a file to its new place."""
    place, was = folder.place(path), read_stamp(path)
    content = None
    is_output = OUTPUTS in path.parent.parts[-2:]
    if path.suffix == LOG_SUFFIX and not is_output:
        if any(directories.rewrite_line(line) != line.data for line in iter_lines(path)):
            content = partial(rewrite_log, path, directories.rewrite_line)
    elif path.suffix == JSON and not is_output:
        data = read_small(path) or b""
        if directories.rewrite_json(data) != data:
            content = partial(directories.rewrite_file, path)
    if path.name == INDEX and place != path and place.exists():
        return (Remove(path, was),)  # the index of the other directory stays
    if content is None:
        return () if place == path else (Move(path, place, was),)
    mode, times = read_file_mode(path), read_file_times(path)
    if place == path:
        return (Write(path, content, was, mode, times),)
    return (Write(place, content, None, mode, times), Remove(path, was))


def _plan_shared_files(
    config: Path, found: tuple[MovedFolder, ...], directories: DirectoryMap
) -> tuple[list[Step], list[str]]:
    """Return the changes in shared files, and notes about them."""
    steps, notes = list[Step](), list[str]()
    quiet = DirectoryMap(directories.pairs)
    history = config / PROMPT_HISTORY

    def rewrite_prompt(line: Line) -> bytes:
        return quiet.rewrite_json(line.data)

    if history.is_file() and any(rewrite_prompt(line) != line.data for line in iter_lines(history)):
        content = partial(rewrite_log, history, rewrite_prompt)
        steps.append(Write(history, content, read_stamp(history), is_shared=True))
    places = [config / CLIENT_STATE]
    if config.name == USUAL_CONFIG:
        places.append(config.parent / CLIENT_STATE)
    for path in [path for path in places if path.is_file()]:
        data = read_small(path) or b""
        if quiet.rewrite_json(data) == data:
            continue
        known = [new for _, new in directories.pairs if _knows_directory(data, new)]
        if path.is_symlink():
            notes.append(f"'{path}' is a symlink and is left unchanged")
        elif known:
            notes.append(f"'{path}' already has '{known[0]}' and is left unchanged")
        else:
            content = partial(quiet.rewrite_file, path)
            steps.append(Write(path, content, read_stamp(path), is_shared=True))
    return steps, notes


def _knows_directory(data: bytes, directory: str) -> bool:
    try:
        known = json.loads(data)
    except (ValueError, RecursionError):
        return True
    projects = known.get("projects") if isinstance(known, dict) else None
    return isinstance(projects, dict) and directory in projects


def sum_measures(sizes: Iterable[Measures]) -> Measures:
    """Return the total size of some sessions; the tokens of a resume are known for a single one
    only.
    """
    found = list(sizes)
    return Measures(
        sum(measures.lines for measures in found),
        sum(measures.turns for measures in found),
        sum(measures.bytes for measures in found),
        found[0].tokens if len(found) == 1 else None,
    )
