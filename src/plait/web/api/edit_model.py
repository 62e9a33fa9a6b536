"""What is asked of changes, and what is told of them."""

from datetime import timedelta
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from plait.archive import PresetEffect
from plait.edit.trim.model import Preset, Way
from plait.view.edits import EditEntry, EditReport
from plait.web.api.model import Name, Number, Words


class Wanted(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is to be done to a session."""

    operation: Literal[
        "clone", "fork", "switch", "repair", "rename", "tag", "delete", "trim", "compress"
    ]
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
    """The session itself is repaired, trimmed or compressed, not a copy of it."""
    preset: Preset | None = None
    """How much a trim takes away; what follows says what, besides or instead."""
    calls: Annotated[tuple[Name, ...], Meta(max_length=200)] = ()
    """By their ids."""
    tools: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()
    """By their names, patterns among them."""
    larger_than: Number | None = None
    """Characters of a call and its result."""
    older_than: timedelta | None = None
    except_last: Number = 0
    """Turns at the end that a trim leaves alone."""
    way: Way | None = None
    """Calls go with their results, results are cut, or become one line."""
    keep: Number | None = None
    """Characters of a result that is cut."""
    thinking: bool = False
    images: bool = False
    attachments: bool = False
    progress: bool = False
    snapshots: bool = False
    request_logs: bool = False
    rereads: bool = False
    reminders: bool = False
    until: Words | None = None
    """The first turn that is not compressed."""
    keep_last: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """Turns at the end that are not compressed."""
    calls_as: Literal["metadata", "none"] = "metadata"
    """What becomes of calls in compressed turns: a line each, or nothing."""

    @property
    def trimmed(self) -> dict[str, Any]:
        """What a trim takes away, as the library takes it; nothing where nothing is said."""
        said = {name: getattr(self, name) for name in (*GOING, *HOW)}
        found = {name: value for name, value in said.items() if value not in (None, (), False)}
        return found if any(name in found for name in GOING) else {}


GOING = (
    "preset",
    "calls",
    "tools",
    "larger_than",
    "older_than",
    "thinking",
    "images",
    "attachments",
    "progress",
    "snapshots",
    "request_logs",
    "rereads",
    "reminders",
)
HOW = ("except_last", "way", "keep")


class PresetEffects(Struct, frozen=True):
    """What each preset of a trim would leave of a session."""

    presets: tuple[PresetEffect, ...]


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
    saving: str | None = None
    """What a cut saves in every request, and when it has paid for itself."""


class Applied(Struct, frozen=True):
    """What was done, and the name of the session that results; none where it is gone."""

    report: EditReport
    name: str | None


class Edits(Struct, frozen=True):
    """What was changed, the newest first."""

    edits: tuple[EditEntry, ...]
    is_read_only: bool
