"""Sessions killed, written by two processes or out of disk space: the log stays valid.

After each of them every line is whole, what was written before is still there, nothing lies
outside of the workspace, and the conversation goes on with messages that the API takes.
"""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.chat.sent import find_problems, resume_messages, texts

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300
"""Seconds that a process may take on a machine that has much else to do; none takes ten."""


def endless(
    place: Path, work: Path, name: str, *more: int, waits: bool = False
) -> "subprocess.Popen[str]":
    """Start a session that goes on by itself, once it is told to where it waits."""
    arguments = [str(place), str(work), name, *map(str, more)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.chat.endless", *arguments],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        stdin=subprocess.PIPE if waits else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )


def read_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def whole_lines(log: Path) -> list[dict[str, Any]]:
    """Return the lines of a log, each of which must be whole."""
    data = log.read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def continue_session(log: Path, work: Path, prompts: Sequence[str]) -> None:
    """Go on for one turn, and asserts that all is as it should be."""
    process = endless(log, work, "last", 1)
    out, _ = process.communicate(timeout=PATIENCE)
    assert out.splitlines()[1:] == ["done Done, last."]
    messages = resume_messages(log)
    assert find_problems(messages) == []
    text = "\n".join(texts(messages))
    assert [prompt for prompt in prompts if prompt not in text] == []
    assert text.endswith("Done, last.")


def kill_repeatedly(folder: Path, kills: int, seed: int) -> None:
    random = Random(seed)
    work, place, before = folder / "work", folder / "config", b""
    work.mkdir()
    for _ in range(kills):
        process = endless(place, work, "k")
        place = Path(read_line(process))
        for _ in range(random.randrange(3)):
            assert read_line(process) == "done Done, k."
        time.sleep(random.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        if place.exists():
            now = place.read_bytes()
            assert now.startswith(before), "what was written stays"
            before = now if now.endswith(b"\n") else b""
            assert all(json.loads(line) for line in now.split(b"\n")[:-1])
        else:
            place = folder / "config"
    continue_session(place, work, ["turn 0 of k"])
    assert {path.name for path in folder.iterdir()} == {"config", "work"}
    drafts = {path.name for path in work.glob(".k.txt.*.new")}
    assert {path.name for path in work.iterdir()} - drafts <= {"k.txt", "last.txt"}


def test_repeatedly_killed_session_continues(tmp_path: Path) -> None:
    kill_repeatedly(tmp_path, kills=3, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3])
def test_fifty_kills(tmp_path: Path, seed: int) -> None:
    kill_repeatedly(tmp_path, kills=50, seed=seed)


def test_two_processes_leave_complete_lines_and_two_branches(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    first = endless(tmp_path / "config", work, "first", 1)
    log = Path(read_line(first))
    first.communicate(timeout=PATIENCE)
    both = [endless(log, work, name, 3, waits=True) for name in ("left", "right")]
    assert [read_line(process) for process in both] == [str(log)] * 2
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process, name in zip(both, ("left", "right"), strict=True):
        out, _ = process.communicate(timeout=PATIENCE)
        assert out.splitlines() == [f"done Done, {name}."] * 3
    lines = whole_lines(log)
    parents = {line["uuid"]: line["parentUuid"] for line in lines if "uuid" in line}
    assert len(parents) == sum("uuid" in line for line in lines), "no id twice"
    for name in ("left", "right"):
        tip = next(item["uuid"] for item in reversed(lines) if f"Done, {name}." in json.dumps(item))
        walked = []
        while tip:
            walked.append(tip)
            tip = parents[tip]
        prompts = [
            line["message"]["content"]
            for line in lines
            if line.get("uuid") in walked and line.get("promptSource")
        ]
        assert prompts == ["turn 0 of first", *(f"turn {number} of {name}" for number in range(3))]
    continue_session(log, work, ["turn 0 of first"])


def sizes() -> list[Any]:
    """Return where the disk is full: a few sizes, and in the long run many."""
    more = [pytest.param(size, marks=pytest.mark.long) for size in range(500, 14_000, 700)]
    return [300, 5500, *more]


@pytest.mark.parametrize("size", sizes())
def test_full_disk_ends_the_turn_and_the_next_works(tmp_path: Path, size: int) -> None:
    work = tmp_path / "work"
    work.mkdir()
    process = endless(tmp_path / "config", work, "full", 3, size)
    out, _ = process.communicate(timeout=PATIENCE)
    log, *ends = out.splitlines()
    assert process.returncode == 0
    assert [end.split()[0] for end in ends].count("failed") == 1
    [why] = [end for end in ends if end.startswith("failed")]
    assert why.startswith(f"failed cannot write '{log}': ")
    assert ends[-1] == "done Done, full."
    whole_lines(Path(log))
    assert find_problems(resume_messages(Path(log))) == []
    continue_session(Path(log), work, ["turn 2 of full"])
