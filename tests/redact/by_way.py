"""Forms of secrets, spread over the places of a log, to what leaves by each way: class by way.

python -m tests.redact.by_way [built|measured|all] [SEED] writes the table into docs/redaction.md.
"""

import html
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from tests.redact.forms import Case, Half, cases
from tests.redact.ways_out import PLACES, WAYS, Line, written

PAGE = Path(__file__).resolve().parents[2] / "docs" / "redaction.md"
MARK = "<!-- by way -->"
SHOWN = ("redact", "md", "txt", "html", "json", "jsonl", "share html", "trace", "hook")
AT_ONCE = 300
"""Cases in one session: what one place tells is hidden in all, so not too many."""

Table = dict[tuple[str, str], dict[str, tuple[int, int]]]


def spread(found: Sequence[Case]) -> Iterator[Line]:
    """Yield lines that hold each case in one place, every place in its turn."""
    yield from PLACES["prompt"]("Begin.")
    for case, place in zip(found, cycle(PLACES.values()), strict=False):
        yield from place(case.text)
    yield from PLACES["prompt"]("And now?")


def left_by(way: str, found: Sequence[Case], scratch: Path) -> list[bool]:
    """Return which cases are still to be read in what leaves by one way."""
    root = written(scratch / "root", spread(found), "nothing")
    text = WAYS[way](root, scratch / "out").decode("utf-8", "replace")
    unescaped = text.replace('\\"', '"').replace("\\\\", "\\")
    readable = "\n".join((text, html.unescape(text), unescaped))
    return [any(map(readable.__contains__, windows(case))) for case in found]


def windows(case: Case) -> Iterator[str]:
    """Yield stretches of a case of which none may be left: halves of its parts, or six letters."""
    for part in case.parts:
        width = min(len(part), max(6, -(-len(part) // 2)))
        for start in {0, (len(part) - width) // 2, len(part) - width}:
            yield part[start : start + width]


def by_way(half: Half, seed: int) -> Table:
    """Return how many of how many were hidden, by class and way."""
    chosen = list(cases(half, seed))
    table: defaultdict[tuple[str, str], dict[str, tuple[int, int]]] = defaultdict(dict)
    for way in SHOWN:
        hidden, planted = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for start in range(0, len(chosen), AT_ONCE):
            part = chosen[start : start + AT_ONCE]
            with TemporaryDirectory() as scratch:
                leaks = left_by(way, part, Path(scratch))
            for case, is_left in zip(part, leaks, strict=True):
                planted[case.form.kind, case.form.family] += 1
                hidden[case.form.kind, case.form.family] += not is_left
        for name, count in planted.items():
            table[name][way] = hidden[name], count
    return dict(table)


def in_markdown(table: Table) -> str:
    """Return the table as a page shows it."""
    lines = [
        f"| class | planted | {' | '.join(SHOWN)} |",
        f"|---|---:|{'---:|' * len(SHOWN)}",
    ]
    for (kind, family), ways in sorted(table.items(), reverse=True):
        cells = " | ".join(f"{hidden / count:.0%}" for hidden, count in ways.values())
        count = max(count for _, count in ways.values())
        lines.append(f"| {kind}: {family} | {count} | {cells} |")
    return "\n".join(lines)


def main(half: str = "measured", seed: str = "1") -> None:
    """Measure, prints the table and write it into the page."""
    told = in_markdown(by_way(cast(Half, half), int(seed)))
    print(told)
    before, mark, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
    if mark:
        after = rest.partition(MARK)[2]
        PAGE.write_text(f"{before}{MARK}\n{told}\n{MARK}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
