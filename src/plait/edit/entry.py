"""An edit to the folder that remembers it, and that folder to the edit.

    <home>/.plait/journal/<id>/entry.json    what was done
                               open.json     what is being done, and how far it has come
                               0003.was      the file of step 3 as it was
                               0003.add      the lines that step 3 adds
                               0003.aside    what stood there when step 3 was undone by force
    <file>/../.<name>.<id>.new               what step 3 will put there

A home is the client's configuration folder, else the folder of the file. Paths are kept
relative to it, and none that leads out of it is ever followed.
"""

import json
import os
import re
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

import msgspec

from plait.errors import Refused, SourceError
from plait.line import read_small
from plait.line.atomic import replace_file
from plait.line.discover import OURS, PROJECTS, PROMPTS
from plait.line.replace import FileState, make_folder, remove_folder

State: TypeAlias = Literal["begun", "ready", "done", "undoing", "undone"]
StepKind: TypeAlias = Literal["write", "append", "remove", "move"]
ENTRY, OPEN = "entry.json", "open.json"
NAME, NAME_FORM = re.compile(r"\d{8}-\d{6}-\d{6}"), "%Y%m%d-%H%M%S-%f"
"""Of an edit: when it was made, to the microsecond."""
MOST_NAME_BYTES = 160
CLIENT_STATE, USUAL_CONFIG = ".claude.json", ".claude"
PARTS_OF_A_CONFIG = frozenset({PROJECTS, "file-history", "tasks", "todos", PROMPTS, CLIENT_STATE})
"""What edits reach in a client's configuration folder: its settings are none of it."""
BESIDE = f"../{CLIENT_STATE}"
"""What the client knows of projects lies beside its usual folder, and in any other one."""


class EditStep(msgspec.Struct, frozen=True):
    """One file that an edit wrote, added to, took away or moved."""

    kind: StepKind
    path: Path
    before: FileState | None
    """None where there was no file."""
    after: FileState | None = None
    """None where there is none any more, and as long as it is not known yet."""
    digest: str | None = None
    """SHA-256 of what was written, where its bytes came by."""
    target: Path | None = None
    """Where a file was moved to."""
    is_shared: bool = False
    """It is of all sessions, and others go on with it."""

    @property
    def places(self) -> tuple[Path, ...]:
        """The files that it touches."""
        return (self.path, self.target) if self.target else (self.path,)


class Edit(msgspec.Struct, frozen=True):
    """What was done to a session, as the journal has it."""

    id: str
    operation: str
    session: str
    path: Path
    """The file of the session that resulted."""
    when: datetime
    state: State
    """`begun` and `ready` are cut off before and after files had begun to change, `undoing` while
    they were brought back.
    """
    steps: tuple[EditStep, ...]
    made: tuple[Path, ...] = ()
    """Folders that were not there before."""
    emptied: tuple[tuple[Path, FileState], ...] = ()
    """Folders that went because nothing was left in them, the outer ones first."""

    @property
    def is_cut_off(self) -> bool:
        """Whether it ended in the middle."""
        return self.state in ("begun", "ready", "undoing")


class Entry:
    """One edit and its files in the journal."""

    def __init__(self, home: Path, edit: Edit) -> None:
        self.home = home
        self.edit = edit
        self.folder = journal_folder(home) / edit.id

    def save(self, state: State, steps: tuple[EditStep, ...] | None = None) -> None:
        """Writes down how far the edit has come, and waits until that is on the disk."""
        steps = self.edit.steps if steps is None else steps
        edit = msgspec.structs.replace(self.edit, state=state, steps=steps)
        make_folder(self.folder)
        name = OPEN if edit.is_cut_off else ENTRY
        replace_file(self.folder / name, _encoded(self.home, edit))
        self.edit = edit
        if name == ENTRY:
            (self.folder / OPEN).unlink(missing_ok=True)

    def remove(self) -> None:
        """Forgets the edit, and what it kept, for ever."""
        remove_folder(self.folder)

    def kept(self, number: int) -> Path:
        """Returns where the file of a step lies as it was."""
        return self.folder / f"{number:04}.was"

    def added(self, number: int) -> Path:
        """Returns where the lines lie that a step adds."""
        return self.folder / f"{number:04}.add"

    def aside(self, number: int) -> Path:
        """Returns where that lies which was in the way of undoing a step."""
        return self.folder / f"{number:04}.aside"

    def draft(self, number: int) -> Path:
        """Returns where the new bytes of a step wait, beside where they will be."""
        path = self.edit.steps[number].path
        name = path.name.encode(errors="surrogateescape")[:MOST_NAME_BYTES]
        shown = name.decode(errors="ignore")
        return path.with_name(f".{shown}.{self.edit.id}-{number}.new")


def journal_folder(home: Path) -> Path:
    """Returns the folder of the journal of a home."""
    return home / OURS / "journal"


def ids_in(home: Path) -> list[str]:
    """Returns the names of all edits in a home, the newest first."""
    try:
        names = os.listdir(journal_folder(home))  # noqa: PTH208
    except OSError:
        return []
    return sorted(filter(NAME.fullmatch, names), reverse=True)


def is_open(home: Path, id_: str) -> bool:
    """Tells whether an edit was cut off, or is not written down at all, without reading it."""
    folder = journal_folder(home) / id_
    return (folder / OPEN).exists() or not (folder / ENTRY).exists()


def read_entry(home: Path, id_: str) -> Entry:
    """Returns an edit by its whole name, or raises where it does not say what was done."""
    folder = journal_folder(home) / id_
    data = read_small(folder / OPEN) or read_small(folder / ENTRY)
    try:
        if data is None or folder.is_symlink():
            raise ValueError("there is nothing to read")
        edit = msgspec.convert(json.loads(data), Edit, dec_hook=_decoder(home))
        if edit.id != id_:
            raise ValueError(f"it says that it is '{edit.id}'")
    except (ValueError, msgspec.ValidationError) as error:
        raise SourceError(f"cannot read what the edit '{id_}' did: {error}") from error
    return Entry(home, edit)


def remove_unwritten(home: Path, id_: str) -> None:
    """Takes away the folder of an edit that was cut off before it was written down."""
    folder = journal_folder(home) / id_
    if not folder.is_symlink() and not any((folder / name).exists() for name in (OPEN, ENTRY)):
        remove_folder(folder)


def _encoded(home: Path, edit: Edit) -> bytes:
    def name(path: Any) -> str:
        if not isinstance(path, Path):
            raise NotImplementedError(type(path))
        return BESIDE if path == _beside(home) else path.relative_to(home).as_posix()

    # Escaped, because names of files need not be Unicode.
    return json.dumps(msgspec.to_builtins(edit, enc_hook=name)).encode()


def _decoder(home: Path) -> Any:
    def path(kind: type, value: Any) -> Path:
        if kind is not Path or not isinstance(value, str):
            raise NotImplementedError(kind)
        return place_in(home, value)

    return path


def place_in(home: Path, name: str) -> Path:
    """Returns where a file lies that is named from its home, or raises where that is elsewhere."""
    if name == BESIDE and (beside := _beside(home)):
        return beside
    parts = PurePosixPath(name).parts
    if not parts or "/" in parts or ".." in parts or "\0" in name or OURS in parts:
        raise ValueError("it names a place that is none of a session's")
    if (home / PROJECTS).is_dir() and parts[0] not in PARTS_OF_A_CONFIG:
        raise ValueError("it names a place that is none of a session's")
    return home.joinpath(*parts)


def _beside(home: Path) -> Path | None:
    return home.parent / CLIENT_STATE if home.name == USUAL_CONFIG else None


def real_place(home: Path, path: Path) -> Path:
    """Returns where a file really lies, or refuses where a link leads it out of its home."""
    real = path.parent.resolve() / path.name
    if real == _beside(home):
        return real
    try:
        return place_in(home, real.relative_to(home).as_posix())
    except ValueError:
        hint = f"`--root '{path.parent.resolve()}'` edits it where it lies"
        raise Refused(f"'{path}' leads out of '{home}'", hint) from None


def check_place(home: Path, path: Path) -> None:
    """Refuses a file of the journal whose folder has become a link since."""
    if path.parent.resolve() != path.parent:
        raise Refused(f"'{path}' is not where it was: a link leads elsewhere")
