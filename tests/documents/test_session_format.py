"""Turns, pairs and messages as in the first description of the format."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.documents import (
    CallMatch,
    DeduplicatedMessage,
    DetectedTurn,
    OpenCall,
    StrayResult,
    TurnCall,
    counts_match,
    deduplicate_messages,
    detect_turns,
    is_final_message,
    is_synthetic,
    pair_tool_calls,
    without_synthetic,
)
from plait.record import Record, ToolUse, Usage, parse_record


def record(**fields: Any) -> Record:
    return parse_record(json.dumps(fields).encode())


def user(uuid: str, content: object, **fields: Any) -> Record:
    return record(type="user", uuid=uuid, message={"role": "user", "content": content}, **fields)


def result(uuid: str, *ids: str, **fields: Any) -> Record:
    blocks = [{"type": "tool_result", "tool_use_id": id_, "content": f"of {id_}"} for id_ in ids]
    return user(uuid, blocks, **fields)


def assistant(
    uuid: str, *blocks: object, stop: str | None = "tool_use", id_: str = "msg_1", output: int = 9
) -> Record:
    message = {
        "id": id_,
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": list(blocks),
        "stop_reason": stop,
        "usage": {"output_tokens": output},
    }
    return record(type="assistant", uuid=uuid, message=message)


def call(id_: str, name: str = "Read") -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": name, "input": {"path": "/a"}}


TEXT = {"type": "text", "text": "I look."}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
STREAMED = [
    assistant("a1", THINKING, stop=None, output=2),
    assistant("a2", TEXT, stop=None, output=2),
    assistant("a3", call("t1"), output=480),
]
"""The pattern that the document observed."""


# checklist: F37, F38
def test_the_final_entry_of_a_streamed_message_is_used() -> None:
    assert deduplicate_messages([user("u1", "go"), *STREAMED]) == {
        "msg_1": DeduplicatedMessage(
            id="msg_1",
            final="a3",
            intermediates=("a1", "a2"),
            content=(ToolUse("t1", "Read", {"path": "/a"}),),
            usage=Usage(output_tokens=480),
        )
    }


# checklist: F37
@pytest.mark.parametrize(
    ("stops", "outputs", "final"),
    [
        ([None, None, "end_turn"], [2, 2, 480], 2),
        (["end_turn", None, None], [1, 2, 480], 0),
        ([None, "tool_use", "end_turn"], [2, 2, 480], 1),  # the first with a stop reason
        ([None, None, None], [2, 480, 3], 1),
        ([None, None, None], [7, 7, 7], 0),  # the first among equals
    ],
)
def test_final_entry(stops: list[str | None], outputs: list[int], final: int) -> None:
    group = [
        assistant(f"a{place}", TEXT, stop=stop, output=output)
        for place, (stop, output) in enumerate(zip(stops, outputs, strict=True))
    ]
    found = deduplicate_messages(group)["msg_1"]
    assert found.final == f"a{final}"
    assert found.intermediates == tuple(f"a{place}" for place in range(3) if place != final)


def test_entries_without_an_id_are_one_message() -> None:
    bare = [record(type="assistant", uuid=uuid, message={"stop_reason": None}) for uuid in "ab"]
    found = deduplicate_messages([*bare, *STREAMED, record(type="assistant", uuid="c")])
    assert list(found) == [None, "msg_1"]
    assert (found[None].final, found[None].intermediates) == ("a", ("b", "c"))
    assert (found[None].content, found[None].usage) == ((), None)


# checklist: F33
@pytest.mark.parametrize(
    ("message", "is_final"),
    [
        ({"stop_reason": "end_turn"}, True),
        ({"stop_reason": "tool_use"}, True),
        ({"stop_reason": "stop_sequence"}, True),
        ({"stop_reason": None}, False),
        ({}, True),  # what is absent is not null
        (None, False),
    ],
)
def test_final_message_has_a_stop_reason(message: object, is_final: bool) -> None:
    assert is_final_message(record(type="assistant", message=message)) is is_final


# checklist: F31, F32
def test_turn_has_final_responses_and_their_calls() -> None:
    entries = [
        user("u1", "fix it"),
        *STREAMED,
        result("r1", "t1"),
        assistant("a4", TEXT, call("t2"), call("t3", "Edit"), id_="msg_2"),
        result("r2", "t3"),
        assistant("a5", TEXT, stop="end_turn", id_="msg_3"),
        record(type="system", uuid="s1", content="note"),
        user("u2", "thanks"),
    ]
    assert detect_turns(entries) == [
        DetectedTurn(
            start="u1",
            prompt="fix it",
            responses=("a3", "a4", "a5"),
            calls=(
                TurnCall("t1", "Read", "a3", "r1"),
                TurnCall("t2", "Read", "a4", None),
                TurnCall("t3", "Edit", "a4", "r2"),
            ),
        ),
        DetectedTurn(start="u2", prompt="thanks"),
    ]


# checklist: F31, F32
@pytest.mark.parametrize(
    ("what", "entries", "turns"),
    [
        ("nothing", [], []),
        ("a list opens no turn", [user("u1", [TEXT]), assistant("a1", TEXT)], []),
        (
            "what a machine wrote as a string opens one",
            [user("u1", "<command-name>/clear</command-name>", isMeta=True)],
            [DetectedTurn("u1", "<command-name>/clear</command-name>")],
        ),
        ("an empty string opens one", [user("u1", "")], [DetectedTurn("u1", "")]),
        (
            "answers before the first turn are passed over",
            [assistant("a1", call("t1")), user("u1", "hi"), result("r1", "t1")],
            [DetectedTurn("u1", "hi")],
        ),
        (
            "the call of an intermediate entry is lost",
            [user("u1", "hi"), assistant("a1", call("t1"), stop=None), result("r1", "t1")],
            [DetectedTurn("u1", "hi")],
        ),
        (
            "a result after the next prompt finds its call no more",
            [user("u1", "hi"), assistant("a1", call("t1")), user("u2", "oh"), result("r1", "t1")],
            [
                DetectedTurn("u1", "hi", ("a1",), (TurnCall("t1", "Read", "a1"),)),
                DetectedTurn("u2", "oh"),
            ],
        ),
        (
            "two results go to two calls of one id, in order",
            [
                user("u1", "hi"),
                assistant("a1", call("t1")),
                assistant("a2", call("t1")),
                result("r1", "t1"),
                result("r2", "t1", "t1"),
            ],
            [
                DetectedTurn(
                    "u1",
                    "hi",
                    ("a1", "a2"),
                    (TurnCall("t1", "Read", "a1", "r1"), TurnCall("t1", "Read", "a2", "r2")),
                )
            ],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_turn_detection(what: str, entries: list[Record], turns: list[DetectedTurn]) -> None:
    assert detect_turns(entries) == turns, what


# checklist: F34, F35
def test_calls_are_paired_and_orphans_listed() -> None:
    found = pair_tool_calls(
        [
            assistant("a1", TEXT, call("t1"), call("t2", "Grep")),
            result("r1", "t2", toolUseResult="Error: File not found: /a"),
            assistant("a2", call("t3"), stop=None),
            result("r2", "t3"),
            result("r3", "t2"),
            user("u1", "go on"),
        ]
    )
    assert found.matches == (
        CallMatch(
            id="t2",
            name="Grep",
            input={"path": "/a"},
            call_uuid="a1",
            result_uuid="r1",
            result="of t2",
            metadata="Error: File not found: /a",
        ),
    )
    assert found.orphans == (OpenCall("t1", "Read", {"path": "/a"}, "a1"),)
    assert found.strays == (StrayResult("t3", "r2"), StrayResult("t2", "r3"))


def test_the_later_of_two_open_calls_with_one_id_counts() -> None:
    entries = [assistant("a1", call("t1")), assistant("a2", call("t1", "Edit")), result("r", "t1")]
    found = pair_tool_calls(entries)
    assert [(one.name, one.call_uuid) for one in found.matches] == [("Edit", "a2")]
    assert (found.orphans, found.strays) == ((), ())


# checklist: F36
@pytest.mark.parametrize(
    ("entries", "is_equal"),
    [
        ([], True),
        ([*STREAMED, result("r1", "t1")], True),
        ([assistant("a1", call("t1"), stop=None), result("r1", "t1")], True),
        (STREAMED, False),
        ([result("r1", "t1")], False),
        ([assistant("a1", call("t1"), call("t2")), result("r1", "t1", "t2")], True),
        ([assistant("a1", call("t1"), call("t2")), result("r1", "t1")], False),
    ],
)
def test_calls_and_results_are_counted(entries: list[Record], is_equal: bool) -> None:
    assert counts_match(entries) is is_equal


# checklist: F39, S28
def test_synthetic_messages_are_filtered_out() -> None:
    message = {
        "model": "<synthetic>",
        "stop_reason": "stop_sequence",
        "content": [{"type": "text", "text": "No response requested."}],
    }
    made_up = record(type="assistant", uuid="a9", message=message)
    spoken = user("u1", "<synthetic>")
    assert (is_synthetic(made_up), is_synthetic(spoken)) == (True, False)
    assert list(without_synthetic([spoken, made_up, *STREAMED])) == [spoken, *STREAMED]


def test_hostile_entries_are_skipped() -> None:
    odd = [
        record(type="user"),
        record(type="user", message=[]),
        record(type="assistant", message={"content": {"type": "tool_use"}, "usage": 7}),
        record(type="assistant", message={"content": [None, 3, {"type": "tool_use", "id": 4}]}),
        record(type="user", message={"content": [{"type": "tool_result"}, "tool_result"]}),
        record(type={}),
    ]
    assert detect_turns([user("u1", "hi"), *odd]) == [DetectedTurn("u1", "hi", (None, None))]
    assert pair_tool_calls(odd).matches == ()
    assert counts_match(odd)


IDS = st.sampled_from(["t1", "t2", "t3"])
ENTRIES = st.lists(
    st.one_of(
        st.just(("prompt", ())),
        st.tuples(st.just("final"), st.lists(IDS, max_size=2).map(tuple)),
        st.tuples(st.just("streamed"), st.lists(IDS, max_size=2).map(tuple)),
        st.tuples(st.just("result"), st.lists(IDS, min_size=1, max_size=2).map(tuple)),
    ),
    max_size=20,
)


def drawn(kinds: list[tuple[str, tuple[str, ...]]]) -> list[Record]:
    return [
        user(f"e{place}", "hi")
        if kind == "prompt"
        else result(f"e{place}", *ids)
        if kind == "result"
        else assistant(f"e{place}", *map(call, ids), stop="tool_use" if kind == "final" else None)
        for place, (kind, ids) in enumerate(kinds)
    ]


# checklist: F31
@given(ENTRIES)
def test_every_call_is_in_one_turn_or_before_the_first(
    kinds: list[tuple[str, tuple[str, ...]]],
) -> None:
    turns = detect_turns(drawn(kinds))
    names = [kind for kind, _ in kinds]
    first = names.index("prompt") if "prompt" in names else len(names)
    expected = [
        (f"e{place}", id_)
        for place, (kind, ids) in enumerate(kinds)
        if kind == "final" and place > first
        for id_ in ids
    ]
    assert [(one.assistant, one.id) for turn in turns for one in turn.calls] == expected
    assert len(turns) == names.count("prompt")


# checklist: F35
@given(ENTRIES)
def test_every_result_is_paired_or_stray(kinds: list[tuple[str, tuple[str, ...]]]) -> None:
    found = pair_tool_calls(drawn(kinds))
    results = sum(len(ids) for kind, ids in kinds if kind == "result")
    assert len(found.matches) + len(found.strays) == results
    finals = {id_ for kind, ids in kinds if kind == "final" for id_ in ids}
    assert {one.id for one in found.matches} | {one.id for one in found.orphans} == finals
