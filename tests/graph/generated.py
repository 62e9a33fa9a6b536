"""Random session logs: parents, kinds, times, circles, repeats, several files."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from plait.graph import Source
from plait.graph.facts import make_source_file
from plait.record import parse_record

KINDS = (
    *["prompt"] * 8,
    *["answer"] * 6,
    *["call"] * 3,
    *["result"] * 3,
    "thinking",
    "error",
    "progress",
    "hook",
    "queued",
    "system",
    "api_error",
    "boundary",
    "summary-of-compaction",
    "interruption",
    "clear",
    "command",
    "meta",
    "unknown",
    "last-prompt",
    "summary",
    "mode",
)
PATHS = (
    "p/s1.jsonl",
    "p/s2.jsonl",
    "p/s1/subagents/agent-a1.jsonl",
    "p/s1/subagents/agent-acompact-1.jsonl",
    "p/agent-b2.jsonl",
)

small = st.integers(0, 11)
shared = st.integers(0, 9).map("x{}".format)
rows = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(KINDS),
        "uuid": st.one_of(*[st.none()] * 5, shared),
        "parent": st.one_of(
            *[st.just(1)] * 4, *[st.integers(1, 6)] * 3, st.none(), shared, st.just("nowhere")
        ),
        "session": st.sampled_from((*["s1"] * 6, "s2", None)),
        "time": st.integers(0, 59),
        "response": st.one_of(st.none(), st.none(), small),
        "call": small,
        "words": st.integers(0, 3),
        "sidechain": st.sampled_from((*[False] * 9, True)),
        "forked": st.sampled_from((*[None] * 6, "s1", "s2")),
    }
)
plain = {"session": "s1", "sidechain": False, "forked": None}
conversations = st.lists(rows.map(lambda row: {**row, **plain}), min_size=8, max_size=60).map(
    lambda found: {"p/s1.jsonl": found}
)
archives = st.dictionaries(
    st.sampled_from(PATHS), st.lists(rows, max_size=24), min_size=1, max_size=4
)


def sources(archive: dict[str, list[dict[str, Any]]]) -> list[Source]:
    """Return drawn rows as sources."""
    return [
        Source(make_source_file(path), [parse_record(data) for data in lines_of(path, found)])
        for path, found in archive.items()
    ]


def lines_of(path: str, found: list[dict[str, Any]]) -> list[bytes]:
    """Return rows as the lines of a log; a number as parent is that many rows back."""
    uuids = [row["uuid"] or f"{PATHS.index(path)}-{at:012}" for at, row in enumerate(found)]
    lines: list[bytes] = []
    for at, row in enumerate(found):
        parent = row["parent"]
        if isinstance(parent, int):
            parent = uuids[at - parent] if at >= parent else None
        lines.append(encoded(row, uuids[at], parent))
    return lines


def encoded(row: dict[str, Any], uuid: str, parent: str | None) -> bytes:
    """Return a row as a line of a log."""
    fields = {
        "parentUuid": parent,
        "isSidechain": row["sidechain"],
        "uuid": uuid,
        "timestamp": f"2026-11-02T09:00:{row['time']:02}.000Z",
        "sessionId": row["session"],
        "requestId": row["response"] and f"r{uuid}",
    }
    if row["forked"]:
        fields["forkedFrom"] = {"sessionId": row["forked"], "messageUuid": uuid}
    return json.dumps({**fields, **content(row, uuid)}).encode()


def content(row: dict[str, Any], uuid: str) -> dict[str, Any]:
    """Return what a row of its kind holds."""
    words, kind = f"words {row['words']}", row["kind"]
    said = {"type": "text", "text": words}
    used = {"type": "tool_use", "id": f"t{row['call']}", "name": "Task", "input": {"prompt": words}}
    thought = {"type": "thinking", "thinking": "", "signature": "x"}
    given = {"type": "tool_result", "tool_use_id": f"t{row['call']}", "content": "agentId: a1"}
    users: dict[str, dict[str, Any]] = {
        "prompt": {"message": {"role": "user", "content": words}},
        "result": {"message": {"role": "user", "content": [given]}},
        "interruption": {"message": {"role": "user", "content": "[Request interrupted by user]"}},
        "clear": {"message": {"role": "user", "content": "<command-name>/clear</command-name>"}},
        "command": {"message": {"role": "user", "content": "<command-name>/x</command-name>"}},
        "meta": {"isMeta": True, "message": {"role": "user", "content": words}},
        "summary-of-compaction": {
            "isCompactSummary": True,
            "message": {"role": "user", "content": words},
        },
    }
    if kind in users:
        return {"type": "user", **users[kind]}
    blocks = {"answer": said, "call": used, "thinking": thought, "error": said}
    if kind in blocks:
        shared_id = f"m{row['response']}" if row["response"] else None
        name = f"m{uuid}" if row["response"] is None else shared_id
        message = {"id": name, "role": "assistant", "model": "x", "content": [blocks[kind]]}
        return {"type": "assistant", "isApiErrorMessage": kind == "error", "message": message}
    return others(kind, row, words)


def others(kind: str, row: dict[str, Any], words: str) -> dict[str, Any]:
    """Return what neither people nor the model said."""
    target = f"x{row['call']}"
    queued = {"type": "queued_command", "prompt": words, "commandMode": "prompt"}
    kept = {"preservedMessages": {"anchorUuid": target, "uuids": [target]}}
    known: dict[str, dict[str, Any]] = {
        "progress": {"type": "progress", "data": {"type": "hook_progress"}},
        "hook": {"type": "attachment", "attachment": {"type": "hook_success"}},
        "queued": {"type": "attachment", "attachment": queued},
        "system": {"type": "system", "subtype": "turn_duration"},
        "api_error": {"type": "system", "subtype": "api_error"},
        "boundary": {
            "type": "system",
            "subtype": "compact_boundary",
            "parentUuid": None,
            "logicalParentUuid": target,
            "compactMetadata": kept,
        },
        "unknown": {"type": "from-the-future"},
        "last-prompt": {
            "type": "last-prompt",
            "leafUuid": target if row["words"] else None,
            "explicit": row["time"] % 2 == 0,
            "uuid": None,
        },
        "summary": {"type": "summary", "summary": words, "leafUuid": target, "uuid": None},
        "mode": {"type": "mode", "mode": "plan", "uuid": None},
    }
    return known[kind]
