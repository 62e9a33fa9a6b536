"""Written lines have the client's fields in the client's order."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plait.write.lines import Version, order_fields
from tests.write.stories import STORIES, writer

Entry = dict[str, Any]
CHAINED = {"user", "assistant", "system", "attachment", "progress"}


def entries(files: Iterable[Path]) -> Iterator[Entry]:
    for file in files:
        for line in file.read_bytes().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                yield entry


def of_the_client(shared: Path, version: Version) -> Iterator[Entry]:
    folders = ("produced", "client-sessions") if version == "2.1.325" else ("corpus",)
    files = (file for name in folders for file in sorted((shared / name).rglob("*.jsonl")))
    for entry in entries(files):
        is_state = version == "2.1.325" and "version" not in entry
        if is_state or entry.get("version") == version:
            yield entry


def order_kind(entry: Entry) -> str:
    if entry["type"] == "system":
        is_noted = entry.get("subtype") == "compact_boundary" and "isMeta" in entry
        return "system" if is_noted else f"system/{entry.get('subtype')}"
    return "api error" if "isApiErrorMessage" in entry else str(entry["type"])


def fine_kind(entry: Entry) -> str:
    """Name a kind of line more finely: what a user's line is, which block an answer holds."""
    kind = order_kind(entry)
    content = (entry.get("message") or {}).get("content")
    if kind == "user" and entry.get("isMeta"):
        return "expansion"
    if kind == "user" and entry.get("isCompactSummary"):
        return "compaction summary"
    if kind == "user" and "permissionMode" in entry:
        return "prompt"
    if kind in ("user", "assistant") and isinstance(content, list) and content:
        kind += f" {content[0].get('type')}"
    if kind == "user text" and "interruptedMessageId" in entry:
        return "interruption"
    if kind == "queue-operation":
        kind += f" {entry['operation']}"
    return kind + (" of an agent" if entry.get("isSidechain") else "")


ODD_ORDER = {
    "2.1.325": ("user",),
    "2.1.29": ("progress",),
}
"""Kinds of which some lines come in another order: summaries, hooks."""


@pytest.mark.parametrize(("version", "least"), [("2.1.325", 0.99), ("2.1.29", 0.74)])
def test_client_lines_have_this_order(shared: Path, version: Version, least: float) -> None:
    lines = [entry for entry in of_the_client(shared, version) if entry.get("type") in CHAINED]
    odd = [
        order_kind(entry)
        for entry in lines
        if list(order_fields(order_kind(entry), entry, version)) != list(entry)
    ]
    assert len(lines) > 2000
    assert set(odd) <= set(ODD_ORDER[version])
    assert 1 - len(odd) / len(lines) >= least


ABSENT = {
    "requestRef": "names a line of the client's request log, which is not written",
    "promptCacheRequested": "of the request: the caller may say it",
    "effort": "of the request: the caller may say it",
    "perTurnEffort": "of the request: the caller may say it",
    "toolInputStreamMs": "how long it took to come: the caller may say it",
    "thinkingDurationMs": "how long it took to come: the caller may say it",
    "thinkingDisplay": "of the client's screen: the caller may say it",
    "permissionDecision": "who allowed it: the caller may say it",
}
"""Fields that the client has on every line of a kind and lines written here may lack."""
BEYOND = {
    "slug": "the client has it once something needed a name",
}
"""Fields of lines written here that the client does not have on every line of that kind."""


def test_line_types_have_the_clients_fields(shared: Path, tmp_path: Path) -> None:
    theirs: dict[str, list[set[str]]] = defaultdict(list)
    ours: dict[str, list[set[str]]] = defaultdict(list)
    for entry in of_the_client(shared, "2.1.325"):
        theirs[fine_kind(entry)].append(set(entry))
    for seed, item in enumerate(STORIES.values()):
        with writer(tmp_path, seed=seed) as session:
            item(session)
    for entry in entries(sorted(tmp_path.rglob("*.jsonl"))):
        ours[fine_kind(entry)].append(set(entry))
    compared = sorted(theirs.keys() & ours.keys())
    assert len(compared) >= 25, compared
    absent: set[tuple[str, str]] = set()
    beyond: set[tuple[str, str]] = set()
    for kind in compared:
        for fields in ours[kind]:
            absent |= {(kind, name) for name in set.intersection(*theirs[kind]) - fields}
            beyond |= {(kind, name) for name in fields - set[str]().union(*theirs[kind])}
    assert {name for _, name in absent} == ABSENT.keys(), absent
    assert {name for _, name in beyond} == BEYOND.keys(), beyond


ABORTED = tuple("assistant id type role model content stop_reason stop_sequence usage".split())
"""A response that was stopped has no `stop_details`; `make conformance` shows the client's."""


def test_messages_and_blocks_have_the_clients_order(shared: Path, tmp_path: Path) -> None:
    def forms(lines: Iterable[Entry]) -> set[tuple[str, ...]]:
        found = set()
        for entry in lines:
            message = entry.get("message")
            if isinstance(message, dict) and "isApiErrorMessage" not in entry:
                found.add((entry["type"], *message))
                content = message["content"]
                blocks = content if isinstance(content, list) else []
                found |= {("block", *block) for block in blocks}
        return found

    for seed, item in enumerate(STORIES.values()):
        with writer(tmp_path, seed=seed) as session:
            item(session)
    written = forms(entries(sorted(tmp_path.rglob("*.jsonl"))))
    assert written - forms(of_the_client(shared, "2.1.325")) <= {
        ("block", "type", "source"),
        ABORTED,
    }
