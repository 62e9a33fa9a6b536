"""From bills to responses, rows and blocks: owners, times, totals."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.conversation.prices import Prices
from plait.conversation.usage import BilledResponse, Ledger, Origin, Tokens
from plait.line.files import CHUNK, iter_blocks, iter_line_views, iter_lines
from plait.record.billing import OPENING, Bill, iter_bills, make_bill, parse_irregular_bills
from plait.usage.spending import (
    build_billing_blocks,
    filter_by_time,
    find_unlogged_costs,
    group_spending,
)

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
MODEL = "claude-sonnet-4-5"
ONE = (100 * 3 + 10 * 15) / 1_000_000


def bill(second: int = 1, **fields: Any) -> tuple[int, Bill]:
    """Return the bill of a line."""
    message = {
        "id": fields.pop("id", "msg_1"),
        "model": fields.pop("model", MODEL),
        "usage": {"input_tokens": 100, "output_tokens": fields.pop("output", 10)},
        "requestId": fields.pop("inner", None),
    }
    stamp = f"2026-11-02T12:00:{second:02}.000Z"
    value = {"type": "assistant", "uuid": f"u{second}", "timestamp": stamp, "message": message}
    return second, make_bill({**value, **fields})


def counted(*files: tuple[Origin, list[tuple[int, Bill]]]) -> list[BilledResponse]:
    ledger = Ledger()
    for origin, found in files:
        ledger.add(origin, found)
    return list(ledger.responses())


def response(time: datetime | None = NOON, **fields: Any) -> BilledResponse:
    plain: dict[str, Any] = {
        "model": MODEL,
        "time": time,
        "tokens": Tokens(100, 10),
        "session": "s1",
        "project": "p",
        "kind": "main",
        "agent": None,
        "file": 0,
        "uuid": None,
    }
    return BilledResponse(**{**plain, **fields})


FIRST, SECOND = Origin("s1", "p"), Origin("s2", "q")
AGENT = Origin("s1", "p", "agent", "a1")


def test_response_belongs_to_its_first_session() -> None:
    ours = [bill(1, id="a", sessionId="s1"), bill(5, sessionId="s1")]
    copy = [bill(5, sessionId="s2"), bill(9, id="b", sessionId="s2")]
    for files in ([(FIRST, ours), (SECOND, copy)], [(SECOND, copy), (FIRST, ours)]):
        assert sorted(one.session for one in counted(*files)) == ["s1", "s1", "s2"]


def test_copy_is_marked() -> None:
    copy = [bill(1, sessionId="s1", forkedFrom={"sessionId": "s2", "messageUuid": "u1"})]
    kept = [bill(1, sessionId="s1")]  # older clients kept the old session's id
    original = [bill(1, sessionId="s2")]
    assert [one.session for one in counted((FIRST, copy), (SECOND, original))] == ["s2"]
    assert [one.session for one in counted((SECOND, kept), (FIRST, kept))] == ["s1"]


def test_response_shared_with_an_agent_belongs_to_the_session() -> None:
    (found,) = counted((AGENT, [bill(1)]), (FIRST, [bill(1)]))
    assert found.kind == "main"


def test_time_of_the_first_line_and_usage_of_the_largest() -> None:
    (found,) = counted((FIRST, [bill(7, output=2), bill(9, output=480), bill(8, output=3)]))
    assert found.time == NOON + timedelta(seconds=7)
    assert found.tokens.output == 480
    assert found.uuid == "u8"


def test_costs_counted_by_the_client_are_kept_separately() -> None:
    ledger = Ledger()
    said = [make_bill({"type": "cost-state", "totalCostUSD": cost}) for cost in (0.5, "0.75")]
    ledger.add(FIRST, enumerate(said))
    assert ledger.client_costs == {"s1": 0.75}


def opened(line: int, begun: str = "", *, is_copy: bool = False) -> tuple[int, Bill]:
    """Return what the notes of a file say of its records: where the first stands among them."""
    return line, Bill(type=OPENING, timestamp=begun, is_sidechain=is_copy)


BEFORE, AFTER = "2026-11-02T11:00:00.000Z", "2026-11-02T13:00:00.000Z"


@pytest.mark.parametrize(
    ("theirs", "ours", "owner"),
    [
        pytest.param(None, None, "s2", id="nothing tells, so the first file"),
        pytest.param(opened(9, AFTER), opened(9, BEFORE), "s1", id="begun after it"),
        pytest.param(opened(9, BEFORE), opened(9, AFTER), "s2", id="and not before"),
        pytest.param(opened(9), opened(2), "s1", id="written in one go"),
        pytest.param(None, opened(2), "s1", id="without any note"),
        pytest.param(opened(3), opened(4), "s2", id="both in one go"),
        pytest.param(opened(2), opened(2), "s2", id="none in one go"),
        pytest.param(opened(9), opened(2, AFTER), "s2", id="begun after it, though with notes"),
    ],
)
def test_copy_is_recognised_by_its_notes(
    theirs: tuple[int, Bill] | None, ours: tuple[int, Bill] | None, owner: str
) -> None:
    both = [bill(1, id="a"), bill(2, id="b")]
    files = [(SECOND, theirs), (FIRST, ours)]
    given = [(origin, [*both, *([said] if said else [])]) for origin, said in files]
    assert [one.session for one in counted(*given)] == [owner, owner]


def test_of_two_files_the_one_without_own_records_was_abandoned() -> None:
    shared = [bill(1, id="a"), bill(2, id="b")]
    fork = [*shared, bill(3, id="c")]
    for files in ([(FIRST, shared), (SECOND, fork)], [(SECOND, fork), (FIRST, shared)]):
        assert sorted(one.session for one in counted(*files)) == ["s1", "s1", "s2"]
    backup = [(FIRST, fork), (FIRST, shared)]
    assert {one.file for one in counted(*backup)} == {0}


def state(cost: float) -> tuple[int, Bill]:
    """Return what the client says that a session has cost."""
    return 99, make_bill({"type": "cost-state", "totalCostUSD": cost})


def own_costs(*files: tuple[Origin, list[tuple[int, Bill]]]) -> dict[str, float]:
    ledger = Ledger()
    for origin, found in files:
        ledger.add(origin, found)
    assert list(ledger.responses())
    return {session: round(cost, 6) for session, cost in ledger.own_costs().items()}


def test_a_fork_continues_the_cost_of_its_origin() -> None:
    first, second, third = (bill(number, id=f"m{number}") for number in (1, 2, 3))
    origin = [first, state(1.0), second, state(1.5), state(9.0)]
    fork = [opened(9, AFTER), first, second]
    assert own_costs((FIRST, origin)) == {"s1": 9.0}
    costs = own_costs((FIRST, origin), (SECOND, [*fork, third, state(1.7), state(2.0)]))
    assert costs == {"s1": 9.0, "s2": 0.5}
    copy = opened(9, AFTER, is_copy=True)
    alone = own_costs((SECOND, [third, copy, state(1.7), state(2.0)]))
    assert alone == {"s2": 0.3}  # its origin is gone: only what came after its first count
    branch = [bill(1, id="m1", forkedFrom={"sessionId": "s1"}), third, state(0.5)]
    assert own_costs((FIRST, origin), (SECOND, branch)) == {"s1": 9.0, "s2": 0.5}


def test_a_copy_under_other_ids_costs_only_what_came_after() -> None:
    origin = [bill(1, id="m1"), state(1.0), bill(2, id="m2"), state(1.5)]
    copied = [
        bill(number, id=f"m{number}", forkedFrom={"sessionId": "s1", "messageUuid": "x"})
        for number in (1, 2)
    ]
    clone = [copied[0], state(1.0), copied[1], state(1.5)]
    assert own_costs((FIRST, origin), (SECOND, clone)) == {"s1": 1.5, "s2": 0.0}
    grown = [*clone, bill(3, id="m3"), state(1.8)]
    assert own_costs((FIRST, origin), (SECOND, grown)) == {"s1": 1.5, "s2": 0.3}
    fork = [copied[0], state(1.0), bill(3, id="m3"), state(1.2)]
    assert own_costs((SECOND, fork), (FIRST, origin)) == {"s1": 1.5, "s2": 0.2}


def test_cost_counted_beyond_the_log_is_separate() -> None:
    later = NOON + timedelta(hours=1)
    ours = [response(later), response(NOON), response(session="s2", model="nobody's")]
    costs = {"s1": 2 * ONE + 0.02, "s2": 5.0, "s3": 1.0}
    (found,) = find_unlogged_costs(ours, costs, Prices())
    assert (found.session, found.project, found.time) == ("s1", "p", later)
    assert found.cost == pytest.approx(0.02)
    assert filter_by_time([found], later, None) == [found]
    assert filter_by_time([found], None, later) == []
    assert find_unlogged_costs(ours, {"s1": 2 * ONE}, Prices()) == ()
    assert (
        find_unlogged_costs(ours, {"s1": ONE}, Prices()) == ()
    )  # a run that was killed said nothing


def test_days_are_local() -> None:
    late = response(datetime(2026, 11, 1, 23, 30, tzinfo=UTC))
    for offset, day in ((-5, "2026-11-01"), (0, "2026-11-01"), (1, "2026-11-02")):
        zone = timezone(timedelta(hours=offset))
        assert [row.key for row in group_spending([late], "daily", Prices(), zone).rows] == [day]
    assert [row.key for row in group_spending([late], "weekly", Prices(), UTC).rows] == [
        "2026-10-26"
    ]
    assert [row.key for row in group_spending([late], "monthly", Prices(), UTC).rows] == ["2026-11"]


def test_undated_responses_have_their_own_row() -> None:
    both = [response(), response(None)]
    rows = group_spending(both, "daily", Prices(), UTC).rows
    assert [row.key for row in rows] == ["2026-11-02", None]
    assert filter_by_time(both, NOON, None) == [both[0]]
    assert filter_by_time(both, None, NOON) == []
    assert filter_by_time(both, None, None) == both


def test_parts_are_separate() -> None:
    found = [
        response(uuid="u1"),
        response(kind="agent", uuid="u2"),
        response(kind="workflow"),
        response(kind="service", model="claude-tomorrow-9"),
    ]
    totals = group_spending(found, "session", Prices(), UTC, {"u1", "u2"}).totals
    assert totals.total.responses == 4
    assert (totals.agents.responses, totals.service.responses) == (2, 1)
    assert totals.abandoned.cost == pytest.approx(2 * ONE)
    assert totals.total.unpriced == {"claude-tomorrow-9": 1}
    assert list(totals.models) == [MODEL, "claude-tomorrow-9"]


numbers = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(("s1", "s2")), st.integers(0, 900_000)),
    max_size=30,
)


@given(numbers)
def test_every_report_has_the_same_total(drawn: list[tuple[int, str, int]]) -> None:
    found = [
        response(NOON + timedelta(days=days), session=session, tokens=Tokens(tokens))
        for days, session, tokens in drawn
    ]
    prices = Prices()
    whole = group_spending(found, "daily", prices, UTC).totals.total
    for by in ("weekly", "monthly", "session", "project", "model"):
        result = group_spending(found, by, prices, UTC)
        assert result.totals.total.tokens.total == whole.tokens.total
        assert sum(row.total.responses for row in result.rows) == whole.responses
        assert result.totals.total.cost == pytest.approx(whole.cost)
    held = build_billing_blocks(found, prices, NOON)
    assert sum(one.total.tokens.total for one in held) == whole.tokens.total


def at(hours: float) -> BilledResponse:
    return response(NOON + timedelta(hours=hours))


def test_blocks_begin_at_the_hour_with_gaps() -> None:
    found = build_billing_blocks(
        [at(0.5), at(4), at(5.2), at(20)], Prices(), NOON + timedelta(hours=21)
    )
    shown = [
        ((one.start - NOON) / timedelta(hours=1), one.total.responses, one.is_gap, one.is_active)
        for one in found
    ]
    assert shown == [
        (0, 2, False, False),
        (5, 1, False, False),
        (pytest.approx(10.2), 0, True, False),
        (20, 1, False, True),
    ]


def test_current_block_is_projected() -> None:
    now = NOON + timedelta(hours=2)
    (block,) = build_billing_blocks([at(0), at(1)], Prices(), now)
    assert block.is_active
    assert block.time_left(now) == timedelta(hours=3)
    assert block.rate is not None
    assert block.rate.cost_per_hour == pytest.approx(2 * ONE)
    tokens, cost = block.projected(now) or (0, 0.0)
    assert tokens == 220 + 3 * 220
    assert cost == pytest.approx(2 * ONE + 3 * 2 * ONE)
    assert build_billing_blocks([at(0)], Prices(), now)[0].projected(now) is None


@given(
    st.lists(st.integers(0, 2 * CHUNK // 3), max_size=6).map(lambda sizes: [*sizes, 3]),
    st.booleans(),
)
def test_blocks_from_lines_of_a_file(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], is_ended: bool
) -> None:
    path = tmp_path_factory.mktemp("blocks") / "log.jsonl"
    path.write_bytes(b"\n".join(b"x" * size for size in sizes) + (b"\n" if is_ended else b""))
    found = [bytes(buffer[:filled]) for buffer, filled in iter_blocks(path)]
    assert b"".join(found) == path.read_bytes()
    assert all(block.endswith(b"\n") for block in found[:-1])
    seen = [(number, bytes(view)) for number, view in iter_line_views(path)]
    assert seen == [(line.number, line.data) for line in iter_lines(path)]


NOTE = {"type": "queue-operation", "timestamp": "2026-11-02T12:00:05.000Z"}
RECORD = {"type": "user", "uuid": "u", "timestamp": "2026-11-02T12:00:01.000Z"}
REPLY = {**RECORD, "type": "assistant", "message": {"id": "m", "usage": {"output_tokens": 1}}}
LONG_NOTE = {"type": "file-history-snapshot", "snapshot": "x" * 3000}
LONG_RECORD = {"parentUuid": None, **RECORD, "message": "x" * 3000}


@pytest.mark.parametrize(
    ("lines", "line", "begun", "is_copy"),
    [
        pytest.param([RECORD, REPLY], None, "", False, id="no note at all"),
        pytest.param([NOTE, RECORD, REPLY], 4, NOTE["timestamp"], True, id="a fork's own first"),
        pytest.param([NOTE, REPLY, NOTE], 3, NOTE["timestamp"], False, id="an answer first"),
        pytest.param([RECORD, NOTE, REPLY], 2, "", False, id="a note among them"),
        pytest.param([LONG_RECORD, NOTE, REPLY], 2, "", False, id="behind a long record"),
        pytest.param([RECORD, LONG_NOTE, REPLY, NOTE], 4, "", False, id="a long note is none"),
        pytest.param([{"type": "mode"}, RECORD, REPLY], None, "", False, id="a note without time"),
    ],
)
def test_notes_of_a_file_and_its_records(
    tmp_path: Path, lines: list[Any], line: int | None, begun: str, is_copy: bool
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
    found = [(number, one) for number, one in iter_bills(path) if one.type == OPENING]
    said = [(number, one.timestamp, one.is_sidechain) for number, one in found]
    assert said == ([] if line is None else [(line, begun, is_copy)])


def test_no_usage_of_real_logs_is_skipped(shared: Path) -> None:
    for path in sorted((shared / "corpus").rglob("*.jsonl")):
        slowly = [
            (line.number, one)
            for line in iter_lines(path)
            for one in parse_irregular_bills(line.data, 0)
        ]
        found = [(number, bill) for number, bill in iter_bills(path) if bill.type != OPENING]
        assert found == slowly, path


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        pytest.param({}, {}, 1, id="one id"),
        pytest.param({"requestId": "r1"}, {"requestId": "r2"}, 1, id="one id, two requests"),
        pytest.param({"id": "a"}, {"id": "b"}, 2, id="two ids"),
        pytest.param(
            {"id": "a", "requestId": "r"},
            {"id": "b", "requestId": "r"},
            2,
            id="two ids, one request",
        ),
        pytest.param(
            {"id": None, "requestId": "r"}, {"id": None, "requestId": "r"}, 1, id="one request"
        ),
        pytest.param(
            {"id": None, "inner": "r"},
            {"id": None, "inner": "r"},
            1,
            id="one request, named inside the message",
        ),
        pytest.param({"id": None}, {"id": None}, 2, id="two records"),
        pytest.param({"id": None, "uuid": "u"}, {"id": None, "uuid": "u"}, 1, id="one record"),
        pytest.param({"id": None, "uuid": None}, {"id": None, "uuid": None}, 2, id="no name"),
        pytest.param({"model": "<synthetic>"}, {"id": "b"}, 1, id="made up by the client"),
    ],
)
def test_what_counts_as_one_response(
    first: dict[str, Any], second: dict[str, Any], count: int
) -> None:
    assert len(counted((FIRST, [bill(1, **first), bill(2, **second)]))) == count


FORKED = {"forkedFrom": {"sessionId": "s9", "messageUuid": "u"}}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param((FIRST, [bill(9)]), (AGENT, [bill(1)]), id="main before agent"),
        pytest.param((FIRST, [bill(9)]), (SECOND, [bill(1, **FORKED)]), id="original before fork"),
        pytest.param(
            (FIRST, [bill(9, sessionId="s1")]), (SECOND, [bill(1, sessionId="s1")]), id="its own id"
        ),
        pytest.param((FIRST, [bill(1)]), (SECOND, [bill(9)]), id="the file that began first"),
    ],
)
def test_owner_of_a_response_in_two_files(
    one: tuple[Origin, list[tuple[int, Bill]]], other: tuple[Origin, list[tuple[int, Bill]]]
) -> None:
    for files in ((one, other), (other, one)):
        (found,) = counted(*files)
        assert (found.session, found.kind) == (one[0].session, one[0].kind)
        assert found.time == datetime(2026, 11, 2, 12, 0, 1, tzinfo=UTC)


def test_first_of_two_equal_files_owns() -> None:
    (found,) = counted((SECOND, [bill(1)]), (FIRST, [bill(1)]))
    assert (found.session, found.file) == ("s2", 0)


def test_the_last_line_in_its_file_gives_the_place_of_a_response() -> None:
    (found,) = counted((FIRST, [bill(1), bill(2)]))
    assert (found.uuid, found.tokens.output) == ("u2", 10)


@pytest.mark.parametrize(
    ("stamps", "time"),
    [
        (("2026-11-02T12:00:05.000Z", "2026-11-02T12:00:03.000Z"), 3),
        (("2026-11-02T12:00:03.000Z", "2026-11-02T12:00:05.000Z"), 3),
        (("2026-11-02T12:00:05Z", "2026-11-02T12:00:03.000Z"), 3),
        (("2026-11-02T12:00:03Z", "2026-11-02T12:00:05.000Z"), 3),
        ((None, "2026-11-02T12:00:03.000Z"), 3),
        (("2026-11-02T12:00:03.000Z", "no time"), 3),
        ((None, None), None),
        (("0001-01-01T00:00:00.000Z",), None),
        (("9999-12-31T23:00:00.000Z",), None),
    ],
)
def test_start_of_a_response(stamps: tuple[str | None, ...], time: int | None) -> None:
    (found,) = counted((FIRST, [bill(place, timestamp=one) for place, one in enumerate(stamps)]))
    assert found.time == (datetime(2026, 11, 2, 12, 0, time, tzinfo=UTC) if time else None)


def test_agents_of_older_versions_are_in_the_file_of_their_session() -> None:
    kinds = [
        counted((origin, [bill(1, isSidechain=is_side, agentId="a7")]))[0]
        for origin, is_side in ((FIRST, True), (FIRST, False), (AGENT, True))
    ]
    assert [(one.kind, one.agent) for one in kinds] == [
        ("agent", "a7"),
        ("main", "a7"),
        ("agent", "a1"),
    ]


@pytest.mark.parametrize(
    ("start", "end", "is_in"),
    [(None, None, True), (0, None, True), (1, None, False), (None, 0, False), (None, 1, True)],
)
def test_period_includes_its_start_and_excludes_its_end(
    start: int | None, end: int | None, is_in: bool
) -> None:
    ends = [None if one is None else NOON + timedelta(seconds=one) for one in (start, end)]
    assert bool(filter_by_time([response()], *ends)) is is_in


@pytest.mark.parametrize(
    ("hours", "blocks", "gaps"),
    [
        pytest.param((0, 5), 1, 0, id="five hours after its hour are still in it"),
        pytest.param((0, 5.01), 2, 1, id="more are another, after a gap"),
        pytest.param((0, 4, 5.01), 2, 0, id="another without a gap"),
        pytest.param((0.5, 5.2), 2, 0, id="it begins with the hour"),
    ],
)
def test_end_of_a_block(hours: tuple[float, ...], blocks: int, gaps: int) -> None:
    found = build_billing_blocks(
        [response(NOON + timedelta(hours=one)) for one in hours], Prices(), NOON
    )
    assert sum(not one.is_gap for one in found) == blocks
    assert sum(one.is_gap for one in found) == gaps


@pytest.mark.parametrize(
    ("minutes", "is_active"),
    [(-1, False), (0, True), (299, True), (300, False)],
    ids=["before its response", "at once", "just before its end", "at its end"],
)
def test_which_block_continues(minutes: int, is_active: bool) -> None:
    (found,) = build_billing_blocks([response()], Prices(), NOON + timedelta(minutes=minutes))
    assert found.is_active is is_active
    assert found.rate is None
    assert found.projected(NOON) is None


@pytest.mark.parametrize(
    ("by", "key"),
    [("daily", "2026-11-02"), ("weekly", "2026-11-02"), ("monthly", "2026-11")],
)
def test_row_names(by: Any, key: str) -> None:
    assert [row.key for row in group_spending([response()], by, Prices(), UTC).rows] == [key]
    sunday = response(NOON - timedelta(days=1))
    assert group_spending([sunday], "weekly", Prices(), UTC).rows[0].key == "2026-10-26"
