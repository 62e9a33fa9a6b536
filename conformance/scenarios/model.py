"""A named way to create sessions with a client."""

from collections.abc import Callable
from dataclasses import dataclass

from conformance.client import Client
from conformance.sandbox import Desk


@dataclass(frozen=True, slots=True)
class Scenario:
    """A script that makes a client create sessions of one kind."""

    name: str
    play: Callable[[Client, Desk], None]
