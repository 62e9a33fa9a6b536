"""Checks of trimmed sessions that need no client."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.edits import ALL
from conformance.edits.model import Edited
from conformance.edits.trims import (
    KEPT,
    NOTE,
    sends_the_same,
    short_results,
    unasked,
    unpaired,
    without_calls,
    without_pictures,
    without_thoughts,
)
from conformance.model import Json, Message, Readings, Resumed
from examples.drawing import draw

CALL: Json = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
RESULT: Json = {"type": "tool_result", "tool_use_id": "t1", "content": "r"}
OTHER: Json = {**CALL, "id": "t2"}
OTHERS: Json = {**RESULT, "tool_use_id": "t2"}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def asked(*words: str) -> list[Message]:
    return [("user", [text(word) for word in words])]


def called(*blocks: Json) -> list[Message]:
    return [
        ("assistant", [one for one in blocks if one["type"] == "tool_use"]),
        ("user", [one for one in blocks if one["type"] != "tool_use"]),
    ]


def edited(
    folder: Path, before: list[Message], after: list[Message], drawing: str = 'U1 "a"'
) -> Edited:
    """Return an edit of a drawn session, with what the client sent before and send now."""
    file = folder / "session.jsonl"
    file.write_bytes(draw(drawing).files[0].data)
    resumed = [Resumed(True, None, (), messages) for messages in (before, after)]
    readings = [Readings(one, one, None, one) for one in resumed]
    case = SimpleNamespace(file=file, before=readings[0])
    return Edited(cast(Any, case), cast(Any, SimpleNamespace(path=file)), readings[1], None)


@pytest.mark.parametrize(
    ("after", "is_lost"),
    [
        pytest.param(asked("a", "b"), False, id="all of it"),
        pytest.param(asked("a\nb"), False, id="sent as one"),
        pytest.param(asked("a"), True, id="one is gone"),
        pytest.param([*asked("a"), ("assistant", [text("b")])], True, id="only told about"),
    ],
)
def test_prompts_are_still_asked(tmp_path: Path, after: list[Message], is_lost: bool) -> None:
    one = edited(tmp_path, asked("a", "b"), after, 'U1 "a"\nU2< "b"')
    assert bool(list(unasked(one))) is is_lost


def test_untyped_entries_may_be_removed(tmp_path: Path) -> None:
    drawing = 'U1 "a"\nM1< "b"\nU2< "<task-notification>c"'
    before = asked("a", "b", "<task-notification>c")
    assert list(unasked(edited(tmp_path, before, asked("a"), drawing))) == []


def test_repeated_prompts_are_kept(tmp_path: Path) -> None:
    drawing = 'U1 "go on"\nA1< "yes"\nU2< "go on"'
    one = edited(tmp_path, [*asked("go on"), *asked("go on")], asked("go on"), drawing)
    assert list(unasked(one))


def test_calls_and_results_match() -> None:
    assert unpaired(called(CALL, RESULT)) == Counter()
    assert unpaired(called(CALL)) == unpaired(called(RESULT)) == Counter({"t1": 1})
    assert unpaired(called(CALL, OTHERS)) == Counter({"t1": 1, "t2": 1})


@pytest.mark.parametrize(
    ("after", "count"),
    [
        pytest.param(called(OTHER, OTHERS), 0, id="the one that was named"),
        pytest.param(called(CALL, RESULT, OTHER, OTHERS), 1, id="it is still there"),
        pytest.param(called(), 1, id="the other one too"),
    ],
)
def test_only_selected_calls_are_removed(tmp_path: Path, after: list[Message], count: int) -> None:
    before = called(CALL, RESULT, OTHER, OTHERS)
    assert len(list(without_calls(("t1",), edited(tmp_path, before, after)))) == count


def test_results_are_shortened_and_calls_unchanged(tmp_path: Path) -> None:
    long = {**RESULT, "content": "x" * (KEPT + NOTE + 1)}
    before = called(CALL, RESULT)
    assert list(short_results(edited(tmp_path, before, called(CALL, RESULT)))) == []
    assert list(short_results(edited(tmp_path, before, called(CALL, long))))
    assert list(short_results(edited(tmp_path, before, called())))
    assert list(short_results(edited(tmp_path, called(CALL, long), called(CALL, long)))) == []


def test_removing_thinking_removes_only_thinking(tmp_path: Path) -> None:
    thought: Message = ("assistant", [{"type": "thinking", "thinking": "hm"}, text("b")])
    without: Message = ("assistant", [text("b")])
    drawing = 'U1 "a"\nA1< "b"'
    assert list(without_thoughts(edited(tmp_path, [thought], [without], drawing))) == []
    assert list(without_thoughts(edited(tmp_path, [thought], [], drawing)))
    thinks = 'U1 "a"\nA1< think "hm" + "b"'
    assert list(without_thoughts(edited(tmp_path, [thought], [without], thinks)))


def test_removing_images_removes_no_message(tmp_path: Path) -> None:
    assert list(without_pictures(edited(tmp_path, asked("a"), asked("note")))) == []
    assert list(without_pictures(edited(tmp_path, asked("a"), [])))


def test_unsent_records_are_not_missed(tmp_path: Path) -> None:
    assert list(sends_the_same(edited(tmp_path, asked("a"), asked("a")))) == []
    assert list(sends_the_same(edited(tmp_path, asked("a"), asked("b"))))


def test_every_operation_is_named_and_described() -> None:
    assert {"clone", "trim", "extreme", "removed", "cut", "emptied"} <= set(ALL)
    assert all(operation.__doc__ for operation in ALL.values())
