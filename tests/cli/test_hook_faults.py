"""Hooks and workers killed, starved and run in parallel: every turn arrives exactly once."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from plait.trace.hook_event import is_worker_running, write_job
from plait.trace.jobs import list_jobs
from tests.trace.logs import Growing
from tests.trace.otlp_receiver import Answer, Receiver

# Loads everything once, then forks for each run: a run can die in the middle of the n-th step
# that touches a file or a socket, and can be denied room on the disk.
RUNS = """
import json, os, resource, signal, sys
import plait.cli.app, plait.hook.event, plait.cli.hooks, plait.cli.export
import plait.trace.worker, plait.redact, plait.trace.otlp
import opentelemetry.exporter.otlp.proto.http.trace_exporter, requests
import opentelemetry.sdk.trace, opentelemetry.sdk.resources, opentelemetry.sdk.util.instrumentation
STEPS = {"open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "socket.connect"}

def run(env, arguments, told, steps, room):
    left = [steps]
    os.environ.update(env)
    def hook(event, given):
        if event in STEPS and (event == "socket.connect" or env["HOME"] in str(given[0])):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
    reading, writing = os.pipe()
    os.write(writing, told.encode())
    os.close(writing)
    os.dup2(reading, 0)
    if room:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    sys.addaudithook(hook)
    if arguments[0] == "work":
        os._exit(plait.cli.app.run(["hook", *arguments]))
    plait.hook.event.run_event(arguments)

for line in sys.stdin:
    pid = os.fork()
    if not pid:
        try:
            run(*json.loads(line))
        finally:
            os._exit(99)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


Runs: TypeAlias = "subprocess.Popen[bytes]"
KINDS = ("CONFIG", "CACHE", "DATA", "STATE")


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    """Give the process that everything runs in, loaded once for all tests."""
    with subprocess.Popen(
        [sys.executable, "-c", RUNS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # a full disk would cut it in two
    ) as process:
        yield process
        process.communicate()


class Place:
    """A home, a log in it, and the commands that Claude Code would run."""

    def __init__(self, runs: Runs, home: Path, endpoint: str) -> None:
        self.runs = runs
        self.folder = home / "state" / "plait" / "trace"
        self.log = Growing(home / ".claude" / "projects" / "-home-dev-shop")
        self.env = {
            "HOME": str(home),
            **{f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in KINDS},
        }

        config = home / "config" / "plait" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f'otlp_endpoint = "{endpoint}"', encoding="utf-8")

    def hook(self, *, steps: int = 0, room: int = 0) -> int:
        """Run the hook of a Stop to its end, or to the step where it dies."""
        return self.run(["stop"], steps, room)

    def work(self, *, steps: int = 0, room: int = 0) -> int:
        """Run a worker to its end, or to the step where it dies."""
        given = ["--folder", str(self.folder), "--idle", "0.2", "--life", "20"]
        return self.run(["work", *given], steps, room)

    def run(self, arguments: list[str], steps: int, room: int) -> int:
        """Return the exit code of a run."""
        assert self.runs.stdin
        assert self.runs.stdout
        report = json.dumps(self.log.told())
        self.runs.stdin.write(
            json.dumps([self.env, arguments, report, steps, room]).encode() + b"\n"
        )
        self.runs.stdin.flush()
        return int(self.runs.stdout.readline())

    def settle(self) -> None:
        """Wait until no worker runs and no job is left."""
        for _ in range(1200):
            if not list_jobs(self.folder) and not is_worker_running(self.folder):
                return
            time.sleep(0.05)
        raise AssertionError("the worker does not come to an end")


def leave(place: Place) -> None:
    """Leave a job as a hook does."""
    write_job(place.folder, "stop", json.dumps(place.log.told()).encode())


STEPS = range(1, 51)
"""Those of a run that touch a file or a socket; it has a few less."""


def check_killed(runs: Runs, tmp_path: Path, times: int) -> None:
    """Kill workers at random steps; before each, the log has grown."""
    chance = random.Random(5)
    with Receiver() as receiver:
        place = Place(runs, tmp_path, receiver.url)
        killed = 0
        for number, step in enumerate(chance.sample(STEPS, times)):
            place.log.turn(f"prompt {number}")
            leave(place)
            killed += place.work(steps=step) == -signal.SIGKILL
        leave(place)
        assert place.work() == 0
    assert killed >= times // 2
    assert receiver.names() == [f"Turn {number}" for number in range(1, times + 1)]
    assert len(receiver.spans) == 4 * times


def test_killed_workers_lose_and_duplicate_nothing(runs: Runs, tmp_path: Path) -> None:
    check_killed(runs, tmp_path, 3)


@pytest.mark.long
def test_fifty_killed_workers(runs: Runs, tmp_path: Path) -> None:
    check_killed(runs, tmp_path, 50)


def test_killed_hooks_do_not_block_later_hooks(runs: Runs, tmp_path: Path) -> None:
    with Receiver() as receiver:
        place = Place(runs, tmp_path, receiver.url)
        codes = []
        for step in range(1, 6):
            place.log.turn(f"prompt {step}")
            codes.append(place.hook(steps=step))
        place.log.turn("the last")
        assert place.hook() == 0
        place.settle()
    assert codes[:3] == [-signal.SIGKILL] * 3
    assert receiver.names() == [f"Turn {number}" for number in range(1, 7)]


@pytest.mark.parametrize("room", [64, 900])
def test_full_disk_only_delays(runs: Runs, tmp_path: Path, room: int) -> None:
    with Receiver() as receiver:
        place = Place(runs, tmp_path, receiver.url)
        place.log.turn("one")
        leave(place)
        assert place.work(room=room) == 0
        assert place.hook(room=room) == 0
        place.settle()
        place.log.turn("two")
        leave(place)
        assert place.work() == 0
    assert receiver.names() == ["Turn 1", "Turn 2"]


def test_many_hooks_at_once(runs: Runs, tmp_path: Path) -> None:
    with Receiver() as receiver:
        place = Place(runs, tmp_path, receiver.url)
        folder, rest = place.log.path.parent, place.log.session[8:]
        logs = [Growing(folder, f"{number}" * 8 + rest) for number in range(2)] * 2
        for log in logs[:2]:
            log.turn("one")
        command, env = [sys.executable, "-m", "plait", "hook", "stop"], {**os.environ, **place.env}
        running = [subprocess.Popen(command, stdin=subprocess.PIPE, env=env) for _ in logs]
        for item, log in zip(running, logs, strict=True):
            assert item.stdin
            item.stdin.write(json.dumps(log.told()).encode())
            item.stdin.close()
        assert [item.wait(60) for item in running] == [0] * len(logs)
        place.settle()
    assert receiver.names() == ["Turn 1"] * 2
    assert set(receiver.arrivals.values()) == {1}


def test_failing_server_blocks_nobody(runs: Runs, tmp_path: Path) -> None:
    troubles = [Answer(503), Answer(is_dying=True)]
    with Receiver(lambda _: troubles.pop() if troubles else None) as receiver:
        place = Place(runs, tmp_path, receiver.url)
        place.log.turn("one")
        leave(place)
        assert place.work() == 0
    assert receiver.names() == ["Turn 1"]
    assert not troubles
