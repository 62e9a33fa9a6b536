"""Generate the transcripts that document the gallery, and the pages of repairs and causes.

python -m tools.gallery        write docs/gallery and the README of examples/repairs and examples/causes
"""

from pathlib import Path

from plait import Archive
from plait.conversation.prices import Prices
from plait.export.plan import ExportPlan, export
from plait.redact import Redactor

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "gallery"
REPAIRS = ROOT / "examples" / "repairs" / "README.md"
CAUSES = ROOT / "examples" / "causes" / "README.md"
INTRODUCTION = """# Repairs, before and after

How [`plait repair`](../../docs/guide/repair.md#plait-repair) repairs each kind of damage. The sessions are in
`examples/repairs`, in the same notation as the gallery.
"""


CAUSES_INTRODUCTION = """# Causes of repeated cache writes

The output of [`plait why`](../../docs/guide/cost.md#plait-why) for each cause, with one session each. The sessions are
in `examples/causes`, in the same notation as the gallery; their cache figures come from a simulation of the
provider's cache.
"""


def transcripts() -> dict[str, bytes]:
    """Return the transcripts of the gallery, redacted like any export."""
    sessions = Archive([ROOT / "examples" / "gallery"]).sessions
    ordered = sorted(sessions, key=lambda session: str(session.path))
    plan = ExportPlan(tuple(ordered), redactor=Redactor(), pricing=Prices())
    return {name: data for name, data in export(plan, "md") if name.endswith(".md")}


def repairs() -> str:
    """Return the page of the repairs: the damage, and the plan for it."""
    return "\n".join(
        (INTRODUCTION, *map(_shown, sorted((ROOT / "examples" / "repairs").glob("*/"))))
    )


def causes() -> str:
    """Return the page of the causes, each with the output of `plait why`."""
    return "\n".join(
        (CAUSES_INTRODUCTION, *map(_shown, sorted((ROOT / "examples" / "causes").glob("*/"))))
    )


def _shown(folder: Path) -> str:
    texts = [(folder / name).read_text(encoding="utf-8") for name in ("README.md", "expected.txt")]
    command = (folder / "command").read_text(encoding="utf-8").strip()
    plan = texts[1].partition("\n\n")[2]
    return f"#{texts[0]}\n```text\n$ {command}\n{plan}```\n"


def main() -> None:
    """Write all pages, and delete outdated ones."""
    PAGES.mkdir(exist_ok=True)
    found = transcripts()
    for old in PAGES.glob("*.md"):
        if old.name not in found:
            old.unlink()
    for name, data in found.items():
        (PAGES / name).write_bytes(data)
    REPAIRS.write_text(repairs(), encoding="utf-8")
    CAUSES.write_text(causes(), encoding="utf-8")


if __name__ == "__main__":
    main()
