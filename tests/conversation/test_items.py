"""Joining the lines of a response: blocks merged, usage taken once."""

from typing import Any

import pytest

from plait.conversation.items import Responses
from plait.record import parse_record
from plait.record.codec import encode
from tests.conversation.sketched import talk


def line(output: int = 1, **fields: Any) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "model": fields.pop("model", "claude-opus-4-5"),
        "content": [{"type": "text", "text": "a"}],
        "stop_reason": fields.pop("stop", None),
        "usage": {"input_tokens": fields.pop("input", 100), "output_tokens": output},
    }
    for name, key in (("id", "id"), ("inner", "requestId")):
        if name in fields:
            message[key] = fields.pop(name)
    return {"type": "assistant", "uuid": fields.pop("uuid", "u"), "message": message, **fields}


def merged(*lines: dict[str, Any]) -> Responses:
    found = Responses()
    for one in lines:
        found.number_of(parse_record(encode(one)))
    return found


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ([{"id": "m1"}, {"id": "m1"}], 1),
        ([{"id": "m1"}, {"id": "m2"}], 2),
        ([{"id": "m1", "requestId": "r1"}, {"id": "m1", "requestId": "r2"}], 1),
        ([{"requestId": "r1"}, {"requestId": "r1"}], 1),
        ([{"inner": "r1"}, {"inner": "r1"}], 1),
        ([{"inner": "r1"}, {"requestId": "r1"}], 1),
        ([{"inner": "r1"}, {"inner": "r2"}], 2),
        ([{}, {}], 2),
        ([{"id": "m1"}, {"id": "m2"}, {"id": "m1"}], 2),
    ],
    ids=[
        "one message id",
        "two message ids",
        "one message id under two requests",
        "no message id, one request",
        "one request, named inside the message",
        "one request, named inside and outside",
        "two requests, named inside",
        "neither: each for itself",
        "another response between the blocks",
    ],
)
def test_lines_of_one_response(lines: list[dict[str, Any]], count: int) -> None:
    # checklist: F5, T7, T49
    assert len(merged(*(line(**one) for one in lines))) == count


@pytest.mark.parametrize(
    ("outputs", "inputs", "expected"),
    [
        ((2, 2, 480), (100, 100, 100), (100, 480)),
        ((480, 480, 480), (100, 100, 100), (100, 480)),
        ((5, 480, 3), (1, 2, 3), (2, 480)),
        ((7, 7), (1, 2), (2, 7)),
    ],
    ids=["grows", "all final", "the largest, wherever it stands", "the last among equals"],
)
def test_all_usage_figures_come_from_one_line(
    outputs: tuple[int, ...], inputs: tuple[int, ...], expected: tuple[int, int]
) -> None:
    # checklist: F37, F38
    lines = [line(o, id="m", input=i) for o, i in zip(outputs, inputs, strict=True)]
    (response,) = merged(*lines).finished()
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.output_tokens) == expected


@pytest.mark.parametrize("stops", [(None, None, "tool_use"), ("tool_use",) * 3])
def test_both_forms_of_stop_reason(stops: tuple[str | None, ...]) -> None:
    (response,) = merged(*(line(id="m", stop=stop) for stop in stops)).finished()
    assert response.stop_reason == "tool_use"


def test_synthetic_responses_are_marked() -> None:
    # checklist: F39, S28
    (made,) = merged(line(id="m", model="<synthetic>")).finished()
    (error,) = merged(line(id="m", model="<synthetic>", isApiErrorMessage=True)).finished()
    assert (made.is_synthetic, made.is_error) == (True, False)
    assert (error.is_synthetic, error.is_error) == (True, True)


def test_blocks_keep_order_and_count() -> None:
    found = talk('U1 "go"\nA1< think "hm" + "I look." + Bash(command="ls") as ls\nR1< of ls')
    assert found.picture == ("1 prompt: U1=prompt A1.1=thought A1.2=said A1=Bash:ok(R1) R1=own")
    assert len(found.main.responses) == 1
    assert len(found.main.responses[0].uuids) == 3


def test_repeated_blocks_are_marked() -> None:
    found = talk('U1 "go"\nA1< "I wi"\nA2<A1~A1 "I will."\nU2< "ok"')
    assert found.picture.splitlines()[0] == "1 prompt: U1=prompt A1=said? A2=said"
