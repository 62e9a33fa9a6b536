"""Share of forms replaced, in the learned half and the measured half."""

import pytest

from tests.redact.forms import Half, cases
from tests.redact.measure import rates


@pytest.mark.parametrize(
    ("half", "secrets", "personal"), [("built", 0.98, 0.97), ("measured", 0.96, 0.95)]
)
def test_each_half_reaches_its_rate(half: Half, secrets: float, personal: float) -> None:
    least = {"secret": secrets, "personal": personal}
    found = rates(cases(half, seed=1))
    for kind, share in least.items():
        counts = [count for (name, _), count in found.items() if name == kind]
        assert sum(hits for hits, _ in counts) >= share * sum(planted for _, planted in counts)
