"""Shipping sessions to a remote lake: only new rows, within its profile."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from plait.archive import Archive
from plait.errors import UserError
from plait.lake.build import BuildOptions, BuildResult
from plait.lake.engine import Failure, LocalEngine
from plait.lake.schema import PROFILES, Labels, Profile
from plait.lake.shipping import Shipment
from plait.lake.store import Lake
from plait.redact.rules import Rules
from tests.archive.lake.small import holding, lines, log

KEY = b"k" * 32
SECRET = f"ghp_{sha256(b'another token').hexdigest()[:36]}"


def manner(profile: Profile = "counts", **how: Any) -> BuildOptions:
    """Return how sessions are shipped."""
    return BuildOptions(Labels("desk"), profile, key=b"" if profile == "full" else KEY, **how)


def shipped(root: Path, to: Path | str, profile: Profile = "counts", **how: Any) -> BuildResult:
    """Ships what lies below a root."""
    return Archive([root], jobs=1).lake.ship(str(to), manner(profile), **how)


def rehearsed(root: Path, to: Path | str, profile: Profile = "counts", **how: Any) -> Shipment:
    """Tells what would be shipped of what lies below a root."""
    return Archive([root], jobs=1).lake.rehearse(str(to), manner(profile), **how)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the folder of two sessions, one of which holds a secret."""
    found = tmp_path / "claude"
    log(found, "one").write_bytes(lines("one", 0, 3))
    report = lines("two", 0, 2).replace(b"question 1", f"use {SECRET}".encode())
    log(found, "two", "-home-ada-payroll").write_bytes(report)
    return found


@pytest.mark.parametrize("profile", PROFILES)
def test_shipped_rows_match_the_dry_run(root: Path, tmp_path: Path, profile: Profile) -> None:
    to = tmp_path / "lake"
    leaving = rehearsed(root, to, profile)
    assert not to.exists()
    assert leaving.is_new
    assert shipped(root, to, profile).built == 2
    lake = Lake(str(to))
    for name in lake.tables:
        table = lake.dataset(name).to_table()
        assert leaving.tables[name].rows == table.num_rows
        assert list(leaving.tables[name].examples) == table.column_names
        for column, values in leaving.tables[name].examples.items():
            known = table[column].unique().drop_null().to_pylist()
            if column != "build":
                assert set(map(repr, values)) <= set(map(repr, known)), (name, column)
                assert len(values) == min(3, len(known))
    kin = lake.read_links("desk")
    assert leaving.tables["kin"].rows == kin.num_rows
    assert {session["session"] for session in leaving.sessions} == set(
        lake.read_builds()["session"].to_pylist()
    )


def test_dry_run_bytes_match_the_files(root: Path, tmp_path: Path) -> None:
    leaving, to = rehearsed(root, tmp_path / "lake"), tmp_path / "lake"
    shipped(root, to)
    for name in ("records", "turns", "responses"):
        written = sum(path.stat().st_size for path in (to / name).rglob("*.parquet"))
        assert abs(leaving.tables[name].bytes - written) < 100, name  # buildings are other numbers


def test_only_new_rows_are_shipped(root: Path, tmp_path: Path) -> None:
    to = tmp_path / "lake"
    shipped(root, to)
    before = holding(to)
    assert rehearsed(root, to).sessions == ()
    assert rehearsed(root, to).built.unchanged == 2
    assert shipped(root, to).built == 0
    log(root, "one").write_bytes(lines("one", 0, 5))
    (leaving,) = rehearsed(root, to).sessions
    assert leaving["log_lines"] == 10
    assert holding(to) == before
    assert shipped(root, to).built == 1
    assert len(holding(to)["turns"]) == len(before["turns"]) + 2


@pytest.mark.parametrize(("there", "profile"), list(permutations(PROFILES, 2)))
def test_lake_with_another_profile_is_refused(
    root: Path, tmp_path: Path, there: Profile, profile: Profile
) -> None:
    lake = Lake.create(str(tmp_path / "lake"), there)
    for verb in (shipped, rehearsed):
        with pytest.raises(UserError, match="nothing was") as refused:
            verb(root, lake.url, profile)
        assert f"--profile {there}" in refused.value.hints[0]
    assert lake.read_builds().num_rows == 0


@pytest.mark.parametrize("profile", ["counts", "redacted"])
def test_redacted_names_need_any_key(root: Path, tmp_path: Path, profile: Profile) -> None:
    with pytest.raises(UserError, match=f"a lake with the profile '{profile}' needs a key"):
        BuildOptions(Labels("desk"), profile)
    long = BuildOptions(Labels("desk"), profile, key=b"a long one, " * 20)
    assert Archive([root], jobs=1).lake.ship(str(tmp_path / "lake"), long).built == 2


@pytest.mark.parametrize("profile", ["counts", "redacted"])
def test_paths_cannot_be_guessed_without_the_key(
    root: Path, tmp_path: Path, profile: Profile
) -> None:
    found = []
    for key in (KEY, b"another key, as long as the first"):
        to = str(tmp_path / key.decode())
        Archive([root], jobs=1).lake.ship(to, BuildOptions(Labels("desk"), profile, key=key))
        lake = Lake(to)
        kin, known = lake.read_links("desk"), lake.read_builds()
        marks = [*kin["session"].to_pylist(), *kin["fingerprint"].to_pylist()]
        ties = [tie for item in kin["ties"].to_pylist() for tie in item]
        found.append({*filter(None, marks), *ties, *known["fingerprint"].to_pylist()})
    item, other = found
    assert len(item) == len(other) > 20
    assert item.isdisjoint(other)


def test_redacted_rows_contain_no_secrets(root: Path, tmp_path: Path) -> None:
    to = tmp_path / "lake"
    rules = Rules(words=("payroll",))
    Archive([root], jobs=1).lake.ship(str(to), manner("redacted", rules=rules))
    report = repr(holding(to))
    assert "question 0 of two" in report
    for hidden in (SECRET, "/home/ada", "payroll"):
        assert hidden not in report


class Mortal:
    """Works, and is ended after some items."""

    def __init__(self, left: int) -> None:
        self.left = left

    def each(self, task: Any, items: Any) -> Iterator[Any | Failure[Any]]:
        for found in LocalEngine(1).each(task, items):
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            yield found


@pytest.mark.parametrize(
    "after", [1, 3, *(pytest.param(n, marks=pytest.mark.long) for n in (0, 2))]
)
def test_interrupted_shipping_continues(
    root: Path, tmp_path: Path, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.lake.build.CHUNK_BYTES", 1)
    monkeypatch.setattr("plait.lake.build.COMMIT_BYTES", 1)
    to = tmp_path / "lake"
    with pytest.raises(KeyboardInterrupt):
        shipped(root, to, engine=Mortal(after))
    done = len(holding(to)["sessions"])
    assert done == max(after - 2, 0)
    assert shipped(root, to).built == 2 - done
    shipped(root, tmp_path / "at once")
    assert holding(to) == holding(tmp_path / "at once")
