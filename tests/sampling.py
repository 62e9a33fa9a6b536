"""Cases to those of every run and those of the long one."""

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
U = TypeVar("U")
Case = Any  # what pytest.param gives has no public name


SEED = 23
EACH_AND_ALL = [5, pytest.param(1, marks=pytest.mark.long, id="all")]
"""One of so many real sessions in every run, and all of them in the long one."""


def one_of(count: int, ones: Sequence[T]) -> list[T]:
    """Returns one of so many, drawn by a seed, in their order."""
    places = random.Random(SEED).sample(range(len(ones)), -(-len(ones) // count))
    return [ones[place] for place in sorted(places)]


def in_turn(ones: Sequence[T], others: Sequence[U], name_of: Callable[[T], str]) -> list[Case]:
    """Returns all pairs: each one with one of the others, in turn, and the rest in the long run."""
    return [
        pytest.param(
            one,
            other,
            id=f"{name_of(one)}-{other}",
            marks=[] if at % len(others) == turn else pytest.mark.long,
        )
        for at, one in enumerate(ones)
        for turn, other in enumerate(others)
    ]
