"""What a line says of its usage to the tokens that are paid for, and to the response it counts for.

A response is known by its message id, without one by its request, without either it is the
record alone. All its figures come from one of its lines: the one with the most output, the
last among equals. Older clients write growing numbers, and only the last line has the final ones.
"""

from typing import Protocol, TypeAlias

from msgspec import Struct, to_builtins

from plait.record.billing import Figures
from plait.record.codec import lenient
from plait.record.message import Usage

SYNTHETIC = "<synthetic>"
"""The model of what the client made up itself: no response of anybody."""
PLAIN_TIERS = frozenset({None, "", "standard", "default"})
PLAIN_SPEEDS = frozenset({None, "", "standard", "normal"})
PLAIN_PLACES = frozenset({None, "", "global", "not_available"})

Said: TypeAlias = Usage | Figures
"""Usage as a record or a bill has it."""


class Tokens(Struct, frozen=True, gc=False):
    """What one response took; what is none of it is counted in another part."""

    input: int = 0
    """Neither written to the cache nor read from it."""
    output: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0
    web_searches: int = 0
    web_fetches: int = 0
    tier: str | None = None
    """None for the ordinary one."""
    speed: str | None = None
    """None for the ordinary one."""
    geo: str | None = None
    """None where it may run anywhere."""

    @property
    def cache_write(self) -> int:
        """All that was written to the cache."""
        return self.cache_write_5m + self.cache_write_1h

    @property
    def total_input(self) -> int:
        """All that the model read, cached or not."""
        return self.input + self.cache_write_5m + self.cache_write_1h + self.cache_read

    @property
    def total(self) -> int:
        """All tokens there are."""
        return self.total_input + self.output

    def __add__(self, other: "Tokens") -> "Tokens":
        """Returns both together; what they do not share of tier, speed and place is dropped."""
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_write_5m + other.cache_write_5m,
            self.cache_write_1h + other.cache_write_1h,
            self.cache_read + other.cache_read,
            self.web_searches + other.web_searches,
            self.web_fetches + other.web_fetches,
            self.tier if self.tier == other.tier else None,
            self.speed if self.speed == other.speed else None,
            self.geo if self.geo == other.geo else None,
        )


NOTHING = Tokens()


def tokens_of(said: Said) -> Tokens:
    """Returns the tokens that a line says a response took.

    The hour's share of the cache is a part of all that was written; where a line gives only
    the shares, their sum is what was written. Less than nothing is nothing.
    """
    if isinstance(said, Usage):
        said = lenient(to_builtins(said), Figures)
    written, hour = said.cache_creation_input_tokens or 0, 0
    minutes = written
    shares, tools = said.cache_creation, said.server_tool_use
    if shares is not None:
        hour = shares.ephemeral_1h_input_tokens or 0
        minutes = max(written - hour, 0) if written else shares.ephemeral_5m_input_tokens or 0
    tier, speed, geo = said.service_tier, said.speed, said.inference_geo
    return Tokens(
        said.input_tokens or 0,
        said.output_tokens or 0,
        minutes,
        hour,
        said.cache_read_input_tokens or 0,
        (tools.web_search_requests or 0) if tools else 0,
        (tools.web_fetch_requests or 0) if tools else 0,
        None if tier in PLAIN_TIERS else tier,
        None if speed in PLAIN_SPEEDS else speed,
        None if geo in PLAIN_PLACES else geo,
    )


def response_key(message_id: str | None, request: str | None, uuid: str | None) -> str | None:
    """Returns what a response is known by, None for one that nothing names."""
    return message_id or request or uuid


class HasOutput(Protocol):
    """A line of a response, or a copy of it."""

    @property
    def output_tokens(self) -> int | None:
        """How much it says was written."""


def supersedes(newer: HasOutput, older: HasOutput) -> bool:
    """Tells whether a later line or copy of a response has its figures, rather than an earlier."""
    return (newer.output_tokens or 0) >= (older.output_tokens or 0)
