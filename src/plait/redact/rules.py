"""What the user wants hidden, or kept: a table of a file to rules, and rules to hits."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from plait.errors import ConfigError
from plait.redact.model import GROUPS, Group, Hit, Island, Kind, TextSpan
from plait.redact.tree import Leaf, Tree


@dataclass(frozen=True, slots=True)
class Rules:
    """What to look for besides the families, and what to leave alone."""

    words: tuple[str, ...] = ()
    """Replaced wherever they stand alone."""
    expressions: tuple[str, ...] = ()
    """Replaced where they match: their first group, or all of it where they have none."""
    fields: tuple[str, ...] = ()
    """Keys, or dotted ways to them, whose whole text is replaced."""
    files: tuple[str, ...] = ()
    """Patterns of paths: what was read from or written to such a file is replaced."""
    keep: tuple[str, ...] = ()
    """Values that are never replaced."""
    off: tuple[Group, ...] = ()
    """Groups that are not looked for."""
    strict: bool = False
    """Whether what only may be secret is replaced too."""
    own: tuple[tuple[Kind, str], ...] = ()
    """Names of whoever's machine this is, replaced wherever they stand alone."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups that are looked for."""
        return tuple(group for group in GROUPS if group not in self.off)

    def only(self, groups: Collection[Group]) -> "Rules":
        """Returns the same rules for some groups alone."""
        off = tuple(group for group in GROUPS if group not in groups or group in self.off)
        return replace(self, off=off)

    def names_file(self, path: str) -> bool:
        """Tells whether the content of a file is to be hidden."""
        name = path.replace("\\", "/")
        last = name.rpartition("/")[2]
        return any(fnmatchcase(name, one) or fnmatchcase(last, one) for one in self.files)


KEYS = ("words", "expressions", "fields", "files", "keep", "off")


def rules_of(table: Mapping[str, Any], source: str = "the rules") -> Rules:
    """Returns the rules that a table holds, or says what is wrong with it."""
    for key, value in table.items():
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(KEYS)}"
            raise ConfigError(f"unknown key '{key}' in {source}", hint)
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            raise ConfigError(f"'{key}' in {source} must be a list of strings")
    for group in table.get("off", ()):
        if group not in GROUPS:
            raise ConfigError(
                f"unknown group '{group}' in {source}", f"known are {', '.join(GROUPS)}"
            )
    for expression in table.get("expressions", ()):
        _check_expression(expression, source)
    known: dict[str, Any] = {key: tuple(value) for key, value in table.items()}
    return Rules(**known)


def _check_expression(expression: str, source: str) -> None:
    try:
        is_empty = re.compile(expression).match("") is not None
    except re.error as error:
        raise ConfigError(
            f"cannot read the expression '{expression}' in {source}: {error}"
        ) from None
    if is_empty:
        raise ConfigError(f"the expression '{expression}' in {source} matches an empty text")


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
                    yield _hit_at(text, start, end)

    def hits_in(self, data: bytes, islands: Iterable[Island]) -> Iterator[Hit]:
        """Yields what the expressions match in each stretch of a joined text."""
        for span, parts in islands if self.expressions else ():
            for start, end in (span, *parts):
                yield from (hit.moved(start) for hit in self.hits(data[start:end]))

    def whole_texts(self, tree: Tree) -> dict[int, Kind]:
        """Returns the texts of a tree that are hidden as a whole, by their numbers."""
        found: dict[int, Kind] = {}
        if self.fields:
            named = (n for n, leaf in enumerate(tree.leaves) if self._is_named(tree, leaf))
            found |= dict.fromkeys(named, "field")
        if self.rules.files:
            hidden = self._hidden_nodes(tree)
            held = (n for n, leaf in enumerate(tree.leaves) if _is_content(tree, leaf, hidden))
            found |= dict.fromkeys(held, "file")
        return found

    def _is_named(self, tree: Tree, leaf: Leaf) -> bool:
        if leaf.is_key:
            return False
        way = ".".join(key for key in tree.keys(leaf) if isinstance(key, str) and key)
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


def _hit_at(text: str, start: int, end: int) -> Hit:
    first = len(text[:start].encode("utf-8", "surrogatepass"))
    value = text[start:end].encode("utf-8", "surrogatepass")
    return Hit("word", "", value, (TextSpan(first, first + len(value)),))


def _is_content(tree: Tree, leaf: Leaf, hidden: frozenset[int]) -> bool:
    is_held = leaf.key in CONTENT
    number = leaf.node
    while number >= 0:
        if number in hidden and is_held:
            return True
        node = tree.nodes[number]
        is_held = is_held or node.key in CONTENT
        number = node.parent
    return False
