"""Traces as the published document has them: example, tables, edge cases."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from plait.archive import Archive
from plait.documents import group_turns
from plait.record import read
from plait.trace.model import Span
from plait.trace.otlp import langfuse_usage
from plait.trace.spans import resolve_times
from tests.trace.pictured import named, picture, traced_lines, written

TEN = datetime(2025, 1, 15, 10, tzinfo=UTC).timestamp()
MODEL = "claude-sonnet-4-5-20250929"


def at(second: int) -> str:
    return f"2025-01-15T10:00:{second:02}Z"


def ns(second: int) -> int:
    return int(TEN + second) * 1_000_000_000


def prompt(text: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "user", "content": text, **fields}


def answer(id_: str | None, *blocks: Any, **fields: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": list(blocks)}
    for name in ("model", "usage", "timestamp"):
        if f"message_{name}" in fields:
            message[name] = fields.pop(f"message_{name}")
    if id_ is not None:
        message["id"] = id_
    return {"message": message, **fields}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id_: str, name: str = "Read") -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": name, "input": {"path": "/"}}


def result(id_: str, content: Any = "file data", **fields: Any) -> dict[str, Any]:
    return prompt([{"type": "tool_result", "tool_use_id": id_, "content": content}], **fields)


EXAMPLE = [
    prompt("read a file", sessionId="sess1"),
    answer("m1", call("t1")),
    result("t1"),
    answer("m2", text("done")),
]
TIMED = [
    prompt("read a file", sessionId="sess1", timestamp=at(0)),
    answer("m1", text("I look."), call("t1"), call("t2", "Grep"), message_model=MODEL,
           timestamp=at(5),
           message_usage={"input_tokens": 100, "output_tokens": 50, "cache_read_input_tokens": 20}),
    result("t1", timestamp=at(7)),
    result("t2", [text("two lines")], timestamp=at(9)),
    answer("m2", text("done"), message_model=MODEL, message_timestamp=at(12)),
]  # fmt: skip


# checklist: T4, T5, T9, T17, T21, T26, T27, T28, T29, T30, T38, T39, T40
def test_example_of_the_document(tmp_path: Path) -> None:
    path = written(tmp_path, *EXAMPLE)
    assert group_turns(read(path)).consumed == 4
    found = traced_lines(tmp_path, *EXAMPLE)
    assert picture(found) == "\n".join(
        ["turn Turn 1", "  generation generation", "    tool Read", "  generation generation"]
    )
    root, first, tool, last = found[0]
    asked = {"role": "user", "content": "read a file"}
    assert (root.input, root.output) == (asked, {"role": "assistant", "content": "done"})
    assert root.metadata == {"source": "claude-code", "turn_number": 1, "session_id": "sess1"}
    assert (root.session, root.turn) == ("sess1", 1)
    assert (first.input, first.output) == (asked, {"role": "assistant", "content": ""})
    assert first.metadata == {"tool_count": 1}
    assert (tool.input, tool.output) == ({"path": "/"}, "file data")
    assert tool.metadata == {"tool_name": "Read", "tool_id": "t1"}
    assert (last.input, last.output) == (None, {"role": "assistant", "content": "done"})
    assert last.metadata == {"tool_count": 0}
    assert {(span.start, span.end) for span in found[0]} == {(None, None)}
    assert {span.tokens for span in found[0]} == {None}


# checklist: T6, T23, T31, T32, T33, T34, T36
def test_tables_of_times_names_and_usage(tmp_path: Path) -> None:
    found = traced_lines(tmp_path, *TIMED)
    assert picture(found) == "\n".join(
        ["turn Turn 1", f"  generation {MODEL}", "    tool Read", "    tool Grep",
         f"  generation {MODEL}"]
    )  # fmt: skip
    root, first, read_, grep, last = found[0]
    assert (root.start, root.end) == (ns(0), ns(12))
    assert (first.start, first.end) == (ns(5), ns(12)), "until the next begins"
    assert (read_.start, read_.end) == (ns(5), ns(7))
    assert (grep.start, grep.end) == (ns(5), ns(9))
    assert (last.start, last.end) == (ns(12), ns(12)), "with its last block, never now"
    assert first.tokens is not None
    assert langfuse_usage(first.tokens) == {
        "input": 100, "output": 50, "total": 170, "cache_read_input_tokens": 20,
    }  # fmt: skip
    assert last.tokens is None


# checklist: T37
def test_response_without_usage_has_no_figures(tmp_path: Path) -> None:
    (spans,) = traced_lines(tmp_path, *EXAMPLE)
    assert [span.tokens for span in spans if span.kind == "generation"] == [None, None]
    assert [span.cost for span in spans] == [None] * 4


# checklist: T33
def test_last_response_ends_with_its_results_or_the_duration_line(tmp_path: Path) -> None:
    unfinished = [*TIMED[:2], result("t1", timestamp=at(7)), result("t2", timestamp=at(9))]
    (spans,) = traced_lines(tmp_path, *unfinished)
    assert (spans[1].start, spans[1].end) == (ns(5), ns(9))
    noted = [
        prompt("go", sessionId="sess1", timestamp=at(0)),
        answer("m1", text("done")),
        {"type": "system", "subtype": "turn_duration", "durationMs": 3000, "timestamp": at(3)},
    ]
    (spans,) = traced_lines(tmp_path, *noted)
    assert (spans[0].start, spans[0].end) == (ns(0), ns(3))
    assert (spans[1].start, spans[1].end) == (None, ns(3))


# checklist: T7, T20, T49
def test_response_in_several_lines_is_one_generation(tmp_path: Path) -> None:
    usage = {"input_tokens": 3, "output_tokens": 8}
    (spans,) = traced_lines(
        tmp_path,
        prompt("go", sessionId="sess1", timestamp=at(0)),
        answer("m1", text("one"), message_model=MODEL, message_usage=usage, timestamp=at(1)),
        answer("m1", call("t1"), message_model=MODEL, message_usage=usage, timestamp=at(2)),
        answer("m1", text("two"), message_model=MODEL, message_usage=usage, timestamp=at(3)),
        result("t1", timestamp=at(4)),
    )
    assert [span.kind for span in spans] == ["turn", "generation", "tool"]
    generation = spans[1]
    assert generation.output == {"role": "assistant", "content": "one\ntwo"}
    assert generation.start == ns(1)
    assert generation.tokens is not None
    assert generation.tokens.total == 11, "counted once, not once a block"


# checklist: T24, T35, T50
@pytest.mark.parametrize("stamp", [None, 5, True, {}, "soon"])
def test_missing_timestamp_omits_times(tmp_path: Path, stamp: Any) -> None:
    (spans,) = traced_lines(
        tmp_path,
        prompt("go", sessionId="sess1", timestamp=stamp),
        answer("m1", call("t1"), timestamp=at(1)),
        result("t1"),
        answer("m2", text("done"), timestamp=at(3)),
    )
    root, first, tool, _ = spans
    assert (root.start, root.end) == (None, ns(3))
    assert (first.start, first.end) == (ns(1), ns(3))
    assert (tool.start, tool.end) == (ns(1), None)


def timeless(number: int) -> list[dict[str, Any]]:
    return [prompt(f"go {number}", sessionId="sess1"), answer(f"m{number}", text("done"))]


def timely(number: int, second: int) -> list[dict[str, Any]]:
    return [
        prompt(f"go {number}", sessionId="sess1", timestamp=at(second)),
        answer(f"m{number}", text("done"), timestamp=at(second + 1)),
    ]


# checklist: T50
def test_a_turn_without_times_is_placed_by_its_neighbours(tmp_path: Path) -> None:
    found = traced_lines(tmp_path, *timely(1, 0), *timeless(2), *timely(3, 20))
    assert [one[0].near for one in found] == [None, ns(1), None], "where the one before ended"
    assert (found[1][0].start, found[1][0].end) == (None, None)
    assert resolve_times(found[1])[found[1][1].id] == (ns(1), ns(1))
    found = traced_lines(tmp_path, *timeless(1), *timely(2, 20), *timely(3, 30))
    assert [one[0].near for one in found] == [ns(20), None, None], "where the next began"


# checklist: T50
def test_a_log_without_times_has_the_time_of_its_file(tmp_path: Path) -> None:
    for found in traced_lines(tmp_path, *timeless(1), *timeless(2)):
        assert found[0].near == int((tmp_path / "sess1.jsonl").stat().st_mtime * 1e9)


# checklist: T13, T51
def test_call_without_a_result_has_null_output(tmp_path: Path) -> None:
    (spans,) = traced_lines(tmp_path, EXAMPLE[0], EXAMPLE[1], result("other"), EXAMPLE[3])
    tool = named([spans], "Read")
    assert tool.output is None
    assert tool.status == "no result in the log"


# checklist: T19, T22, T52
def test_unanswered_prompt_makes_no_trace(tmp_path: Path) -> None:
    lines = [*EXAMPLE, prompt("and now?")]
    assert picture(traced_lines(tmp_path, *lines)) == picture(traced_lines(tmp_path, *EXAMPLE))
    assert group_turns(read(tmp_path / "sess1.jsonl")).consumed == 4
    later = traced_lines(tmp_path, *lines, answer("m3", text("Nothing.")))
    assert [spans[0].name for spans in later] == ["Turn 1", "Turn 2"]


# checklist: T45, T53
def test_a_broken_line_is_skipped(tmp_path: Path) -> None:
    broken = traced_lines(tmp_path, EXAMPLE[0], "{not json", *EXAMPLE[1:], "]")
    assert picture(broken) == picture(traced_lines(tmp_path, *EXAMPLE))


# checklist: T54
def test_responses_without_an_id(tmp_path: Path) -> None:
    (spans,) = traced_lines(
        tmp_path,
        prompt("go", sessionId="sess1"),
        answer(None, text("one")),
        answer("m2", text("two")),
    )
    assert [span.output["content"] for span in spans if span.kind == "generation"] == ["one", "two"]


WITHOUT_ID: dict[str, list[tuple[str | None, str]]] = {
    "parts without an id are one response": [(None, "a"), (None, "b")],
    "one joins the response that is open": [("m1", "a"), (None, "b"), ("m2", "c")],
    "an id begins another": [(None, "a"), ("m1", "b"), (None, "c"), (None, "d")],
}


# checklist: T54
@pytest.mark.parametrize("why", WITHOUT_ID)
def test_parts_without_an_id_are_grouped_as_documented(tmp_path: Path, why: str) -> None:
    parts = [answer(id_, text(word)) for id_, word in WITHOUT_ID[why]]
    (spans,) = traced_lines(tmp_path, prompt("go", sessionId="sess1"), *parts)
    (turn,) = group_turns(read(tmp_path / "sess1.jsonl")).turns
    found = [span.output["content"] for span in spans if span.kind == "generation"]
    assert found == [one.text for one in turn.assistants]


def test_joined_parts_keep_tokens_times_and_calls(tmp_path: Path) -> None:
    usage = {"input_tokens": 10, "output_tokens": 5}
    (spans,) = traced_lines(
        tmp_path,
        prompt("go", sessionId="sess1", timestamp=at(0)),
        answer(None, call("t1"), timestamp=at(1), message_usage=usage),
        result("t1", timestamp=at(2)),
        answer(None, text("done"), timestamp=at(4), message_usage=usage),
    )
    assert [span.kind for span in spans] == ["turn", "generation", "tool"]
    assert (spans[1].start, spans[1].end) == (ns(1), ns(4))
    assert spans[1].tokens is not None
    assert (spans[1].tokens.input, spans[1].tokens.output) == (20, 10)


# checklist: T10, T55
def test_meta_messages_change_nothing(tmp_path: Path) -> None:
    notes = [
        prompt("scaffolding", isMeta=True),
        answer("m9", text("meta response"), isMeta=True),
    ]
    plain = traced_lines(tmp_path, *EXAMPLE)
    for place in range(1, len(EXAMPLE) + 1):
        lines = [*EXAMPLE[:place], *notes, *EXAMPLE[place:]]
        found = traced_lines(tmp_path, *lines)
        assert picture(found) == picture(plain), place
        assert found[0][0].output == plain[0][0].output


# checklist: T11, T14, T15, T25
def test_plain_and_current_forms_agree(tmp_path: Path) -> None:
    def today(line: dict[str, Any]) -> dict[str, Any]:
        if "message" in line:
            return {"type": "assistant", **line}
        return {"type": "user", "message": {"role": "user", "content": line["content"]},
                **{k: v for k, v in line.items() if k not in ("type", "content")}}  # fmt: skip

    old = traced_lines(tmp_path, *TIMED)
    new = traced_lines(tmp_path, *map(today, TIMED))
    assert [shape(spans) for spans in new] == [shape(spans) for spans in old]


def shape(spans: list[Span]) -> list[tuple[Any, ...]]:
    return [
        (
            span.id,
            span.parent,
            span.name,
            span.start,
            span.end,
            json.dumps([span.input, span.output]),
        )
        for span in spans
    ]


# checklist: T12, T16
def test_same_file_gives_the_same_spans(tmp_path: Path) -> None:
    first = traced_lines(tmp_path, *TIMED)
    again = traced_lines(tmp_path, *TIMED, prompt("more", timestamp=at(30)))
    assert first == again
    assert Archive([tmp_path]).sessions[0].id == "sess1"
