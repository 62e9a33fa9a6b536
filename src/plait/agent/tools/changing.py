"""A file that is to be changed to what it holds now, and what it held to what it will hold."""

from dataclasses import dataclass
from pathlib import Path

from plait.agent.tools import paths
from plait.agent.tools.model import Proposal, Sight, ToolError, Workplace
from plait.agent.tools.text import FileText, digest_of, size_of, to_change

LARGEST = 16 * 1024 * 1024
"""Bytes of a file that is changed: what it held goes into the log."""
LONGEST_ORIGINAL = 10_000
"""Letters that a file held and that the log keeps; the file history has the rest."""
CHANGED_SINCE = (
    "File has been modified since read, either by the user or by a linter. Read it again before"
    " attempting to write it."
)
STALE = (
    " (note: the file had been modified on disk since you last read it — the edit applied cleanly,"
    " but the file contains other changes not in your context. Read it before edits that depend on"
    " surrounding content.)"
)
KNOWN = " (file state is current in your context — no need to Read it back)"
CHANGED_BY_HAND = " The user modified your proposed changes before accepting them."


@dataclass(frozen=True, slots=True)
class Target:
    """A file that is to be written, as it is now."""

    path: Path
    data: bytes | None
    """What it holds; None where there is no file."""

    def held(self, *, is_misuse: bool) -> FileText | None:
        """Returns what it holds as text; raises ToolError where that is none."""
        return None if self.data is None else to_change(self.data, is_misuse=is_misuse)


def target(text: str, place: Workplace) -> Target:
    """Returns the file of the workspace that a text names; raises ToolError."""
    shown = paths.named(text, place)
    path = paths.located(text, place)
    paths.refuse_outside(path, text, place)
    if shown.is_symlink():
        raise ToolError(
            f"Refusing to write {text}: it is a symbolic link. Write to the link's target path"
            f" instead: {path}."
        )
    return Target(path, _held(path, text))


def _held(path: Path, text: str) -> bytes | None:
    try:
        size = paths.status(path).st_size
        if size > LARGEST:
            raise ToolError(
                f"File is too large to change ({size_of(size)}): {text}. Use a shell command.",
                is_misuse=True,
            )
        return paths.read_bytes(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise paths.fault(error, "open", text) from error


def refuse_unseen_change(found: Target, place: Workplace) -> None:
    """Refuses to change a file that somebody else changed since the model saw it."""
    if is_stale(found, place):
        raise ToolError(CHANGED_SINCE, is_misuse=True)


def is_stale(found: Target, place: Workplace) -> bool:
    """Tells whether somebody else changed a file since the model saw it."""
    sight = place.seen.get(found.path)
    return bool(sight and found.data is not None and digest_of(found.data) != sight.digest)


def again(proposal: Proposal, place: Workplace) -> Target:
    """Returns the file of a proposal as it is now; raises where it is not what was proposed.

    What a call of ours changed in between is known, and no reason to refuse.
    """
    path = proposal.paths[0]
    paths.refuse_outside(path, str(proposal.arguments["file_path"]), place)
    found = Target(path, _held(path, str(path)))
    text = found.held(is_misuse=False)
    is_known = path in place.seen and not is_stale(found, place)
    if not is_known and (text.text if text else None) != proposal.before:
        raise ToolError(CHANGED_SINCE, is_misuse=True)
    return found


def original(text: str) -> str | None:
    """Returns what a file held as the log keeps it: not at all where it is long."""
    return text if len(text) <= LONGEST_ORIGINAL else None


def write(path: Path, data: bytes, place: Workplace, *, is_whole: bool) -> None:
    """Keeps what a file held, and writes what it will hold."""
    place.before_change(path)
    try:
        paths.write_bytes(path, data)
    except OSError as error:
        raise paths.fault(error, "open", path) from error
    place.seen[path] = Sight(digest_of(data), is_whole)
