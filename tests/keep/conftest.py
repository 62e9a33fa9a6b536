"""An archive with everything that belongs to a session, and an empty store."""

from pathlib import Path

import pytest

from plait.store import Store
from tests.keep.archives import PROJECT, lines, written


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return a configuration folder with two sessions and all that can lie beside them."""
    config = tmp_path / "claude"
    project = config / PROJECT
    written(project / "one.jsonl", lines(400), 0o640)
    written(project / "one" / "subagents" / "agent-a1.jsonl", lines(20, 9))
    written(project / "one" / "subagents" / "agent-a1.meta.json", b'{"agentType":"x"}')
    written(project / "one" / "tool-results" / "out.txt", b"no newline\0at all")
    written(project / "one" / "custom-title.json", b'{"customTitle":"T"}')
    written(project / "two.jsonl", b"")
    written(project / "agent-b2.jsonl", b'{"sessionId":"two"}\n')
    written(config / "todos" / "one-agent-one.json", b"[]")
    written(config / "file-history" / "one" / "0123456789abcdef@v1", b"old")
    return config


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a store that holds nothing yet."""
    return Store.open(tmp_path / "keep")
