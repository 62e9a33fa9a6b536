"""Amounts of sessions and days to those that are far off from one's own median.

Amounts of work are spread over factors, not over sums: far off is what lies more than FAR
median deviations of the logarithms above the median, and is LEAST_TIMES the median at least.
Neither a few giants nor many idle sessions move that rule.
"""

from collections.abc import Mapping
from math import exp, log
from statistics import median
from typing import Literal

from plait.conversation.insights.model import Outlier

FAR = 2.0
SCALE = 1.4826
"""Makes a median deviation of what is spread normally its standard deviation."""
LEAST_TIMES = 3.0
LEAST_COUNT = 12
"""Amounts from which on a median says something."""
MOST = 5
"""The farthest of each kind."""


def outliers_in(
    amounts: Mapping[str, float],
    of: Literal["session", "day"],
    measure: Literal["cost", "time", "failed", "prompts"],
) -> list[Outlier]:
    """Returns what is far above the median of all amounts that are any, the farthest first."""
    known = {name: value for name, value in amounts.items() if value > 0}
    if len(known) < LEAST_COUNT:
        return []
    middle, bound = bound_of(list(known.values()))
    found = [
        Outlier(of=of, name=name, measure=measure, value=value, median=middle, count=len(known))
        for name, value in known.items()
        if value >= bound
    ]
    return sorted(found, key=lambda one: (-one.value, one.name))[:MOST]


def bound_of(values: list[float]) -> tuple[float, float]:
    """Returns the median of amounts, and from where on one is far off."""
    logs = [log(value) for value in values]
    centre = median(logs)
    spread = median(abs(one - centre) for one in logs) * SCALE
    middle = exp(centre)
    return middle, middle * max(exp(FAR * spread), LEAST_TIMES)
