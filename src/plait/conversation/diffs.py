"""Two texts to the hunks between them, in time that does not run away."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

CONTEXT = 3
MOST_COMPARED = 1_000_000
"""Pairs of lines that are looked at; larger changes are told as one block out, one block in."""


class Hunk(Struct, frozen=True):
    """Lines that changed together, with a few around them."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]
    """Each begins with a space, `-`, `+`, or a backslash for a remark."""


def hunks_between(old: str, new: str, offset: int = 0) -> tuple[Hunk, ...]:
    """Returns what changed from one text to the other; line numbers begin after the offset."""
    before, after = text_lines(old), text_lines(new)
    head, tail = common_ends(before, after)
    groups = grouped(before, after, head, tail)
    return tuple(hunk_of(group, before, after, offset) for group in groups)


def text_lines(text: str) -> list[str]:
    """Returns the lines of a text; the newline that ends it begins no other."""
    if not text:
        return []
    found = text.split("\n")
    return found[:-1] if not found[-1] else found


def common_ends(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Returns how many lines two texts share at their beginnings and at their ends."""
    most = min(len(before), len(after))
    head = 0
    while head < most and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < most - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return head, tail


Swap = tuple[int, int, int, int]
"""A stretch of the old lines and the stretch of the new ones that took its place."""


def grouped(
    before: Sequence[str], after: Sequence[str], head: int, tail: int
) -> Iterator[list[Swap]]:
    """Yields changes that are near enough to be read together."""
    group: list[Swap] = []
    for change in changes(before, after, head, tail):
        if group and change[0] - group[-1][1] > 2 * CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def changes(before: Sequence[str], after: Sequence[str], head: int, tail: int) -> Iterator[Swap]:
    """Yields the stretches that differ."""
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old and not new:
        return
    if not old or not new or len(old) * len(new) > MOST_COMPARED:
        yield head, head + len(old), head, head + len(new)
        return
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new).get_opcodes():
        if tag != "equal":
            yield head + i1, head + i2, head + j1, head + j2


def hunk_of(
    group: Sequence[Swap], before: Sequence[str], after: Sequence[str], offset: int
) -> Hunk:
    """Returns changes with the lines around and between them."""
    first, last = group[0], group[-1]
    lead = min(CONTEXT, first[0])
    trail = min(CONTEXT, len(before) - last[1])
    lines: list[str] = []
    place = first[0] - lead
    for i1, i2, j1, j2 in group:
        lines += [f" {line}" for line in before[place:i1]]
        lines += [f"-{line}" for line in before[i1:i2]]
        lines += [f"+{line}" for line in after[j1:j2]]
        place = i2
    lines += [f" {line}" for line in before[place : place + trail]]
    old_lines = last[1] + trail - (first[0] - lead)
    new_lines = last[3] + trail - (first[2] - lead)
    return Hunk(
        offset + first[0] - lead + bool(old_lines),
        old_lines,
        offset + first[2] - lead + bool(new_lines),
        new_lines,
        tuple(lines),
    )
