"""What the user wants hidden, or kept: a table of a file to rules."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from plait.errors import ConfigError
from plait.redact.model import GROUPS, Group


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

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups that are looked for."""
        return tuple(group for group in GROUPS if group not in self.off)

    def only(self, groups: Collection[Group]) -> "Rules":
        """Returns the same rules for some groups alone."""
        off = tuple(group for group in GROUPS if group not in groups or group in self.off)
        return Rules(self.words, self.expressions, self.fields, self.files, self.keep, off)

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
        check_expression(expression, source)
    return Rules(**{key: tuple(value) for key, value in table.items()})


def check_expression(expression: str, source: str) -> None:
    """Refuses an expression that cannot be understood, or that matches nothing at all."""
    try:
        is_empty = re.compile(expression).match("") is not None
    except re.error as error:
        raise ConfigError(
            f"cannot read the expression '{expression}' in {source}: {error}"
        ) from None
    if is_empty:
        raise ConfigError(f"the expression '{expression}' in {source} matches an empty text")
