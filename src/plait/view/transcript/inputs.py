"""What a call was given to pieces of text: commands, changes, files, plans, plain values."""

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from plait.conversation.model import Called

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


def as_json(value: object) -> str:
    """Returns a value of the log as JSON, on several lines where it holds several values."""
    try:
        data = msgspec.json.encode(value)
        is_short = len(data) <= MOST_ON_A_LINE
        return (data if is_short else msgspec.json.format(data, indent=2)).decode()
    except UnicodeEncodeError:  # a lone surrogate
        return json.dumps(value, indent=2)
    except (RecursionError, TypeError):
        return repr(value)
