"""Any value to the texts in it, and back with some of them changed.

Dicts, lists, tuples, sets of them, dataclasses and structs are walked without recursion; what
holds no change stays the very object it was.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

# format: ids, kinds and times of a record, and what only a machine reads
FIXED = frozenset(
    """uuid parentUuid logicalParentUuid leafUuid sessionId session_id requestId request_id id
    tool_use_id toolUseId toolUseID parentToolUseID parent_tool_use_id sourceToolAssistantUUID
    sourceToolUseID messageId message_id messageUuid snapshotMessageId promptId agentId agent_id
    parentSessionId parentLastUuid bridgeSessionId interruptedMessageId source_uuid anchorUuid
    headUuid tailUuid uuids allUuids compactedToolIds clearedAttachmentUUIDs supersedesUuids
    collapseId summaryUuid type subtype role timestamp backupTime backupFileName model version
    stop_reason userType media_type signature originalHeadCommit""".split()
)
PICTURES = frozenset(("data", "base64"))
PICTURE_TYPES = ("base64", "image", "redacted_thinking", "image/png", "image/jpeg", "pdf")
# What a tool is given has keys of its own: an `id` there may be anything.
FREE = frozenset(("input", "structuredContent"))
LONGEST_PLAIN_KEY = 24


class Leaf(NamedTuple):
    """One text, the container that holds it and its key there."""

    node: int
    key: Any
    text: str
    is_key: bool = False
    """The text is itself the key of a dict."""


class Node(NamedTuple):
    """One container, the one that holds it and its key there."""

    value: Any
    parent: int
    key: Any
    is_free: bool


class Tree:
    """The containers and the texts of one value, in the order in which they stand."""

    def __init__(self, value: Any) -> None:
        self.nodes: list[Node] = [Node(value, -1, None, False)]
        self.leaves: list[Leaf] = []
        waiting: list[Iterator[tuple[int, Any, Any]]] = [self._members(0)]
        seen: set[int] = {id(value)}  # what a value holds twice is changed at its first place
        while waiting:
            for node, key, member in waiting[-1]:
                if isinstance(member, str):
                    self.leaves.append(Leaf(node, key, member))
                elif is_container(member) and id(member) not in seen:
                    seen.add(id(member))
                    free = self.nodes[node].is_free or key in FREE
                    self.nodes.append(Node(member, node, key, free))
                    waiting.append(self._members(len(self.nodes) - 1))
                    break
            else:
                waiting.pop()

    def _members(self, number: int) -> Iterator[tuple[int, Any, Any]]:
        node = self.nodes[number]
        value = node.value
        if not isinstance(value, dict):
            yield from ((number, key, member) for key, member in members_of(value))
            return
        is_picture = "media_type" in value or value.get("type") in PICTURE_TYPES
        for key, member in value.items():
            if isinstance(key, str) and (len(key) > LONGEST_PLAIN_KEY or not key.isidentifier()):
                self.leaves.append(Leaf(number, key, key, is_key=True))
            is_data = is_picture and key in PICTURES and isinstance(member, str)
            is_fixed = key in FIXED and not node.is_free and not isinstance(member, dict)
            if not is_data and not is_fixed:
                yield number, key, member

    def place(self, leaf: Leaf) -> str:
        """Returns the way to a text, such as `message.content[0].text`."""
        keys = [] if leaf.key is None else [leaf.key]
        node = self.nodes[leaf.node]
        while node.parent >= 0:
            keys.append(node.key)
            node = self.nodes[node.parent]
        steps = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in reversed(keys))
        return "".join(steps).lstrip(".")

    def changed(self, texts: dict[int, str]) -> Any:
        """Returns the value with other texts for some leaves, by their numbers."""
        changes: dict[int, dict[Any, Any]] = {}
        renamed: dict[int, dict[Any, str]] = {}
        for number, text in texts.items():
            leaf = self.leaves[number]
            (renamed if leaf.is_key else changes).setdefault(leaf.node, {})[leaf.key] = text
        for number in range(len(self.nodes) - 1, -1, -1):  # parents come before their members
            if number not in changes and number not in renamed:
                continue
            node = self.nodes[number]
            value = rebuilt(node.value, changes.get(number, {}), renamed.get(number, {}))
            if node.parent < 0:
                return value
            changes.setdefault(node.parent, {})[node.key] = value
        return self.nodes[0].value


def is_container(value: Any) -> bool:
    """Tells whether a value may hold texts."""
    if isinstance(value, dict | list | tuple | msgspec.Struct):
        return True
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def members_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yields the members of a list, a tuple or a value with fields."""
    if isinstance(value, list | tuple):
        yield from enumerate(value)
    elif isinstance(value, msgspec.Struct):
        yield from ((name, getattr(value, name)) for name in value.__struct_fields__)
    elif is_container(value):
        for field in dataclasses.fields(value):
            yield field.name, getattr(value, field.name, None)


def rebuilt(value: Any, changes: dict[Any, Any], renamed: dict[Any, str]) -> Any:
    """Returns a container with some members changed and some keys renamed."""
    if isinstance(value, dict):
        return {renamed.get(key, key): changes.get(key, old) for key, old in value.items()}
    if isinstance(value, list):
        return [changes.get(place, old) for place, old in enumerate(value)]
    if isinstance(value, tuple):
        members = [changes.get(place, old) for place, old in enumerate(value)]
        return value._make(members) if hasattr(value, "_make") else tuple(members)
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(value, **changes)
    return dataclasses.replace(value, **changes)
