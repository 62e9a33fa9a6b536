"""Lines of one text to the lines of another that they are: none is taken for one it may not be.

A line that tells something and stands once in both texts is the same line; one that a change put
elsewhere may count for whoever did, or for whoever wrote it first. Between two lines that stayed
the rest is compared: what did not change stays, a line that stands there more often than
before may be any of them, and where those have several writers nobody can say which. A bracket or
an empty line may have gone and come again.

    old  a₁  }₁  b₂  }₂        new  a  }  c  }        a₁  }?  c₃  }?
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from plait.conversation.versions.model import Mark

SEVERAL, MOVED = Mark(why="several"), Mark(why="moved")
TELLING = 8
"""Letters and digits from which on a line is not written again by chance."""
Stretch = tuple[int, int, int, int]
"""Lines of the old text, and lines of the new one."""


def carried(
    old: Sequence[str], marks: Sequence[Mark], new: Sequence[str], added: Mark
) -> list[Mark]:
    """Returns who wrote each line of the new text, given that of the old one and of what is new."""
    found: list[Mark | None] = [None] * len(new)
    waiting: list[Stretch] = [(0, len(old), 0, len(new))]
    while waiting:
        o1, o2, n1, n2 = waiting.pop()
        if old[o1:o2] == new[n1:n2]:
            found[n1:n2] = marks[o1:o2]
            continue
        pairs = _same_lines(old[o1:o2], new[n1:n2])
        kept = _in_order(pairs)
        stayed = set(kept)
        for i, j in pairs:
            mark = marks[o1 + i]
            found[n1 + j] = mark if (i, j) in stayed else _moved(mark, added)
        if not kept:
            _settle(old[o1:o2], marks[o1:o2], new[n1:n2], added, n1, found)
        else:
            waiting.extend(_between((o1, o2, n1, n2), kept))
    return [mark or added for mark in found]


def _same_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the lines that stand once in both, by their places, in the order of the new ones."""
    before, after = Counter(old), Counter(new)
    places = {line: place for place, line in enumerate(old) if before[line] == 1}
    return [
        (places[line], place)
        for place, line in enumerate(new)
        if after[line] == 1 and line in places and is_telling(line)
    ]


def _in_order(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the pairs that stayed, whichever of the others are said to have moved.

    They stand in every choice of as many pairs as keep their order in both texts.
    """
    up = _lengths([place for place, _ in pairs])
    down = _lengths([-place for place, _ in reversed(pairs)])[::-1]
    most = max(up, default=0)
    chosen = [one + other == most + 1 for one, other in zip(up, down, strict=True)]
    rivals = Counter(length for length, is_chosen in zip(up, chosen, strict=True) if is_chosen)
    return [
        pair
        for pair, length, is_chosen in zip(pairs, up, chosen, strict=True)
        if is_chosen and rivals[length] == 1
    ]


def _lengths(places: Sequence[int]) -> list[int]:
    """Returns for each place how many can rise up to it."""
    ends: list[int] = []
    found: list[int] = []
    for place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
        found.append(at + 1)
    return found


def _moved(mark: Mark, by: Mark) -> Mark:
    """Returns who wrote a line that a change put elsewhere; what nobody logged only moved it."""
    return mark if by.origin in (None, mark.origin) else MOVED


def _between(whole: Stretch, kept: Sequence[tuple[int, int]]) -> Iterator[Stretch]:
    o1, o2, n1, n2 = whole
    old, new = o1, n1
    for i, j in kept:
        yield old, o1 + i, new, n1 + j
        old, new = o1 + i + 1, n1 + j + 1
    yield old, o2, new, n2


def _settle(
    old: Sequence[str],
    marks: Sequence[Mark],
    new: Sequence[str],
    added: Mark,
    start: int,
    found: list[Mark | None],
) -> None:
    """Says who wrote the lines of a stretch in which no line stands once in both."""
    written: dict[str, list[Mark]] = {}
    for line, mark in zip(old, marks, strict=True):
        written.setdefault(line, []).append(mark)
    after = Counter(new)
    for place, line in enumerate(new, start):
        if found[place] is not None:
            continue
        among = written.get(line, [])
        if after[line] > len(among) or not is_telling(line):
            among = [*among, added]
        found[place] = one_of(among)


def is_telling(line: str) -> bool:
    """Tells a line that says enough to be known again."""
    return sum(map(str.isalnum, line)) >= TELLING


def one_of(marks: Sequence[Mark]) -> Mark:
    """Returns the mark of all, the least certain of them; unknown where they differ."""
    if any(mark.origin != marks[0].origin for mark in marks):
        return SEVERAL
    order = ("sure", "likely", "unknown")
    return max(marks, key=lambda mark: (order.index(mark.certainty), mark.gone is not None))
