"""A project to the plan by which its sessions lie where another directory's do.

    projects/<slug>/**        to the folder of the other slug: what names the directory is written
                              anew, all else only gets another name
    history.jsonl             the project of each prompt
    .claude.json              what the client knows of the directory

Projects of directories within it move along. What people, the model and tools said stays as it
was said. Nothing that is there is written over.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from plait.edit.amounts import many
from plait.edit.copying import SHOWN, joined
from plait.edit.entry import CLIENT_STATE, USUAL_CONFIG
from plait.edit.held import gone, stamp_now
from plait.edit.measure import measures_of
from plait.edit.model import (
    Change,
    Content,
    Difference,
    Measures,
    Move,
    Plan,
    Remove,
    Step,
    Subject,
    Write,
)
from plait.edit.paths import Directories, names_any
from plait.edit.side_files import JSON, OUTPUTS
from plait.errors import Refused
from plait.line import Line, lines, mode_of, read_small, slug_of, times_of
from plait.line.discover import PROMPTS, SUFFIX
from plait.record import Record, entry_of

INDEX = "sessions-index.json"
DIRECTORY, OTHERWISE = "its directory", "nothing in it names the directory"
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class MovedFolder:
    """The sessions of one directory, and what it is called from now on."""

    folder: Path
    old: str
    new: str
    files: tuple[Path, ...]
    """All that goes along."""
    subjects: tuple[Subject, ...]

    @property
    def target(self) -> Path:
        """The folder that they will lie in."""
        return self.folder.with_name(slug_of(self.new))

    def place(self, path: Path) -> Path:
        """Returns where a file of it will lie."""
        return self.target / path.relative_to(self.folder)


def move(
    config: Path,
    folders: Iterable[MovedFolder],
    names: tuple[str, str],
    *,
    with_texts: bool = False,
) -> Plan:
    """Returns the plan that moves the sessions of a directory and of those in it."""
    found = tuple(folders)
    directories = Directories(
        (names, *((one.old, one.new) for one in found)),
        tuple((one.folder.name, one.target.name) for one in found),
        with_texts,
    )
    _refuse_taken(found)
    moved = [_moved(one, path, directories) for one in found for path in one.files]
    shared, notes = _shared(config, found, directories)
    subjects = [subject for one in found for subject in one.subjects]
    logs = tuple(log for subject in subjects for log in (subject.log, *subject.others))
    tally = _tally(subjects, directories)
    steps = (*(step for file in moved for step in file.steps), *shared)
    return Plan(
        operation="move",
        source=Subject(names[0], logs[0], logs[1:], config),
        session=names[1],
        path=found[0].target,
        steps=steps,
        before=tally.before,
        after=tally.after,
        changes=tally.changes,
        differences=tuple(tally.differences),
        read=tuple((file.path, stamp_now(file.path)) for file in moved),
        notes=(*_told(found, names[0], with_texts), *notes),
    )


def _refuse_taken(found: Iterable[MovedFolder]) -> None:
    """Refuses to write over anything that is there and does not go itself."""
    goes = {path for one in found for path in one.files}
    taken = [
        place
        for one in found
        for path in one.files
        if (place := one.place(path)) not in goes and place.exists() and path.name != INDEX
    ]
    if taken:
        names = ", ".join(f"'{path.name}'" for path in taken[:MOST_NAMED])
        more = f" and {len(taken) - MOST_NAMED} more" if len(taken) > MOST_NAMED else ""
        raise Refused(f"'{taken[0].parent}' holds {names}{more} already", "nothing was changed")


@dataclass(frozen=True, slots=True)
class _MovedFile:
    path: Path
    steps: tuple[Step, ...]


def _moved(one: MovedFolder, path: Path, directories: Directories) -> _MovedFile:
    """Returns how a file comes to where it will lie."""
    place, was = one.place(path), stamp_now(path)
    content = _content(path, directories)
    if path.name == INDEX and place != path and place.exists():
        return _MovedFile(path, (Remove(path, was),))  # that of the other directory goes on
    if content is None:
        return _MovedFile(path, () if place == path else (Move(path, place, was),))
    mode, times = mode_of(path), times_of(path)
    if place == path:
        return _MovedFile(path, (Write(path, content, was, mode, times),))
    return _MovedFile(path, (Write(place, content, None, mode, times), Remove(path, was)))


def _content(path: Path, directories: Directories) -> Content | None:
    """Returns what a file will hold, None where that is what it holds now."""
    if OUTPUTS in path.parent.parts[-2:]:
        return None
    if path.suffix == SUFFIX:
        return partial(_log, path, directories) if names_any(lines(path), directories) else None
    if path.suffix != JSON:
        return None
    data = read_small(path) or b""
    return partial(_text, path, directories) if directories.text(data) != data else None


def _log(path: Path, directories: Directories) -> Iterator[bytes]:
    return joined(part for line in lines(path) for part in _parts(line, directories))


def _parts(line: Line, directories: Directories) -> tuple[bytes, ...]:
    data = directories.line(line)
    return (data, b"\n") if line.is_ended else (data,)


def _text(path: Path, directories: Directories) -> Iterator[bytes]:
    data = read_small(path)
    if data is None:
        raise gone(path)
    yield directories.text(data)


def _shared(
    config: Path, found: tuple[MovedFolder, ...], directories: Directories
) -> tuple[list[Step], list[str]]:
    """Returns what changes in the files of all sessions, and what to say of them."""
    steps, notes = list[Step](), list[str]()
    said = Directories(directories.pairs)
    history = config / PROMPTS
    if history.is_file() and changed_prompts(history, said):
        was = stamp_now(history)
        steps.append(Write(history, partial(_prompts, history, said), was, is_shared=True))
    for path in state_files(config):
        data = read_small(path) or b""
        if said.text(data) == data:
            continue
        known = [new for _, new in directories.pairs if _knows(data, new)]
        if path.is_symlink():
            notes.append(f"'{path}' is a link, and stays as it is")
        elif known:
            notes.append(f"'{path}' knows '{known[0]}' already, and stays as it is")
        else:
            was = stamp_now(path)
            steps.append(Write(path, partial(_text, path, said), was, is_shared=True))
    return steps, notes


def state_files(config: Path) -> list[Path]:
    """Returns where the client keeps what it knows of projects: in its folder, or beside it."""
    places = [config / CLIENT_STATE]
    if config.name == USUAL_CONFIG:
        places.append(config.parent / CLIENT_STATE)
    return [path for path in places if path.is_file()]


def _knows(data: bytes, directory: str) -> bool:
    try:
        known = json.loads(data)
    except (ValueError, RecursionError):
        return True
    projects = known.get("projects") if isinstance(known, dict) else None
    return isinstance(projects, dict) and directory in projects


def changed_prompts(history: Path, directories: Directories) -> int:
    """Counts the prompts that were typed in a directory."""
    return sum(directories.text(line.data) != line.data for line in lines(history))


def _prompts(history: Path, directories: Directories) -> Iterator[bytes]:
    for line in lines(history):
        yield directories.text(line.data) + (b"\n" if line.is_ended else b"")


@dataclass(slots=True)
class _Tally:
    before: Measures
    after: Measures
    changes: tuple[Change, ...]
    differences: list[Difference]


def _tally(subjects: Iterable[Subject], directories: Directories) -> _Tally:
    """Counts what becomes of the lines of sessions, and keeps a few differences to show."""
    sizes: list[Measures] = []
    differences: list[Difference] = []
    changed = grown = 0
    for subject in subjects:
        size = stamp_now(subject.log.path).size
        sizes.append(measures_of(subject.log, size))
        for line in lines(subject.log.path, end=size):
            data = directories.line(line)
            if data != line.data:
                changed += 1
                grown += len(data) - len(line.data)
                if len(differences) < SHOWN:
                    differences.append(_difference(line, data))
    before = together(sizes)
    after = Measures(before.lines, before.turns, before.bytes + grown, before.tokens)
    kept = before.lines - changed
    changes = (Change("rewritten", changed, DIRECTORY), Change("kept", kept, OTHERWISE))
    return _Tally(before, after, tuple(one for one in changes if one.lines), differences)


def _difference(line: Line, data: bytes) -> Difference:
    entry = entry_of(line)
    uuid = entry.uuid if isinstance(entry, Record) else None
    return Difference(line.number, uuid, line.data, data, DIRECTORY)


def together(sizes: Iterable[Measures]) -> Measures:
    """Returns how large some sessions are; what a resume sends is known of one alone."""
    found = list(sizes)
    return Measures(
        sum(one.lines for one in found),
        sum(one.turns for one in found),
        sum(one.bytes for one in found),
        found[0].tokens if len(found) == 1 else None,
    )


def _told(found: tuple[MovedFolder, ...], old: str, with_texts: bool) -> Iterator[str]:
    within = [one for one in found if one.old != old]
    sessions = sum(len(one.subjects) for one in found)
    yield f"{many(sessions, 'session')} of '{old}'"
    if within:
        names = ", ".join(f"'{one.old}'" for one in within[:MOST_NAMED])
        more = f" and {len(within) - MOST_NAMED} more" if len(within) > MOST_NAMED else ""
        yield f"with it move the directories in it: {names}{more}"
    yield "the directory itself is not touched: what is on the disk you move yourself"
    if not with_texts:
        yield "what was said stays as it was said, old paths in it too: `--texts` changes those"
    if any(one.target != one.folder and (one.target / INDEX).exists() for one in found):
        yield f"the '{INDEX}' of the new folder stays, the client goes on with it"
