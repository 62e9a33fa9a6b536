"""Gallery docs match a fresh export."""

from tools.gallery import CAUSES, PAGES, REPAIRS, causes, repairs, transcripts


def test_gallery_docs_match_its_export() -> None:
    written = {path.name: path.read_bytes() for path in PAGES.glob("*.md")}
    assert written == transcripts(), "run `python -m tools.gallery`"


def test_repair_docs_match_their_plans() -> None:
    assert REPAIRS.read_text(encoding="utf-8") == repairs(), "run `python -m tools.gallery`"


def test_cause_docs_match_their_output() -> None:
    assert CAUSES.read_text(encoding="utf-8") == causes(), "run `python -m tools.gallery`"
