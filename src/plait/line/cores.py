"""This machine to how many processes can work at once."""

import os

MOST = 8


def cores() -> int:
    """Returns how many processes can work at once, eight at the most."""
    try:
        found = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        found = os.cpu_count() or 1
    return min(found, MOST)
