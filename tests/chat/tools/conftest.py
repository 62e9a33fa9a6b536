"""A workspace for each test of a tool."""

from pathlib import Path

import pytest

from tests.chat.tools.workspace import ToolWorkspace


@pytest.fixture
def workspace(tmp_path: Path) -> ToolWorkspace:
    """An empty workspace with all tools."""
    return ToolWorkspace(tmp_path)
