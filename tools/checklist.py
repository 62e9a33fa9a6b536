"""Write classes, tests and counts into docs/checklist.md from marks in the tests.

    python -m tools.checklist

A test says `# checklist: D45, S3`; this writes its name into those rows, and what class
that makes them. A row that is overruled keeps its reason.
"""

from collections import defaultdict
from pathlib import Path

from tests.house.test_checklist import COUNTS, OVERRULED, ROW, TEST, class_of, counts, marks, rows

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Rewrites the page."""
    page = ROOT / "docs" / "checklist.md"
    rendered = tests_by_item()
    lines = page.read_text(encoding="utf-8").split("\n")
    text = "\n".join(fill_row(line, rendered) for line in lines)
    page.write_text(COUNTS.sub("\n".join(counts(rows(text))), text), encoding="utf-8")


def tests_by_item() -> dict[str, list[str]]:
    """Return the tests that carry each item's mark."""
    rendered: dict[str, list[str]] = defaultdict(list)
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for mark in marks(file.read_text(encoding="utf-8")):
            for item in mark.items:
                name = f"`{file.relative_to(ROOT).as_posix()}::{mark.test}`"
                if name not in rendered[item]:
                    rendered[item].append(name)
    return rendered


def fill_row(line: str, shown: dict[str, list[str]]) -> str:
    """Return a row with the tests that show it; other lines as they are."""
    row = ROW.fullmatch(line)
    if not row:
        return line
    tests = ", ".join(shown.get(row[1], []))
    if OVERRULED.fullmatch(row[4]):
        reason = TEST.sub("", row[4]).rstrip(", ;")
        tests = f"{reason}; {tests}" if tests else reason
    shown_by = tests or "not yet"
    return f"| {row[1]} | {row[2]} | {class_of(row[1], shown_by)} | {shown_by} |"


if __name__ == "__main__":
    main()
