"""Patches to HTML: lines with their numbers, and within changed lines the words that changed."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from plait.conversation.patches import Hunk, Patch
from plait.view.page.conversation.blocks import Cut
from plait.view.page.markup import esc

LONGEST = 400
"""Lines longer than this are coloured whole."""


class Row(NamedTuple):
    """One line of a patch."""

    sign: str
    number: int | None
    html: str


def changes(patch: Patch, cut: Cut) -> tuple[str, int]:
    """Returns a patch as a table, and how many of its lines are left out."""
    rows = [row for place, hunk in enumerate(patch.hunks) for row in _with_gap(hunk, place)]
    shown = rows[: cut.lines]
    if len(rows) - len(shown) < 4:
        shown = rows
    lines = "".join(_drawn(row, has_numbers=patch.is_placed) for row in shown)
    return f'<table class="diff"><tbody>{lines}</tbody></table>', len(rows) - len(shown)


def _with_gap(hunk: Hunk, place: int) -> Iterator[Row]:
    if place:
        yield Row("…", None, "")
    yield from _numbered(hunk)


def _numbered(hunk: Hunk) -> Iterator[Row]:
    old, new = hunk.old_start, hunk.new_start
    for removed, added, same in _runs(hunk.lines):
        marked = list(_marked_words(removed, added))
        for text, _ in marked[: len(removed)]:
            yield Row("-", old, text)
            old += 1
        for text, _ in marked[len(removed) :]:
            yield Row("+", new, text)
            new += 1
        for line in same:
            yield Row(" ", new, esc(line))
            old, new = old + 1, new + 1


Run = tuple[list[str], list[str], list[str]]


def _runs(lines: Iterable[str]) -> Iterator[Run]:
    removed: list[str] = []
    added: list[str] = []
    same: list[str] = []
    for line in lines:
        sign, text = line[:1], line[1:]
        if (sign in "-+" and sign and same) or (sign == "-" and added):
            yield removed, added, same
            removed, added, same = [], [], []
        (removed if sign == "-" else added if sign == "+" else same).append(text)
    yield removed, added, same


def _marked_words(removed: Sequence[str], added: Sequence[str]) -> Iterator[tuple[str, str]]:
    pairs = len(removed) == len(added)
    for line, other in zip(removed, added if pairs else removed, strict=True):
        yield (_marked(line, other, "del") if pairs else esc(line)), "-"
    for line, other in zip(added, removed if pairs else added, strict=True):
        yield (_marked(line, other, "ins") if pairs else esc(line)), "+"


def _marked(line: str, other: str, tag: str) -> str:
    if max(len(line), len(other)) > LONGEST:
        return esc(line)
    start = _shared_start(line, other)
    end = _shared_end(line, other, start)
    changed = line[start : len(line) - end]
    if not changed or len(changed) > 0.7 * len(line.strip()):
        return esc(line)
    rest = line[len(line) - end :] if end else ""
    return f"{esc(line[:start])}<{tag}>{esc(changed)}</{tag}>{esc(rest)}"


def _shared_start(line: str, other: str) -> int:
    most = min(len(line), len(other))
    at = next((i for i in range(most) if line[i] != other[i]), most)
    while at and _is_word(line[at - 1 : at]) and _is_word(line[at : at + 1] + other[at : at + 1]):
        at -= 1
    return at


def _shared_end(line: str, other: str, start: int) -> int:
    most = min(len(line), len(other)) - start
    at = next((i for i in range(most) if line[-1 - i] != other[-1 - i]), most)
    while at and _is_word(line[-at]) and _is_word(line[-at - 1 : -at] + other[-at - 1 : -at]):
        at -= 1
    return at


def _is_word(text: str) -> bool:
    return any(one.isalnum() or one == "_" for one in text)


def _drawn(row: Row, *, has_numbers: bool) -> str:
    if row.sign == "…":
        return '<tr class="gap"><td colspan="2">⋯</td></tr>'
    kind = {"-": ' class="del"', "+": ' class="ins"'}.get(row.sign, "")
    number = row.number if has_numbers and row.number is not None else ""
    return f"<tr{kind}><td>{number}</td><td>{row.html or ' '}</td></tr>"
