"""Planted secrets and look-alikes to the rates at which they are found: a table for the docs.

python -m tests.redact.rates          write the table into docs/redaction.md
"""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from plait.redact import Redactor
from tests.redact.lookalikes import LookAlike, lookalikes
from tests.redact.planted import Planted, planted

PAGE = Path(__file__).resolve().parents[2] / "docs" / "redaction.md"
BEGIN, END = "<!-- rates -->\n", "<!-- end of rates -->\n"


def is_found(case: Planted) -> bool:
    """Return whether nothing of a planted secret is left."""
    text = Redactor().text(case.text)
    return not any(part in text for part in case.parts)


def is_false(case: LookAlike) -> bool:
    """Return whether a text that holds no secret was changed."""
    return Redactor().text(case.text) != case.text


def by_family(cases: Iterable[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    """Return how many of how many, for each family."""
    counts: defaultdict[str, list[bool]] = defaultdict(list)
    for family, is_hit in cases:
        counts[family].append(is_hit)
    return {family: (sum(hits), len(hits)) for family, hits in counts.items()}


def found_rates() -> dict[str, tuple[int, int]]:
    """Return how many planted secrets of each family are found."""
    return by_family((case.family, is_found(case)) for case in planted())


def false_rates() -> dict[str, tuple[int, int]]:
    """Return how many look-alikes of each kind are taken for something."""
    return by_family((case.family, is_false(case)) for case in lookalikes())


def total(rates: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """Return the sum of all families."""
    return sum(hits for hits, _ in rates.values()), sum(count for _, count in rates.values())


def table() -> str:
    """Return both tables as Markdown."""
    return "\n".join(
        [
            *rows("family", "planted", "found", found_rates()),
            "",
            *rows("look-alike", "shown", "taken for a secret", false_rates()),
            "",
        ]
    )


def rows(name: str, shown: str, taken: str, rates: dict[str, tuple[int, int]]) -> list[str]:
    """Return one table."""
    lines = [f"| {name} | {shown} | {taken} |", "|---|---:|---:|"]
    lines += (f"| {family} | {count} | {hits} |" for family, (hits, count) in sorted(rates.items()))
    hits, count = total(rates)
    return [*lines, f"| **all** | **{count}** | **{hits}** ({hits / count:.1%}) |"]


def main() -> None:
    """Write the tables into the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, behind = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{behind}", encoding="utf-8")


if __name__ == "__main__":
    main()
