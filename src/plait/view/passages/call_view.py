"""A call to what can be asked of it without fear: texts, numbers, lists, whatever the log has.

What it was given comes in pieces too: commands, changes, files, plans, plain values.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

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
        if isinstance(one, Mapping) and one:
            inner = list(one.items())
        elif isinstance(one, list | tuple):
            inner = list(enumerate(one))
        elif names and not one and not re.fullmatch(r"\w+", names[-1]):
            yield ".".join(names[:-1]), names[-1]  # a name that says more than its value: a path
            continue
        else:
            name = ".".join(names)
            yield name, "" if isinstance(one, Mapping) else _leaf(name, one)
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


Form: TypeAlias = Literal[
    "value",  # fits on a line
    "code",
    "diff",
    "prose",  # Markdown that the model wrote
    "list",  # things to do
]
COMMANDS = {"Bash": "bash", "PowerShell": "powershell"}
PROSE = frozenset({"plan", "prompt"})
OLD, NEW = "old_string", "new_string"
MOST_ON_A_LINE = 100
MOST_IN_LANGUAGE = 10
PLAIN = frozenset({"txt", "log", "jsonl"})


class Piece(NamedTuple):
    """One thing that a call was given."""

    name: str
    text: str
    form: Form = "value"
    language: str = ""


def pieces_of(called: Called) -> Iterator[Piece]:
    """Yields all that a call was given, in its order; of a change the two texts as one."""
    given = called.input
    if not isinstance(given, Mapping):
        if given is not None:
            yield _piece("input", given)
        return
    for name, value in given.items():
        if name == NEW and isinstance(given.get(OLD), str) and isinstance(value, str):
            continue
        if name == OLD and isinstance(value, str) and isinstance(given.get(NEW), str):
            yield Piece("change", _change(value, given[NEW]), "diff", "diff")
        elif name == "todos" and isinstance(value, list) and value:
            yield Piece("", "\n".join(map(_todo_line, value)), "list")
        elif name == "edits" and isinstance(value, list):
            yield from (edit for one in value for edit in _edit_pieces(one))
        else:
            yield _special(called, given, name, value) or _piece(name, value)


def _special(called: Called, given: Mapping[str, Any], name: str, value: object) -> Piece | None:
    if not isinstance(value, str):
        return None
    if name == "command" and called.name in COMMANDS:
        return Piece("", value, "code", COMMANDS[called.name])
    if name == "content" and called.name == "Write":
        return Piece("", value, "code", _language_of(given.get("file_path")))
    if name in PROSE and "\n" in value.strip():
        return Piece(name, value, "prose")
    return None


def _piece(name: str, value: object) -> Piece:
    text = value if isinstance(value, str) else as_json(value)
    if len(text) <= MOST_ON_A_LINE and "\n" not in text:
        return Piece(str(name), text)
    return Piece(str(name), text, "code", "" if isinstance(value, str) else "json")


def _edit_pieces(edit: object) -> Iterator[Piece]:
    if not isinstance(edit, Mapping):
        yield _piece("edit", edit)
        return
    old, new = edit.get(OLD), edit.get(NEW)
    if isinstance(old, str) and isinstance(new, str):
        yield Piece("change", _change(old, new), "diff", "diff")
        edit = {name: value for name, value in edit.items() if name not in (OLD, NEW)}
    yield from (_piece(name, value) for name, value in edit.items())


def _todo_line(todo: object) -> str:
    if not isinstance(todo, Mapping):
        return f"[ ] {_one_line(todo)}"
    box = "[x]" if todo.get("status") == "completed" else "[ ]"
    words = _one_line(todo.get("content", ""))
    more = [f"{name}: {_one_line(value)}" for name, value in todo.items() if name != "content"]
    return " · ".join([f"{box} {words}", *more])


def _one_line(value: object) -> str:
    text = value if isinstance(value, str) else as_json(value)
    return " ".join(text.split())


def _change(old: str, new: str) -> str:
    before, after = old.split("\n"), new.split("\n")
    most = min(len(before), len(after))
    head = next((at for at in range(most) if before[at] != after[at]), most)
    room = most - head
    tail = next((at for at in range(room) if before[-1 - at] != after[-1 - at]), room)
    lines = [f" {line}" for line in before[:head]]
    lines += [f"-{line}" for line in before[head : len(before) - tail]]
    lines += [f"+{line}" for line in after[head : len(after) - tail]]
    lines += [f" {line}" for line in before[len(before) - tail :]]
    return "\n".join(lines)


def _language_of(path: object) -> str:
    if not isinstance(path, str):
        return ""
    ending = PurePath(path.replace("\\", "/")).suffix[1:].lower()
    is_known = ending.isalnum() and ending.isascii() and len(ending) <= MOST_IN_LANGUAGE
    return ending if is_known and ending not in PLAIN else ""


SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """Returns JSON with each lone surrogate as its escape, all else as it is."""
    return SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def as_json(value: object) -> str:
    """Returns a value of the log as JSON, on several lines where it holds several values."""
    try:
        data = msgspec.json.encode(value)
        is_short = len(data) <= MOST_ON_A_LINE
        return (data if is_short else msgspec.json.format(data, indent=2)).decode()
    except UnicodeEncodeError:
        return without_surrogates(json.dumps(value, indent=2, ensure_ascii=False))
    except (RecursionError, TypeError):
        return repr(value)
