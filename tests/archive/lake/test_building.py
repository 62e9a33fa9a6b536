"""Building a lake: incremental, interruptible, and with unreadable sources."""

import os
import pickle
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.archive import Archive
from plait.conversation.prices import Prices
from plait.errors import SourceError, UserError
from plait.lake.build import Chunk
from plait.lake.engine import Failure, ItemT, LocalEngine, ResultT, try_task
from plait.lake.schema import Labels
from plait.lake.store import Lake
from tests.archive.lake.small import HERE, built, counts, holding, lines, log


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three sessions; the second is a fork of the first, with half of its records."""
    folder = tmp_path / "claude"
    log(folder, "a").write_bytes(lines("a", 0, 4))
    log(folder, "b").write_bytes(lines("b", 0, 2, "a") + lines("b", 2, 3))
    log(folder, "c", "-home-ada-api").write_bytes(lines("c", 0, 2))
    return folder


@pytest.fixture
def to(tmp_path: Path) -> Path:
    return tmp_path / "lake"


def anew(root: Path, to: Path, **how: Any) -> dict[str, list[str]]:
    """Return what a lake has that is built of all that is there now."""
    other = to.with_name("anew")
    shutil.rmtree(other, ignore_errors=True)
    built(root, other, **how)
    return holding(other)


def test_only_changed_sessions_are_built(root: Path, to: Path) -> None:
    report = [counts(built(root, to))]
    report.append(counts(built(root, to)))
    with log(root, "c", "-home-ada-api").open("ab") as file:
        file.write(lines("c", 2, 3))
    log(root, "d").write_bytes(lines("d", 0, 1))
    report.append(counts(built(root, to)))
    with log(root, "a").open("ab") as file:
        file.write(lines("a", 4, 5))
    report.append(counts(built(root, to)))
    report.append(counts(built(root, to)))
    assert report == [
        {"built": 3},
        {"unchanged": 3},
        {"unchanged": 2, "built": 2},
        {"unchanged": 2, "built": 2},  # a fork is read with what it shares records with
        {"unchanged": 4},
    ]
    assert holding(to) == anew(root, to)


def test_shared_records_are_counted_once(root: Path, to: Path) -> None:
    built(root, to)
    found = Lake(str(to)).dataset("responses").to_table()
    assert sum(found["input"].to_pylist()) == 10 + 11 + 12 + 13 + 12 + 10 + 11
    families = Lake(str(to)).read_builds().to_pylist()
    assert {item["session"]: item["family"] for item in families} == {"a": "a", "b": "a", "c": "c"}


CHANGES: dict[str, Callable[[Path], object]] = {
    "title": lambda root: _written(root / "projects/-home-ada-shop/a/custom-title.json", "{}"),
    "output": lambda root: _written(root / "projects/-home-ada-shop/a/tool-results/x.txt", "x"),
    "agent": lambda root: _written(
        root / "projects/-home-ada-shop/a/subagents/agent-x.jsonl", lines("a", 0, 1, "x").decode()
    ),
    "note on an agent": lambda root: _written(
        root / "projects/-home-ada-shop/a/subagents/agent-x.meta.json", "{}"
    ),
    "touched": lambda root: os.utime(log(root, "a"), (1, 1)),
}


def _written(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("change", CHANGES)
def test_session_is_rebuilt_when_any_of_its_files_changes(
    root: Path, to: Path, change: str
) -> None:
    built(root, to)
    CHANGES[change](root)
    assert counts(built(root, to)) == {"built": 2, "unchanged": 1}
    assert counts(built(root, to)) == {"unchanged": 3}


def test_changed_options_rebuild_everything(root: Path, to: Path) -> None:
    built(root, to)
    assert counts(built(root, to, labels=Labels("here", "bob"))) == {"built": 3}
    from plait.conversation.prices.table import parse_price_file

    dear = Prices(parse_price_file("[claude-opus-5-5]\ninput = 1000\noutput = 1000", "own"))
    priced = Archive([root], jobs=1, prices=dear)
    assert counts(built(root, to, archive=priced, labels=Labels("here", "bob"))) == {"built": 3}
    costs = Lake(str(to)).dataset("responses").to_table()["cost_usd"].to_pylist()
    assert max(costs) > 0.01


def test_each_source_has_its_own_sessions(root: Path, to: Path) -> None:
    built(root, to)
    assert counts(built(root, to, labels=Labels("there"))) == {"built": 3}
    assert counts(built(root, to)) == {"unchanged": 3}
    assert sorted(Lake(str(to)).read_builds()["source"].to_pylist()) == ["here"] * 3 + ["there"] * 3
    with pytest.raises(UserError, match="need a source"):
        built(root, to, labels=Labels(""))


def test_deleted_sessions_stay_until_pruned(root: Path, to: Path) -> None:
    built(root, to)
    before = holding(to)
    log(root, "c", "-home-ada-api").unlink()
    assert counts(built(root, to)) == {"unchanged": 2, "gone": 1}
    assert holding(to) == before
    assert counts(built(root, to, prune=True)) == {"unchanged": 2, "gone": 1, "pruned": 1}
    assert counts(built(root, to)) == {"unchanged": 2}
    assert holding(to) == anew(root, to)
    assert "c" not in {name[:1] for name in Lake(str(to)).read_links("here")["session"].to_pylist()}


def test_unreachable_roots_are_not_pruned(root: Path, to: Path) -> None:
    """A disk that is not mounted is an empty folder; a link to it leads nowhere."""
    built(root, to)
    before = holding(to)
    hidden = log(root, "c", "-home-ada-api")
    hidden.rename(root / "away")
    hidden.symlink_to(root / "nowhere")
    with pytest.raises(UserError, match=r"c\.jsonl' cannot be read, .* nothing was pruned"):
        built(root, to, prune=True)
    shutil.rmtree(root / "projects")
    with pytest.raises(
        UserError, match="pruning would remove everything from 'here', so nothing was pruned"
    ):
        built(root, to, prune=True)
    assert counts(built(root, to)) == {"gone": 3}
    assert holding(to) == before
    assert counts(built(root, to, labels=Labels("there"), prune=True)) == {}


def test_records_shared_with_a_deleted_session_are_counted_once(root: Path, to: Path) -> None:
    built(root, to)
    log(root, "a").unlink()
    assert counts(built(root, to)) == {"unchanged": 2, "gone": 1}
    before = holding(to)
    with log(root, "b").open("ab") as file:
        file.write(lines("b", 3, 4))
    found = built(root, to)
    assert counts(found) == {"unchanged": 1, "gone": 1, "failed": 1}
    assert [(item.session, item.why.partition(":")[0]) for item in found.failed] == [
        ("b", "it shares records with deleted sessions")
    ]
    assert holding(to) == before
    assert counts(built(root, to, prune=True)) == {
        "built": 1,
        "unchanged": 1,
        "gone": 1,
        "pruned": 1,
    }
    assert holding(to) == anew(root, to)
    assert counts(built(root, to)) == {"unchanged": 2}


def test_moved_session_is_one_session(root: Path, to: Path) -> None:
    built(root, to)
    (root / "projects/-home-ada-shop").rename(root / "projects/-home-ada-store")
    assert counts(built(root, to)) == {"built": 2, "unchanged": 1}
    assert holding(to) == anew(root, to)
    assert Lake(str(to)).read_links("here").num_rows == 4  # three sessions, and what stands for all


def test_same_id_in_two_folders_is_two_sessions(root: Path, to: Path) -> None:
    log(root, "c", "-home-ada-copy").write_bytes(lines("c", 0, 2))
    assert counts(built(root, to)) == {"built": 4}
    assert counts(built(root, to)) == {"unchanged": 4}
    assert sorted(Lake(str(to)).read_builds()["session"].to_pylist()) == ["a", "b", "c", "c"]


STEPS = st.lists(
    st.sampled_from(["new", "fork", "grow", "cut", "delete", "build"]), min_size=2, max_size=6
)


def changed(root: Path, steps: Sequence[str], to: Path) -> None:
    """Do some things to sessions one after the other; builds where that is one of them."""
    for number, step in enumerate(steps):
        name = f"s{number}"
        there = sorted((root / "projects").rglob("*.jsonl"))
        last = there[-1] if there else None
        if step == "build":
            built(root, to, prune=True)
        elif step == "new" or last is None:
            log(root, name).write_bytes(lines(name, 0, 2))
        elif step == "fork":
            log(root, name).write_bytes(last.read_bytes() + lines(name, 2, 3))
        elif step == "grow":
            last.write_bytes(last.read_bytes() + lines(last.stem, 3, 4))
        elif step == "cut":
            last.write_bytes(last.read_bytes()[:-40])
        elif len(there) > 1:  # where none is left, nothing is pruned
            last.unlink()


def check_equal_to_anew(folder: Path, steps: Sequence[str]) -> None:
    """Build a lake in steps, and another one of what is there at the end."""
    root, to = folder / "claude", folder / "lake"
    (root / "projects").mkdir(parents=True)
    changed(root, steps, to)
    built(root, to, prune=True)
    assert holding(to) == anew(root, to)


@settings(max_examples=2)
@given(STEPS)
def test_incremental_build_equals_a_full_build(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    check_equal_to_anew(tmp_path_factory.mktemp("steps"), ["new", "build", *steps])


@pytest.mark.long
@settings(max_examples=150)
@given(STEPS)
def test_any_incremental_build_equals_a_full_build(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    check_equal_to_anew(tmp_path_factory.mktemp("steps"), ["new", *steps])


class Killed(BaseException):
    """The run ends here."""


VERBS = ("save_links", "write", "commit", "forget")


def ends_at(monkeypatch: pytest.MonkeyPatch, step: int, is_after: bool) -> None:
    """Has the run end before or after it has done so many things to the lake."""
    done = iter(range(1000))
    for verb in VERBS:
        own: Callable[..., Any] = getattr(Lake, verb)

        def ending(self: Lake, *given: Any, own: Callable[..., Any] = own) -> Any:
            is_last = next(done) == step
            if is_last and not is_after:
                raise Killed
            found = own(self, *given)
            if is_last:
                raise Killed
            return found

        monkeypatch.setattr(Lake, verb, ending)


QUICK = {(0, True), (2, False), (2, True), (3, False)}


@pytest.mark.parametrize(
    ("step", "is_after"),
    [
        pytest.param(*entry, marks=() if entry in QUICK else pytest.mark.long)
        for entry in product(range(5), (False, True))
    ],
)
def test_killed_build_is_continued(root: Path, to: Path, step: int, is_after: bool) -> None:
    log(root, "d").write_bytes(lines("d", 0, 1))
    built(root, to)
    before = holding(to)
    log(root, "d").unlink()
    log(root, "e").write_bytes(lines("e", 0, 2))
    with pytest.MonkeyPatch.context() as patch:
        ends_at(patch, step, is_after)
        with pytest.raises(Killed):
            built(root, to, prune=True)
    between = holding(to)
    full = {"a", "b", "c", "d", "e"}
    for name in full:  # each session as it was, or as it is
        rows = [record for record in between["records"] if f"'session': '{name}'" in record]
        assert len(rows) in ({"a": {8}, "b": {6}, "c": {4}, "d": {0, 2}, "e": {0, 4}}[name])
    assert set(before["records"]) - set(between["records"]) <= set(_of(before["records"], "d"))
    built(root, to, prune=True)
    assert holding(to) == anew(root, to)


def _of(rows: list[str], session: str) -> list[str]:
    return [row for row in rows if f"'session': '{session}'" in row]


class Meddling:
    """Does something to files right before they are read, and works then."""

    def __init__(self, meddle: Callable[[], object], task: str) -> None:
        self.meddle, self.task = meddle, task

    def each(
        self, task: Callable[[ItemT], ResultT], items: Sequence[ItemT]
    ) -> Iterator[ResultT | Failure[ItemT]]:
        """Yield what is made of each."""
        if task.__name__ == self.task:
            self.meddle()
        yield from LocalEngine(1).each(task, items)


@pytest.mark.parametrize(
    ("task", "meddle", "output"),
    [
        ("read_links", lambda path: path.unlink(), "no such file or folder"),
        ("write_rows_of_sessions", lambda path: path.unlink(), "no such file or folder"),
        (
            "write_rows_of_sessions",
            lambda path: path.write_bytes(b"{"),
            "was truncated while it was read",
        ),
        (
            "write_rows_of_sessions",
            lambda path: (path.unlink(), path.mkdir()),
            "cannot read|is a directory",
        ),
    ],
    ids=["vanished early", "vanished", "cut", "a folder"],
)
def test_unreadable_sessions_are_named_and_the_rest_is_built(
    root: Path, to: Path, task: str, meddle: Callable[[Path], object], output: str
) -> None:
    path = log(root, "c", "-home-ada-api")
    built(root, to)
    before = [record for record in holding(to)["records"] if "'session': 'c'" in record]
    path.write_bytes(lines("c", 0, 3))
    with log(root, "a").open("ab") as file:
        file.write(lines("a", 4, 5))
    found = built(root, to, engine=Meddling(lambda: meddle(path), task))
    assert counts(found) == {"built": 2, "failed": 1}
    assert [(item.session, item.path) for item in found.failed] == [("c", str(path))]
    with pytest.raises(AssertionError, match=output):
        raise AssertionError(found.failed[0].why)
    assert [record for record in holding(to)["records"] if "'session': 'c'" in record] == before


def test_lines_added_during_a_build_come_with_the_next(root: Path, to: Path) -> None:
    def grow() -> None:
        with log(root, "c", "-home-ada-api").open("ab") as file:
            file.write(lines("c", 2, 3))

    assert counts(built(root, to, engine=Meddling(grow, "write_rows_of_sessions"))) == {"built": 3}
    assert len([record for record in holding(to)["records"] if "'session': 'c'" in record]) == 4
    assert counts(built(root, to)) == {"built": 1, "unchanged": 2}
    assert holding(to) == anew(root, to)


class Elsewhere:
    """Works where nothing is known but what was sent."""

    def each(
        self, task: Callable[[ItemT], ResultT], items: Sequence[ItemT]
    ) -> Iterator[ResultT | Failure[ItemT]]:
        """Yield what is made of each, sent there and back."""
        for found in LocalEngine(1).each(task, pickle.loads(pickle.dumps(items))):
            yield pickle.loads(pickle.dumps(found))


def test_jobs_contain_everything_a_worker_needs(root: Path, to: Path) -> None:
    assert counts(built(root, to, engine=Elsewhere())) == {"built": 3}
    assert holding(to) == anew(root, to)


class Deadly:
    """Dies at whatever has one session in it."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.given: list[list[str]] = []

    def each(
        self, task: Callable[[ItemT], ResultT], items: Sequence[ItemT]
    ) -> Iterator[ResultT | Failure[ItemT]]:
        """Yield what is made of each that is not deadly."""
        for item in items:
            assert isinstance(item, Chunk)
            ids = [session.id for job in item.jobs for session in job.unit.sessions]
            self.given.append(ids)
            if self.session in ids and task.__name__ == "write_rows_of_sessions":
                yield Failure(item, "3 processes crashed while reading it", killed_worker=True)
            else:
                yield try_task(task, item)


def test_session_that_kills_its_worker_is_named(root: Path, to: Path) -> None:
    engine = Deadly("c")
    found = built(root, to, engine=engine)
    assert counts(found) == {"built": 2, "failed": 1}
    assert [(item.session, item.why) for item in found.failed] == [
        ("c", "3 processes crashed while reading it")
    ]
    assert sorted(engine.given[-2:]) == [["a", "b"], ["c"]]
    assert counts(built(root, to)) == {"built": 1, "unchanged": 2}


def test_unwritable_lake_is_an_error(root: Path, to: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise SourceError(f"no permission to write to '{to}'")

    monkeypatch.setattr(Lake, "write", refuse)
    with pytest.raises(SourceError, match="no permission to write to"):
        built(root, to)


@pytest.mark.long
def test_parallel_build_equals_serial(root: Path, to: Path) -> None:
    found = built(root, to, engine=LocalEngine(2, min_parallel_bytes=0))
    assert counts(found) == {"built": 3}
    assert holding(to) == anew(root, to)


def test_lake_keeps_its_profile(root: Path, to: Path) -> None:
    with pytest.raises(UserError, match="a lake with the profile 'counts' needs a key"):
        built(root, to, profile="counts")
    built(root, to, profile="counts", key=lambda: b"secret")
    assert counts(built(root, to, key=b"secret")) == {"unchanged": 3}
    with_other = built(root, to, key=b"another")
    assert counts(with_other) == {"built": 3, "gone": 3}  # names that are no ids have other ones
    assert Lake(str(to)).profile == "counts"
    with pytest.raises(UserError, match="is a lake with the profile 'counts', not 'full'"):
        built(root, to, profile="full")


def test_progress_is_reported(root: Path, to: Path) -> None:
    report: list[tuple[int, int]] = []
    built(root, to, watch=lambda done, total: report.append((done, total)))
    size = sum(path.stat().st_size for path in root.rglob("*.jsonl"))
    assert report == [(size, 2 * size), (2 * size, 2 * size)]


def test_unchanged_sessions_are_not_read(
    root: Path, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(root, to)
    monkeypatch.setattr(Lake, Lake.save_links.__name__, None)
    assert counts(built(root, to, engine=Deadly("a"))) == {"unchanged": 3}
    assert HERE.source == "here"
