"""Two texts to the hunks that lead from one to the other, as the client logs them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

CONTEXT = 3
FURTHEST = 1000
"""Edits that are looked for one by one; texts further apart are replaced as a whole."""
NO_END = "\\ No newline at end of file"

Change: TypeAlias = tuple[str, str]
"""A line and whether it is kept (` `), taken away (`-`) or put in (`+`)."""
Trail: TypeAlias = tuple[str, int, "Trail"] | None
"""The changes that lead somewhere, as runs of marks, the last first."""


def patch(old: str, new: str) -> list[dict[str, Any]]:
    """Returns the hunks between two texts; tabs that begin a line are shown as two spaces each."""
    return hunks(_shown(old), _shown(new))


def hunks(old: str, new: str) -> list[dict[str, Any]]:
    """Returns the hunks between two texts, to the letter."""
    return [_hunk(*run) for run in _runs([*changes(_lines(old), _lines(new))])]


def _shown(text: str) -> str:
    return "".join(_spaced(line) for line in _lines(text))


def _spaced(line: str) -> str:
    rest = line.lstrip("\t")
    return "  " * (len(line) - len(rest)) + rest


def _lines(text: str) -> list[str]:
    pieces = text.split("\n")
    ended = [f"{piece}\n" for piece in pieces[:-1]]
    return [*ended, pieces[-1]] if pieces[-1] else ended


def changes(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    """Yields what happens to each line, removals before additions."""
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    inner_old, inner_new = old[start : len(old) - end], new[start : len(new) - end]
    yield from ((" ", line) for line in old[:start])
    yield from _inner(inner_old, inner_new)
    yield from ((" ", line) for line in old[len(old) - end :])


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    pairs = zip(old, new, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


def _inner(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    marks = _marks(old, new)
    if marks is None:
        marks = [("-", len(old)), ("+", len(new))]
    at_old = at_new = 0
    for mark, count in _removals_first(marks):
        source, at = (new, at_new) if mark == "+" else (old, at_old)
        yield from ((mark, line) for line in source[at : at + count])
        at_old += count * (mark != "+")
        at_new += count * (mark != "-")


def _removals_first(marks: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    for _, group in groupby(marks, key=lambda run: run[0] == " "):
        yield from sorted([*group], key=lambda run: run[0] == "+")


@dataclass(slots=True)
class _Path:
    at: int
    """Lines of the old text that are behind."""
    trail: Trail


def _marks(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, int]] | None:
    """Returns the shortest way from one to the other (Myers), None where it is too long."""
    paths: dict[int, _Path] = {0: _slid(_Path(0, None), old, new, 0)}
    for length in range(1, FURTHEST + 1):
        if (done := paths.get(len(old) - len(new))) and done.at == len(old):
            return _unwound(done.trail)
        for diagonal in range(-length, length + 1, 2):
            if path := _step(paths, diagonal, len(old), len(new)):
                paths[diagonal] = _slid(path, old, new, diagonal)
            else:
                paths.pop(diagonal, None)
    return None


def _step(paths: dict[int, _Path], diagonal: int, old: int, new: int) -> _Path | None:
    remove, add = paths.get(diagonal - 1), paths.get(diagonal + 1)
    can_add = add is not None and add.at - diagonal <= new
    can_remove = remove is not None and remove.at < old
    if add and can_add and not (can_remove and remove and remove.at >= add.at):
        return _Path(add.at, _longer(add.trail, "+", 1))
    if remove and can_remove:
        return _Path(remove.at + 1, _longer(remove.trail, "-", 1))
    return None


def _slid(path: _Path, old: Sequence[str], new: Sequence[str], diagonal: int) -> _Path:
    at = path.at
    while at < len(old) and at - diagonal < len(new) and old[at] == new[at - diagonal]:
        at += 1
    return _Path(at, _longer(path.trail, " ", at - path.at)) if at > path.at else path


def _longer(trail: Trail, mark: str, count: int) -> Trail:
    if trail and trail[0] == mark:
        return (mark, trail[1] + count, trail[2])
    return (mark, count, trail)


def _unwound(trail: Trail) -> list[tuple[str, int]]:
    found = []
    while trail:
        found.append((trail[0], trail[1]))
        trail = trail[2]
    return found[::-1]


def _runs(told: list[Change]) -> Iterator[tuple[int, int, list[Change]]]:
    """Yields stretches of changes with the lines around them, and how much is before them."""
    olds = news = behind = 0
    for first, last in _stretches([at for at, (mark, _) in enumerate(told) if mark != " "]):
        begin = max(first - CONTEXT, 0)
        olds += sum(mark != "+" for mark, _ in told[behind:begin])
        news += sum(mark != "-" for mark, _ in told[behind:begin])
        yield olds, news, told[begin : last + CONTEXT + 1]
        behind = begin


def _stretches(changed: list[int]) -> Iterator[tuple[int, int]]:
    """Yields the first and the last of changes that are near each other."""
    first = None
    for order, at in enumerate(changed):
        first = at if first is None else first
        if order + 1 == len(changed) or changed[order + 1] - at > 2 * CONTEXT + 1:
            yield first, at
            first = None


def _hunk(olds: int, news: int, run: list[Change]) -> dict[str, Any]:
    return {
        "oldStart": olds + 1,
        "oldLines": sum(mark != "+" for mark, _ in run),
        "newStart": news + 1,
        "newLines": sum(mark != "-" for mark, _ in run),
        "lines": [told for mark, line in run for told in _told(mark, line)],
    }


def _told(mark: str, line: str) -> Iterator[str]:
    yield mark + line.removesuffix("\n")
    if not line.endswith("\n"):
        yield NO_END


def applied(old: str, found: list[dict[str, Any]]) -> str:
    """Returns a text with hunks applied to it."""
    source, pieces, at = _lines(old), [], 0
    for hunk in found:
        pieces += source[at : hunk["oldStart"] - 1]
        at = hunk["oldStart"] - 1 + hunk["oldLines"]
        pieces += _new_lines(hunk["lines"])
    return "".join([*pieces, *source[at:]])


def _new_lines(told: list[str]) -> Iterator[str]:
    for order, line in enumerate(told):
        if line[0] in " +":
            is_open = told[order + 1 : order + 2] == [NO_END]
            yield line[1:] if is_open else f"{line[1:]}\n"
