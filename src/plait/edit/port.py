"""An archive of sessions to the plan that brings them: paths of this machine, nothing over.

A session that is here already stays as it is: where it is the same, there is nothing to do; where
one of both goes on further, or they differ, that is told. Ids stay.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

from plait.edit.check.line_source import lines_of
from plait.edit.copying import joined
from plait.edit.held import stamp_now
from plait.edit.measure import LARGE, large_measures, measures
from plait.edit.model import (
    Append,
    Change,
    Content,
    Measures,
    Plan,
    Step,
    Subject,
    Write,
)
from plait.edit.move import together
from plait.edit.packing import PROJECT, home_in
from plait.edit.paths import Directories
from plait.edit.side_files import JSON, KEPT_BY_CLIENT, LISTS, OUTPUTS
from plait.errors import Refused
from plait.line import Finding, lines, pieces, slug_of
from plait.line.discover import AGENT, OURS, PROMPTS, SUFFIX, log_file
from plait.line.pack import Pack
from plait.record import Record, entry_of

NOTHING = Measures(0, 0, 0, None)
WHY = "from the file"
MEMORY = "memory"
Relation: TypeAlias = Literal["equal", "shorter", "longer", "other"]
"""What a session that is here is to the one that comes."""
SAID: dict[Relation, str] = {
    "shorter": "is here already, and goes on further in the file: delete it here first to bring it",
    "longer": "is here already, and goes on further here",
    "other": "is here already, and is another one",
}


def unpacked(file: Path, config: Path, directory: str, known: Mapping[str, Path]) -> Plan:
    """Returns the plan that brings the sessions of an archive to a directory of this machine.

    What is known are the logs of the sessions that are here, by their ids.
    """
    pack = Pack(file, is_allowed)
    pack.verify()
    arrival = _Arrival(pack, config, directory)
    steps, found = list[Step](), _Found()
    comes: list[str] = []
    for session, names in arrival.groups.items():
        here = known.get(session) if session else None
        if session is None or arrival.may_come(session, here, found):
            comes += [session] if session else []
            steps += arrival.writes(names, found)
    steps += arrival.prompts(comes)
    return _plan(arrival, steps, found)


def is_allowed(parts: tuple[str, ...]) -> bool:
    """Tells whether an archive may hold a file of that name."""
    if OURS in parts:
        return False
    if parts[0] == PROJECT:
        return len(parts) > 1
    if parts[0] in KEPT_BY_CLIENT:
        return len(parts) > 2
    return (parts[0] == LISTS and len(parts) == 2) or parts == (PROMPTS,)


class _Found:
    """What was met on the way."""

    def __init__(self) -> None:
        self.conflicts: list[Finding] = []
        self.equal = 0
        self.brought: list[Measures] = []


@dataclass(frozen=True, slots=True)
class _Place:
    name: str
    path: Path
    content: Content
    original: Content


class _Arrival:
    """The files of an archive, and what they become here."""

    def __init__(self, pack: Pack, config: Path, directory: str) -> None:
        self.pack, self.config, self.directory = pack, config, directory
        about = pack.manifest.about
        self.folder = config / "projects" / slug_of(directory)
        self.directories = _directories(about, config, directory)
        names = [name for name in pack.files if name != PROMPTS]
        self.sessions = {
            one.stem
            for one in map(PurePosixPath, names)
            if one.suffix == SUFFIX and one.parent == PurePosixPath(PROJECT) and _is_session(one)
        }
        self.groups: dict[str | None, list[str]] = {}
        for name in sorted(names):
            self.groups.setdefault(self._session_of(name), []).append(name)

    def _session_of(self, name: str) -> str | None:
        """Returns the session that a file belongs to, None for one of the project."""
        parts = PurePosixPath(name).parts
        stem = PurePosixPath(parts[1]).stem if len(parts) == 2 else parts[1]
        if parts[0] == LISTS:
            found = next((one for one in self.sessions if stem.startswith(f"{one}-")), None)
        else:
            found = stem if stem in self.sessions else None
        if found is None and parts[0] != PROJECT:
            raise Refused(f"refusing to open '{self.pack.path}': '{name}' is of no session in it")
        return found

    def place(self, name: str) -> _Place:
        """Returns where a file will lie, and what it will hold."""
        parts = PurePosixPath(name).parts
        is_of_project = parts[0] == PROJECT
        base = self.folder if is_of_project else self.config
        path = base.joinpath(*(parts[1:] if is_of_project else parts))
        original = self.pack.content(name)
        return _Place(name, path, self._content(path, original), original)

    def _content(self, path: Path, original: Content) -> Content:
        if OUTPUTS in path.parent.parts[-2:] or path.suffix not in (SUFFIX, JSON):
            return original
        if path.suffix == SUFFIX:
            return partial(_rewritten, original, self.directories)
        return lambda: [self.directories.text(b"".join(original()))]

    def may_come(self, session: str, here: Path | None, found: _Found) -> bool:
        """Tells whether a session may come, and keeps why it may not."""
        place = self.place(f"{PROJECT}/{session}{SUFFIX}")
        if here is None and not place.path.exists():
            return True
        if here is not None and here != place.path:
            words = f"session '{session}' is here already, in '{here.parent.name}'"
            found.conflicts.append(Finding("conflict", words, here))
            return False
        relation = _relation(place.path, place.content())
        if relation == "equal":
            return True
        words = f"session '{session}' {SAID[relation]}"
        found.conflicts.append(Finding("conflict", words, place.path))
        return False

    def writes(self, names: Iterable[str], found: _Found) -> Iterator[Write]:
        """Yields the files that are not here yet."""
        for place in map(self.place, names):
            if not place.path.exists():
                if self._is_own_log(place.path):
                    found.brought.append(_measured(place))
                yield Write(place.path, place.content)
            elif _relation(place.path, place.content()) == "equal":
                found.equal += 1
            else:
                words = f"'{place.path.name}' is here already, and is another one"
                found.conflicts.append(Finding("conflict", words, place.path))

    def _is_own_log(self, path: Path) -> bool:
        return path.suffix == SUFFIX and path.parent == self.folder and _is_session(path)

    def prompts(self, sessions: Iterable[str]) -> Iterator[Step]:
        """Yields what adds the prompts of sessions that are not in the client's list yet."""
        names = [session.encode() for session in sessions]
        if PROMPTS not in self.pack.files or not names:
            return
        told = [
            self.directories.text(line.data)
            for line in lines_of(self.pack.content(PROMPTS)())
            if any(name in line.data for name in names)
        ]
        path = self.config / PROMPTS
        if not path.exists():
            yield Write(path, lambda: [b"".join(one + b"\n" for one in told)], is_shared=True)
            return
        is_ended, here = True, set[bytes]()
        for line in lines(path):
            here.add(line.data)
            is_ended = line.is_ended
        new = b"".join(one + b"\n" for one in told if one not in here)
        if new:
            data = new if is_ended else b"\n" + new
            yield Append(path, data, stamp_now(path), is_shared=True)

    def logs(self, steps: Iterable[Step]) -> Iterator[tuple[Path, Content]]:
        """Yields the logs that come, as they were."""
        comes = {step.path for step in steps}
        for name in self.pack.files:
            place = self.place(name) if name != PROMPTS else None
            if place and place.path in comes and place.path.suffix == SUFFIX:
                yield place.path, place.original


def _directories(about: dict[str, Any], config: Path, directory: str) -> Directories:
    def told(name: str) -> str:
        value = about.get(name)
        return value if isinstance(value, str) else ""

    home, ours = told("home"), home_in(directory, config)
    pairs = [(told("directory"), directory), (told("config"), str(config))]
    pairs += [(home, ours)] if ours else []
    slug = told("slug")
    return Directories(
        tuple((old, new) for old, new in pairs if len(old) > 1),
        ((slug, slug_of(directory)),) if slug else (),
        config=(told("config"), str(config)) if told("config") else None,
    )


def _is_session(path: Path | PurePosixPath) -> bool:
    return not path.name.startswith(AGENT)


def _rewritten(original: Content, directories: Directories) -> Iterator[bytes]:
    found = lines_of(original())
    return joined(
        part for line in found for part in (directories.line(line), b"\n" if line.is_ended else b"")
    )


def _relation(path: Path, content: Iterable[bytes]) -> Relation:
    """Returns what the file that is here is to the one that comes."""
    comes, here = _Stream(content), _Stream(pieces(path))
    while True:
        one, other = comes.peek(), here.peek()
        if not one or not other:
            return "equal" if one == other else "longer" if other else "shorter"
        size = min(len(one), len(other))
        if one[:size] != other[:size]:
            return "other"
        comes.pass_over(size)
        here.pass_over(size)


class _Stream:
    """Bytes that come in pieces of any size."""

    def __init__(self, source: Iterable[bytes]) -> None:
        self._source, self._held = iter(source), b""

    def peek(self) -> bytes:
        """Returns the next bytes, none at the end."""
        while not self._held:
            piece = next(self._source, None)
            if piece is None:
                return b""
            self._held = piece
        return self._held

    def pass_over(self, size: int) -> None:
        """Goes on by so many bytes."""
        self._held = self._held[size:]


def _measured(place: _Place) -> Measures:
    """Returns how large a session is that comes."""
    size = sum(map(len, place.content()))
    found = lines_of(place.content())
    if size >= LARGE:
        return large_measures(found, size)
    records: list[Record] = []
    count = 0
    for line in found:
        count += 1
        if isinstance(entry := entry_of(line), Record):
            records.append(entry)
    return measures(log_file(place.path), records, lines=count, size=size)


def _plan(arrival: _Arrival, steps: list[Step], found: _Found) -> Plan:
    sessions = sorted(arrival.sessions)
    is_one = arrival.pack.manifest.about.get("kind") == "session" and len(sessions) == 1
    path = arrival.folder / f"{sessions[0]}{SUFFIX}" if is_one else arrival.folder
    name = sessions[0] if is_one else arrival.directory
    source = str(arrival.pack.path)
    after = together(found.brought) if found.brought else NOTHING
    own = log_file(arrival.folder / f"{sessions[0] if sessions else 'none'}{SUFFIX}")
    return Plan(
        operation="port",
        source=Subject(source if steps else name, own, (), arrival.config),
        session=name,
        path=path,
        steps=tuple(steps),
        before=NOTHING,
        after=after,
        changes=(Change("added", after.lines, WHY),) if after.lines else (),
        originals=tuple(arrival.logs(steps)),
        keeps_lines=True,
        unmended=tuple(found.conflicts),
        notes=tuple(_notes(arrival, steps, found)),
    )


def _notes(arrival: _Arrival, steps: list[Step], found: _Found) -> Iterator[str]:
    about = arrival.pack.manifest.about
    yield f"from '{about.get('directory')}' to '{arrival.directory}'"
    kinds = Counter(isinstance(step, Write) for step in steps)
    come = "1 file comes" if kinds[True] == 1 else f"{kinds[True]} files come"
    yield f"{come}, {found.equal} {'is' if found.equal == 1 else 'are'} here already"
    if any(MEMORY in step.path.parts for step in steps):
        yield "with it comes what Claude is to remember of the project: read it before you go on"
    if about.get("redacted"):
        yield "what should not be shared was taken out before it was packed"
