"""Names in Python to names on the wire."""

IRREGULAR = {
    "tool_use_id": "toolUseID",
    "call_id": "toolUseId",
    "cleared_attachment_uuids": "clearedAttachmentUUIDs",
    "source_uuid": "source_uuid",
}


def wire_name(name: str) -> str:
    """Returns the key of the log for an attribute: camel case but for a few."""
    if name in IRREGULAR:
        return IRREGULAR[name]
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)
