"""A way to make sessions, by name."""

from collections.abc import Callable
from dataclasses import dataclass

from conformance.client import Client
from conformance.sandbox import Desk


@dataclass(frozen=True, slots=True)
class Scenario:
    """What to do with a client at a desk, so that sessions of one kind come of it."""

    name: str
    play: Callable[[Client, Desk], None]
