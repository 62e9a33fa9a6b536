"""Fixtures for tests of edits."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.edit.plans import MEMORY


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder in memory where there is one: a process that ends needs no disk."""
    with TemporaryDirectory(dir=MEMORY) as name:
        yield Path(name)
