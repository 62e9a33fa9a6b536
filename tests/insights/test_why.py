"""Request accounts agree with usage: same tokens, same cost, each request once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from plait.archive import Archive
from plait.conversation.prices import Prices
from plait.insights.cache_misses import PaidRequest, TokenParts, list_paid_requests
from plait.insights.why import ResponsesByFile, explain_requests, explain_session
from plait.record.billing import iter_sent_lines
from plait.usage.spending import SpendingSum
from tests.insights.cached_session import MINUTES, CachedSession

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def check(root: Path) -> int:
    """Compare every session of a folder with usage; returns how many requests that were."""
    archive = Archive([root])
    owned = ResponsesByFile(archive.responses(), archive.sessions)
    found: dict[str, list[PaidRequest]] = {}
    for session in archive.sessions:  # several may have one id
        own = found.setdefault(session.id, [])
        own += [paid for paid, _ in owned.iter_requests(session)]
    prices = Prices()
    spent: dict[str, float] = {}
    for session in archive.sessions:
        result = explain_requests(owned, session, {}, prices).totals
        spent[session.id] = spent.get(session.id, 0.0) + result.cost_usd
    rows = {row.key or "": row.total for row in archive.usage("session", prices).rows}
    for name, requests in found.items():
        total = rows.pop(name, SpendingSum())
        assert spent[name] == pytest.approx(total.cost, abs=1e-6), name
        parts = sum((request.parts for request in requests), TokenParts())
        assert len(requests) == total.responses, name
        assert parts.read == total.tokens.cache_read
        assert parts.new + parts.again == total.tokens.cache_write
        assert (parts.uncached, parts.output) == (total.tokens.input, total.tokens.output)
        assert all(min(request.parts.new, request.parts.again) >= 0 for request in requests)
        assert all((request.cause is None) == (request.again == 0) for request in requests)
    assert not rows
    return sum(map(len, found.values()))


def test_parts_add_up_to_usage_in_real_logs(shared: Path) -> None:
    assert check(shared / "corpus") > 3000


def test_parts_add_up_to_usage_in_the_examples(gallery: Path) -> None:
    assert check(gallery) > 100


@pytest.mark.parametrize(
    ("place", "least"),
    [("produced", 50), ("client-sessions", 50), ("audit-cases", 50), ("resume-cases", 5)],
)
def test_parts_add_up_to_usage_in_sessions_of_the_client(
    shared: Path, place: str, least: int
) -> None:
    assert check(shared / place) > least


def test_special_prices_and_fees_add_up(tmp_path: Path) -> None:
    talk = CachedSession()
    special: list[dict[str, object]] = [
        {"service_tier": "batch"},
        {"speed": "fast"},
        {"inference_geo": "us"},
        {"server_tool_use": {"web_search_requests": 3}},
        {"service_tier": "nobody-knows"},
    ]
    for item in special:
        talk.ask(MINUTES * 2, words=9000)
        talk.lines[-1]["message"]["usage"] |= {**item, "input_tokens": 7}
    talk.write(tmp_path / "11111111-1111-4111-8111-111111111111.jsonl")
    assert check(tmp_path) == len(special)
    (session,) = Archive([tmp_path]).sessions
    result = explain_session(Archive([tmp_path]), session, Prices(), NOW)
    assert result.totals.unpriced >= 1
    fee = result.requests[3]
    assert fee.cost_usd is not None
    assert fee.input_cost_usd is not None
    assert fee.cost_usd - fee.input_cost_usd > 0.03  # three searches, and the answer


def test_costs_add_up_to_usage(gallery: Path) -> None:
    archive, prices = Archive([gallery]), Prices()
    rows = {row.key: row.total for row in archive.usage("session", prices).rows}
    for session in archive.sessions:
        result = explain_session(archive, session, prices, NOW)
        total = rows.get(session.id, SpendingSum())
        assert result.totals.cost_usd == pytest.approx(total.cost)
        assert result.totals.unpriced == sum(total.unpriced.values())
        spent = sum(request.again_cost_usd or 0 for request in result.requests)
        assert result.totals.again_cost_usd == pytest.approx(spent)
        assert spent <= result.totals.input_cost_usd + 1e-9


def differing(root: Path) -> list[str]:
    """Return the files whose requests are others by the records that are held than on disk."""
    archive = Archive([root])
    return [
        str(file.path)
        for session in archive.sessions
        for file in session.files
        if list_paid_requests(archive.open(session).sent_lines(file.path))
        != list_paid_requests(iter_sent_lines(file.path))
    ]


def test_an_open_session_gives_the_requests_of_its_files(gallery: Path) -> None:
    assert differing(gallery) == []


def test_glued_and_torn_lines_are_equal_in_an_open_session(tmp_path: Path) -> None:
    talk = CachedSession()
    talk.ask(words=9000)
    talk.ask()
    talk.ask(MINUTES * 2)
    path = tmp_path / "11111111-1111-4111-8111-111111111111.jsonl"
    talk.write(path)
    first, second, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join((first.rstrip(b"\n"), second, *rest[:2], b'{"torn": ', *rest[2:])))
    assert len(list_paid_requests(iter_sent_lines(path))) == 3
    assert differing(tmp_path) == []


@pytest.mark.long
def test_open_sessions_of_real_logs_give_the_requests_of_their_files(shared: Path) -> None:
    assert differing(shared / "corpus") == []
