"""The documentation of the gallery: what an export of it gives today."""

from tools.gallery import CAUSES, PAGES, REPAIRS, causes, repairs, transcripts


def test_the_gallery_is_documented_by_its_export() -> None:
    written = {path.name: path.read_bytes() for path in PAGES.glob("*.md")}
    assert written == transcripts(), "run `python -m tools.gallery`"


def test_the_repairs_are_documented_by_their_plans() -> None:
    assert REPAIRS.read_text(encoding="utf-8") == repairs(), "run `python -m tools.gallery`"


def test_the_causes_are_documented_by_what_is_said_of_them() -> None:
    assert CAUSES.read_text(encoding="utf-8") == causes(), "run `python -m tools.gallery`"
