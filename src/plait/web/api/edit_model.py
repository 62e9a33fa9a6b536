"""What is asked of changes, and what is told of them."""

from typing import Literal

from msgspec import Struct

from plait.view.edits import EditEntry, EditReport
from plait.web.api.model import Name, Words


class Wanted(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is to be done to a session."""

    operation: Literal["clone", "fork", "switch", "repair", "rename", "tag", "delete"]
    at: Words | None = None
    """Where a fork goes on from: a message, a turn, the words of a prompt."""
    before: bool = False
    """Without that turn."""
    branch: Name | None = None
    title: Words | None = None
    word: Words | None = None
    """A tag; none takes it away."""
    active_only: bool = False
    clean: bool = False
    in_place: bool = False
    """A repair of the session itself, not of a copy."""


class Sure(Struct, frozen=True, forbid_unknown_fields=True):
    """That it is meant."""

    force: bool = False
    """Even while a client runs it, or though a file has changed since."""


class Planned(Struct, frozen=True):
    """What would be done, by what it is then asked for, and its figures in words."""

    plan: str | None
    """None where nothing can be done: a rule would be broken, or there is nothing to do."""
    report: EditReport
    sizes: tuple[tuple[str, str, str], ...]
    fates: tuple[tuple[str, str, str], ...]
    refused: str | None = None


class Applied(Struct, frozen=True):
    """What was done, and the name of the session that results; none where it is gone."""

    report: EditReport
    name: str | None


class Edits(Struct, frozen=True):
    """What was changed, the newest first."""

    edits: tuple[EditEntry, ...]
    is_read_only: bool
