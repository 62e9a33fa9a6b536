"""The samples of `make test` are of tests that exist."""

import re
from pathlib import Path

from tests.sampling import EVERY

ROOT = Path(__file__).resolve().parents[2]


def test_every_sampled_test_exists() -> None:
    for name in EVERY:
        path, _, test = name.partition("::")
        assert re.search(rf"^def {test}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE), name
