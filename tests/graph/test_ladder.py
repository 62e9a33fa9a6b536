"""The fork rules one by one, and that they cover every case."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.graph import forks
from plait.graph.forks import LADDER, Child, Siblings, judge

PROMPT = Child(
    step=1,
    host=0,
    stamp="2026-11-02T09:00:01.000Z",
    digest=1,
    is_opener=True,
    is_prompt=True,
    is_reply=False,
    is_answered=True,
    holds_leaf=False,
    went_on=True,
    is_after_error=False,
    is_below_prompt=False,
    first=1,
    last=2,
)
LATER = replace(PROMPT, step=2, stamp="2026-11-02T09:00:09.000Z", digest=2, first=3, last=4)
NOTE = replace(PROMPT, is_opener=False, is_prompt=False, digest=None, went_on=False)
ANSWER = replace(NOTE, is_reply=True)
UNANSWERED = replace(PROMPT, is_answered=False, went_on=False)

CASES = {
    "a prompt after an answered one": (PROMPT, LATER, "rewind"),
    "while the older side still grows": (replace(PROMPT, last=9), LATER, "parallel"),
    "a prompt after an unanswered one": (UNANSWERED, LATER, "retracted"),
    "with the same words": (UNANSWERED, replace(LATER, digest=1), "resent"),
    "a command with the same words, now answered": (
        replace(NOTE, digest=1, is_answered=False),
        replace(LATER, digest=1, is_prompt=False),
        "resent",
    ),
    "a command with other words, now answered": (
        replace(NOTE, digest=1, is_answered=False),
        replace(LATER, is_prompt=False),
        "note",
    ),
    "a command that is not answered the second time either": (
        replace(NOTE, digest=1, is_answered=False),
        replace(NOTE, step=2, digest=1, stamp=LATER.stamp, is_answered=False),
        "note",
    ),
    "where the client goes on from the older": (
        replace(UNANSWERED, holds_leaf=True),
        LATER,
        "rewind",
    ),
    "at another place": (UNANSWERED, replace(LATER, host=7), "rewind"),
    "the same words at the same time": (PROMPT, replace(PROMPT, step=2, first=3), "replay"),
    "the same time alone": (PROMPT, replace(LATER, stamp=PROMPT.stamp), "rewind"),
    "an answer beside an answer": (ANSWER, replace(ANSWER, step=2), "retry"),
    "an answer to another result of the same call": (
        ANSWER,
        replace(ANSWER, step=2, host=ANSWER.host + 1),
        "note",
    ),
    "answers to a prompt that was written twice": (
        replace(ANSWER, is_below_prompt=True),
        replace(ANSWER, step=2, host=ANSWER.host + 1, is_below_prompt=True),
        "retry",
    ),
    "an answer to a result beside one to a prompt": (
        replace(ANSWER, is_below_prompt=True),
        replace(ANSWER, step=2, host=ANSWER.host + 1),
        "note",
    ),
    "a prompt behind an error": (ANSWER, replace(LATER, is_after_error=True), "retry"),
    "a prompt beside an answer": (ANSWER, LATER, "rewind"),
    "a notice beside an answer": (ANSWER, replace(LATER, is_prompt=False), "note"),
    "a notice beside an answer that people went on from": (
        replace(ANSWER, went_on=True),
        replace(LATER, is_prompt=False),
        "rewind",
    ),
    "what begins nothing and says nothing": (PROMPT, replace(ANSWER, is_answered=False), "note"),
    "an answer beside a prompt that none went on from": (UNANSWERED, ANSWER, "note"),
    "an answer beside a conversation that went on": (PROMPT, ANSWER, "parallel"),
    "and beside one that went on below an answer": (
        replace(ANSWER, went_on=True),
        replace(ANSWER, step=2),
        "parallel",
    ),
    "a compaction beside a conversation that went on": (PROMPT, NOTE, "note"),
    "an answer that went on beside one that did not": (
        ANSWER,
        replace(ANSWER, step=2, went_on=True),
        "retry",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_two_steps_on_one_host(name: str) -> None:
    older, newer, expected = CASES[name]
    assert judge(Siblings(older, newer)) == expected


def test_a_prompt_next_to_an_answer_without_any_parents_is_no_rewind() -> None:
    assert judge(Siblings(ANSWER, LATER, is_rootless=True)) == "note"


def test_parentless_response_is_no_second_writer() -> None:
    assert judge(Siblings(PROMPT, ANSWER, is_rootless=True)) == "note"


children = st.builds(
    Child,
    step=st.integers(0, 9),
    host=st.integers(-1, 2),
    stamp=st.sampled_from([None, "1", "2"]),
    digest=st.sampled_from([None, 1, 2]),
    is_opener=st.booleans(),
    is_prompt=st.booleans(),
    is_reply=st.booleans(),
    is_answered=st.booleans(),
    holds_leaf=st.booleans(),
    went_on=st.booleans(),
    is_after_error=st.booleans(),
    is_below_prompt=st.booleans(),
    first=st.integers(0, 9),
    last=st.integers(0, 9),
)


@given(children, children, st.booleans())
def test_rules_are_total(older: Child, newer: Child, is_rootless: bool) -> None:
    assert judge(Siblings(older, newer, is_rootless))


def test_every_rule_has_an_example() -> None:
    for rung in LADDER:
        assert "──" in (rung.__doc__ or ""), rung.__name__
    assert LADDER[-1] is forks.rewind
