"""Grouping messages to turns as the tracer's document does."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.conversation.items import get_message_content
from plait.documents import (
    Grouped,
    group_turns,
    is_tool_result,
    match_tool_results,
    merge_assistant_parts,
    role_of_message,
    timestamp_of_message,
)
from plait.record import Record, Text, ToolUse, parse_record, read

TEN = datetime(2025, 1, 15, 10, tzinfo=UTC)


def record(**fields: Any) -> Record:
    return parse_record(json.dumps(fields).encode())


def prompt(text: str = "hello", **fields: Any) -> Record:
    return record(type="user", content=text, **fields)


def answer(id_: str | None, *blocks: Any, **fields: Any) -> Record:
    named = {"id": id_} if id_ is not None else {}
    return record(message={**named, "role": "assistant", "content": list(blocks)}, **fields)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id_: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "Read", "input": {"path": "/"}}


def result(*ids: str, **fields: Any) -> Record:
    blocks = [{"type": "tool_result", "tool_use_id": id_, "content": "file data"} for id_ in ids]
    return record(type="user", content=blocks, **fields)


# checklist: T4, T5, T7, T9, T17, T18, T21
def test_example_of_the_document() -> None:
    messages = [
        prompt("read a file", sessionId="sess1"),
        answer("m1", call("t1")),
        result("t1"),
        answer("m2", text("done")),
    ]
    found = group_turns(messages)
    (turn,) = found.turns
    assert found.consumed == 4
    assert (turn.user.session_id, get_message_content(turn.user)) == ("sess1", "read a file")
    assert [message.id for message in turn.assistants] == ["m1", "m2"]
    assert turn.assistants[0].calls == (ToolUse("t1", "Read", {"path": "/"}),)
    assert turn.assistants[1].content == (Text("done"),)
    assert turn.tool_results == (messages[2],)


# u a prompt · a, b a line of that response · - a response without id · r a result
# m a meta prompt · n a meta answer · s another line
LETTERS: dict[str, Record] = {
    "u": prompt(),
    "a": answer("a", text("1")),
    "b": answer("b", text("2")),
    "-": answer(None, text("3")),
    "r": result("t1"),
    "m": prompt("scaffolding", isMeta=True),
    "n": answer("a", text("meta response"), isMeta=True),
    "s": record(type="file-history-snapshot"),
}


def messages_of(letters: str) -> list[Record]:
    return [LETTERS[letter] for letter in letters]


def letters_of(found: Grouped) -> list[str]:
    names = {id(message): letter for letter, message in LETTERS.items()}
    return [
        " ".join("".join(names[id(part)] for part in one.parts) for one in turn.assistants)
        + "/" * bool(turn.tool_results)
        + "".join(names[id(one)] for one in turn.tool_results)
        for turn in found.turns
    ]


# checklist: T5, T9, T10, T18, T19, T21, T22, T49, T52, T54, T55
@pytest.mark.parametrize(
    ("letters", "turns", "consumed"),
    [
        ("", [], 0),
        # rule 2: meta messages are skipped, wherever they stand
        ("mumanr", ["a/r"], 6),
        ("mn", [], 0),
        ("un", [], 0),
        ("uam", ["a"], 3),
        ("uama", ["aa"], 4),
        # rule 3: a result joins the turn, another user message begins one
        ("uar", ["a/r"], 3),
        ("uaur", ["a"], 2),
        ("uaub", ["a", "b"], 4),
        ("ruab", ["a b"], 4),
        # rule 4: the same id goes on, a new one begins another, none joins what is open
        ("uaab", ["aa b"], 4),
        ("uara", ["aa/r"], 4),
        ("uaba", ["a b a"], 4),
        ("u--", ["--"], 3),
        ("u-a", ["- a"], 3),
        ("ua-ab", ["a-a b"], 5),
        # rule 5: the last turn ends with the messages
        ("uasr", ["a/r"], 4),
        ("uas", ["a"], 3),
        # only with a prompt and a response
        ("u", [], 0),
        ("a", [], 0),
        ("ar", [], 0),
        ("aua", ["a"], 3),
        ("uua", ["a"], 3),
        ("uur", [], 0),
        # an incomplete turn is left for later
        ("uau", ["a"], 2),
        ("uamu", ["a"], 3),
        ("uauu", ["a"], 2),
        ("uauur", ["a"], 2),
    ],
)
def test_grouping_rules(letters: str, turns: list[str], consumed: int) -> None:
    found = group_turns(messages_of(letters))
    assert (letters_of(found), found.consumed) == (turns, consumed)


# checklist: T20, T49
def test_joined_parts_keep_the_first_metadata() -> None:
    def part(model: str, time: str, content: object, output: int) -> Record:
        usage = {"input_tokens": 100, "output_tokens": output}
        message = {"id": "m1", "role": "assistant", "model": model, "content": content}
        return record(timestamp=time, message={**message, "usage": usage})

    merged = merge_assistant_parts(
        [
            part("opus", "2025-01-15T10:00:00Z", [text("one")], 2),
            part("haiku", "2025-01-15T10:00:05Z", "two", 50),
            part("haiku", "2025-01-15T10:00:06Z", None, 60),
            part("haiku", "2025-01-15T10:00:07Z", [call("t1")], 70),
        ]
    )
    assert (merged.id, merged.model, merged.time) == ("m1", "opus", TEN)
    assert merged.usage is not None
    assert merged.usage.output_tokens == 2
    assert merged.content[:2] == (Text("one"), Text("two"))
    assert (merged.text, [one.id for one in merged.calls]) == ("one\ntwo", ["t1"])


# checklist: T15, T23
@pytest.mark.parametrize(
    ("fields", "role"),
    [
        ({"type": "user"}, "user"),
        ({"type": "user", "message": {"role": "assistant"}}, "user"),
        ({"type": None, "message": {"role": "assistant"}}, "assistant"),
        ({"message": {"role": "assistant"}}, "assistant"),
        ({"type": "", "message": {"role": "assistant"}}, ""),
        ({"message": "assistant"}, None),
        ({}, None),
    ],
)
def test_role_is_the_type_or_the_message_role(fields: dict[str, Any], role: str | None) -> None:
    assert role_of_message(record(**fields)) == role


# checklist: T23, T24, T50
@pytest.mark.parametrize(
    ("fields", "time"),
    [
        ({"timestamp": "2025-01-15T10:00:00Z"}, TEN),
        ({"message": {"timestamp": "2025-01-15T10:00:00Z"}}, TEN),
        ({"timestamp": "2025-01-15T10:00:00Z", "message": {"timestamp": "2024"}}, TEN),
        ({"timestamp": None, "message": {"timestamp": "2025-01-15T10:00:00Z"}}, TEN),
        ({"timestamp": 1736935200000, "message": {"timestamp": "2025-01-15T10:00:00Z"}}, None),
        ({"timestamp": {}, "message": {"timestamp": "2025-01-15T10:00:00Z"}}, None),
        ({"timestamp": "some day"}, None),
        ({"message": []}, None),
        ({}, None),
    ],
)
def test_the_time_of_the_line_wins_and_must_be_a_string(
    fields: dict[str, Any], time: datetime | None
) -> None:
    assert timestamp_of_message(record(**fields)) == time


# checklist: T14, T23, T25
@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({"content": "top"}, "top"),
        ({"content": [text("top")]}, (Text("top"),)),
        ({"content": "top", "message": {"content": "nested"}}, "nested"),
        ({"content": "top", "message": {"role": "user"}}, None),
        ({"content": "top", "message": []}, None),
        ({"content": "top", "message": None}, "top"),
        ({"content": "top", "message": "a string"}, "top"),
        ({"content": {"odd": 1}}, None),
        ({}, None),
    ],
)
def test_nested_content_wins_over_that_of_the_line(fields: dict[str, Any], content: object) -> None:
    assert get_message_content(record(**fields)) == content


# checklist: T8, T16
@pytest.mark.parametrize(
    ("content", "is_result"),
    [
        ([{"type": "tool_result", "tool_use_id": "t1", "content": "data"}], True),
        ([text("note"), {"type": "tool_result", "tool_use_id": "t1"}], True),
        ([{"type": "tool_result"}], True),
        ([text("note")], False),
        ("tool_result", False),
        ([], False),
        ([3, None, "tool_result"], False),
        (None, False),
    ],
)
def test_any_result_block_makes_a_tool_result(content: object, is_result: bool) -> None:
    assert is_tool_result(record(type="user", content=content)) is is_result
    assert is_tool_result(record(type="user", message={"content": content})) is is_result


# checklist: T12, T13, T51
def test_calls_are_matched_with_their_results() -> None:
    calls = [ToolUse(id_, "Read", {"path": "/"}) for id_ in ("t1", "t2", "t3")]
    first, second = result("t1", timestamp="2025-01-15T10:00:00Z"), result("t1", "t3", "t9")
    one, two, three = match_tool_results(calls, [prompt(), first, second])
    assert (one.name, one.input, one.output) == ("Read", {"path": "/"}, "file data")
    assert (one.time, one.result) == (TEN, first)
    assert (two.output, two.time, two.result) == (None, None, None)
    assert (three.output, three.time, three.result) == ("file data", None, second)


def test_an_empty_output_differs_from_none() -> None:
    empty = record(type="user", content=[{"type": "tool_result", "tool_use_id": "t1"}])
    (found,) = match_tool_results([ToolUse("t1", "Read")], [empty])
    assert (found.output, found.result) == (None, empty)


# checklist: T53
def test_broken_line_does_not_shift_the_position(tmp_path: Path) -> None:
    file = tmp_path / "transcript.jsonl"
    lines = [one.raw for one in messages_of("uau")]
    file.write_bytes(b"\n".join([lines[0], b'{"torn', b"", lines[1], lines[2]]))
    records = list(read(file))
    found = group_turns(records)
    assert (found.consumed, records[found.consumed - 1].line) == (2, 4)


def test_hostile_messages_are_grouped() -> None:
    odd = [
        record(type="user", content={"deep": []}),
        record(message={"role": "assistant", "id": 7, "content": 3, "usage": "none"}),
        record(type="user", message={"content": [{"type": "tool_result", "tool_use_id": []}]}),
        record(type=5),
    ]
    found = group_turns(odd)
    assert found.consumed == 4
    assert (found.turns[0].assistants[0].content, found.turns[0].assistants[0].id) == ((), None)
    assert found.turns[0].tool_results == (odd[2],)


# checklist: T22, T55
@given(st.text(sorted(LETTERS), max_size=30), st.data())
def test_grouping_can_continue_where_it_stopped(letters: str, data: st.DataObject) -> None:
    messages = messages_of(letters)
    whole = group_turns(messages)
    assert whole.consumed <= len(messages)
    assert group_turns(messages[: whole.consumed]) == whole
    assert group_turns(messages[whole.consumed :]).turns == ()
    cut = data.draw(st.integers(0, len(messages)))
    before = group_turns(messages[:cut])
    goes_on = letters[cut:].lstrip("mns")[:1]
    if before.consumed == cut and goes_on not in ("", "u"):
        return  # cut within a turn that had its first response: it counts as complete
    rest = group_turns(messages[before.consumed :])
    assert before.turns + rest.turns == whole.turns


# checklist: T55
@given(st.text(sorted(LETTERS), max_size=30))
def test_meta_messages_change_no_turn(letters: str) -> None:
    without = "".join(letter for letter in letters if letter not in "mn")
    assert group_turns(messages_of(letters)).turns == group_turns(messages_of(without)).turns
