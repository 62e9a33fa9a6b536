"""Lines of the client that list calls to such that do not list some."""

from collections.abc import Set
from typing import Any

from plait.edit.draft import with_field
from plait.record import Record
from plait.record.codec import mapping

REPLACEMENT = "content-replacement"
SMALL = "microcompact_boundary"


def without_mentions(record: Record, calls: Set[str]) -> bytes | None:
    """Returns a line that lists none of some calls, None where it lists no other."""
    if record.type == REPLACEMENT:
        return _unlisted(record, "replacements", record.fields.get("replacements"), calls)
    if record.subtype == SMALL:
        facts = mapping(record.fields.get("microcompactMetadata"))
        listed = facts.get("compactedToolIds")
        if isinstance(listed, list) and not calls.isdisjoint(map(str, listed)):
            left = [one for one in listed if one not in calls]
            return with_field(record, "microcompactMetadata", {**facts, "compactedToolIds": left})
    return record.raw


def _unlisted(record: Record, name: str, listed: Any, calls: Set[str]) -> bytes | None:
    if not isinstance(listed, list):
        return record.raw
    left = [one for one in listed if mapping(one).get("toolUseId") not in calls]
    if len(left) == len(listed):
        return record.raw
    return with_field(record, name, left) if left else None
