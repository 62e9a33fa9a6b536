"""How much of the forms goes, of the half that rules are built for and of the other."""

import pytest

from tests.redact.forms import Half, cases
from tests.redact.measure import rates


@pytest.mark.parametrize(
    ("half", "secrets", "personal"), [("built", 0.98, 0.97), ("measured", 0.96, 0.95)]
)
def test_enough_of_each_half_goes(half: Half, secrets: float, personal: float) -> None:
    least = {"secret": secrets, "personal": personal}
    found = rates(cases(half, seed=1))
    for kind, share in least.items():
        counts = [count for (name, _), count in found.items() if name == kind]
        assert sum(hits for hits, _ in counts) >= share * sum(planted for _, planted in counts)
