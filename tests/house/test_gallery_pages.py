"""The documentation of the gallery: what an export of it gives today."""

from tools.gallery import PAGES, transcripts


def test_the_gallery_is_documented_by_its_export() -> None:
    written = {path.name: path.read_bytes() for path in PAGES.glob("*.md")}
    assert written == transcripts(), "run `python -m tools.gallery`"
