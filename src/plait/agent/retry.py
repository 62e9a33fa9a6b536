"""A request that failed to how long to wait before it is sent again."""

from random import Random

from plait.agent.streaming import ModelFault

FIRST, MOST = 0.5, 32.0
"""Seconds before the first retry, and before any."""
SPREAD = 0.25
LONGEST_ASKED = 6 * 3600.0
"""Seconds that a server may ask for; beyond, it is as if it had not asked."""


def wait_before(fault: ModelFault, attempt: int, random: Random) -> float:
    """Returns the seconds before a retry: what the server asks for, else twice as long each time.

    A quarter more or less keeps clients apart that failed together.
    """
    asked = fault.retry_after
    if asked is not None and 0 <= asked <= LONGEST_ASKED:
        return asked
    plain = min(FIRST * 2.0 ** min(attempt - 1, 16), MOST)
    return plain * (1 + SPREAD * random.random())
