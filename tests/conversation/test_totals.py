"""Totals of a conversation, with and without its agents."""

from datetime import datetime
from textwrap import dedent

import pytest
from msgspec.structs import replace

from plait.conversation.costs import (
    Totals,
    list_descendant_agents,
    sum_conversations,
    unique_responses,
)
from plait.conversation.model import Conversation
from plait.conversation.usage import Tokens
from plait.record import Usage
from tests.conversation.sketched import Talk, talk


def talked(text: str) -> Talk:
    return talk(dedent(text))


USAGE = '{"message": {"usage": {"input_tokens": 100, "output_tokens": 10}}}'
NESTED = """
file s start=2026-11-02T09:00:00Z
set model=known
U1 "go"
A1< think "hm" + "words" + Agent(description="d", prompt="look") as first
R1< of first
A2< "done"
U2< "more"
T2< Bash(command="false")
R2< error "Exit code 1"
T3< Bash(command="rm x")
R3< rejected
A3< "sorry"
agent one of first
set model=known
U11 "look"
T11< Agent(description="e", prompt="deeper") as second
R11< of second
A11< "found"
agent two of one:second
set model=unknown
U21 "deeper"
A21< "deep"
"""


class FixedPrices:
    """A dollar for a response of a known model."""

    def cost(self, model: str | None, tokens: Tokens, when: datetime | None) -> float | None:
        return 1.0 if model == "known" else None


def sum_below(found: Talk, name: str) -> Totals:
    names = [name, *list_descendant_agents(found.all, name)]
    return sum_conversations((found.all.by_line[line] for line in names), FixedPrices())


@pytest.fixture
def nested() -> Talk:
    return talk(NESTED)


def test_conversation_without_agents(nested: Talk) -> None:
    totals = sum_conversations([nested.main], FixedPrices())
    assert (totals.conversations, totals.turns, totals.prompts) == (1, 2, 2)
    assert (totals.responses, totals.calls) == (5, 3)
    assert (totals.failed, totals.rejected) == (1, 1)
    assert totals.cost_usd == 5.0
    assert totals.unpriced == {}
    assert totals.first is not None
    assert totals.last is not None
    assert totals.first < totals.last
    assert totals.working_ms > 0


def test_the_time_of_agents_is_within_the_turns_that_started_them(nested: Talk) -> None:
    own, all_of_it = sum_conversations([nested.main]), sum_below(nested, nested.main.id)
    assert (all_of_it.duration_ms, all_of_it.working_ms) == (own.duration_ms, own.working_ms)
    agent = nested.all.by_line[list_descendant_agents(nested.all, nested.main.id)[0]]
    assert sum_conversations([agent]).duration_ms == agent.duration_ms > 0


def test_nested_agents_are_included(nested: Talk) -> None:
    names = list_descendant_agents(nested.all, nested.main.id)
    assert len(names) == 2
    totals = sum_below(nested, nested.main.id)
    assert (totals.conversations, totals.calls) == (3, 4)
    assert totals.prompts == 2
    assert totals.responses == 8
    assert totals.unpriced == {"unknown": 1}
    below = sum_below(nested, names[0])
    assert below.conversations == 2


def test_response_counts_once(nested: Talk) -> None:
    one = talked(f"""
    U1 "go"
    A1< {USAGE} think "a" + "b"
    """)
    totals = sum_conversations([one.main])
    assert (totals.responses, totals.tokens.output) == (1, 10)
    assert totals.cost_usd is None


def test_api_errors_are_not_responses() -> None:
    totals = sum_conversations([talk('U1 "go"\nE1<\n').main], FixedPrices())
    assert (totals.responses, totals.cost_usd, dict(totals.unpriced)) == (0, 0.0, {})


@pytest.mark.parametrize(
    ("first", "second", "counted"),
    [
        pytest.param(10, 30, 30, id="the later copy says more"),
        pytest.param(30, 10, 30, id="the earlier copy says more"),
        pytest.param(10, 10, 10, id="both say the same"),
    ],
)
def test_copy_with_the_most_output_counts(first: int, second: int, counted: int) -> None:
    main, copy = (
        answered(output, f"{output} of {place}") for place, output in enumerate((first, second))
    )
    ((where, number, response),) = unique_responses([main, copy])
    assert (where, number) == (main, 0)
    assert response.tokens.output == counted
    assert response.started == main.responses[0].started
    assert response.stop_reason == (f"{counted} of {int(second >= first)}")


def test_responses_without_an_id_are_not_copies() -> None:
    one = answered(10, "end", id=None, request=None, uuids=())
    assert len(list(unique_responses([one, one]))) == 2


def test_synthetic_message_is_not_a_response() -> None:
    assert not list(unique_responses([answered(10, "end", is_synthetic=True)]))


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"id": "m", "request": "r", "uuids": ("u",)}, "m"),
        ({"id": None, "request": "r", "uuids": ("u",)}, "r"),
        ({"id": None, "request": None, "uuids": ("u", "v")}, "u"),
        ({"id": None, "request": None, "uuids": ()}, None),
    ],
)
def test_response_key(fields: dict[str, object], key: str | None) -> None:
    assert answered(1, "end", **fields).responses[0].key == key


def test_response_without_usage_has_no_tokens() -> None:
    silent = answered(1, "end", usage=None).responses[0]
    assert (silent.tokens, silent.output_tokens) == (Tokens(), 0)


def answered(output: int, stop_reason: str, **fields: object) -> Conversation:
    """Return a conversation of one response."""
    main = talk(f'file s start=2026-11-02T09:00:0{output % 7}Z\nU1 "go"\nA1< "yes"').main
    (response,) = main.responses
    usage = Usage(input_tokens=1, output_tokens=output)
    made = replace(response, id="m", usage=usage, stop_reason=stop_reason)
    return replace(main, responses=(replace(made, **fields),))
