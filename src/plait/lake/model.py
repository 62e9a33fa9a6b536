"""What a lake is told of the sessions that come into it, as plain values."""

from typing import Literal, TypeAlias, get_args

from msgspec import Struct

Profile: TypeAlias = Literal["counts", "redacted", "full"]
"""How much of a session goes into a lake.

    counts    figures alone: no text, no path, no name
    redacted  all tables, made of sessions without secrets, names and paths
    full      all tables, made of sessions as they are
"""
PROFILES: tuple[Profile, ...] = get_args(Profile)


class Labels(Struct, frozen=True):
    """Whose sessions these are."""

    source: str
    """The machine or the archive that they come from."""
    person: str = ""
    team: str = ""
