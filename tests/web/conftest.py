"""Sessions that the server's tests ask for, drawn once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.archive import Archive
from plait.indexing import update_index
from tests.browser.sessions import drawn_sessions, hostile
from tests.web.bare import Bare, bare


@pytest.fixture(scope="session")
def archive_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive of drawn sessions, one of them hostile."""
    found = tmp_path_factory.mktemp("served-logs")
    for drawing in drawn_sessions().values():
        drawing.write(found)
    hostile(found)
    return found


@pytest.fixture(scope="session")
def archive_index(archive_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the index of those sessions."""
    folder = tmp_path_factory.mktemp("served-index")
    update_index(Archive([archive_root]), folder)
    return folder


@pytest.fixture(scope="module")
def server(archive_root: Path, archive_index: Path) -> Iterator[Bare]:
    """Serve those sessions as `plait serve` does."""
    with bare(archive_root, archive_index) as item:
        yield item
