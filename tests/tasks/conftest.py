"""The week of work that the ten tasks are asked of, and an empty home."""

from pathlib import Path

import pytest

from examples.drawing import Drawing
from tests.cli.conftest import nobodys_home
from tests.tasks.week import drawn

__all__ = ["nobodys_home"]


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that the sessions lie in."""
    return tmp_path_factory.mktemp("week")


@pytest.fixture(scope="session")
def week(root: Path) -> dict[str, Drawing]:
    """Return the sessions by their names."""
    return drawn(root)
