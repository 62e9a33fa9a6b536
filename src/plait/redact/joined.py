"""The texts of a value to one text, so that it is searched once, and places back to texts.

A text whose key gives it its meaning stands behind that key, as in JSON. The lines of a list
stand below each other; the texts of neighbouring blocks are parted by a sign that a cut key
may cross; all others by one that nothing crosses.
"""

import re
from bisect import bisect_right
from functools import lru_cache

from plait.redact.contexts import NOUNS
from plait.redact.model import Span
from plait.redact.people import ACCOUNT_NAMES
from plait.redact.walk import Leaf, Tree

TELLING = re.compile(
    f"{NOUNS}|[aA]uthorization|AUTHORIZATION|[cC]ookie|^auth$|{'|'.join(ACCOUNT_NAMES)}"
)
NAMES = ("name", "key", "Name", "Key")
VALUES = frozenset(("value", "Value"))
APART, BELOW, BESIDE = b"\0", b"\n", b"\x1f"


class Joined:
    """All texts of a tree as one, with their places."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.starts: list[int] = []
        self.texts: list[bytes] = []
        parts: list[bytes] = []
        place = 0
        before: Leaf | None = None
        for leaf in tree.leaves:
            opening, closing = self._surroundings(before, leaf)
            text = leaf.text.encode("utf-8", "surrogatepass")
            parts += (opening, text, closing)
            self.texts.append(text)
            self.starts.append(place + len(opening))
            place += len(opening) + len(text) + len(closing)
            before = leaf
        self.data = b"".join(parts)

    def _surroundings(self, before: Leaf | None, leaf: Leaf) -> tuple[bytes, bytes]:
        key = leaf.key
        if isinstance(key, int):
            is_next = before is not None and before.node == leaf.node
            return (BELOW if is_next else APART), b""
        if key in VALUES:
            key = self._name_beside(leaf) or key
        if isinstance(key, str) and not leaf.is_key and is_telling_key(key):
            return b'\0"' + key.encode("utf-8", "surrogatepass") + b'":"', b'"'
        if before and key == "text" == before.key and self._are_neighbours(before, leaf):
            return BESIDE, b""
        return APART, b""

    def _name_beside(self, leaf: Leaf) -> str | None:
        value = self.tree.nodes[leaf.node].value
        if not isinstance(value, dict):
            return None
        found = next((value[name] for name in NAMES if name in value), None)
        return found if isinstance(found, str) else None

    def _are_neighbours(self, before: Leaf, leaf: Leaf) -> bool:
        one, other = self.tree.nodes[before.node], self.tree.nodes[leaf.node]
        return (
            one.parent == other.parent and isinstance(other.key, int) and other.key == one.key + 1
        )

    def leaf_at(self, span: Span) -> tuple[int, Span] | None:
        """Returns the number of the text that holds a stretch, and where it lies in it."""
        number = bisect_right(self.starts, span.start) - 1
        if number < 0:
            return None
        start = span.start - self.starts[number]
        end = span.end - self.starts[number]
        return (number, Span(start, end)) if end <= len(self.texts[number]) else None


@lru_cache(4096)
def is_telling_key(key: str) -> bool:
    """Tells whether a key may say what the text behind it is."""
    return TELLING.search(key) is not None
