"""Sessions, or a whole project, to one file that another machine can take them from.

    project/<session>.jsonl, project/<session>/**     as in the folder of the project
    file-history/<session>/**, tasks/<session>/**, todos/<session>-*.json
    history.jsonl                                     the prompts that were typed in them

Where it is redacted, everything goes through the redactor, names and directories too.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.edit.clean import Cleaner, is_text
from plait.edit.copying import joined
from plait.edit.held import stamp_now
from plait.edit.measure import measures_of
from plait.edit.model import CopyOf, Measures, Subject
from plait.edit.move import INDEX, together
from plait.edit.side_files import OUTPUTS, side_files
from plait.line import lines, read_small, slug_of, times_of
from plait.line.discover import PROMPTS, SUFFIX
from plait.line.folder import is_plain_name
from plait.line.pack import Manifest, Member, write_pack
from plait.record import Record, entry_of

if TYPE_CHECKING:
    from plait.redact import Redactor

PROJECT = "project"
HOME = re.compile(r"/home/[^/]+|/Users/[^/]+|/root(?=/|$)|[A-Za-z]:[\\/]Users[\\/][^\\/]+")


@dataclass(frozen=True, slots=True)
class Load:
    """What is to be packed."""

    folder: Path
    directory: str | None
    subjects: tuple[Subject, ...]
    files: tuple[Path, ...]
    """Those of the folder that come along."""
    is_project: bool = False

    @property
    def config(self) -> Path | None:
        """The client's configuration folder."""
        return self.subjects[0].config


@dataclass(frozen=True)
class Packing:
    """An archive that has not been written yet: what will be in it, and how large that is."""

    path: Path
    load: Load
    members: tuple[Member, ...]
    about: dict[str, Any]
    size: Measures
    redacted: int = 0
    """Lines of the sessions' own logs that are other ones in it."""
    notes: tuple[str, ...] = field(default=())

    def write(self) -> Manifest:
        """Writes it, whole or not at all; nothing is written over."""
        return write_pack(self.path, self.members, self.about)


def home_in(directory: str | None, config: Path | None) -> str | None:
    """Returns the home of whoever a directory belongs to, as far as its name tells."""
    found = HOME.match(directory or "")
    if found:
        return found[0]
    return str(config.parent) if config and config.name == ".claude" else None


def packing(path: Path, load: Load, redactor: "Redactor | None" = None) -> Packing:
    """Returns what is to be packed, with all that lies beside sessions."""
    files = dict(_files(load))
    odd = [name for name in files if not all(map(is_plain_name, name.split("/")))]
    for name in odd:
        del files[name]
    cleaner = _taught(files, load, redactor) if redactor else None
    members = tuple(_members(files, load, cleaner))
    sizes = [measures_of(one.log, stamp_now(one.log.path).size) for one in load.subjects]
    changed = sum(_changed(one, cleaner) for one in load.subjects) if cleaner else 0
    notes = list(_notes(files, cleaner))
    if odd:
        notes.append(f"left out, because not every system has such names: {len(odd)} files")
    about = _about(load, cleaner)
    return Packing(path, load, members, about, together(sizes), changed, tuple(notes))


def _files(load: Load) -> Iterator[tuple[str, Path]]:
    for path in load.files:
        if path.name != INDEX:
            yield f"{PROJECT}/{path.relative_to(load.folder).as_posix()}", path
    for subject in load.subjects:
        for one in side_files(subject, subject.id):
            if subject.config and load.folder not in one.source.parents:
                yield one.source.relative_to(subject.config).as_posix(), one.source


def _is_log(name: str) -> bool:
    return name.endswith(SUFFIX) and OUTPUTS not in name.split("/")[-3:-1]


def _members(files: dict[str, Path], load: Load, cleaner: Cleaner | None) -> Iterator[Member]:
    taken: set[str] = set()
    for name, path in sorted(files.items()):
        times = times_of(path)
        shown = name
        if cleaner:
            parts = (cleaner.redactor.text(part) for part in name.split("/"))
            shown = "/".join(part.replace(": ", " ").replace(":", " ") for part in parts)
        while shown in taken:
            shown += "_"
        taken.add(shown)
        yield Member(shown, _content(name, path, cleaner), times[1] if times else 0)
    prompts = list(_prompts(load, cleaner))
    if prompts:
        yield Member(PROMPTS, lambda: prompts)


def _content(name: str, path: Path, cleaner: Cleaner | None) -> Callable[[], Iterable[bytes]]:
    if _is_log(name):
        size = stamp_now(path).size
        return lambda: joined(_lines(path, size, cleaner))
    if cleaner is None or not is_text(read_small(path) or b""):
        return CopyOf(path)
    return lambda: [cleaner.file(path)]


def _lines(path: Path, size: int, cleaner: Cleaner | None) -> Iterator[bytes]:
    for line in lines(path, end=size):
        yield cleaner.line(line) if cleaner else line.data
        if line.is_ended:
            yield b"\n"


def _prompts(load: Load, cleaner: Cleaner | None) -> Iterator[bytes]:
    """Yields what was typed in the sessions, as the client's list has it."""
    history = load.config / PROMPTS if load.config else None
    if not history or not history.is_file():
        return
    names = [subject.id.encode("utf-8", "surrogatepass") for subject in load.subjects]
    for line in lines(history):
        if any(name in line.data for name in names):
            yield (cleaner.prompt(line) if cleaner else line.data) + b"\n"


def _taught(files: dict[str, Path], load: Load, redactor: "Redactor") -> Cleaner:
    cleaner = Cleaner(redactor, keeps_places=False)
    for name, path in files.items():
        (cleaner.learn_log if _is_log(name) else cleaner.learn_file)(path)
    for text in filter(None, (load.directory, str(load.config or ""))):
        redactor.learn(text)
    return cleaner


def _changed(subject: Subject, cleaner: Cleaner) -> int:
    return sum(cleaner.line(line) != line.data for line in lines(subject.log.path))


def _about(load: Load, cleaner: Cleaner | None) -> dict[str, Any]:
    def told(text: str | None) -> str | None:
        return cleaner.redactor.text(text) if cleaner and text else text

    return {
        "kind": PROJECT if load.is_project else "session",
        "sessions": [subject.id for subject in load.subjects],
        "directory": told(load.directory),
        "slug": told(_slug_of(load)),
        "home": told(home_in(load.directory, load.config)),
        "config": told(str(load.config) if load.config else None),
        "clients": sorted(_versions(load)),
        "redacted": cleaner is not None,
    }


def _slug_of(load: Load) -> str:
    """Returns the name of the project's folder; of a log that lies anywhere, what it would be."""
    is_loose = load.config is None and load.directory
    return slug_of(load.directory) if is_loose and load.directory else load.folder.name


def _versions(load: Load) -> set[str]:
    found: set[str] = set()
    for subject in load.subjects:
        for line in lines(subject.log.path):
            entry = entry_of(line)
            if isinstance(entry, Record) and entry.version:
                found.add(entry.version)
    return found


def _notes(files: dict[str, Path], cleaner: Cleaner | None) -> Iterator[str]:
    if cleaner is None:
        yield "nothing is redacted: whoever has the file reads everything"
        return
    report = cleaner.redactor.report
    secrets = sum(one.kind == "secret" for one in report.found.values())
    found = len(report.found)
    yield f"hidden: {found} {'value' if found == 1 else 'values'}, {secrets} of them secret"
    logs = [path for name, path in files.items() if not _is_log(name)]
    binary = [path for path in logs if not is_text(read_small(path) or b"")]
    if binary:
        yield f"not looked into, because they are no text: {len(binary)} files"
