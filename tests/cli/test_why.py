"""`plait why` and `plait waste`: text and JSON."""

import json
import shlex
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from plait.cli.app import run
from tests.insights.cached_session import MINUTES, OTHERS, CachedSession

SESSION = "11111111-1111-4111-8111-111111111111"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    talk = CachedSession()
    talk.ask(words=9000)
    talk.ask()
    talk.ask(MINUTES * 2)
    talk.model = OTHERS[1]
    talk.ask()
    folder = tmp_path / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    talk.write(folder / f"{SESSION}.jsonl")
    return tmp_path


def out(capfd: pytest.CaptureFixture[str], root: Path, *words: str) -> str:
    assert run(["why", SESSION, "--root", str(root), "--no-pager", *words]) == 0
    return capfd.readouterr().out


def run_json(capfd: pytest.CaptureFixture[str], root: Path, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out(capfd, root, "--json", *words))
    return found


def test_causes_with_costs(capfd: pytest.CaptureFixture[str], root: Path) -> None:
    found = out(capfd, root)
    assert "4 requests, $" in found
    assert "pause of 10 min" in found
    assert "another model" in found
    assert "the next prompt sends" in found
    assert "the cache expired at 2026-11-02" in found


def test_only_expensive_requests_are_listed_without_all(
    capfd: pytest.CaptureFixture[str], root: Path
) -> None:
    few, every = out(capfd, root), out(capfd, root, "--all")
    assert "had normal costs; `--all` shows them" in few
    assert "cost no more than usual" not in every
    assert every.count("2026-11-02 ") > few.count("2026-11-02 ")


def test_json_has_the_parts_of_each_request(capfd: pytest.CaptureFixture[str], root: Path) -> None:
    found = run_json(capfd, root)
    assert [request["cause"] for request in found["requests"]] == [None, None, "pause", "model"]
    assert [request["turn"] for request in found["requests"]] == [1, 2, 3, 4]
    first = found["requests"][0]
    assert (first["read"], first["new"], first["again"], first["uncached"]) == (0, 10_000, 0, 0)
    sums = ("read", "new", "again", "uncached", "output", "cost_usd", "again_cost_usd")
    for name in sums:
        assert found["totals"][name] == pytest.approx(
            sum(request[name] for request in found["requests"])
        )
    assert found["next"]["is_warm"] is False
    assert found["next"]["cold_usd"] > found["next"]["warm_usd"] > 0
    assert found["next"]["cold_at"].startswith("2026-11-02T09:")


def test_unknown_tokens_are_reported(capfd: pytest.CaptureFixture[str], root: Path) -> None:
    assert "not in the log" not in out(capfd, root)
    assert run_json(capfd, root)["totals"]["unknown"] == 0
    (path,) = root.rglob("*.jsonl")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[2:6]))
    found = run_json(capfd, root)
    assert [request["unknown"] for request in found["requests"]] == [found["requests"][0]["new"], 0]
    assert "65 of the new tokens may already have been cached" in out(capfd, root)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    assert "nothing was cached twice, as far as is known" in out(capfd, root)


def test_single_turn(capfd: pytest.CaptureFixture[str], root: Path) -> None:
    found = run_json(capfd, root, "--turn", "3")
    assert [request["cause"] for request in found["requests"]] == ["pause"]
    assert found["totals"]["again"] == found["requests"][0]["again"] > 0
    assert run(["why", SESSION, "--root", str(root), "--turn", "9"]) != 0
    assert "turn 9 has no request" in capfd.readouterr().err


def test_turn_shows_the_context_at_its_end(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    talk = CachedSession()
    talk.ask(words=9000)
    talk.ask()
    talk.compact()
    talk.ask()
    folder = tmp_path / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    talk.write(folder / f"{SESSION}.jsonl")

    def words(*more: str) -> dict[str, int]:
        return {
            item["words"]: item["requests"] for item in run_json(capfd, tmp_path, *more)["carried"]
        }

    first, second = words("--turn", "1"), words("--turn", "2")
    assert first == {"the words of u1": 1, "the words of u2": 0}
    expected = {"u1": 2, "u2": 1, "u3": 1, "u4": 0}
    assert second == {f"the words of {name}": count for name, count in expected.items()}
    assert not {*second} & {*words()}
    shown = out(capfd, tmp_path, "--turn", "1")
    assert "in the context after turn 1, with their cost by then" in shown


def test_session_without_responses_says_so(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    talk = CachedSession()
    talk.add(type="user", parentUuid=None)
    folder = tmp_path / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    talk.write(folder / f"{SESSION}.jsonl")
    assert "no token usage recorded in this session" in out(capfd, tmp_path)


def test_carried_items_are_paid_for_with_every_request(
    capfd: pytest.CaptureFixture[str], root: Path
) -> None:
    carried = run_json(capfd, root)["carried"]
    assert {item["kind"] for item in carried} == {"prompts", "answers"}
    by_turn = {item["turn"]: item for item in carried if item["kind"] == "prompts"}
    assert [by_turn[turn]["requests"] for turn in (1, 2, 3, 4)] == [4, 3, 2, 1]
    costs = [by_turn[turn]["cost_usd"] for turn in (1, 2, 3, 4)]
    assert costs == sorted(costs, reverse=True)


def test_unpriced_requests_are_reported(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    talk = CachedSession(model="nobody-knows-1")
    talk.ask()
    talk.ask(timedelta(minutes=6))
    folder = tmp_path / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    talk.write(folder / f"{SESSION}.jsonl")
    found = out(capfd, tmp_path)
    assert "2 requests without a price" in found
    assert "?" in out(capfd, tmp_path, "--all")


def wasted(capfd: pytest.CaptureFixture[str], root: Path, *words: str) -> str:
    assert run(["waste", "--root", str(root), "--no-pager", *words]) == 0
    return capfd.readouterr().out


def test_waste_ranks_avoidable_spending(capfd: pytest.CaptureFixture[str], root: Path) -> None:
    found = wasted(capfd, root)
    assert "could have been saved" in found.splitlines()[0]
    assert "Resent after the cache had expired, 1 ×" in found
    assert "resume before the cache expires" in found
    assert "Small questions sent to an expensive model, 3 ×" in found
    assert "use a smaller model for small questions" in found
    assert f"{SESSION[:8]}  2026-11-02 " in found
    value = json.loads(wasted(capfd, root, "--json"))
    assert [finding["kind"] for finding in value["findings"]] == ["oversized", "pause", "model"]
    assert value["total_usd"] == pytest.approx(
        sum(finding["cost_usd"] for finding in value["findings"])
    )
    assert {"kind", "cost_usd", "count", "evidence", "advice"} <= value["findings"][0].keys()


def test_waste_by_project_and_period(capfd: pytest.CaptureFixture[str], root: Path) -> None:
    nothing = "no avoidable spending found"
    assert nothing in wasted(capfd, root, "--until", "2026-11-01")
    assert nothing not in wasted(capfd, root, "--project", "shop")
    assert run(["waste", "--root", str(root), "--project", "elsewhere"]) != 0
    assert "no project named 'elsewhere'" in capfd.readouterr().err


def test_waste_evidence_can_be_opened(capfd: pytest.CaptureFixture[str], root: Path) -> None:
    value = json.loads(wasted(capfd, root, "--json"))
    things = [first for item in value["findings"] for first in item["evidence"]]
    for first in things:
        _, name, session, *words = shlex.split(first["open"])
        assert (name, session) == ("why", SESSION)
        assert run([name, session, *words, "--json"]) == 0
        found = json.loads(capfd.readouterr().out)["requests"]
        assert first["response"] in [two["response"] for two in found]
    shown = wasted(capfd, root).splitlines()[-1]
    assert f"why {SESSION[:8]} --turn {things[0]['response']} --root" in shown


def test_requests_outside_turns_are_shown_separately(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    talk = CachedSession()
    talk.ask()
    left = talk.ask(words=900)
    talk.go_back(1)
    talk.ask()
    folder = tmp_path / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    talk.write(folder / f"{SESSION}.jsonl")
    found = run_json(capfd, tmp_path, "--turn", left)
    assert [(request["response"], request["turn"]) for request in found["requests"]] == [
        (left, None)
    ]
    assert found["totals"]["requests"] == 1
    assert found["carried"] == []
    assert run(["why", SESSION, "--root", str(tmp_path), "--turn", ""]) != 0
    assert run(["why", SESSION, "--root", str(tmp_path), "--turn", "nobody"]) != 0
