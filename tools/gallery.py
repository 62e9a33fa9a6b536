"""The examples gallery to transcripts that document it.

python -m tools.gallery        write docs/gallery anew
"""

from pathlib import Path

from plait import Archive
from plait.archive.export.plan import ExportPlan, export
from plait.conversation.prices import Prices
from plait.redact import Redactor

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "gallery"


def transcripts() -> dict[str, bytes]:
    """Returns the transcripts of the gallery, redacted as anybody's would be."""
    sessions = Archive([ROOT / "examples" / "gallery"]).sessions
    ordered = sorted(sessions, key=lambda session: str(session.path))
    plan = ExportPlan(tuple(ordered), redactor=Redactor(), pricing=Prices())
    return {name: data for name, data in export(plan, "md") if name.endswith(".md")}


def main() -> None:
    """Writes them, and takes away what is no longer there."""
    PAGES.mkdir(exist_ok=True)
    found = transcripts()
    for old in PAGES.glob("*.md"):
        if old.name not in found:
            old.unlink()
    for name, data in found.items():
        (PAGES / name).write_bytes(data)


if __name__ == "__main__":
    main()
