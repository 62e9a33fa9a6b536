"""A lake built by Ray while workers and machines are killed equals a local build."""

import os
import secrets
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bench.generate import generate
from plait.lake.store import Lake
from tests.lake.ray_nodes import kill_all

ROOT = Path(__file__).parents[2]
PATIENCE = 1_800
"""Seconds that a run may take on a machine with much else to do."""


def _environment() -> dict[str, str]:
    """What Ray is told here: nothing of who else runs it, and a key that nobody knows."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    key = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(16)}
    return own | key | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "RAY_USAGE_STATS_ENABLED": "0"}


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """The environment of all that Ray begins."""
    return _environment()


@pytest.fixture
def cluster(environment: dict[str, str]) -> Iterator[str]:
    """The address of a head with two workers, all of them processes here."""
    command = [sys.executable, "-m", "tests.lake.ray_nodes"]
    with TemporaryDirectory(prefix="ray", dir="/tmp") as folder:  # its sockets need short names
        nodes = subprocess.Popen(
            [*command, folder, "2"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=ROOT,
            text=True,
        )
        assert nodes.stdin and nodes.stdout
        try:
            yield nodes.stdout.readline().strip()
        finally:
            nodes.stdin.close()
            nodes.wait(PATIENCE)
            nodes.stdout.close()


def _logs(folder: Path, size: int, files: int) -> Path:
    """Write sessions; the last line of one of them is torn."""
    generate(folder, size, seed=7, files=files)
    torn = max(folder.rglob("*.jsonl"), key=lambda path: (path.stat().st_size, path))
    os.truncate(torn, torn.stat().st_size - 40)
    return folder


def _local(logs: Path, to: Path) -> None:
    command = [sys.executable, "-m", "plait", "lake", "build", "--source", "here", "--jobs", "1"]
    given = ["--root", str(logs), "--to", str(to)]
    subprocess.run([*command, *given], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


def _by_ray(
    logs: Path, to: Path, kills: Path, chance: float, environment: dict[str, str], *more: str
) -> str:
    """Build a lake by Ray while workers are killed, and return what is told of that."""
    begin = [sys.executable, "-c", "from tests.lake.ray_build import main; main()"]
    where = ["lake", "build", "--root", str(logs), "--to", str(to), "--source", "here"]
    process = subprocess.Popen(
        [*begin, str(kills), str(chance), *where, "--engine", "ray", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=ROOT,
        text=True,
        start_new_session=True,
    )
    try:
        told = process.communicate(timeout=PATIENCE)[0]
    finally:
        kill_all([process.pid])
        process.wait()
    assert process.returncode == 0, told
    return told


def _rows(lake: Lake, table: str) -> Counter[tuple[Any, ...]]:
    """Return the rows that hold, but for the number of their building."""
    held = set(lake.read_builds()["build"].to_pylist())
    found = lake.dataset(table).to_table().to_pylist()
    return Counter(
        tuple(value for name, value in row.items() if name != "build")
        for row in found
        if row["build"] in held
    )


def _check_equal(one: Path, other: Path) -> None:
    first, second = Lake(str(one)), Lake(str(other))
    for table in first.tables:
        rows = _rows(first, table)
        assert rows == _rows(second, table), table
    assert rows


def _kills(folder: Path, **counts: int) -> Path:
    folder.mkdir()
    for kind, count in counts.items():
        for number in range(count):
            (folder / f"{kind}-{number}").touch()
    return folder


@pytest.mark.long
def test_tables_are_equal_after_two_killed_workers(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    logs = _logs(tmp_path / "logs", 100_000, files=4)
    _local(logs, tmp_path / "local")
    kills = _kills(tmp_path / "kills", before=1, after=1)
    told = _by_ray(logs, tmp_path / "ray", kills, 1.0, environment, "--jobs", "1")
    assert told.count("crashed while reading") >= 1
    assert [*kills.iterdir()] == []
    _check_equal(tmp_path / "local", tmp_path / "ray")


@pytest.mark.long
def test_tables_are_equal_after_twenty_kills(
    tmp_path: Path, cluster: str, environment: dict[str, str]
) -> None:
    logs = _logs(tmp_path / "logs", 6_000_000, files=200)
    _local(logs, tmp_path / "local")
    kills = _kills(tmp_path / "kills", before=5, after=5, later=7, machine=3)
    to = tmp_path / "ray"
    told = _by_ray(logs, to, kills, 0.2, environment, "--address", cluster)
    assert "crashed while reading" in told
    assert [*kills.iterdir()] == []
    _check_equal(tmp_path / "local", to)
