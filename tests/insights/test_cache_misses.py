"""Tokens paid for again per request, and why."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.insights.cache_misses import (
    MissCause,
    PaidRequest,
    list_paid_requests,
    list_requests,
    read_file_requests,
)
from tests.insights.cached_session import (
    ANSWER,
    HOUR,
    MINUTES,
    OTHERS,
    START,
    SYSTEM,
    WORDS,
    CachedSession,
)

SHORT = timedelta(seconds=20)
LITTLE_LESS, LITTLE_MORE = timedelta(seconds=-1), timedelta(seconds=1)


def paid(talk: CachedSession) -> list[PaidRequest]:
    return list_paid_requests(talk.told)


def pause(talk: CachedSession) -> None:
    talk.ask(talk.lasts + LITTLE_MORE)


def pause_almost(talk: CachedSession) -> None:
    talk.ask(talk.lasts - timedelta(seconds=4))


def other_model(talk: CachedSession) -> None:
    talk.model = OTHERS[talk.model == OTHERS[0]]
    talk.ask()


def other_process(talk: CachedSession) -> None:
    talk.leave()
    talk.ask()


def other_version(talk: CachedSession) -> None:
    major, minor, patch = talk.version.split(".")
    talk.version = f"{major}.{minor}.{int(patch) + 1}"
    talk.ask()


def compacted(talk: CachedSession) -> None:
    talk.compact(preserved=2)
    talk.ask()


def compacted_whole(talk: CachedSession) -> None:
    talk.compact()
    talk.ask()


def rewound(talk: CachedSession) -> None:
    talk.go_back(1)
    talk.ask()


def plain(talk: CachedSession) -> None:
    talk.ask()


STEPS: dict[Callable[[CachedSession], None], MissCause | None] = {
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
    step: Callable[[CachedSession], None], cause: MissCause | None, lasts: timedelta
) -> None:
    talk = CachedSession(lasts=lasts)
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
def test_rewrites_match_a_simulated_cache(
    steps: list[Callable[[CachedSession], None]], lasts: timedelta
) -> None:
    talk = CachedSession(lasts=lasts)
    talk.ask()
    talk.ask()
    for step in steps:
        step(talk)
    for item, step in zip(paid(talk), [plain, plain, *steps], strict=True):
        parts, tokens = item.parts, item.tokens
        assert item.cause in (None, STEPS[step]) or step is rewound
        assert parts.read + parts.new + parts.again + parts.uncached == tokens.total_input
        assert min(parts.read, parts.new, parts.again, parts.uncached) >= 0
        assert (item.cause is None) == (item.again == 0)
        assert item.cause not in ("unexplained", "edited")
        assert item.again <= talk.made[item.response]
        assert item.again == talk.made[item.response] or {*steps} & {compacted, compacted_whole}


def pair(first: dict[str, Any], second: dict[str, Any], *between: dict[str, Any]) -> MissCause:
    """Return the cause of what the second of two requests wrote again."""
    talk = CachedSession()
    talk.ask()
    talk.lines[-1] |= first
    for item in between:
        talk.lines.append({"type": "note", **item})
    talk.system += 1
    talk.ask()
    talk.lines[-1] |= second
    found = paid(talk)[-1]
    assert found.again
    assert found.cause
    return found.cause


HOOK = {"type": "hook_success", "hookName": "SessionStart:resume"}
RESUMED: dict[str, Any] = {"attachment": HOOK}


@pytest.mark.parametrize(
    ("first", "second", "cause"),
    [
        ({}, {}, "unexplained"),
        ({"effort": "low"}, {"effort": "high"}, "changed"),
        ({"version": "2.1.29"}, {}, "changed"),
        ({"sessionId": "other"}, {}, "process"),
        ({"forkedFrom": {"sessionId": "x", "messageUuid": "y"}}, {}, "process"),
        ({"session_id": "one"}, {"session_id": "two"}, "process"),
        ({}, {"session_id": "two"}, "unexplained"),
        ({"entrypoint": "cli"}, {"entrypoint": "sdk-py"}, "process"),
    ],
)
def test_process_and_settings_of_lines(
    first: dict[str, Any], second: dict[str, Any], cause: MissCause
) -> None:
    assert pair(first, second) == cause


def test_changed_instructions_are_found_by_their_snapshots() -> None:
    item = {"attachment": {"type": "prompt_snapshot", "systemPrompt": ["be kind"]}}
    other = {"attachment": {"type": "prompt_snapshot", "systemPrompt": ["be brief"]}}
    assert pair(item, {}, item) == "unexplained"
    assert pair(item, {}, other) == "changed"
    assert pair({}, {}, other) == "unexplained"


def test_a_hook_shows_that_a_session_was_resumed() -> None:
    talk = CachedSession()
    talk.ask()
    talk.system += 1
    talk.time += SHORT
    prompt = talk.add(type="user", parentUuid=talk.last)
    talk.answer(talk.add(type="attachment", parentUuid=prompt, **RESUMED))
    assert paid(talk)[-1].cause == "process"


@pytest.mark.parametrize(("level", "cause"), [("high", "unexplained"), ("none", "changed")])
def test_changed_thinking_settings(level: str, cause: MissCause) -> None:
    talk = CachedSession()
    talk.ask()
    talk.lines[0]["thinkingMetadata"] = {"level": "high"}
    talk.system += 1
    talk.ask()
    talk.lines[2]["thinkingMetadata"] = {"level": level}
    assert paid(talk)[-1].cause == cause


def test_shorter_history_was_edited() -> None:
    talk = CachedSession()
    talk.ask(words=900)
    talk.ask()
    talk.pieces = talk.pieces[2:]
    talk.ask()
    assert paid(talk)[-1].cause == "edited"


@pytest.mark.parametrize(("total", "cause"), [(1104, "edited"), (1105, "unexplained")])
def test_equal_history_is_not_shorter(total: int, cause: MissCause) -> None:
    talk = CachedSession()
    talk.ask()
    talk.ask()
    talk.ask()
    assert [item.tokens.total_input for item in paid(talk)] == [1040, 1105, 1170]
    result = {"cache_read_input_tokens": 0, "cache_creation_input_tokens": total}
    talk.lines[-1]["message"]["usage"] = result
    assert paid(talk)[-1].cause == cause


@pytest.mark.parametrize(("more", "cause"), [(0, "unexplained"), (1, "pause")])
def test_cache_lives_until_its_expiry(more: int, cause: MissCause) -> None:
    talk = CachedSession()
    talk.ask()
    talk.system += 1
    talk.ask(MINUTES - timedelta(seconds=3) + timedelta(milliseconds=more))
    last = paid(talk)[-1]
    assert last.gap == MINUTES + timedelta(milliseconds=more)
    assert last.cause == cause


def test_results_removed_by_the_client() -> None:
    talk = CachedSession()
    talk.ask()
    talk.system += 1
    boundary = talk.add(type="system", subtype="microcompact_boundary", parentUuid=talk.last)
    talk.answer(talk.add(type="user", parentUuid=boundary), words=999)
    assert paid(talk)[-1].cause == "edited"


def begun_with_a_read(talk: CachedSession) -> None:
    """Has a session begin with instructions that another one had sent."""
    talk.cache.write(talk.model, [f"system {talk.system} {talk.version}"], talk.time, HOUR)
    talk.ask()
    talk.ask()


def clear_cache(talk: CachedSession) -> None:
    talk.cache.entries.clear()


@pytest.mark.parametrize("preserved", [0, 2])
@pytest.mark.parametrize(
    ("happens", "pause", "cause", "again"),
    [
        (clear_cache, MINUTES + SHORT, "pause", SYSTEM),
        (clear_cache, SHORT, "unexplained", SYSTEM),
        (CachedSession.leave, SHORT, "compaction", 0),  # how much of them is the same is not known
        (lambda talk: None, SHORT, "compaction", 0),
    ],
)
def test_a_miss_may_include_what_precedes_a_summary(
    happens: Callable[[CachedSession], None],
    pause: timedelta,
    cause: MissCause,
    again: int,
    preserved: int,
) -> None:
    talk = CachedSession()
    begun_with_a_read(talk)
    talk.compact(preserved=preserved)
    happens(talk)
    talk.ask(pause)
    last = paid(talk)[-1]
    kept = WORDS if preserved else 0
    assert last.again == again + kept
    assert last.cause == (cause if last.again else None)


@pytest.mark.parametrize("is_first_lost", [False, True])
def test_a_first_request_gives_the_size_of_the_instructions(is_first_lost: bool) -> None:
    talk = CachedSession()
    begun_with_a_read(talk)
    if is_first_lost:  # then it may have read messages, too
        talk.lines[0]["parentUuid"] = "nowhere"
    talk.ask()
    talk.compact()
    clear_cache(talk)
    talk.ask(MINUTES + SHORT)
    assert paid(talk)[-1].again == (0 if is_first_lost else SYSTEM)


def test_a_write_with_the_first_prompt_does_not_give_the_instructions() -> None:
    talk = CachedSession()
    begun_with_a_read(talk)
    usage = talk.lines[1]["message"]["usage"]  # the same prompt had been asked elsewhere
    usage |= {"cache_read_input_tokens": 1040, "cache_creation_input_tokens": 0}
    usage["cache_creation"] = None
    talk.compact()
    clear_cache(talk)
    talk.ask(MINUTES + SHORT)
    assert paid(talk)[-1].again == 0


def test_changed_instructions_are_not_those_read_before() -> None:
    talk = CachedSession()
    begun_with_a_read(talk)
    talk.compact()
    talk.version = "2.1.326"
    talk.ask(MINUTES + SHORT)
    assert (paid(talk)[-1].again, paid(talk)[-1].tokens.cache_read) == (0, 0)


def test_instructions_read_after_one_compaction_count_after_the_next() -> None:
    talk = CachedSession()
    talk.ask()
    talk.compact()
    talk.ask()
    talk.compact()
    clear_cache(talk)
    talk.ask(MINUTES + SHORT)
    last = paid(talk)[-1]
    assert (last.again, last.cause) == (SYSTEM, "pause")


def test_request_includes_its_history() -> None:
    talk = CachedSession()
    talk.ask()
    talk.ask()
    first = list_requests(talk.told)[0]
    assert (first.sent_at, paid(talk)[0].time) == (START + SHORT, START + timedelta(seconds=23))
    del talk.lines[0]["timestamp"]
    assert list_requests(talk.told)[0].sent_at == START + timedelta(seconds=23)


def test_preserved_messages_may_be_listed_by_record() -> None:
    talk = CachedSession()
    talk.ask()
    talk.ask()
    talk.compact(preserved=2)
    talk.ask()
    expected = paid(talk)[-1].again
    (boundary,) = [line for line in talk.lines if line.get("subtype")]
    kept = boundary["compactMetadata"].pop("preservedSegment")
    uuids = [kept["headUuid"], kept["tailUuid"]]
    boundary["compactMetadata"] = {"preservedMessages": {"uuids": uuids}}
    assert (paid(talk)[-1].again, paid(talk)[-1].cause) == (expected, "compaction")
    assert expected > 0


def test_without_times_no_pause_is_found() -> None:
    talk = CachedSession()
    talk.ask()
    talk.ask(MINUTES * 2)
    for line in talk.lines[:2]:
        del line["timestamp"]
    assert (paid(talk)[-1].gap, paid(talk)[-1].cause) == (None, "unexplained")


@pytest.mark.parametrize(("is_compacted", "again"), [(False, 1040), (True, 0)])
def test_a_request_without_a_cache_continues_the_one_before(is_compacted: bool, again: int) -> None:
    talk = CachedSession()
    talk.ask()
    if is_compacted:
        talk.compact()
    talk.ask()
    talk.lines[-1]["message"]["usage"] = {"input_tokens": 1105, "output_tokens": ANSWER}
    talk.system += 1
    talk.ask()
    assert paid(talk)[-1].again == again


def test_reads_in_between_keep_an_earlier_prefix_warm() -> None:
    talk = CachedSession()
    talk.ask()
    talk.ask(MINUTES - SHORT)
    talk.ask(MINUTES - SHORT)
    talk.go_back(2)
    talk.ask(MINUTES - SHORT)
    last = paid(talk)[-1]
    assert last.gap is not None
    assert last.gap < MINUTES


def test_rewind_that_lost_cache() -> None:
    talk = CachedSession()
    talk.ask()
    talk.ask()
    talk.go_back(1)
    talk.system += 1
    talk.ask()
    assert paid(talk)[-1].cause == "rewind"


@pytest.mark.parametrize(
    ("minutes", "read", "cause"),
    [(5000, 0, "pause"), (4000, 1000, "pause"), (4000, 999, "unexplained"), (0, 0, "unexplained")],
)
def test_hour_tier_outlives_the_five_minute_tier(minutes: int, read: int, cause: MissCause) -> None:
    talk = CachedSession()
    talk.ask(words=4000)
    shares = {"ephemeral_5m_input_tokens": minutes, "ephemeral_1h_input_tokens": 5000 - minutes}
    talk.lines[-1]["message"]["usage"]["cache_creation"] = shares
    talk.ask(MINUTES + SHORT)
    result = {"cache_read_input_tokens": read, "cache_creation_input_tokens": 5065 - read}
    talk.lines[-1]["message"]["usage"] |= {**result, "cache_creation": None}
    assert paid(talk)[-1].cause == cause


@pytest.mark.parametrize(
    ("hours", "pause", "is_whole", "cause"),
    [
        ((True, False), MINUTES + SHORT, False, "pause"),
        ((True, False), MINUTES + SHORT, True, "pause"),  # its end was asked for, and gone
        ((True, True), MINUTES + SHORT, True, "unexplained"),
        ((True, True), HOUR + SHORT, True, "pause"),
        ((False, True), MINUTES + SHORT, False, "unexplained"),
        ((False, True), MINUTES + SHORT, True, "pause"),
    ],
)
def test_each_write_has_its_lifetime(
    hours: tuple[bool, bool], pause: timedelta, is_whole: bool, cause: MissCause
) -> None:
    talk = CachedSession()
    for number, is_hour in enumerate(hours):
        talk.lasts = HOUR if is_hour else MINUTES
        talk.ask(words=900 if number else 4000)
    talk.ask(pause)
    read = 0 if is_whole else 5000
    result = {"cache_read_input_tokens": read, "cache_creation_input_tokens": 5990 - read}
    talk.lines[-1]["message"]["usage"] |= result
    last = paid(talk)[-1]
    assert (last.cause, last.again) == (cause, 5925 - read)


def test_first_read_has_the_lifetime_of_its_write() -> None:
    talk = CachedSession(lasts=HOUR)
    talk.ask()
    usage = talk.lines[-1]["message"]["usage"]
    usage |= {"cache_read_input_tokens": 900, "cache_creation_input_tokens": 140}
    usage["cache_creation"] = {"ephemeral_1h_input_tokens": 140}
    talk.system += 1
    talk.ask(MINUTES + SHORT)
    assert (paid(talk)[-1].tokens.cache_read, paid(talk)[-1].cause) == (0, "unexplained")


def test_other_models_do_not_extend_a_cache() -> None:
    talk = CachedSession(lasts=HOUR)
    talk.ask(words=900)
    talk.lasts, talk.model = MINUTES, OTHERS[1]
    talk.ask()
    talk.lines[-1]["message"]["usage"] |= {"cache_creation_input_tokens": 0}
    talk.ask()
    talk.lines[-1]["message"]["model"] = OTHERS[0]
    talk.lines[-1]["message"]["usage"] = {"cache_read_input_tokens": 2030}
    talk.model, talk.system = OTHERS[0], 2
    talk.ask(MINUTES + SHORT)
    assert paid(talk)[-1].cause == "unexplained"


def test_inline_agents_have_separate_starts() -> None:
    talk = CachedSession()
    talk.ask()
    talk.tips.clear()
    talk.pieces = []
    talk.cache.entries.clear()
    talk.ask()
    assert [item.previous for item in paid(talk)] == [None, None]
    assert paid(talk)[-1].again == 0


def errand(talk: CachedSession, parent: str | None, pause: timedelta = SHORT) -> CachedSession:
    """Return what the client asks for itself, in a file of its own, that goes on from a line."""
    found = CachedSession(cache=talk.cache, time=talk.time + pause, system=talk.system + 1)
    found.pieces, found.before = talk.pieces, talk.before
    found.answer(found.add(type="user", parentUuid=parent))
    for line in found.lines:
        line["uuid"] = line["uuid"].replace("u", "e")
    found.lines[1]["parentUuid"] = "e1"
    found.lines[1]["message"]["id"] = "errand"
    return found


def paid_next_to(talk: CachedSession, other: CachedSession) -> PaidRequest:
    (found,) = list_paid_requests(other.told, lambda: read_file_requests(talk.told))
    return found


def test_a_background_request_continues_the_file_of_its_session() -> None:
    talk = CachedSession()
    talk.ask(words=900)
    talk.ask()
    item = paid_next_to(talk, errand(talk, talk.last))
    assert item.previous == paid(talk)[-1].response
    assert (item.again, item.cause, item.unknown) == (
        SYSTEM + 900 + ANSWER + WORDS,
        "unexplained",
        0,
    )
    late = paid_next_to(talk, errand(talk, talk.last, MINUTES + SHORT))
    assert (late.cause, late.again) == ("pause", item.again)


def test_a_background_request_is_no_rewind() -> None:
    talk = CachedSession()
    talk.ask(words=900)
    here, there = talk.last, errand(talk, talk.last)
    talk.ask(MINUTES - SHORT)
    late = errand(talk, here, timedelta(minutes=4))
    assert paid_next_to(talk, there).cause == "unexplained"
    assert paid_next_to(talk, there).gap == SHORT + timedelta(seconds=3)  # not what was asked later
    found = paid_next_to(talk, late)
    assert found.previous == paid(talk)[0].response
    assert found.gap is not None
    assert found.gap < MINUTES  # what was asked meanwhile has read it
    assert [successor.key for successor in list_requests(talk.told)[0].successors] == [
        paid(talk)[1].response
    ]


def test_a_request_that_continues_a_missing_record_is_unknown_not_new() -> None:
    talk = CachedSession()
    talk.ask()
    item = paid_next_to(talk, errand(talk, "nowhere"))
    assert (item.again, item.cause, item.previous) == (0, None, None)
    assert item.unknown == item.tokens.cache_write > 0
    assert [two.unknown for two in paid(talk)] == [0]
    talk.lines[0]["parentUuid"] = "nowhere"
    talk.ask()
    first, second = paid(talk)
    assert (first.unknown, second.unknown) == (first.tokens.cache_write, 0)


def test_two_writers_continue_from_one_record() -> None:
    talk = CachedSession()
    talk.ask()
    here = talk.last, talk.pieces
    talk.ask()
    talk.tips.append((here[0] or "", here[1]))
    talk.pieces = here[1]
    talk.ask(timedelta(0))
    item, other = paid(talk)[1:]
    assert item.previous == other.previous == paid(talk)[0].response
    assert (item.again, other.again) == (0, 0)


def test_lines_of_a_response_are_one_request() -> None:
    talk = CachedSession()
    talk.ask()
    first = talk.lines[-1]
    usage = first["message"]["usage"]
    more = {**first["message"], "usage": {**usage, "output_tokens": 99}}
    talk.add(type="assistant", parentUuid=first["uuid"], message=more)
    only = paid(talk)
    assert [(item.line, item.tokens.output) for item in only] == [(2, 99)]


def test_a_missing_or_circular_parent_ends_the_walk_up() -> None:
    talk = CachedSession()
    talk.ask()
    talk.lines[0]["parentUuid"] = "u1"
    talk.ask()
    talk.lines[2]["parentUuid"] = "nowhere"
    requested = list_requests(talk.told)
    assert [item.previous for item in requested] == [None, None]
    assert [item.gap.is_lost for item in requested] == [False, True]
    assert ANSWER < WORDS


def test_cyclic_requests_begin_with_the_first_in_the_file() -> None:
    talk = CachedSession()
    for _ in range(4):
        talk.ask()
    for line in talk.lines:
        if "message" in line and "usage" in line["message"]:
            line["message"]["usage"] = {"output_tokens": 1}  # nothing in the cache ends a way up
    talk.lines[2]["parentUuid"] = talk.lines[5]["uuid"]  # 2 and 3 go on from each other
    requested = list_requests(talk.told)
    names = [item.key for item in requested]
    assert [item.previous and item.previous.key for item in requested] == [
        None,
        None,
        names[1],
        names[2],
    ]
    assert [[two.key for two in item.successors] for item in requested] == [
        [],
        [names[2]],
        [names[3]],
        [],
    ]
    assert [item.known for item in paid(talk)] == [0] * 4
