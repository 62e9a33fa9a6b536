"""What may be asked: the query of each address, with its bounds."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from plait.conversation.spending import By
from plait.conversation.walk import Depth

Count: TypeAlias = Annotated[int, Meta(ge=1, le=500, description="How many at most.")]
Offset: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000, description="How many to pass.")]
Words: TypeAlias = Annotated[str, Meta(max_length=500)]
Name: TypeAlias = Annotated[str, Meta(max_length=200)]
Number: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Day: TypeAlias = Annotated[
    str, Meta(max_length=40, pattern=r"^\d{4}-\d\d-\d\d", description="A day or a time, ISO 8601.")
]


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """No question."""


class Sessions(Struct, frozen=True, forbid_unknown_fields=True):
    """Which sessions."""

    project: Name | None = None
    """Part of the project's name."""
    q: Words | None = None
    """Words of the title, the first prompt or the directory."""
    since: Day | None = None
    until: Day | None = None
    is_live: bool | None = None
    sort: Literal["ended", "started", "title", "bytes"] = "ended"
    limit: Count = 100
    offset: Offset = 0


class Talk(Struct, frozen=True, forbid_unknown_fields=True):
    """Which turns of which conversation, and how much of them."""

    line: Name | None = None
    """The conversation; the active one where none is named."""
    depth: Depth = "all"
    thinking: bool = True
    data: bool = False
    """With the data of pictures."""
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    offset: Offset = 0


class Sight(Struct, frozen=True, forbid_unknown_fields=True):
    """Which messages, in full; none where no limit is given."""

    limit: Annotated[int, Meta(ge=0, le=200)] = 0
    offset: Offset = 0


class Span(Struct, frozen=True, forbid_unknown_fields=True):
    """Which conversation; with a turn also what took time in it."""

    line: Name | None = None
    turn: Number | None = None


class Touched(Struct, frozen=True, forbid_unknown_fields=True):
    """Which files, and whether with their patches."""

    patches: bool = False
    limit: Count = 100
    offset: Offset = 0


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    """Which part of a list."""

    limit: Count = 100
    offset: Offset = 0


class Lines(Struct, frozen=True, forbid_unknown_fields=True):
    """Which lines of which file."""

    file: Annotated[int, Meta(ge=0, le=100_000)] = 0
    type: Name | None = None
    start: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 1
    """The first line, by its number in the file."""
    limit: Count = 100


class Spending(Struct, frozen=True, forbid_unknown_fields=True):
    """By what tokens and money are put together."""

    by: By = "daily"


class Search(Struct, frozen=True, forbid_unknown_fields=True):
    """What is looked for."""

    q: Words
    way: Literal["words", "exact", "regex"] = "words"
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    facets: bool = False
