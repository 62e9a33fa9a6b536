"""Real sessions that all documents of a run are made of, read once."""

from pathlib import Path

import pytest

from plait.export.transcripts import Family
from tests.view.interchange.sessions import SAMPLE, families_in


@pytest.fixture(scope="session")
def real(shared: Path) -> list[Family]:
    """Return some of the real sessions."""
    return list(families_in(shared / "corpus", SAMPLE))
