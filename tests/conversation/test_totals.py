"""The totals of a conversation, alone and with its agents."""

from datetime import datetime
from textwrap import dedent

import pytest

from plait.conversation.tokens import Tokens
from plait.conversation.totals import agents_below, totals_below, totals_of
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


@pytest.fixture
def nested() -> Talk:
    return talk(NESTED)


def test_a_conversation_alone_counts_its_own(nested: Talk) -> None:
    totals = totals_of(nested.main, FixedPrices())
    assert (totals.conversations, totals.turns, totals.prompts) == (1, 2, 2)
    assert (totals.responses, totals.calls) == (5, 3)
    assert (totals.failed, totals.rejected) == (1, 1)
    assert totals.cost_usd == 5.0
    assert totals.unpriced == {}
    assert totals.first is not None
    assert totals.last is not None
    assert totals.first < totals.last
    assert totals.working_ms > 0


def test_agents_below_are_counted_with_theirs(nested: Talk) -> None:
    names = agents_below(nested.all, nested.main.id)
    assert len(names) == 2
    totals = totals_below(nested.all, nested.main.id, FixedPrices())
    assert (totals.conversations, totals.calls) == (3, 4)
    assert totals.prompts == 2
    assert totals.responses == 8
    assert totals.unpriced == {"unknown": 1}
    below = totals_below(nested.all, names[0], FixedPrices())
    assert below.conversations == 2


def test_a_response_counts_once_however_many_lines_it_has(nested: Talk) -> None:
    one = talked(f"""
    U1 "go"
    A1< {USAGE} think "a" + "b"
    """)
    totals = totals_of(one.main)
    assert (totals.responses, totals.tokens.output) == (1, 10)
    assert totals.cost_usd is None


def test_errors_of_the_api_are_no_responses() -> None:
    totals = totals_of(talk('U1 "go"\nE1<\n').main, FixedPrices())
    assert (totals.responses, totals.cost_usd, dict(totals.unpriced)) == (0, 0.0, {})
