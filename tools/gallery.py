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

What [`plait repair`](../../docs/guide/repair.md#plait-repair) makes of each kind of damage. The sessions lie in
`examples/repairs`, drawn like those of the gallery.
"""


PAID_AGAIN = """# Causes, one session each

What [`plait why`](../../docs/guide/cost.md#plait-why) says of a session that paid again, for each cause. The sessions lie
in `examples/causes`, drawn like those of the gallery; a cache that behaves like the provider's says
what each of their requests read and wrote.
"""


def transcripts() -> dict[str, bytes]:
    """Return the transcripts of the gallery, redacted as anybody's would be."""
    sessions = Archive([ROOT / "examples" / "gallery"]).sessions
    ordered = sorted(sessions, key=lambda session: str(session.path))
    plan = ExportPlan(tuple(ordered), redactor=Redactor(), pricing=Prices())
    return {name: data for name, data in export(plan, "md") if name.endswith(".md")}


def repairs() -> str:
    """Return the page of the repairs: what is wrong, and what is planned."""
    return "\n".join(
        (INTRODUCTION, *map(_shown, sorted((ROOT / "examples" / "repairs").glob("*/"))))
    )


def causes() -> str:
    """Return the page of the causes: what happened, and what was paid for again."""
    return "\n".join((PAID_AGAIN, *map(_shown, sorted((ROOT / "examples" / "causes").glob("*/")))))


def _shown(folder: Path) -> str:
    texts = [(folder / name).read_text(encoding="utf-8") for name in ("README.md", "expected.txt")]
    command = (folder / "command").read_text(encoding="utf-8").strip()
    plan = texts[1].partition("\n\n")[2]
    return f"#{texts[0]}\n```text\n$ {command}\n{plan}```\n"


def main() -> None:
    """Write them, and take away what is no longer there."""
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
