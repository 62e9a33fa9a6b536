"""The tree of sessions to the lines that are drawn before its parts.

● a session
├─ ○ a branch
│  └─ ◇ its agent
└─ ● a session that goes on
"""

from collections.abc import Iterator, Sequence

from plait.graph.outline import OutlineItem

GOES_ON, ENDS, PASSES, BLANK = "├─ ", "└─ ", "│  ", "   "
DEEPEST = 12
"""What is nested deeper is drawn at this depth."""


def branching(found: Sequence[OutlineItem]) -> Iterator[tuple[str, OutlineItem]]:
    """Yields each part with the lines before it."""
    lasts = _last_ones(found)
    open_: list[bool] = []
    """For each depth above, whether more of it is still to come."""
    for number, twig in enumerate(found):
        del open_[max(twig.depth - 1, 0) :]
        above = "".join(PASSES if more else BLANK for more in open_[:DEEPEST])
        own = "" if twig.depth == 0 else ENDS if number in lasts else GOES_ON
        yield above + own, twig
        if twig.depth:
            open_.append(number not in lasts)


def _last_ones(found: Sequence[OutlineItem]) -> set[int]:
    lasts: set[int] = set()
    seen: list[bool] = []
    """For each depth, whether one was met since a shallower one, from the end backwards."""
    for number in range(len(found) - 1, -1, -1):
        depth = found[number].depth
        del seen[depth + 1 :]
        seen.extend([False] * (depth + 1 - len(seen)))
        if not seen[depth]:
            lasts.add(number)
            seen[depth] = True
    return lasts
