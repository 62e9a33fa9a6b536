"""Where the tests find their data, and how hard they try."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PLAIT_SHARED", ROOT.parent / "shared")).resolve()

settings.register_profile(
    "quick", max_examples=60, deadline=None, derandomize=True, print_blob=True
)
settings.register_profile(
    "long", max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Returns the folder of real logs, or skips the test where there is none."""
    if not (SHARED / "corpus").is_dir():
        pytest.skip("needs real logs: set PLAIT_SHARED to a folder that holds corpus/")
    return SHARED


@pytest.fixture(scope="session")
def gallery() -> Path:
    """Returns the folder of the examples gallery."""
    return ROOT / "examples" / "gallery"
