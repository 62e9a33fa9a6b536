"""The gallery as a folder that may be changed."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("textual")


@pytest.fixture
def root(gallery: Path, tmp_path: Path) -> Path:
    """Return a copy of the examples gallery."""
    return Path(shutil.copytree(gallery, tmp_path / "logs"))
