"""Avoidable spending over archives: each item once, in one process or several."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from plait.archive import Archive, Waste
from plait.conversation.prices import Prices
from plait.conversation.prices.table import PriceFile, PriceList, Rate
from plait.conversation.usage import Tokens
from plait.insights import waste
from plait.insights.why import ResponsesByFile
from tests.insights.cached_session import MINUTES, OTHERS, START, CachedSession

DEAR, SMALL = OTHERS
ONE, OTHER = (f"{digit * 8}-1111-4111-8111-111111111111" for digit in "12")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    talk = CachedSession(SMALL)
    talk.ask(words=9000)
    talk.ask(MINUTES * 2)
    talk.write(folder / f"{ONE}.jsonl")
    (folder / f"{OTHER}.jsonl").write_text((folder / f"{ONE}.jsonl").read_text())
    return tmp_path


def sums(found: Waste) -> dict[str, tuple[int, float]]:
    return {finding.kind: (finding.count, round(finding.cost_usd, 9)) for finding in found.findings}


def test_shared_response_is_counted_once(root: Path) -> None:
    found = Archive([root]).waste()
    (item,) = found.findings
    assert (item.kind, item.count, len(item.evidence)) == ("pause", 1, 1)
    assert found.total_usd == item.cost_usd == item.least_usd > 0
    assert found.share_of_input == pytest.approx(found.total_usd / found.input_usd)


def test_a_miss_costs_the_difference_between_a_write_and_a_read(root: Path) -> None:
    archive = Archive([root])
    result = archive.why(ONE)
    (paid,) = [request for request in result.requests if request.cause]
    spent = archive.waste().total_usd
    assert paid.again_cost_usd is not None
    unit = archive.prices.unit(paid.model, Tokens(input=1), paid.time)
    assert unit is not None
    saved = paid.again * unit.cache_read / 1_000_000
    assert spent < paid.again_cost_usd
    assert spent == pytest.approx(paid.again_cost_usd - saved)


def test_only_the_period_counts(root: Path) -> None:
    archive = Archive([root])
    assert archive.waste(until=START + MINUTES).findings == []
    assert len(archive.waste(since=START + MINUTES).findings) == 1
    assert archive.waste(since=datetime(2027, 1, 1, tzinfo=UTC)).share_of_input is None


def test_only_some_sessions_count(root: Path) -> None:
    archive = Archive([root])
    both = [archive.waste([name]).total_usd for name in (ONE, OTHER)]
    assert min(both) == 0
    assert max(both) == pytest.approx(archive.waste().total_usd)


def test_parallel_equals_serial(root: Path, gallery: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = Archive([root, gallery], jobs=1).waste()
    monkeypatch.setattr(waste, "PARALLEL_BYTES", 0)
    assert Archive([root, gallery], jobs=3).waste() == alone


@pytest.mark.parametrize(("name", "kind"), [(OTHER, "process"), (ONE, "unexplained")])
def test_continuing_a_response_of_another_session_is_another_process(
    tmp_path: Path, name: str, kind: str
) -> None:
    """A fork copies lines without a word; a copy of the same session is no fork of it."""
    talk = CachedSession(SMALL)
    talk.ask(words=9000)
    talk.ask()
    first, second = (tmp_path / "projects" / folder for folder in ("-home-dev", "-home-dev-again"))
    first.mkdir(parents=True)
    second.mkdir()
    talk.write(first / f"{ONE}.jsonl")
    talk.system += 1
    talk.ask(timedelta(minutes=1))
    talk.write(second / f"{name}.jsonl")
    archive = Archive([tmp_path])
    assert [session.kind for session in archive.waste().findings] == [kind]
    owned = ResponsesByFile(archive.responses(), archive.sessions)
    causes = [
        paid.cause for session in archive.sessions for paid, _ in owned.iter_requests(session)
    ]
    assert sorted(filter(None, causes)) == [kind]


def test_repeats_of_a_background_request_are_found_by_its_sessions_file(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-dev-shop"
    (folder / ONE / "subagents").mkdir(parents=True)
    talk = CachedSession(SMALL)
    talk.ask(words=9000)
    talk.write(folder / f"{ONE}.jsonl")
    other = CachedSession(SMALL, time=talk.time, version="2.1.325")
    other.pieces = talk.pieces
    other.answer(other.add(type="user", parentUuid=talk.last, agentId="acompact-1"))
    other.lines[0]["uuid"] = other.lines[1]["parentUuid"] = "e1"
    other.lines[1] |= {"uuid": "e2", "agentId": "acompact-1"}
    other.lines[1]["message"]["id"] = "errand"
    path = other.write(folder / ONE / "subagents" / "agent-acompact-1.jsonl")
    path.write_text(path.read_text().replace(path.stem, ONE))
    archive = Archive([tmp_path])
    (found,) = archive.waste().findings
    assert (found.kind, found.count) == ("unexplained", 1)
    result = {
        request.agent: (request.again, request.unknown) for request in archive.why(ONE).requests
    }
    assert result == {None: (0, 0), "acompact-1": (10_000, 0)}
    (folder / f"{ONE}.jsonl").unlink()
    alone = Archive([tmp_path])
    assert alone.waste().findings == []
    assert alone.why(ONE).totals.unknown == 10_065


def test_answers_on_an_abandoned_branch_are_wasted_entirely(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    talk = CachedSession()
    talk.ask()
    talk.ask(words=9000)
    talk.ask(MINUTES * 2)
    talk.go_back(2)
    talk.ask(timedelta(seconds=9))
    talk.write(folder / f"{ONE}.jsonl")
    found = sums(Archive([tmp_path]).waste())
    assert found["abandoned"][0] == 2
    assert "pause" not in found


def test_waste_of_real_logs_is_below_their_cost(shared: Path) -> None:
    archive = Archive([shared / "corpus"])
    found = archive.waste()
    owned = ResponsesByFile(archive.responses(), archive.sessions)
    again = sum(
        paid.again for session in archive.sessions for paid, _ in owned.iter_requests(session)
    )
    assert again > 7_000_000
    assert 0 < found.least_usd <= found.total_usd < found.input_usd
    assert found.share_of_input == pytest.approx(found.total_usd / found.input_usd)
    assert all(session.least_usd <= session.cost_usd + 1e-9 for session in found.findings)


def test_index_caches_waste_until_a_session_grows(root: Path, tmp_path: Path) -> None:
    archive = Archive([root], tmp_path / "index")
    archive.update_index()
    read = Archive([root]).waste()
    assert archive.waste() == read
    with sqlite3.connect(tmp_path / "index" / "catalogue.sqlite") as catalogue:
        assert catalogue.execute("SELECT count(*) FROM losses").fetchone() == (2,)
    assert archive.waste() == read
    talk = CachedSession(SMALL)
    talk.ask(words=9000)
    talk.ask(MINUTES * 2)
    talk.ask(MINUTES * 3)
    talk.write(root / "projects" / "-home-dev-shop" / f"{ONE}.jsonl")
    grown = Archive([root], tmp_path / "index").waste()
    assert grown == Archive([root]).waste()
    assert grown.total_usd > read.total_usd


def rows(folder: Path, table: str) -> int:
    with sqlite3.connect(folder / "catalogue.sqlite") as catalogue:
        (found,) = catalogue.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(found)


def test_index_caches_totals(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive([root], tmp_path / "index")
    archive.update_index()
    some = archive.waste([ONE])
    assert rows(tmp_path / "index", "wasted") == 0
    everything = archive.waste()
    assert rows(tmp_path / "index", "wasted") == 2
    assert some == Archive([root]).waste([ONE])
    monkeypatch.setattr("plait.insights.waste.find_session_waste", None)
    again = Archive([root], tmp_path / "index")
    assert again.waste() == everything
    assert again.waste([ONE]) == some


def test_cached_waste_depends_on_prices(root: Path, tmp_path: Path) -> None:
    archive = Archive([root], tmp_path / "index")
    archive.update_index()
    listed = archive.waste()
    own = Prices(PriceFile({SMALL: PriceList(input=Rate(900.0), output=Rate(900.0))}))
    assert archive.waste(prices=own) == Archive([root]).waste(prices=own) != listed
    assert archive.waste() == listed


def waste_of(folder: Path, model: str, *pauses: timedelta) -> Waste:
    place = folder / "projects" / "-home-dev-shop"
    place.mkdir(parents=True)
    talk = CachedSession(model)
    for pause in pauses:
        talk.ask(pause)
    talk.write(place / f"{ONE}.jsonl")
    return Archive([folder]).waste()


def test_small_questions_to_an_expensive_model_cost_the_difference(tmp_path: Path) -> None:
    found = waste_of(tmp_path, DEAR, MINUTES, MINUTES / 2)
    (item,) = found.findings
    assert (item.kind, item.count, item.least_usd) == ("oversized", 2, 0.0)
    archive = Archive([tmp_path])
    billed = archive.responses().responses
    costs = [
        [archive.prices.cost(model, two.tokens, two.time) or 0.0 for two in billed]
        for model in (DEAR, "claude-haiku-5-5")
    ]
    assert item.cost_usd == pytest.approx(sum(costs[0]) - sum(costs[1]))


@pytest.mark.parametrize(("price", "kinds"), [(1.4, []), (1.5, ["oversized"])])
def test_a_model_is_expensive_from_three_times_the_small_one(
    tmp_path: Path, price: float, kinds: list[str]
) -> None:
    waste_of(tmp_path, DEAR, MINUTES)
    own = PriceFile({DEAR: PriceList(input=Rate(1.0), output=Rate(price))})
    found = Archive([tmp_path]).waste(prices=Prices(own))
    assert [finding.kind for finding in found.findings] == kinds


def test_rewrites_are_not_counted_as_oversized(tmp_path: Path) -> None:
    found = waste_of(tmp_path, DEAR, MINUTES, MINUTES * 2)
    archive = Archive([tmp_path])
    spent = sum(
        archive.prices.cost(finding.model, finding.tokens, finding.time) or 0.0
        for finding in archive.responses().responses
    )
    result = {finding.kind: finding for finding in found.findings}
    assert result.keys() == {"pause", "oversized"}
    assert found.total_usd < spent
    warm = waste_of(tmp_path / "warm", DEAR, MINUTES, MINUTES / 2)
    assert result["oversized"].cost_usd == pytest.approx(warm.total_usd, rel=0.01)
