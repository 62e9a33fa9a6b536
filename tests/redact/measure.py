"""Forms of one half to the rates at which they are found, by class.

python -m tests.redact.measure [built|measured|all] [SEED]
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import cast

from plait.redact import Redactor
from tests.redact.forms import Case, Half, cases

Rates = dict[tuple[str, str], tuple[int, int]]


def redacted(text: str) -> str:
    """Return a text as the library redacts it."""
    return Redactor().text(text)


def rates(found: Iterable[Case], way: Callable[[str], str] = redacted) -> Rates:
    """Return how many of how many were found, by kind and class."""
    counts: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    for case in found:
        counts[case.form.kind, case.form.family].append(not case.leaks(way(case.text)))
    return {name: (sum(hits), len(hits)) for name, hits in counts.items()}


def main(half: str = "built", seed: str = "1", show: str = "") -> None:
    """Print the rates, and what is missed of the half that rules are built for."""
    chosen = list(cases(cast(Half, half), int(seed), 3))
    totals: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for (kind, family), (hits, count) in rates(chosen).items():
        totals[kind][0] += hits
        totals[kind][1] += count
        print(f"{kind:10} {family:14} {hits:5} / {count:5}  {hits / count:.1%}")
    for kind, (hits, count) in totals.items():
        print(f"{kind:10} {'all':14} {hits:5} / {count:5}  {hits / count:.1%}")
    if half == "built" and show:
        for case in chosen:
            if show in (case.form.family, "all") and case.leaks(text := redacted(case.text)):
                print(f"  {case.form.family}: {case.text!r}\n      -> {text!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
