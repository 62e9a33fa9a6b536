"""Classify the lines of a log, and collect the fields of each kind.

A kind is finer than a type: what a user's line is for, which block an answer holds, which tool a
result comes from, and whether it failed. A field is a path with the kinds of value it has:

    message.usage.input_tokens   number
    toolUseResult.structuredPatch[].lines[]   text
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.model import Json

FREE = {"input", "trackedFileBackups", "modelUsage", "answers", "annotations", "tools"}
"""Objects whose names are not the format's own."""
DEEPEST = 8


def kind_of(entry: Json, tools: Mapping[str, str]) -> str:
    """Return the kind of a line, given the tools of the calls before it."""
    match entry.get("type"):
        case "user":
            return _user_kind(entry, tools)
        case "assistant":
            return _answer_kind(entry)
        case "system":
            return f"system {entry.get('subtype')}"
        case "attachment":
            return f"attachment {(entry.get('attachment') or {}).get('type')}"
        case "progress":
            return f"progress {(entry.get('data') or {}).get('type')}"
        case "queue-operation":
            reason = f" {entry['reason']}" if "reason" in entry else ""
            return f"queue-operation {entry.get('operation')}{reason}"
        case "last-prompt":
            return "last-prompt" + (" explicit" if entry.get("explicit") else "")
        case other:
            return str(other)


def _user_kind(entry: Json, tools: Mapping[str, str]) -> str:
    blocks = blocks_of(entry)
    first = blocks[0] if blocks else {}
    if first.get("type") == "tool_result":
        failed = " failed" if first.get("is_error") else ""
        denied = f" {entry['toolDenialKind']}" if "toolDenialKind" in entry else ""
        return f"result {tools.get(first.get('tool_use_id', ''), '?')}{denied or failed}"
    if entry.get("isCompactSummary"):
        return "summary of a compaction"
    if entry.get("isMeta"):
        return "meta"
    text = str(first.get("text", ""))
    if text.startswith("[Request interrupted"):
        return "interruption"
    if text.startswith(("<command-name>", "<local-command-stdout>", "<command-message>")):
        return "command"
    return "prompt"


def _answer_kind(entry: Json) -> str:
    if "isApiErrorMessage" in entry:
        return "api error" if entry["isApiErrorMessage"] else "made-up answer"
    blocks = blocks_of(entry)
    return f"answer {blocks[0].get('type') if blocks else 'empty'}"


def blocks_of(entry: Json) -> list[Json]:
    """Return the blocks of a message; words alone are one."""
    content = (entry.get("message") or {}).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def with_kinds(entries: Iterable[Json]) -> Iterator[tuple[str, Json]]:
    """Yield lines with their kinds."""
    tools: dict[str, str] = {}
    for entry in entries:
        for block in blocks_of(entry):
            if block.get("type") == "tool_use":
                tools[str(block.get("id"))] = str(block.get("name"))
        yield kind_of(entry, tools), entry


def fields_of(entry: Json) -> dict[str, str]:
    """Return the paths of a line with the kind of value of each."""
    found: dict[str, str] = {}
    waiting: list[tuple[str, Any]] = [("", entry)]
    while waiting:
        path, value = waiting.pop()
        if path:
            found[path] = value_kind(value)
        is_open = path.count(".") < DEEPEST and path.rpartition(".")[2].strip("[]") not in FREE
        if isinstance(value, dict) and is_open:
            waiting += [(f"{path}.{name}" if path else name, one) for name, one in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[]", one) for one in value]
    return found


def value_kind(value: object) -> str:
    """Return what JSON calls a value."""
    match value:
        case bool():
            return "bool"
        case None:
            return "null"
        case int() | float():
            return "number"
        case str():
            return "text"
        case dict():
            return "object"
    return "list"


@dataclass(slots=True)
class Form:
    """What the lines of one kind have."""

    count: int = 0
    times: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """How many of them have a field."""
    kinds: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Which kinds of value it has."""

    def add(self, entry: Json) -> None:
        """Take a line into account."""
        self.count += 1
        for path, kind in fields_of(entry).items():
            self.times[path] += 1
            self.kinds[path].add(kind)

    @property
    def always(self) -> set[str]:
        """The fields that all have."""
        return {path for path, count in self.times.items() if count == self.count}


def forms(entries: Iterable[Json], known: dict[str, Form] | None = None) -> dict[str, Form]:
    """Return the form of each kind, added to those that are known."""
    found = {} if known is None else known
    for kind, entry in with_kinds(entries):
        found.setdefault(kind, Form()).add(entry)
    return found


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """One field in which lines of one kind differ."""

    kind: str
    path: str
    what: str
    """`lacks`, `has beyond`, or the kinds of value it should not have."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.what} {self.path}"


def differences(ours: Mapping[str, Form], theirs: Mapping[str, Form]) -> list[Difference]:
    """Return where our lines differ from theirs, kind by kind; a kind they lack is one too."""
    found: list[Difference] = []
    for kind, form in ours.items():
        other = theirs.get(kind)
        if other is None:
            found.append(Difference(kind, "", "no such kind"))
            continue
        found += [
            Difference(kind, path, "lacks") for path in _outermost(other.always - form.always)
        ]
        beyond = {path for path in form.times if path not in other.times}
        found += [Difference(kind, path, "has beyond") for path in _outermost(beyond)]
        for path in form.times.keys() & other.times.keys():
            if odd := form.kinds[path] - other.kinds[path]:
                found.append(Difference(kind, path, f"says {'/'.join(sorted(odd))} in"))
    return sorted(found)


def _outermost(paths: set[str]) -> set[str]:
    """Return the paths of which no beginning is among them."""

    def is_inner(path: str) -> bool:
        return any(path[:at] in paths for at, letter in enumerate(path) if at and letter in ".[")

    return {path for path in paths if not is_inner(path)}
