"""What is said of how a session is held to its manner, and to what its log keeps."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from plait.agent.streaming import Model
from plait.errors import UserError
from plait.write.order import NEWEST, Version

if TYPE_CHECKING:
    from plait.agent.assembly import Manner


def manner_of(model: Model, told: Mapping[str, Any]) -> "Manner":
    """Returns the manner that some words say; raises UserError for one that is none."""
    from plait.agent.assembly import Manner

    if unknown := told.keys() - {one.name for one in fields(Manner)}:
        raise UserError(f"a session is not held by '{min(unknown)}'")
    return Manner(model, **told)


def has_snapshots(version: Version, entrypoint: str) -> bool:
    """Tells whether files are kept at prompts: 2.1.325 does so only where somebody types."""
    return entrypoint == "cli" or version != NEWEST
