"""Tests are shielded from the caller's environment."""

import os

from tests.conftest import TOLD
from tests.shield import shield


def test_environment_variables_are_removed() -> None:
    outside = {
        "PATH": "/bin",
        "PLAIT_HOSTILE": "1",
        "PLAIT_DATA_DIR": "/elsewhere",
        "CLAUDE_CONFIG_DIR": "/elsewhere",
        "ANTHROPIC_API_KEY": "key",
        "LANGFUSE_HOST": "host",
    }
    shield(outside, but=("PLAIT_HOSTILE",))
    assert outside == {"PATH": "/bin", "PLAIT_HOSTILE": "1", "PLAIT_AGENTS": "claude"}


def test_tests_are_shielded() -> None:
    before = dict(os.environ)
    shield(os.environ, but=TOLD)
    assert dict(os.environ) == before
