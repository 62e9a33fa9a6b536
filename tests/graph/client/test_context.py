"""General properties of the context: no input fails, and omissions have reasons."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import plait
from plait.graph.client import Context, Reason, build_context
from plait.graph.client.entries import FULL_READ_LIMIT
from plait.record import Record, parse_record

TIME = "2026-11-02T09:00:00.000Z"
NAMES = st.sampled_from(["a", "b", "c", "d", None, ""])
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
BLOCKS = st.lists(
    ODD
    | st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "tool_use", "tool_result", "thinking", "sketch"])},
        optional={"text": ODD, "id": NAMES, "tool_use_id": NAMES, "content": ODD, "input": ODD},
    ),
    max_size=3,
)
MESSAGES = ODD | st.fixed_dictionaries(
    {}, optional={"id": NAMES, "content": BLOCKS | ODD, "model": ODD, "role": ODD}
)
LINES = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "system", "attachment", "progress", "x"])},
    optional={
        "uuid": NAMES,
        "parentUuid": NAMES,
        "timestamp": st.just(TIME) | ODD,
        "message": MESSAGES,
        "subtype": st.sampled_from(["compact_boundary", "local_command"]),
        "content": ODD,
        "attachment": ODD,
        "rendered": ODD,
        "compactMetadata": ODD | st.fixed_dictionaries({"preservedMessages": ODD}),
        "isSidechain": st.booleans(),
        "isMeta": st.booleans(),
        "isApiErrorMessage": st.booleans(),
    },
) | st.fixed_dictionaries(
    {"type": st.just("last-prompt")}, optional={"leafUuid": NAMES, "explicit": st.booleans()}
)
COUNTS = [4_000, pytest.param(20_000, marks=pytest.mark.long)]
"""More than Python's stack is deep."""


def records(lines: Iterable[dict[str, Any]]) -> list[Record]:
    """Return the records of some lines."""
    return [parse_record(json.dumps(line).encode(), n) for n, line in enumerate(lines, 1)]


def line(uuid: str, parent: str | None, kind: str = "user", **fields: Any) -> dict[str, Any]:
    """Return a line whose text is its uuid."""
    message = {"id": f"msg_{uuid}", "role": kind, "content": [{"type": "text", "text": uuid}]}
    head = {"type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": TIME}
    return {**head, "message": message, **fields}


def resumed(*lines: dict[str, Any]) -> Context:
    """Return the context of a small file."""
    return build_context(records(lines), size=1000)


@given(st.lists(LINES, max_size=12))
def test_no_content_is_an_error(lines: list[dict[str, Any]]) -> None:
    made = records(lines)
    found = build_context(made, size=6_000_000)
    assert found.resumes or not found.chain
    assert len(set(found.chain)) == len(found.chain)
    build_context(made, size=100, as_="sdk")


@given(st.lists(LINES, max_size=12))
def test_every_entry_is_included_or_left_out_with_a_reason(lines: list[dict[str, Any]]) -> None:
    found = build_context(records(lines), size=1000)
    if not found.resumes or found.leaf is None:
        return
    left_out = {one.uuid for one in found.left_out}
    named = {one["uuid"] for one in lines if one.get("uuid")}
    assert named <= left_out | set(found.chain)


def test_left_out_entries_have_a_reason() -> None:
    found = resumed(
        line("u1", None),
        line("a1", "u1", "assistant"),
        line("old", "a1"),
        line("side", "a1", isSidechain=True),
        {"type": "progress", "uuid": "p", "parentUuid": "a1"},
        line("note", "p", "system", subtype="turn_duration"),
        line("error", "note", "assistant", isApiErrorMessage=True),
        line("u2", "error"),
    )
    assert found.chain == ("u1", "a1", "note", "error", "u2")
    assert {one.uuid: one.reason for one in found.left_out} == {
        "p": Reason.BRIDGED,
        "old": Reason.ABANDONED,
        "side": Reason.SIDECHAIN,
        "note": Reason.SYSTEM,
        "error": Reason.API_ERROR,
    }


def test_request_keeps_parts_that_comparison_ignores() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    answer = {"id": "m", "role": "assistant", "model": "claude-opus-5-5", "content": [thought]}
    found = resumed(
        line("u1", None),
        {
            **line("h1", "u1", "attachment"),
            "attachment": {"type": "date"},
            "rendered": [{"content": "<system-reminder>\nfrost\n</system-reminder>"}],
        },
        line("a0", "h1", "assistant", message=answer),
        line(
            "a1", "a0", "assistant", message={**answer, "content": [{"type": "text", "text": "k"}]}
        ),
    )
    assert found.messages[-1][1][0] == {"type": "thinking", "thinking": "hm"}
    assert [role for role, _ in found.messages] == ["user", "assistant"]
    assert [role for role, _ in found.request] == ["user", "system", "assistant"]
    assert found.request[-1][1][0] == thought


def test_large_files_begin_at_the_last_compaction() -> None:
    lines = [
        line("u1", None),
        line("a1", "u1", "assistant"),
        line("b", None, "system", subtype="compact_boundary"),
        line("k", "b", isCompactSummary=True),
        line("u2", "a1"),
    ]
    small = build_context(records(lines), size=5_242_880)
    large = build_context(records(lines), size=5_242_881)
    assert small.chain == ("u1", "a1", "u2")
    assert large.chain == ("b", "u2")  # the first of the newest stands in


@pytest.mark.parametrize("count", COUNTS)
def test_long_chain_takes_linear_time(count: int) -> None:
    kinds = ("user", "assistant")
    lines = [line("0", None)]
    lines += [line(str(n), str(n - 1), kinds[n % 2]) for n in range(1, count)]
    assert len(resumed(*lines).chain) == count


@pytest.mark.parametrize("count", COUNTS)
def test_many_missing_parents_take_linear_time(count: int) -> None:
    lines = [line(str(n), f"gone {n}") for n in range(count)]
    assert len(resumed(*lines).chain) == count


def test_a_large_file_whose_preserved_messages_are_gone_resumes_from_its_summary() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b",
        "parentUuid": None,
        "timestamp": TIME,
        "compactMetadata": {"preservedSegment": {"headUuid": "gone", "tailUuid": "u"}},
    }
    lines = [line("u", None), boundary, line("c", "b"), line("a", "c", "assistant")]
    found = build_context(records(lines), size=FULL_READ_LIMIT + 1)
    assert found.chain == ("b", "c", "a")
    left = {one.uuid: one.reason for one in found.left_out}
    assert left["u"] == Reason.BEFORE_COMPACTION


def boundary(uuid: str, kept: str) -> dict[str, Any]:
    """Return a compaction that keeps one record."""
    facts = {"preservedMessages": {"anchorUuid": kept, "uuids": [kept]}}
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": uuid,
        "parentUuid": None,
        "timestamp": TIME,
        "compactMetadata": facts,
    }


def test_response_before_a_compaction_repeated_later_is_walked() -> None:
    lines = [
        boundary("b1", "u"),
        line("a", "a", "assistant"),
        line("u", "gone"),
        boundary("b2", "gone"),
        line("a", "gone", "assistant"),
    ]
    assert build_context(records(lines), size=9).resumes


@pytest.mark.timeout(20)
@pytest.mark.parametrize("parents", [(0,), (1, 0), (2, 0, 1)])
def test_notes_in_a_cycle_end(parents: tuple[int, ...], tmp_path: Path) -> None:
    name = "{}0000000-0000-4000-8000-000000000000"
    lines = [
        {
            "type": "system",
            "subtype": "informational",
            "content": "x",
            "uuid": name.format(number),
            "parentUuid": name.format(parent),
            "timestamp": f"2026-01-01T00:00:0{number}.000Z",
            "sessionId": name.format(9),
        }
        for number, parent in enumerate(parents)
    ]
    file = tmp_path / f"{name.format(9)}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    archive = plait.Archive([tmp_path])
    assert len(archive.graph(file.stem).nodes) == len(lines)
    assert archive.context(file.stem).messages == []
