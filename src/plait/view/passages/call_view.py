"""A call to what can be asked of it without fear: texts, numbers, lists, whatever the log has."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plait.conversation.model import Called
from plait.record.types.results import tool_use_result_of
from plait.view.amounts import bytes_in_words

MOST_NAMES = 6
"""Names that lead to a value; those deeper down are not told."""
DATA = re.compile(r"(?:.*\.)?(?:data|base64)")
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{200,}={0,2}")


@dataclass(frozen=True)
class CallView:
    """A call as a reader looks at it; paths are told from the project's directory."""

    called: Called
    directory: str | None = None
    is_lost: bool = False
    """True where an output was kept beside the log and is not there."""

    @cached_property
    def given(self) -> Mapping[str, Any]:
        """What the tool was called with."""
        given = self.called.input
        return given if isinstance(given, Mapping) else {}

    @cached_property
    def detail(self) -> Any:
        """The client's own view of the result, by its form."""
        result = self.called.result
        return tool_use_result_of(result.detail) if result else None

    @property
    def answer(self) -> str:
        """The words of the result."""
        return self.called.result.text if self.called.result else ""

    def text(self, *names: str) -> str:
        """Returns the first of these inputs that is a text."""
        values = (self.given.get(name) for name in names)
        return next((value for value in values if isinstance(value, str) and value), "")

    def told(self, name: str) -> str:
        """Returns a text of the client's view."""
        value = getattr(self.detail, name, None)
        return value if isinstance(value, str) else ""

    def count(self, name: str) -> int | None:
        """Returns a number of the client's view."""
        return whole_number(getattr(self.detail, name, None))

    def listed(self, name: str) -> list[Any]:
        """Returns a list of the client's view, else of the input."""
        for value in (getattr(self.detail, name, None), self.given.get(name)):
            if isinstance(value, list):
                return value
        return []

    def near(self, path: str) -> str:
        """Returns a path as seen from the project's directory."""
        return path_from(path, self.directory)


def whole_number(value: object) -> int | None:
    """Returns a number of the log as a whole one, None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) < 1 << 53 else None


def path_from(path: str, directory: str | None) -> str:
    """Returns a path from a directory on, the whole path where it lies elsewhere."""
    if not directory or not path.startswith(directory):
        return path
    rest = path[len(directory) :]
    if rest and directory[-1] not in "/\\" and rest[0] not in "/\\":
        return path
    return rest.lstrip("/\\") or "."


def first_text(value: object) -> str:
    """Returns the first words in an input of any form."""
    waiting: list[object] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str) and one.strip():
            return one
        if isinstance(one, Mapping):
            waiting += reversed(list(one.values()))
        elif isinstance(one, list):
            waiting += reversed(one)
    return ""


def named_values(value: object) -> Iterator[tuple[str, str]]:
    """Yields every text and number in a value of any form, behind the names that lead to it."""
    waiting: list[tuple[tuple[str, ...], object]] = [((), value)]
    while waiting:
        names, one = waiting.pop()
        if isinstance(one, Mapping):
            inner = list(one.items())
        elif isinstance(one, list | tuple):
            inner = list(enumerate(one))
        else:
            name = ".".join(names)
            yield name, _leaf(name, one)
            continue
        deeper = len(names) < MOST_NAMES
        waiting += [((*names, str(key)) if deeper else names, x) for key, x in reversed(inner)]


def _leaf(name: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or not isinstance(value, str):
        return "" if value is None else str(value)
    if DATA.fullmatch(name) and BASE64.fullmatch(value):
        return f"({bytes_in_words(len(value) * 3 // 4)} of data)"
    return value


def text_field(value: object, name: str) -> str:
    """Returns a text within an object of the log, "" where there is none."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""
