"""Forms of secrets to how many Plait and two scanners find of them, in one run.

python -m tests.redact.beside [built|measured|all] [SEED] writes the table into docs/redaction.md.
Needs `kingfisher` (`pip install kingfisher-bin`) and `detect-secrets`, both found by PATH.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from plait.redact import Redactor, Rules
from tests.redact.forms import Case, Half, cases
from tests.redact.lookalikes import lookalikes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "redaction.md"
MARK = "<!-- beside -->"
Sight = Callable[[Sequence[str]], list[bool]]
"""Texts to which of them something was seen in."""


def redacted(*, strict: bool) -> Sight:
    """Return what Plait sees."""
    rules = Rules(strict=strict).only(["secrets"])
    return lambda texts: [Redactor(rules).text(text) != text for text in texts]


def kingfisher(texts: Sequence[str]) -> list[bool]:
    """Tells in which texts the scanner sees something."""
    with TemporaryDirectory() as name:
        folder = _written(Path(name), texts)
        options = ("--no-validate", "--no-update-check", "--format", "json", "--confidence", "low")
        done = _run(["kingfisher", "scan", *options, str(folder)])
    report, _ = json.JSONDecoder().raw_decode(done.strip() or "{}")
    found = {Path(one["finding"]["path"]).stem for one in report.get("findings", ())}
    return [str(number) in found for number in range(len(texts))]


def detect_secrets(texts: Sequence[str]) -> list[bool]:
    """Tells in which texts the scanner sees something."""
    with TemporaryDirectory() as name:
        folder = _written(Path(name), texts)
        done = _run(["detect-secrets", "-C", str(folder), "scan", "--all-files", "."])
    found: dict[str, Any] = json.loads(done)["results"]
    seen = {Path(path).stem for path in found}
    return [str(number) in seen for number in range(len(texts))]


def _written(folder: Path, texts: Sequence[str]) -> Path:
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text + "\n", encoding="utf-8", errors="replace")
    return folder


def _run(command: list[str]) -> str:
    program = shutil.which(command[0])
    assert program, f"{command[0]} is not installed"
    done = subprocess.run([program, *command[1:]], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


SIGHTS: dict[str, Sight] = {
    "Plait": redacted(strict=False),
    "Plait `--strict`": redacted(strict=True),
    "detect-secrets": detect_secrets,
    "kingfisher": kingfisher,
}


def table(half: Half, seed: int) -> str:
    """Return how many forms each sees, and how many look-alikes it takes for secrets."""
    chosen: list[Case] = [case for case in cases(half, seed) if case.form.kind == "secret"]
    alike = [one.text for one in lookalikes()]
    lines = [
        f"| | secrets of {len(chosen):,} | look-alikes of {len(alike):,} |",
        "|---|---:|---:|",
    ]
    for name, sight in SIGHTS.items():
        seen, false = sum(sight([case.text for case in chosen])), sum(sight(alike))
        lines.append(f"| {name} | {seen:,} ({seen / len(chosen):.1%}) | {false:,} |")
    return "\n".join(lines)


def main(half: str = "measured", seed: str = "1") -> None:
    """Measure, prints the table and write it into the page."""
    told = table(cast(Half, half), int(seed))
    print(told)
    before, mark, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
    if mark:
        after = rest.partition(MARK)[2]
        PAGE.write_text(f"{before}{MARK}\n{told}\n{MARK}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
