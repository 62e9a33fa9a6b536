"""A desk for each test of a tool."""

from pathlib import Path

import pytest

from tests.chat.tools.desk import ToolWorkspace


@pytest.fixture
def desk(tmp_path: Path) -> ToolWorkspace:
    """An empty workspace with all tools."""
    return ToolWorkspace(tmp_path)
