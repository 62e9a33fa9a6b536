"""What `make docs` accepts: working links, nothing from other hosts."""

from pathlib import Path

import pytest

from tools.check_site import find_faults


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="other.html#part">', None),
        ('<a href="https://example.org/">', None),
        ('<img src="data:image/png;base64,AA==">', None),
        ('<a href="folder/">', None),
        ('<a href="missing.html">', "page.html: no file missing.html"),
        ('<a href="other.html#nothing">', "page.html: no anchor other.html#nothing"),
        ('<a href="#nothing">', "page.html: no anchor #nothing"),
        ('<img src="missing.png">', "page.html: no file missing.png"),
        ('<script src="https://example.org/a.js">', "page.html: loads https://example.org/a.js"),
        ('<link rel="stylesheet" href="//example.org/a">', "page.html: loads //example.org/a"),
    ],
)
def test_page_is_checked(tmp_path: Path, body: str, fault: str | None) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "index.html").touch()
    (tmp_path / "other.html").write_text('<h1 id="part">Part</h1>')
    (tmp_path / "page.html").write_text(body)
    assert find_faults(tmp_path) == ([fault] if fault else [])
