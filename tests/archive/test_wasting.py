"""Archives to what was paid for in vain: each thing once, by one process or several."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from plait.archive import Archive, Waste, losing
from plait.archive.accounting import Owned
from plait.conversation.usage import Tokens
from tests.conversation.cached_talk import MINUTES, START, CachedTalk

ONE, OTHER = (f"{digit * 8}-1111-4111-8111-111111111111" for digit in "12")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    talk = CachedTalk()
    talk.ask(words=9000)
    talk.ask(MINUTES * 2)
    talk.write(folder / f"{ONE}.jsonl")
    (folder / f"{OTHER}.jsonl").write_text((folder / f"{ONE}.jsonl").read_text())
    return tmp_path


def sums(found: Waste) -> dict[str, tuple[int, float]]:
    return {one.kind: (one.count, round(one.cost_usd, 9)) for one in found.findings}


def test_what_two_files_hold_is_lost_once(root: Path) -> None:
    found = Archive([root]).waste()
    (one,) = found.findings
    assert (one.kind, one.count, len(one.evidence)) == ("pause", 1, 1)
    assert found.total_usd == one.cost_usd == one.least_usd > 0
    assert found.share_of_input == pytest.approx(found.total_usd / found.input_usd)


def test_it_is_what_the_write_cost_more_than_a_read(root: Path) -> None:
    archive = Archive([root])
    told = archive.why(ONE)
    (paid,) = [one for one in told.requests if one.cause]
    spent = archive.waste().total_usd
    assert paid.again_cost_usd is not None
    unit = archive.prices.unit(paid.model, Tokens(input=1), paid.time)
    assert unit is not None
    saved = paid.again * unit.cache_read / 1_000_000
    assert spent < paid.again_cost_usd
    assert spent == pytest.approx(paid.again_cost_usd - saved)


def test_only_responses_of_a_time_count(root: Path) -> None:
    archive = Archive([root])
    assert archive.waste(until=START + MINUTES).findings == []
    assert len(archive.waste(since=START + MINUTES).findings) == 1
    assert archive.waste(since=datetime(2027, 1, 1, tzinfo=UTC)).share_of_input is None


def test_only_some_sessions_count(root: Path) -> None:
    archive = Archive([root])
    both = [archive.waste([name]).total_usd for name in (ONE, OTHER)]
    assert min(both) == 0
    assert max(both) == pytest.approx(archive.waste().total_usd)


def test_several_processes_find_the_same(
    root: Path, gallery: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = Archive([root, gallery], jobs=1).waste()
    monkeypatch.setattr(losing, "WORTH", 0)
    assert Archive([root, gallery], jobs=3).waste() == alone


def test_answers_on_a_branch_that_was_left_are_lost_as_a_whole(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    talk = CachedTalk()
    talk.ask()
    talk.ask(words=9000)
    talk.ask(MINUTES * 2)
    talk.go_back(2)
    talk.ask(timedelta(seconds=9))
    talk.write(folder / f"{ONE}.jsonl")
    found = sums(Archive([tmp_path]).waste())
    assert found["abandoned"][0] == 2
    assert "pause" not in found


def test_real_logs_lose_less_than_they_sent(shared: Path) -> None:
    archive = Archive([shared / "corpus"])
    found = archive.waste()
    owned = Owned(archive.responses(), archive.sessions)
    again = sum(paid.again for one in archive.sessions for paid, _ in owned.requests(one))
    assert again > 7_000_000
    assert 0 < found.least_usd <= found.total_usd < found.input_usd
    assert found.share_of_input == pytest.approx(found.total_usd / found.input_usd)
    assert all(one.least_usd <= one.cost_usd + 1e-9 for one in found.findings)


def test_an_index_keeps_what_was_lost_until_a_session_grows(root: Path, tmp_path: Path) -> None:
    archive = Archive([root], tmp_path / "index")
    archive.update_index()
    read = Archive([root]).waste()
    assert archive.waste() == read
    with sqlite3.connect(tmp_path / "index" / "catalogue.sqlite") as catalogue:
        assert catalogue.execute("SELECT count(*) FROM losses").fetchone() == (2,)
    assert archive.waste() == read
    talk = CachedTalk()
    talk.ask(words=9000)
    talk.ask(MINUTES * 2)
    talk.ask(MINUTES * 3)
    talk.write(root / "projects" / "-home-dev-shop" / f"{ONE}.jsonl")
    grown = Archive([root], tmp_path / "index").waste()
    assert grown == Archive([root]).waste()
    assert grown.total_usd > read.total_usd
