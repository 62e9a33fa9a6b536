"""Several processes on one session, and killed ones: lines stay complete."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

import plait
from plait.graph.client import build_context
from plait.record import read
from plait.record.counts import LogCounts
from tests.write.stories import writer

SCRIPT = """
import sys
import plait
session = plait.SessionWriter.resume(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    session.prompt(f"{sys.argv[2]} {number} " + "x" * (number * 997 % 9000))
    with session.response(usage={"input_tokens": 1, "output_tokens": 1}) as response:
        call = response.call("Bash", {"command": sys.argv[2] * 1000})
    session.result(call, f"{sys.argv[2]} {number}")
    session.answer(f"{sys.argv[2]} {number} done")
    session.turn_ended(1)
"""


def start_writer(path: Path, name: str, turns: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", SCRIPT, str(path), name, str(turns)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def let_write(job: "subprocess.Popen[bytes]") -> None:
    """Let a process that is ready write."""
    assert job.stdin
    job.stdin.write(b"go\n")
    job.stdin.flush()


def wait_for_exit(job: "subprocess.Popen[bytes]") -> int:
    """Wait until a process has ended and return how."""
    with job:
        return job.wait(120)


def wait_until_ready(job: "subprocess.Popen[bytes]") -> None:
    """Wait until a process has read the session."""
    assert job.stdout and job.stdout.readline() == b"ready\n"


def test_each_process_continues_from_its_own_last_line(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        session.prompt("begin")
        root = session.answer("begun").messages[-1]
    jobs = [start_writer(session.path, name, 12) for name in "abc"]
    for step in (wait_until_ready, let_write):
        for job in jobs:
            step(job)
    assert [wait_for_exit(job) for job in jobs] == [0, 0, 0]
    entries = [json.loads(line) for line in session.path.read_bytes().splitlines()]
    by_uuid = {entry["uuid"]: entry for entry in entries if "uuid" in entry}
    asked = [entry for entry in by_uuid.values() if entry["type"] == "user"][1:]
    for name in "abc":
        own = [
            entry
            for entry in asked
            if isinstance(entry["message"]["content"], str)
            and entry["message"]["content"].startswith(f"{name} ")
        ]
        assert [int(entry["message"]["content"].split()[1]) for entry in own] == list(range(12))
        assert own[0]["parentUuid"] == root
        for before, after in pairwise(own):
            end = by_uuid[after["parentUuid"]]
            assert end["subtype"] == "turn_duration"
            answer = by_uuid[end["parentUuid"]]
            assert answer["message"]["content"][0]["text"] == f"{name} {own.index(before)} done"
    account = LogCounts()
    account.add_file(session.path)
    assert account.is_balanced and account.broken == 0


def killed_at_random(path: Path, runs: int, chance: Random) -> None:
    for run in range(runs):
        size = path.stat().st_size
        job = start_writer(path, f"r{run}", 10_000)
        let_write(job)
        while f'"r{run} 0 '.encode() not in path.read_bytes()[size:]:
            time.sleep(0.002)
        time.sleep(chance.random() * 0.03)
        os.kill(job.pid, signal.SIGKILL)
        wait_for_exit(job)


@pytest.mark.parametrize("runs", [3, pytest.param(50, marks=pytest.mark.long)])
def test_kill_loses_at_most_the_current_line(tmp_path: Path, runs: int) -> None:
    with writer(tmp_path) as session:
        session.prompt("begin")
        session.answer("begun")
    killed_at_random(session.path, runs, Random(runs))
    account = LogCounts()
    account.add_file(session.path)
    assert account.is_balanced and account.broken <= runs
    with plait.SessionWriter.resume(session.path) as last:
        last.prompt("end")
        last.answer("ended")
    assert session.path.read_bytes().endswith(b"}\n")
    sent = build_context(list(read(session.path)), size=session.path.stat().st_size)
    results = [block.get("text", "") for _, blocks in sent.messages for block in blocks]
    assert results[0] == "begin" and results[-1] == "ended"
    for run in range(runs):
        assert any(text.startswith(f"r{run} 0 ") for text in results), (
            "a run that was killed is there"
        )
