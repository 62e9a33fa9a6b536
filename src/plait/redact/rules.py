"""Rules of the user: what to hide and what to leave, from a table in a file."""

import re
import socket
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from plait.errors import ConfigError
from plait.redact.model import GROUPS, Group, Hit, Island, Kind, TextSpan
from plait.redact.people import is_somebody
from plait.redact.texts import Leaf, Tree


@dataclass(frozen=True, slots=True)
class Rules:
    """What to search for besides the families, and what to leave alone."""

    words: tuple[str, ...] = ()
    """Replaced wherever they occur alone."""
    expressions: tuple[str, ...] = ()
    """Replaced where they match: their first group, or all of the match if they have none."""
    fields: tuple[str, ...] = ()
    """Keys, or dotted paths to them, whose whole text is replaced."""
    files: tuple[str, ...] = ()
    """Patterns of paths: what was read from or written to such a file is replaced."""
    keep: tuple[str, ...] = ()
    """Values that are never replaced."""
    off: tuple[Group, ...] = ()
    """Groups that are not searched for."""
    strict: bool = False
    """Whether possible secrets are replaced too."""
    own: tuple[tuple[Kind, str], ...] = ()
    """Names of this machine's users, replaced wherever they occur alone."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups that are searched for."""
        return tuple(group for group in GROUPS if group not in self.off)

    def only(self, groups: Collection[Group]) -> "Rules":
        """Return the same rules for some groups only."""
        off = tuple(group for group in GROUPS if group not in groups or group in self.off)
        return replace(self, off=off)

    def hides_file(self, path: str) -> bool:
        """Return whether the content of a file is to be hidden."""
        name = path.replace("\\", "/")
        last = name.rpartition("/")[2]
        return any(fnmatchcase(name, file) or fnmatchcase(last, file) for file in self.files)


KEYS = ("words", "expressions", "fields", "files", "keep", "off")


def parse_rules(table: Mapping[str, Any], source: str = "the rules") -> Rules:
    """Return the rules in a table; raise with what is wrong with it."""
    for key, value in table.items():
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"keys are {', '.join(KEYS)}"
            raise ConfigError(f"unknown key '{key}' in {source}", hint)
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise ConfigError(f"'{key}' in {source} must be a list of strings")
    for group in table.get("off", ()):
        if group not in GROUPS:
            raise ConfigError(
                f"unknown group '{group}' in {source}", f"groups are {', '.join(GROUPS)}"
            )
    for expression in table.get("expressions", ()):
        try:
            is_empty = re.compile(expression).match("") is not None
        except re.error as error:
            raise ConfigError(
                f"invalid regular expression '{expression}' in {source}: {error}"
            ) from None
        if is_empty:
            raise ConfigError(
                f"the regular expression '{expression}' in {source} matches the empty string"
            )
    known: dict[str, Any] = {key: tuple(value) for key, value in table.items()}
    return Rules(**known)


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
        self.expressions = [re.compile(expression) for expression in self.rules.expressions]
        self.fields = frozenset(self.rules.fields)
        self.calls: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self.expressions or self.fields or self.rules.files)

    def hits(self, data: bytes) -> Iterator[Hit]:
        """Yield what the expressions match in a text."""
        if not self.expressions:
            return
        text = data.decode("utf-8", "surrogatepass")
        for expression in self.expressions:
            for match in expression.finditer(text):
                start, end = match.span(1 if expression.groups else 0)
                if start < end:
                    first = len(text[:start].encode("utf-8", "surrogatepass"))
                    value = text[start:end].encode("utf-8", "surrogatepass")
                    yield Hit("word", "", value, (TextSpan(first, first + len(value)),))

    def hits_in(self, data: bytes, islands: Iterable[Island]) -> Iterator[Hit]:
        """Yield what the expressions match in each range of a joined text."""
        for span, parts in islands if self.expressions else ():
            for start, end in (span, *parts):
                yield from (hit.moved(start) for hit in self.hits(data[start:end]))

    def find_hidden_texts(self, tree: Tree) -> dict[int, Kind]:
        """Return the texts of a tree that are hidden completely, by their numbers."""
        found: dict[int, Kind] = {}
        if self.fields:
            named = (n for n, leaf in enumerate(tree.leaves) if self._is_named(tree, leaf))
            found |= dict.fromkeys(named, "field")
        if self.rules.files:
            hidden: set[int] = set()
            for number, node in enumerate(tree.nodes):
                if not isinstance(node.value, dict):
                    continue
                if self._is_about(node.value):
                    hidden.add(number)
                    self._remember(tree, number)
                call = node.value.get("tool_use_id")
                if isinstance(call, str) and call in self.calls:
                    hidden |= {number, 0}  # the result is in the record a second time
            held = (n for n, leaf in enumerate(tree.leaves) if _is_content(tree, leaf, hidden))
            found |= dict.fromkeys(held, "file")
        return found

    def _is_named(self, tree: Tree, leaf: Leaf) -> bool:
        if leaf.is_key:
            return False
        way = ".".join(key for key in tree.keys(leaf) if isinstance(key, str) and key)
        return way in self.fields or not self.fields.isdisjoint(way.split("."))

    def _is_about(self, value: dict[str, Any]) -> bool:
        paths = (value.get(key) for key in PATH_KEYS)
        if any(isinstance(path, str) and self.rules.hides_file(path) for path in paths):
            return True
        command = value.get("command")
        return isinstance(command, str) and any(map(self.rules.hides_file, WORDS.findall(command)))

    def _remember(self, tree: Tree, number: int) -> None:
        parent = tree.nodes[number].parent
        holder = tree.nodes[parent].value if parent >= 0 else None
        call = holder.get("id") if isinstance(holder, dict) else None
        if isinstance(call, str):
            self.calls.add(call)


def _is_content(tree: Tree, leaf: Leaf, hidden: Set[int]) -> bool:
    is_held = leaf.key in CONTENT
    number = leaf.node
    while number >= 0:
        if number in hidden and is_held:
            return True
        node = tree.nodes[number]
        is_held = is_held or node.key in CONTENT
        number = node.parent
    return False


GIT = (".gitconfig", ".config/git/config")
SECTION = re.compile(r"\s*\[\s*([\w.-]+)[^\]]*\]")
SETTING = re.compile(r"\s*(name|email)\s*=\s*\"?([^\"#;\n]+?)\"?\s*(?:[#;].*)?$")


def add_own_names(rules: Rules | None, home: Path, host: str | None = None) -> Rules:
    """Return rules with the names of a machine and of the user of a home folder."""
    found = names_of(home, socket.gethostname() if host is None else host)
    return replace(rules or Rules(), own=tuple(dict.fromkeys(found)))


def names_of(home: Path, host: str) -> Iterator[tuple[Kind, str]]:
    """Yield the names that a home folder and a machine name reveal."""
    if is_somebody(home.name.encode("utf-8", "surrogatepass")):
        yield "user", home.name
    yield from (("host", name) for name in (host, host.partition(".")[0]) if name)
    for file in GIT:
        yield from _signatures(home / file)


def _signatures(path: Path) -> Iterator[tuple[Kind, str]]:
    section = ""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        if heading := SECTION.match(line):
            section = heading[1].lower()
        elif section == "user" and (setting := SETTING.match(line)):
            yield ("email" if setting[1] == "email" else "user"), setting[2]
