"""Work on a Ray cluster: who works, and how failures are reported."""

import pickle
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from plait import __version__
from plait.errors import MissingExtra, UserError
from plait.lake import engine
from plait.lake.engine import START_ATTEMPTS, Failure, RayEngine, run_ray_item


@dataclass(frozen=True)
class Word:
    """Something to work on."""

    text: str
    size: int = 1

    def __str__(self) -> str:
        return self.text


def shouted(word: Word) -> str:
    """Return a word in capitals; there is one that it does not like."""
    if word.text == "hush":
        raise ValueError("not so loud")
    return word.text.upper()


def _worked(word: str, patience: int = 3) -> Any:
    return run_ray_item({"item": pickle.dumps((shouted, Word(word), patience))})


@pytest.fixture
def deaths(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many workers died of what is worked on."""
    told = [0]
    monkeypatch.setattr(engine, "_count_deaths", lambda: told[0])
    yield told


def test_worker_results_are_pickled(deaths: list[int]) -> None:
    row = _worked("ahoy")
    assert (row["name"], row["deaths"]) == ("ahoy", 0)
    assert pickle.loads(row["found"]) == "AHOY"


def test_failures_have_a_reason(deaths: list[int]) -> None:
    found = pickle.loads(_worked("hush")["found"])
    assert found == Failure(Word("hush"), "ValueError: not so loud")


@pytest.mark.parametrize(
    ("died", "found"),
    [
        (2, "AHOY"),
        (3, Failure(Word("ahoy"), "3 workers crashed while reading it", killed_worker=True)),
    ],
)
def test_an_item_that_kills_workers_is_given_up(
    deaths: list[int], died: int, found: object
) -> None:
    deaths[0] = died
    row = _worked("ahoy", patience=3)
    assert (row["deaths"], pickle.loads(row["found"])) == (died, found)


def test_no_work_needs_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray.data", None)
    assert [*RayEngine("127.0.0.1:1").each(shouted, [])] == []


def test_an_unreachable_cluster_is_reported_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(UserError) as told:
        next(RayEngine(f"127.0.0.1:{port}").each(shouted, [Word("ahoy")]))
    address = f"'127.0.0.1:{port}'"
    assert told.value.message == f"no Ray cluster responds at {address}: connection refused"
    assert told.value.hints == ("`ray start --head` starts one, and prints its address",)


def test_without_ray_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match="Ray is not installed") as told:
        RayEngine()
    assert told.value.hints == ("`pip install 'plait[lake,ray]'`",)


def test_ray_without_ray_data_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(MissingExtra, match="Ray is not installed"):
        next(RayEngine().each(shouted, [Word("ahoy")]))


class Slow:
    """Stands for Ray on a machine that has too much to do."""

    def __init__(self, in_vain: int) -> None:
        self.in_vain = in_vain
        self.began: list[tuple[str, dict[str, Any]]] = []
        self.ended = 0

    def init(self, address: str, **given: Any) -> None:
        """Begin after some attempts in vain."""
        self.began.append((address, given))
        if len(self.began) <= self.in_vain:
            raise Exception("The current node timed out during startup.\nThis could …")

    def shutdown(self) -> None:
        """End what did not begin."""
        self.ended += 1


@pytest.mark.parametrize(
    ("address", "in_vain", "said"),
    [
        (None, START_ATTEMPTS - 1, None),
        (
            None,
            START_ATTEMPTS,
            "cannot start Ray: the current node timed out during startup.",
        ),
        ("host:1", 1, "no Ray cluster responds at 'host:1': the current node timed out"),
    ],
)
def test_starting_a_local_cluster_is_retried(
    address: str | None, in_vain: int, said: str | None
) -> None:
    slow = Slow(in_vain)
    if said:
        with pytest.raises(UserError, match=said):
            engine._start_ray(slow, address, 2)
    else:
        engine._start_ray(slow, address, 2)
    assert slow.ended == in_vain
    assert {one for one, _ in slow.began} == {address or "local"}
    assert all(("num_cpus" in given) is (address is None) for _, given in slow.began)


class Machines:
    """Stands for Ray with some machines, each with a version of Plait."""

    def __init__(self, *versions: str) -> None:
        self.versions = versions
        self.asked: list[int] = []
        self.util = self.scheduling_strategies = self

    def nodes(self) -> list[dict[str, Any]]:
        """Return the machines, and beside them a head that does not work, and a dead one."""
        alive = {"Alive": True, "Resources": {"CPU": 4.0}}
        others = [alive | {"Resources": {}}, alive | {"Alive": False}]
        found = [*(alive for _ in self.versions), *others]
        address = "NodeManagerAddress"
        return [one | {"NodeID": at, address: f"10.0.0.{at}"} for at, one in enumerate(found)]

    def NodeAffinitySchedulingStrategy(self, node: int, _: bool) -> int:  # noqa: N802
        """Return where a question goes."""
        return node

    def remote(self, **_: Any) -> Any:
        """Return what makes a question."""
        return lambda _: self

    def options(self, scheduling_strategy: int) -> Any:
        """Return a question to one machine."""
        return Question(self, scheduling_strategy)

    def get(self, node: int) -> str:
        """Return the answer of a machine."""
        self.asked.append(node)
        return self.versions[node]


@dataclass
class Question:
    """Which version a machine has."""

    to: Machines
    node: int

    def remote(self) -> int:
        """Ask it."""
        return self.node


def test_machines_with_the_same_version_are_accepted() -> None:
    machines = Machines(__version__, __version__)
    engine._check_machines(machines)
    assert machines.asked == [0, 1]


@pytest.mark.parametrize("version", ["0.0.1", "none"])
def test_a_machine_with_another_version_is_refused(version: str) -> None:
    with pytest.raises(UserError) as told:
        engine._check_machines(Machines(__version__, version))
    assert told.value.message == f"machine '10.0.0.1' has Plait {version}, not {__version__}"
    assert told.value.hints == (f"run `pip install 'plait[lake,ray]=={__version__}'` there",)
