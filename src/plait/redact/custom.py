"""The user's own rules to hits: expressions in any text, fields and files as a whole."""

import re
from collections.abc import Iterator
from typing import Any

from plait.redact.model import Hit, Kind, Span
from plait.redact.rules import Rules
from plait.redact.walk import Leaf, Tree

PATH_KEYS = ("file_path", "filePath", "notebook_path", "path", "filename")
CONTENT = frozenset(
    """content old_string new_string oldString newString originalFile lines edits new_source text
    snippet stdout stderr""".split()
)
WORDS = re.compile(r"[^\s'\"`;|&<>()]+")


class CustomRules:
    """Applies rules, and remembers which calls were about a hidden file."""

    def __init__(self, rules: Rules) -> None:
        is_on = "rules" in rules.groups
        self.rules = rules if is_on else Rules()
        self.expressions = [re.compile(one) for one in self.rules.expressions]
        self.fields = frozenset(self.rules.fields)
        self.calls: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self.expressions or self.fields or self.rules.files)

    def hits(self, data: bytes) -> Iterator[Hit]:
        """Yields what the expressions match in a text."""
        if not self.expressions:
            return
        text = data.decode("utf-8", "surrogatepass")
        for expression in self.expressions:
            for match in expression.finditer(text):
                start, end = match.span(1 if expression.groups else 0)
                if start < end:
                    yield hit_at(text, start, end)

    def whole_texts(self, tree: Tree) -> dict[int, Kind]:
        """Returns the texts of a tree that are hidden as a whole, by their numbers."""
        found: dict[int, Kind] = {}
        if self.fields:
            named = (n for n, leaf in enumerate(tree.leaves) if self._is_named(tree, leaf))
            found |= dict.fromkeys(named, "field")
        if self.rules.files:
            hidden = self._hidden_nodes(tree)
            held = (n for n, leaf in enumerate(tree.leaves) if is_content(tree, leaf, hidden))
            found |= dict.fromkeys(held, "file")
        return found

    def _is_named(self, tree: Tree, leaf: Leaf) -> bool:
        if leaf.is_key:
            return False
        steps = re.split(r"\[\d+\]|\.", tree.place(leaf))
        way = ".".join(step for step in steps if step)
        return way in self.fields or not self.fields.isdisjoint(way.split("."))

    def _hidden_nodes(self, tree: Tree) -> frozenset[int]:
        """Returns the containers that are about a hidden file, and remembers the calls."""
        hidden: set[int] = set()
        for number, node in enumerate(tree.nodes):
            if not isinstance(node.value, dict):
                continue
            if self._is_about(node.value):
                hidden.add(number)
                self._remember(tree, number)
            call = node.value.get("tool_use_id")
            if isinstance(call, str) and call in self.calls:
                hidden |= {number, 0}  # the result stands in the record a second time
        return frozenset(hidden)

    def _is_about(self, value: dict[str, Any]) -> bool:
        paths = (value.get(key) for key in PATH_KEYS)
        if any(isinstance(path, str) and self.rules.names_file(path) for path in paths):
            return True
        command = value.get("command")
        return isinstance(command, str) and any(map(self.rules.names_file, WORDS.findall(command)))

    def _remember(self, tree: Tree, number: int) -> None:
        parent = tree.nodes[number].parent
        holder = tree.nodes[parent].value if parent >= 0 else None
        call = holder.get("id") if isinstance(holder, dict) else None
        if isinstance(call, str):
            self.calls.add(call)


def hit_at(text: str, start: int, end: int) -> Hit:
    """Returns the hit of an expression, its places in bytes."""
    first = len(text[:start].encode("utf-8", "surrogatepass"))
    value = text[start:end].encode("utf-8", "surrogatepass")
    return Hit("word", "", value, (Span(first, first + len(value)),))


def is_content(tree: Tree, leaf: Leaf, hidden: frozenset[int]) -> bool:
    """Tells whether a text is content of a hidden file: below it, under a key of content."""
    is_held = leaf.key in CONTENT
    number = leaf.node
    while number >= 0:
        if number in hidden and is_held:
            return True
        node = tree.nodes[number]
        is_held = is_held or node.key in CONTENT
        number = node.parent
    return False
