"""Compare two logs of the same conversation, line by line and value by value.

Ids become labels in the order in which they come, times and durations one and the same, paths of
the two desks one path. Lines that only one of the two clients writes by design are left out, with
the reason, and what hung on them hangs on what they hung on.
"""

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any

from conformance.chat.explained import LEFT_OUT
from conformance.chat.kinds import with_kinds
from conformance.chat.order import in_order
from conformance.client import objects
from conformance.model import Json

ID = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\b(?:msg|req|toolu)_[0-9A-Za-z]{16,}"
    r"|\b[0-9a-f]{16}@v|(?<=tool-results/)\w+|\ba[0-9a-f]{16}\b|\b0\w{8}-[0-9a-f]{8}\b"
)
TASKS = re.compile(r"/tmp/(?:claude-\d+/[^/\"]+/[^/\"]+|plait-\w+)/tasks/")
"""Where each of the two puts what goes on in the background."""
TOOK = re.compile(r"(?<=subagent_tokens)(: |>)\d+|(?<=duration_ms)(: |>)\d+")
"""What an agent took, as it is told in words."""
SLUG = re.compile(r'"slug": "[\w-]+"')
ANY_TIME = {"last-prompt", "mode", "permission-mode"}
"""State that the client writes beside what happens, now before a line and now behind it."""
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?")
OWN_FIELDS = {"requestRef", "serverClassifierRequest", "version"}
"""Ids of things that only the client has, and the version that each names as its own."""
VARYING = {
    "durationMs",
    "totalDurationMs",
    "totalTokens",
    "toolInputStreamMs",
    "thinkingDurationMs",
    "retryInMs",
    "input_tokens",
    "output_tokens",
    "preTokens",
    "postTokens",
    "cumulativeDroppedTokens",
    "mtimeMs",
}
"""Numbers that differ from run to run."""
LINKS = ("parentUuid", "logicalParentUuid")
NOWHERE = "00000000-0000-0000-0000-000000000000"


def told(file: Path, paths: Mapping[str, str]) -> list[tuple[str, Json]]:
    """Return the lines of a log with their kinds, in the form for comparing."""
    kept = in_order(_without_left_out(file, {*LEFT_OUT, *ANY_TIME}))
    labels: dict[str, str] = {NOWHERE: "nowhere"}
    text = json.dumps([_without_own(entry) for _, entry in kept], ensure_ascii=False)
    for path, name in paths.items():
        text = text.replace(json.dumps(path)[1:-1], name)
    text = TOOK.sub("0", TASKS.sub("TASKS/", text))
    text = SLUG.sub('"slug": "a-b-c"', TIME.sub("T", text))
    text = ID.sub(lambda found: labels.setdefault(found[0], f"#{len(labels)}"), text)
    return [(kind, _steady(entry)) for (kind, _), entry in zip(kept, json.loads(text), strict=True)]


def _without_left_out(file: Path, left_out: Container[str]) -> Iterator[tuple[str, Json]]:
    bridged: dict[str | None, Any] = {}
    for kind, entry in with_kinds(objects(file)):
        own = {name: bridged.get(entry[name], entry[name]) for name in LINKS if name in entry}
        if kind in left_out:
            if "uuid" in entry:
                bridged[entry["uuid"]] = own.get("parentUuid")
            continue
        if "messageCount" in entry:
            own["messageCount"] = entry["messageCount"] - len(bridged)
        yield kind, {**entry, **own}


def _without_own(entry: Json) -> Json:
    """Return a line without fields that differ between the clients by design."""
    return {name: value for name, value in entry.items() if name not in OWN_FIELDS}


def _steady(entry: Json) -> Json:
    """Return a line without numbers that differ from run to run."""
    waiting: list[Any] = [entry]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            for name in VARYING & value.keys():
                if isinstance(value[name], int | float):
                    value[name] = 0
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return entry


def drawn(lines: Sequence[tuple[str, Json]]) -> list[str]:
    """Return a log as a drawing: what each line is, and on which it hangs."""
    letters: dict[str | None, str] = {None: "-"}
    shown = []
    for kind, entry in lines:
        if "uuid" not in entry:
            shown.append(kind)
            continue
        letters[entry["uuid"]] = f"{len(letters)}"
        shown.append(f"{len(letters) - 1}<{letters.get(entry['parentUuid'], '?')} {kind}")
    return shown


def differing(ours: Sequence[tuple[str, Json]], theirs: Sequence[tuple[str, Json]]) -> list[str]:
    """Return in what two logs differ: their drawings, or where those are the same, values."""
    left, right = drawn(theirs), drawn(ours)
    if left != right:
        return list(unified_diff(left, right, "client", "plait", lineterm="", n=2))
    found = []
    for (kind, one), (_, other) in zip(ours, theirs, strict=True):
        found += [f"{kind}: {line}" for line in differing_values(one, other)]
    return found


def differing_values(ours: Json, theirs: Json) -> Iterator[str]:
    """Yield the fields of a line that say something else; what one lacks is told by kinds."""
    waiting: list[tuple[str, Any, Any]] = [("", ours, theirs)]
    while waiting:
        path, one, other = waiting.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            both = [name for name in one if name in other]
            waiting += [
                (f"{path}.{name}" if path else name, one[name], other[name]) for name in both
            ]
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            pairs = enumerate(zip(one, other, strict=True))
            waiting += [(f"{path}[{at}]", *pair) for at, pair in pairs]
        elif one != other:
            yield f"{path}: {json.dumps(one)[:300]} here, {json.dumps(other)[:300]} there"
