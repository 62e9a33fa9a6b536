"""Packing sessions or a project into one file, and unpacking it on another machine.

    project/<session>.jsonl, project/<session>/**     as in the folder of the project
    file-history/<session>/**, tasks/<session>/**, todos/<session>-*.json
    history.jsonl                                     the prompts that were typed in them

With a redactor, everything goes through it, names and directories too. Unpacking keeps ids and
rewrites paths to this machine. An existing session is never overwritten: if both copies differ, the
report says which one continues the other.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from plait.edit.log import (
    LARGE_LOG_BYTES,
    measure_large_log,
    measure_log,
    measure_records,
    read_stamp,
    rewrite_lines,
    rewrite_log,
    split_lines,
)
from plait.edit.move import INDEX, DirectoryMap, sum_measures
from plait.edit.plan import (
    NO_MEASURES,
    Append,
    Change,
    Content,
    CopyOf,
    Measures,
    Plan,
    Step,
    Subject,
    Write,
)
from plait.edit.redaction import SessionRedactor, is_text
from plait.edit.side_files import CLIENT_FOLDERS, JSON, LISTS, OUTPUTS, list_side_files
from plait.errors import Refused
from plait.line import (
    Finding,
    iter_bytes,
    iter_lines,
    make_project_slug,
    read_file_times,
    read_small,
)
from plait.line.discovery import (
    AGENT_PREFIX,
    LOG_SUFFIX,
    PLAIT_FOLDER,
    PROMPT_HISTORY,
    make_log_file,
)
from plait.line.output import is_plain_name
from plait.line.pack import Manifest, Member, Pack, write_pack
from plait.record import Record, parse_entry
from plait.view.formats import format_count

if TYPE_CHECKING:
    from plait.redact import Redactor


PROJECT = "project"
HOME = re.compile(r"/home/[^/]+|/Users/[^/]+|/root(?=/|$)|[A-Za-z]:[\\/]Users[\\/][^\\/]+")


@dataclass(frozen=True, slots=True)
class PackSource:
    """What to pack."""

    folder: Path
    directory: str | None
    subjects: tuple[Subject, ...]
    files: tuple[Path, ...]
    """The files of the folder to include."""
    is_project: bool = False

    @property
    def config(self) -> Path | None:
        """The client's configuration folder."""
        return self.subjects[0].config


@dataclass(frozen=True)
class PackPlan:
    """A package that has not been written yet: its contents and size."""

    path: Path
    load: PackSource
    members: tuple[Member, ...]
    about: dict[str, Any]
    size: Measures
    redacted: int = 0
    """Lines of the sessions' own logs that redaction changes."""
    notes: tuple[str, ...] = field(default=())

    def write(self) -> Manifest:
        """Write it, completely or not at all; nothing is overwritten."""
        return write_pack(self.path, self.members, self.about)


def find_user_home(directory: str | None, config: Path | None) -> str | None:
    """Return the home folder that a directory is in, judging by its name."""
    found = HOME.match(directory or "")
    if found:
        return found[0]
    return str(config.parent) if config and config.name == ".claude" else None


def plan_pack(path: Path, load: PackSource, redactor: "Redactor | None" = None) -> PackPlan:
    """Return the package of some sessions with their side files."""
    files = dict(_iter_files(load))
    odd = [name for name in files if not all(map(is_plain_name, name.split("/")))]
    for name in odd:
        del files[name]
    cleaner: SessionRedactor | None = None
    if redactor:
        cleaner = SessionRedactor(redactor, keeps_places=False)
        for name, file in files.items():
            (cleaner.learn_log if _is_log(name) else cleaner.learn_file)(file)
        for text in filter(None, (load.directory, str(load.config or ""))):
            redactor.learn(text)
    members = tuple(_iter_members(files, load, cleaner))
    sizes = [
        measure_log(subject.log, read_stamp(subject.log.path).size) for subject in load.subjects
    ]
    changed = 0
    notes: list[str] = []
    if cleaner is None:
        notes.append("not redacted: anyone who has the file can read everything in it")
    else:
        for subject in load.subjects:
            lines = iter_lines(subject.log.path)
            changed += sum(cleaner.redact_line(line) != line.data for line in lines)
        values = cleaner.redactor.report.found.values()
        secrets = sum(value.kind == "secret" for value in values)
        notes.append(
            f"redacted: {format_count(len(values), 'value')}, including {format_count(secrets, 'secret')}"
        )
        others = [path for name, path in files.items() if not _is_log(name)]
        binary = [path for path in others if not is_text(read_small(path) or b"")]
        if binary:
            notes.append(f"not checked: {format_count(len(binary), 'binary file')}")
    if odd:
        notes.append(
            f"left out: {format_count(len(odd), 'file')} with names that some systems do not allow"
        )

    def redact(text: str | None) -> str | None:
        return cleaner.redactor.text(text) if cleaner and text else text

    is_loose = load.config is None and load.directory
    found: set[str] = set()
    for subject in load.subjects:
        for line in iter_lines(subject.log.path):
            entry = parse_entry(line)
            if isinstance(entry, Record) and entry.version:
                found.add(entry.version)
    about = {
        "kind": PROJECT if load.is_project else "session",
        "sessions": [subject.id for subject in load.subjects],
        "directory": redact(load.directory),
        "slug": redact(
            make_project_slug(load.directory) if is_loose and load.directory else load.folder.name
        ),
        "home": redact(find_user_home(load.directory, load.config)),
        "config": redact(str(load.config) if load.config else None),
        "clients": sorted(found),
        "redacted": cleaner is not None,
    }
    return PackPlan(path, load, members, about, sum_measures(sizes), changed, tuple(notes))


def _iter_files(load: PackSource) -> Iterator[tuple[str, Path]]:
    for path in load.files:
        if path.name != INDEX:
            yield f"{PROJECT}/{path.relative_to(load.folder).as_posix()}", path
    for subject in load.subjects:
        for side_file in list_side_files(subject, subject.id):
            if subject.config and load.folder not in side_file.source.parents:
                yield side_file.source.relative_to(subject.config).as_posix(), side_file.source


def _is_log(name: str) -> bool:
    return name.endswith(LOG_SUFFIX) and OUTPUTS not in name.split("/")[-3:-1]


def _iter_members(
    files: dict[str, Path], load: PackSource, cleaner: SessionRedactor | None
) -> Iterator[Member]:
    existing: set[str] = set()
    for name, path in sorted(files.items()):
        times = read_file_times(path)
        shown = name
        if cleaner:
            parts = (cleaner.redactor.text(part) for part in name.split("/"))
            shown = "/".join(part.replace(": ", " ").replace(":", " ") for part in parts)
        while shown in existing:
            shown += "_"
        existing.add(shown)
        yield Member(shown, _content(name, path, cleaner), times[1] if times else 0)
    # Of the client's history, the prompts of these sessions.
    history = load.config / PROMPT_HISTORY if load.config else None
    names = [subject.id.encode("utf-8", "surrogatepass") for subject in load.subjects]
    prompts = [
        (cleaner.redact_prompt(line) if cleaner else line.data) + b"\n"
        for line in (iter_lines(history) if history and history.is_file() else ())
        if any(name in line.data for name in names)
    ]
    if prompts:
        yield Member(PROMPT_HISTORY, lambda: prompts)


def _content(
    name: str, path: Path, cleaner: SessionRedactor | None
) -> Callable[[], Iterable[bytes]]:
    if _is_log(name):
        size = read_stamp(path).size
        redact = cleaner.redact_line if cleaner else lambda line: line.data
        return partial(rewrite_log, path, redact, size)
    if cleaner is None or not is_text(read_small(path) or b""):
        return CopyOf(path)
    return lambda: [cleaner.redact_file(path)]


FROM_FILE = "from the file"
MEMORY = "memory"
Relation: TypeAlias = Literal["equal", "shorter", "longer", "other"]
"""How an existing session relates to the incoming one."""
RELATION_WORDS: dict[Relation, str] = {
    "shorter": "already exists here, but the package has newer messages: delete the session here before you unpack the file",
    "longer": "already exists here, with newer messages",
    "other": "already exists here and differs",
}


def plan_unpack(file: Path, config: Path, directory: str, known: Mapping[str, Path]) -> Plan:
    """Return the plan that unpacks the sessions of a package into a directory of this machine.

    `known` has the logs of existing sessions by id.
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
    sessions = sorted(arrival.sessions)
    is_single = arrival.pack.manifest.about.get("kind") == "session" and len(sessions) == 1
    path = arrival.folder / f"{sessions[0]}{LOG_SUFFIX}" if is_single else arrival.folder
    name = sessions[0] if is_single else arrival.directory
    source = str(arrival.pack.path)
    after = sum_measures(found.brought) if found.brought else NO_MEASURES
    own = make_log_file(arrival.folder / f"{sessions[0] if sessions else 'none'}{LOG_SUFFIX}")
    notes: list[str] = []
    about = arrival.pack.manifest.about
    notes.append(f"from '{about.get('directory')}' to '{arrival.directory}'")
    new = sum(isinstance(step, Write) for step in steps)
    notes.append(f"{format_count(new, 'new file')}, {found.equal:,} already here")
    if any(MEMORY in step.path.parts for step in steps):
        notes.append("includes Claude's memory of the project: review it before you continue")
    if about.get("redacted"):
        notes.append("sensitive data was removed before packing")
    return Plan(
        operation="port",
        source=Subject(source if steps else name, own, (), arrival.config),
        session=name,
        path=path,
        steps=tuple(steps),
        before=NO_MEASURES,
        after=after,
        changes=(Change("added", after.lines, FROM_FILE),) if after.lines else (),
        originals=tuple(arrival.logs(steps)),
        keeps_line_order=True,
        unmended=tuple(found.conflicts),
        notes=tuple(notes),
    )


def is_allowed(parts: tuple[str, ...]) -> bool:
    """Return whether a package may contain a file of that name."""
    if PLAIT_FOLDER in parts:
        return False
    if parts[0] == PROJECT:
        return len(parts) > 1
    if parts[0] in CLIENT_FOLDERS:
        return len(parts) > 2
    return (parts[0] == LISTS and len(parts) == 2) or parts == (PROMPT_HISTORY,)


class _Found:
    """What was found on the way."""

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
    """The files of a package, and what they become here."""

    def __init__(self, pack: Pack, config: Path, directory: str) -> None:
        self.pack, self.config, self.directory = pack, config, directory
        about = pack.manifest.about
        self.folder = config / "projects" / make_project_slug(directory)

        def get_text(name: str) -> str:
            value = about.get(name)
            return value if isinstance(value, str) else ""

        home, ours = get_text("home"), find_user_home(directory, config)
        pairs = [(get_text("directory"), directory), (get_text("config"), str(config))]
        pairs += [(home, ours)] if ours else []
        slug = get_text("slug")
        self.directories = DirectoryMap(
            tuple((old, new) for old, new in pairs if len(old) > 1),
            ((slug, make_project_slug(directory)),) if slug else (),
            config=(get_text("config"), str(config)) if get_text("config") else None,
        )
        names = [name for name in pack.files if name != PROMPT_HISTORY]
        self.sessions = {
            path.stem
            for path in map(PurePosixPath, names)
            if path.suffix == LOG_SUFFIX
            and path.parent == PurePosixPath(PROJECT)
            and _is_session(path)
        }
        self.groups: dict[str | None, list[str]] = {}
        for name in sorted(names):
            parts = PurePosixPath(name).parts
            stem = PurePosixPath(parts[1]).stem if len(parts) == 2 else parts[1]
            if parts[0] == LISTS:
                found = next(
                    (session for session in self.sessions if stem.startswith(f"{session}-")), None
                )
            else:
                found = stem if stem in self.sessions else None
            if found is None and parts[0] != PROJECT:
                raise Refused(
                    f"refusing to open '{self.pack.path}': '{name}' does not belong to any "
                    "session in it"
                )
            self.groups.setdefault(found, []).append(name)

    def place(self, name: str) -> _Place:
        """Return the place of a file and its content."""
        parts = PurePosixPath(name).parts
        is_of_project = parts[0] == PROJECT
        base = self.folder if is_of_project else self.config
        path = base.joinpath(*(parts[1:] if is_of_project else parts))
        original = self.pack.content(name)
        return _Place(name, path, self._content(path, original), original)

    def _content(self, path: Path, original: Content) -> Content:
        if OUTPUTS in path.parent.parts[-2:] or path.suffix not in (LOG_SUFFIX, JSON):
            return original
        if path.suffix == LOG_SUFFIX:
            rewrite = self.directories.rewrite_line
            return lambda: rewrite_lines(split_lines(original()), rewrite)
        return lambda: [self.directories.rewrite_json(b"".join(original()))]

    def may_come(self, session: str, here: Path | None, found: _Found) -> bool:
        """Return whether a session may be unpacked; note why not."""
        place = self.place(f"{PROJECT}/{session}{LOG_SUFFIX}")
        if here is None and not place.path.exists():
            return True
        if here is not None and here != place.path:
            words = f"session '{session}' already exists here, in '{here.parent.name}'"
            found.conflicts.append(Finding("conflict", words, here))
            return False
        relation = _compare_files(place.path, place.content())
        if relation == "equal":
            return True
        words = f"session '{session}' {RELATION_WORDS[relation]}"
        found.conflicts.append(Finding("conflict", words, place.path))
        return False

    def writes(self, names: Iterable[str], found: _Found) -> Iterator[Write]:
        """Yield the files that are not here yet."""
        for place in map(self.place, names):
            if not place.path.exists():
                if (
                    place.path.suffix == LOG_SUFFIX
                    and place.path.parent == self.folder
                    and _is_session(place.path)
                ):
                    found.brought.append(_measure_session(place))
                yield Write(place.path, place.content)
            elif _compare_files(place.path, place.content()) == "equal":
                found.equal += 1
            else:
                words = f"'{place.path.name}' already exists here and differs"
                found.conflicts.append(Finding("conflict", words, place.path))

    def prompts(self, sessions: Iterable[str]) -> Iterator[Step]:
        """Yield the step that adds the sessions' prompts to the client's history."""
        names = [session.encode() for session in sessions]
        if PROMPT_HISTORY not in self.pack.files or not names:
            return
        moved = [
            self.directories.rewrite_json(line.data)
            for line in split_lines(self.pack.content(PROMPT_HISTORY)())
            if any(name in line.data for name in names)
        ]
        path = self.config / PROMPT_HISTORY
        if not path.exists():
            yield Write(path, lambda: [b"".join(item + b"\n" for item in moved)], is_shared=True)
            return
        is_ended, here = True, set[bytes]()
        for line in iter_lines(path):
            here.add(line.data)
            is_ended = line.is_ended
        new = b"".join(item + b"\n" for item in moved if item not in here)
        if new:
            data = new if is_ended else b"\n" + new
            yield Append(path, data, read_stamp(path), is_shared=True)

    def logs(self, steps: Iterable[Step]) -> Iterator[tuple[Path, Content]]:
        """Yield the incoming logs unchanged."""
        comes = {step.path for step in steps}
        for name in self.pack.files:
            place = self.place(name) if name != PROMPT_HISTORY else None
            if place and place.path in comes and place.path.suffix == LOG_SUFFIX:
                yield place.path, place.original


def _is_session(path: Path | PurePosixPath) -> bool:
    return not path.name.startswith(AGENT_PREFIX)


def _compare_files(path: Path, content: Iterable[bytes]) -> Relation:
    """Return how an existing file relates to the incoming one."""
    comes, here = _Stream(content), _Stream(iter_bytes(path))
    while True:
        item, other = comes.peek(), here.peek()
        if not item or not other:
            return "equal" if item == other else "longer" if other else "shorter"
        size = min(len(item), len(other))
        if item[:size] != other[:size]:
            return "other"
        comes.pass_over(size)
        here.pass_over(size)


class _Stream:
    """Bytes that arrive in pieces of any size."""

    def __init__(self, source: Iterable[bytes]) -> None:
        self._source, self._held = iter(source), b""

    def peek(self) -> bytes:
        """Return the next bytes, none at the end."""
        while not self._held:
            piece = next(self._source, None)
            if piece is None:
                return b""
            self._held = piece
        return self._held

    def pass_over(self, size: int) -> None:
        """Skip a number of bytes."""
        self._held = self._held[size:]


def _measure_session(place: _Place) -> Measures:
    """Return the size of an incoming session."""
    size = sum(map(len, place.content()))
    found = split_lines(place.content())
    if size >= LARGE_LOG_BYTES:
        return measure_large_log(found, size)
    records: list[Record] = []
    count = 0
    for line in found:
        count += 1
        if isinstance(entry := parse_entry(line), Record):
            records.append(entry)
    return measure_records(make_log_file(place.path), records, lines=count, size=size)
