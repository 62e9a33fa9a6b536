"""What files held when a prompt was sent to files that hold it again, and what is left alone.

A file that somebody else changed since is kept unless that is asked for, and then a copy of it.
Nothing is written outside of the workspace or through a link, whatever a log names.
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

from plait.agent.rewinding.history import FileState, states_at
from plait.agent.tools import paths
from plait.agent.tools.model import ToolError
from plait.conversation.patches import hunks_between
from plait.errors import SourceError
from plait.line import lines, stamp_of
from plait.line.folder import OutputFolder
from plait.record import Record, client_records
from plait.write.place import history_folder

Trouble: TypeAlias = Literal["", "foreign", "lost", "outside", "unreadable"]
IN_WORDS: dict[Trouble, str] = {
    "": "",
    "foreign": "somebody else changed it since",
    "lost": "what it held is not kept any more",
    "outside": "it is not in the workspace, or a link leads there",
    "unreadable": "it is no file that can be read",
}


@dataclass(frozen=True, slots=True)
class FileStep:
    """What going back means for a file."""

    path: Path
    name: str
    """As the log has it: from the working directory on."""
    now: bytes | None = field(repr=False)
    """What it holds; None where there is none."""
    then: bytes | None = field(repr=False)
    trouble: Trouble = ""

    @property
    def verb(self) -> str:
        """What is done with it."""
        if self.now is None:
            return "made again"
        return "changed back" if self.then is not None else "deleted"

    @property
    def lines(self) -> tuple[int, int]:
        """How many lines come back, and how many go."""
        old, new = (_text(data) for data in (self.now, self.then))
        marks = [line[:1] for hunk in hunks_between(old, new) for line in hunk.lines]
        return marks.count("+"), marks.count("-")

    @property
    def is_free(self) -> bool:
        """Whether it is done without being asked for by name."""
        return not self.trouble


@dataclass(frozen=True, slots=True)
class Restoration:
    """What going back to a prompt means for files; nothing is done yet."""

    steps: tuple[FileStep, ...]
    copies: Path | None = None
    """Where a copy is kept of what somebody else changed."""

    @property
    def free(self) -> tuple[FileStep, ...]:
        """What can be done and takes nothing from anybody."""
        return tuple(step for step in self.steps if step.is_free)

    @property
    def foreign(self) -> tuple[FileStep, ...]:
        """The files that somebody else changed since."""
        return tuple(step for step in self.steps if step.trouble == "foreign")

    @property
    def left(self) -> tuple[FileStep, ...]:
        """What cannot be done."""
        return tuple(step for step in self.steps if step.trouble not in ("", "foreign"))

    def carry_out(self, *, over: bool = False) -> tuple[FileStep, ...]:
        """Has files hold what they held; `over` also those that somebody else changed.

        Returns what was done. A file that has changed since it was looked at is left alone.
        """
        chosen = (*self.free, *self.foreign) if over else self.free
        return tuple(step for step in chosen if self._put(step))

    def _put(self, step: FileStep) -> bool:
        try:
            if _held(step.path) != step.now:
                return False
            if step.trouble == "foreign" and step.now is not None and self.copies:
                _keep_copy(self.copies, step)
            if step.then is not None:
                paths.write_bytes(_real(step.path), step.then)
            elif step.now is not None:
                _real(step.path).unlink()
        except (OSError, ToolError) as error:
            raise SourceError(f"'{step.path}' cannot be put back: {error}") from error
        return True


def file_steps(
    records: Iterable[Record],
    prompt: str,
    root: Path,
    *,
    others: Sequence[Path] = (),
    folder: Path | None = None,
) -> Restoration | None:
    """Returns what going back to a prompt means for files, None where none were kept then.

    `folder` holds the backups of the session (`file-history/<session>`).
    """
    states = states_at(list(records), prompt, folder, root)
    if states is None:
        return None
    places = tuple(Path(os.path.realpath(one)) for one in (root, *others))
    steps = (_step(name, state, root, places) for name, state in states.items())
    return Restoration(tuple(step for step in steps if step), folder)


def files_logged(
    log: Path, prompt: str, root: Path, others: Sequence[Path] = ()
) -> Restoration | None:
    """Returns what going back to a prompt of a log means for files."""
    records = client_records(lines(log)) if stamp_of(log) else ()
    return file_steps(records, prompt, root, others=others, folder=history_folder(log))


def _step(name: str, state: FileState, root: Path, places: tuple[Path, ...]) -> FileStep | None:
    path = Path(os.path.normpath(root / name))
    wanted = state.wanted
    assert wanted is not None
    if not _is_inside(path, places):
        return FileStep(path, name, None, None, "outside")
    try:
        now = _held(path)
    except (OSError, ToolError):
        return FileStep(path, name, None, None, "unreadable")
    if wanted.is_lost:
        return FileStep(path, name, now, None, "lost")
    if now == wanted.data:
        return None
    is_known = state.is_known and now in (state.known, *state.seen)
    is_foreign = state.is_foreign or not is_known
    return FileStep(path, name, now, wanted.data, "foreign" if is_foreign else "")


def _is_inside(path: Path, places: tuple[Path, ...]) -> bool:
    """Tells whether a path lies in the workspace, and is neither a link nor below one outside."""
    with suppress(OSError, ValueError):
        real = _real(path)
        return not path.is_symlink() and any(real.is_relative_to(place) for place in places)
    return False


def _held(path: Path) -> bytes | None:
    try:
        return paths.read_bytes(_real(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path.parent)) / path.name


def _keep_copy(folder: Path, step: FileStep) -> None:
    """Keeps what a person loses if they go back all the same."""
    start = sha256(str(step.path).encode()).hexdigest()[:16]
    end = sha256(step.now or b"").hexdigest()[:8]
    OutputFolder(folder).write(f"{start}@by-hand-{end}", step.now or b"")


def _text(data: bytes | None) -> str:
    return (data or b"").decode(errors="replace")
