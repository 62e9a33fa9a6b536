"""Lines with their writers to lines with labels, writers in order, and patches as text."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from plait.conversation.patches import Hunk

UNCERTAIN = {"sure": " ", "likely": "~", "unknown": "?"}
"""What stands before a line that is not sure."""


class Line(Protocol):
    """A line of a file, and who wrote it."""

    @property
    def text(self) -> str: ...
    @property
    def session(self) -> str | None: ...
    @property
    def turn(self) -> int | None: ...
    @property
    def branch(self) -> str | None: ...
    @property
    def time(self) -> str | None: ...
    @property
    def certainty(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def prompt(self) -> str | None: ...
    @property
    def agent(self) -> str | None: ...
    @property
    def commit(self) -> str | None: ...
    @property
    def uuid(self) -> str | None: ...


L = TypeVar("L", bound=Line)


class Writer(Struct, frozen=True, kw_only=True):
    """A turn that wrote lines of a file, or a reason why nobody is known to have."""

    session: str | None
    turn: int | None
    branch: str | None
    time: str | None
    uuid: str | None
    prompt: str | None
    agent: str | None
    why: str
    lines: int


def labelled(lines: Iterable[L]) -> Iterator[tuple[L, bool]]:
    """Yields lines, and of each whether another turn wrote it than the one before.

    A bracket or an empty line that may be anybody's begins nothing.
    """
    last: tuple[object, ...] | None = None
    for one in lines:
        key = (*_writer(one), one.commit)
        says_nothing = one.session is None and not any(map(str.isalnum, one.text))
        is_first = key != last and not (says_nothing and last is not None)
        if is_first:
            last = key
        yield one, is_first


def writers(lines: Iterable[Line]) -> list[Writer]:
    """Returns who wrote lines, the one with the most first; those that are unknown last."""
    found: dict[tuple[object, ...], list[Line]] = {}
    for one in lines:
        found.setdefault(_writer(one), []).append(one)
    told = [
        Writer(
            session=several[0].session,
            turn=several[0].turn,
            branch=several[0].branch,
            time=several[0].time,
            uuid=several[0].uuid,
            prompt=several[0].prompt,
            agent=several[0].agent,
            why="" if several[0].session else several[0].why,
            lines=len(several),
        )
        for several in found.values()
    ]
    return sorted(told, key=lambda one: (one.session is None, -one.lines))


def _writer(line: Line) -> tuple[object, ...]:
    return (line.session, line.turn, line.branch, None if line.session else line.why)


def unified(path: str, hunks: "Iterable[Hunk]", *, is_new: bool = False) -> Iterator[str]:
    """Yields a patch as programs read it."""
    name = path.lstrip("/")
    yield "--- /dev/null" if is_new else f"--- a/{name}"
    yield f"+++ b/{name}"
    for hunk in hunks:
        old, new = f"{hunk.old_start},{hunk.old_lines}", f"{hunk.new_start},{hunk.new_lines}"
        yield f"@@ -{old} +{new} @@"
        yield from hunk.lines
