"""The environment of whoever runs the tests: none of it reaches the program."""

import os

from tests.conftest import TOLD
from tests.shield import shield


def test_what_the_program_would_obey_is_taken_out() -> None:
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


def test_the_tests_are_shielded() -> None:
    before = dict(os.environ)
    shield(os.environ, but=TOLD)
    assert dict(os.environ) == before
