"""A desk for each test of a tool."""

from pathlib import Path

import pytest

from tests.chat.tools.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty workspace with all tools."""
    return Desk(tmp_path)
