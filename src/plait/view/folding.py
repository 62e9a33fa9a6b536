"""Long texts to their first and last lines, and the size of what lies between."""

from typing import NamedTuple

from plait.view.ansi import with_colours, without_escapes
from plait.view.passages import Printed, Tone


class Fold(NamedTuple):
    """The lines that are shown, and how much is not."""

    first: tuple[str, ...]
    last: tuple[str, ...]
    hidden: int
    size: int


def folded(text: str, first: int, last: int = 0) -> Fold:
    """Returns the beginning and the end of a text; one line more than asked for is no fold."""
    lines = text.strip("\n").split("\n") if text.strip() else []
    if len(lines) <= first + last + 1:
        return Fold(tuple(lines), (), 0, 0)
    until = len(lines) - last
    while until < len(lines) and not lines[until].strip():
        until += 1
    between = lines[first:until]
    size = sum(len(line.encode("utf-8", "replace")) + 1 for line in between)
    return Fold(tuple(lines[:first]), tuple(lines[until:]), len(between), size)


def printed(
    text: str, first: int, last: int = 0, *, tone: Tone = "quiet", level: int = 0
) -> Printed | None:
    """Returns what was printed, folded; None where that is nothing."""
    clean = with_colours(text) if tone == "quiet" else without_escapes(text)
    fold = folded(clean, first, last)
    if not fold.first:
        return None
    return Printed(
        level=level,
        lines=fold.first,
        last=fold.last,
        hidden=fold.hidden,
        hidden_size=fold.size,
        tone=tone,
    )
