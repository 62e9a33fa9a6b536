"""The same answers by one process and by several, whatever becomes of the files."""

import os
import shutil
import signal
from collections import Counter
from pathlib import Path

import pytest

from plait.archive import Archive
from plait.archive import usage as counting
from plait.cli.app import run
from plait.index import scanning
from plait.line.workers import Workers


@pytest.fixture(autouse=True)
def everything_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has even little read by several processes."""
    monkeypatch.setattr(counting, "WORTH", 0)
    monkeypatch.setattr(scanning, "MUCH", 0)


@pytest.fixture
def began(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many workers were asked for, each time."""
    found: list[int] = []
    enter = Workers.__enter__

    def counted(self: Workers) -> Workers:
        found.append(self.jobs)
        return enter(self)

    monkeypatch.setattr(Workers, "__enter__", counted)
    return found


@pytest.mark.parametrize("jobs", [2, 3])
def test_usage_is_the_same_by_several_processes(gallery: Path, began: list[int], jobs: int) -> None:
    alone = Archive([gallery], jobs=1).responses()
    assert began == []
    assert Archive([gallery], jobs=jobs).responses() == alone
    assert began == [jobs]
    assert len(alone.responses) > 100


def test_usage_of_real_logs_is_the_same_by_several_processes(shared: Path) -> None:
    logs = shared / "corpus"
    assert Archive([logs], jobs=3).responses() == Archive([logs], jobs=1).responses()


def test_a_search_for_a_text_is_the_same_by_several_processes(
    gallery: Path, tmp_path: Path, began: list[int]
) -> None:
    found = [
        Archive([gallery], tmp_path / "index", jobs=jobs).search("the", way="exact")
        for jobs in (1, 2)
    ]
    assert [hit.uuid for hit in found[0].hits] == [hit.uuid for hit in found[1].hits] != []
    assert began == [2]


@pytest.mark.parametrize("fate", ["gone", "grown", "replaced"])
def test_what_becomes_of_a_file_meanwhile_is_the_same_for_several_processes(
    gallery: Path, tmp_path: Path, fate: str
) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(gallery, logs)
    archives = [Archive([logs], jobs=jobs) for jobs in (1, 2)]
    known, _ = (archive.sessions for archive in archives)
    billed = Counter(one.session for one in Archive([logs]).responses().responses)
    names = [name for name, _ in billed.most_common(2)]
    victim, other = (one.path for one in known if one.id in names)
    if fate == "gone":
        victim.unlink()
    elif fate == "grown":
        victim.write_bytes(victim.read_bytes() * 2)
    else:
        other.replace(victim)
    alone, together = (archive.responses() for archive in archives)
    assert together == alone
    assert len(alone.responses) > 100


def test_a_process_that_died_is_told(
    gallery: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    enter = Workers.__enter__

    def dead(self: Workers) -> Workers:
        entered = enter(self)
        for process in entered._processes:
            os.kill(process.pid, signal.SIGKILL)
        return entered

    monkeypatch.setattr(Workers, "__enter__", dead)
    assert run(["usage", "--root", str(gallery), "--jobs", "1", "--no-index"]) == 0
    alone = capfd.readouterr()
    assert run(["usage", "--root", str(gallery), "--jobs", "2", "--no-index"]) == 0
    together = capfd.readouterr()
    assert together.out == alone.out
    assert "died while it read" in together.err
    assert "died" not in alone.err
