"""Requests to what of them was paid for again: what a cache would have said, and why."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.conversation.account import Cause, PaidRequest, account_of
from plait.conversation.account.requests import requests_in
from tests.conversation.cached_talk import ANSWER, HOUR, MINUTES, OTHERS, WORDS, CachedTalk

SHORT = timedelta(seconds=20)
LITTLE_LESS, LITTLE_MORE = timedelta(seconds=-1), timedelta(seconds=1)


def paid(talk: CachedTalk) -> list[PaidRequest]:
    return list(account_of(talk.told).requests)


def pause(talk: CachedTalk) -> None:
    talk.ask(talk.lasts + LITTLE_MORE)


def pause_almost(talk: CachedTalk) -> None:
    talk.ask(talk.lasts - timedelta(seconds=4))


def other_model(talk: CachedTalk) -> None:
    talk.model = OTHERS[talk.model == OTHERS[0]]
    talk.ask()


def other_process(talk: CachedTalk) -> None:
    talk.leave()
    talk.ask()


def other_version(talk: CachedTalk) -> None:
    major, minor, patch = talk.version.split(".")
    talk.version = f"{major}.{minor}.{int(patch) + 1}"
    talk.ask()


def compacted(talk: CachedTalk) -> None:
    talk.compact(preserved=2)
    talk.ask()


def compacted_whole(talk: CachedTalk) -> None:
    talk.compact()
    talk.ask()


def rewound(talk: CachedTalk) -> None:
    talk.go_back(1)
    talk.ask()


def plain(talk: CachedTalk) -> None:
    talk.ask()


STEPS: dict[Callable[[CachedTalk], None], Cause | None] = {
    plain: None,
    pause_almost: None,
    pause: "pause",
    other_model: "model",
    other_process: "process",
    other_version: "changed",
    rewound: None,
    compacted_whole: None,
    compacted: "compaction",
}


@pytest.mark.parametrize("lasts", [MINUTES, HOUR])
@pytest.mark.parametrize(("step", "cause"), STEPS.items())
def test_each_cause_by_construction(
    step: Callable[[CachedTalk], None], cause: Cause | None, lasts: timedelta
) -> None:
    talk = CachedTalk(lasts=lasts)
    talk.ask()
    talk.ask()
    step(talk)
    last = paid(talk)[-1]
    assert (last.cause, last.again) == (cause, talk.made[last.response])
    assert (last.again > 0) == (cause is not None)


@given(
    steps=st.lists(st.sampled_from([*STEPS]), max_size=12),
    lasts=st.sampled_from([MINUTES, HOUR]),
)
def test_whatever_happens_is_paid_for_as_the_cache_says(
    steps: list[Callable[[CachedTalk], None]], lasts: timedelta
) -> None:
    talk = CachedTalk(lasts=lasts)
    talk.ask()
    talk.ask()
    for step in steps:
        step(talk)
    for one, step in zip(paid(talk), [plain, plain, *steps], strict=True):
        parts, tokens = one.parts, one.tokens
        assert one.cause in (None, STEPS[step]) or step is rewound
        assert parts.read + parts.new + parts.again + parts.uncached == tokens.total_input
        assert min(parts.read, parts.new, parts.again, parts.uncached) >= 0
        assert (one.cause is None) == (one.again == 0)
        assert one.cause not in ("unexplained", "edited")
        assert one.again <= talk.made[one.response]
        assert one.again == talk.made[one.response] or {*steps} & {compacted, compacted_whole}
