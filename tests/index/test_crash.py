"""A process killed while writing the index: the next run repairs it."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from examples.drawing import draw
from plait import Archive
from plait.index.writer import open_writer
from plait.indexing import update_index
from tests.index.held import append_to, list_expected, list_indexed, tables

CHILD = """
import sys
from pathlib import Path
from plait import Archive
from plait.indexing import update_index
import plait.index.writer as store
store.BATCH = 300
print("ready", flush=True)
update_index(Archive([Path(sys.argv[1])]), Path(sys.argv[2]))
print("done", flush=True)
"""
TALK = """
file work{n} cwd=/home/dev/shop start=2026-11-{day:02}T09:00:00Z
U1 "The total of order {n} is wrong"
A1< "I will look." + Read(file_path="/home/dev/shop/cart{n}.py")
R1< "def total(items): return {n}"
A2< "It is {n}."
U2<A2 "Once more"
A3< "Still {n}."
U3<A2 "Then mend it"
A4< "Mended."
"""
COUNT = 14


def archive(root: Path) -> None:
    for number in range(COUNT):
        draw(TALK.format(n=number, day=number + 1)).write(root)


def started(root: Path, folder: Path) -> "subprocess.Popen[bytes]":
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(root), str(folder)], stdout=subprocess.PIPE
    )
    assert child.stdout
    assert child.stdout.readline() == b"ready\n"
    return child


def killed(root: Path, folder: Path, delay: float) -> None:
    """Start a run and kills it."""
    child = started(root, folder)
    time.sleep(delay)
    child.send_signal(signal.SIGKILL)
    child.communicate()


def whole_run(root: Path, folder: Path) -> float:
    """Return how long a run takes that nobody kills."""
    child = started(root, folder)
    begun = time.perf_counter()
    child.communicate()
    return time.perf_counter() - begun


def check_killed(tmp_path: Path, times: int) -> None:
    root, chance = tmp_path / "root", random.Random(8)
    archive(root)
    lasting = whole_run(root, tmp_path / "whole")
    folder = tmp_path / "index"
    files = sorted(root.rglob("*.jsonl"))
    for number in range(times):
        lines = files[number % COUNT].read_bytes().splitlines(keepends=True)
        if number % 3 == 0:  # everything anew
            with open_writer(folder) as writer:
                for sid in writer.catalogue.keys().values():
                    writer.delete_session(sid)
                writer.commit()
        else:
            append_to(files[number % COUNT], lines[-1].replace(b"Mended", b"Mended again"))
        killed(root, folder, chance.uniform(0, lasting))
        update_index(Archive([root]), folder)
        assert list_indexed(folder) == list_expected(root)
    update_index(Archive([root]), tmp_path / "anew")
    assert tables(folder) == tables(tmp_path / "anew")


def test_index_of_a_killed_run_is_repaired_by_the_next(tmp_path: Path) -> None:
    check_killed(tmp_path, 3)


@pytest.mark.long
def test_fifty_killed_runs(tmp_path: Path) -> None:
    check_killed(tmp_path, 50)


@pytest.mark.parametrize("step", ["announced", "committed"])
def test_kill_at_each_step_of_a_batch(tmp_path: Path, step: str) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    archive(root)
    update_index(Archive([root]), folder)
    [path, *_] = sorted(root.rglob("*.jsonl"))
    path.write_bytes(path.read_bytes().replace(b"Mended", b"Repaired"))
    with open_writer(folder) as writer:
        known = writer.catalogue.keys()
        writer.delete_session(known[str(path)])
        writer.catalogue.mark_pending([known[str(path)]])
        if step == "committed":
            writer.texts.commit()
    update_index(Archive([root]), folder)
    assert list_indexed(folder) == list_expected(root)


def test_inconsistent_index_is_rebuilt(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    archive(root)
    update_index(Archive([root]), folder)
    with open_writer(folder) as writer:
        writer.delete_session(1)
        writer.texts.commit()  # and the power goes
    append_to(next(root.rglob("*.jsonl")), b"\n")
    update_index(Archive([root]), folder)
    assert list_indexed(folder) == list_expected(root)


@pytest.mark.parametrize("name", ["catalogue.sqlite", "text/meta.json"])
def test_damaged_index_is_rebuilt(tmp_path: Path, name: str) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    archive(root)
    update_index(Archive([root]), folder)
    (folder / name).write_bytes(b"nonsense")
    append_to(next(root.rglob("*.jsonl")), b"\n")
    update_index(Archive([root]), folder)
    assert list_indexed(folder) == list_expected(root)


def test_index_of_another_version_is_rebuilt(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    archive(root)
    update_index(Archive([root]), folder)
    with open_writer(folder) as writer:
        writer.catalogue.set_meta({"version": 999})
    assert update_index(Archive([root]), folder).read == COUNT
    assert list_indexed(folder) == list_expected(root)
