"""What Claude Code waits for at a hook, and what the worker costs in the background.

python -m bench.hook [SIZE]...      without a size: 50MB
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.measure import CACHE, Run, row
from plait.trace.hook_event import is_worker_running
from plait.trace.jobs import list_jobs

MB = 1_000_000
HOME = CACHE / "hook"
SESSION = "11111111-2222-4333-8444-555555555555"
TIMES = 10
WIDTHS = (40, 10, 10, 10, 10)


class Collector(BaseHTTPRequestHandler):
    """Takes everything and keeps nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""

    def do_POST(self) -> None:
        """Say yes."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()


def main(*sizes: str) -> None:
    """Print all figures."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    shutil.rmtree(HOME, ignore_errors=True)
    row("as Claude Code sees it, in ms", "best", "median", "p95", "CPU", widths=WIDTHS)
    plain = [[shell("true"), shell(f"{sys.executable} -c pass")] for _ in range(TIMES)]  # in turns
    bare, python = ([pair[at] for pair in plain] for at in (0, 1))
    print_figures("sh -c true", bare)
    print_figures("python -c pass", python)
    logs = {size: Log(size, server.server_address[1]) for size in ("10KB", *(sizes or ("50MB",)))}
    rounds = [[log.hook() for log in logs.values()] for _ in range(TIMES)]  # in turns
    for size, *runs in zip(logs, *rounds, strict=True):
        print_figures(f"plait hook stop, {size}", runs)
        ratios(runs, python, bare)
    print()
    row("in the background, CPU ms", "first", "a turn", "nothing", widths=WIDTHS)
    for size, log in logs.items():
        first, turn, nothing = log.worker()
        figures = (f"{item.cpu * 1000:.0f}" for item in (first, turn, nothing))
        row(f"the worker, {size}", *figures, widths=WIDTHS)
    server.shutdown()


class Log:
    """A session of some size that grows turn by turn."""

    def __init__(self, size: str, port: int) -> None:
        home = HOME / size
        self.path = home / "projects" / "-home-dev-shop" / f"{SESSION}.jsonl"
        self.path.parent.mkdir(parents=True)
        self.folder = home / "state" / "trace"
        self.told = json.dumps({"session_id": SESSION, "transcript_path": str(self.path)})
        self.turns = turns()
        with self.path.open("wb") as file:
            while file.tell() < bytes_in(size):
                file.write(next(self.turns))
        self.env = {
            "HOME": str(home),
            "PLAIT_STATE_DIR": str(home / "state"),
            "PLAIT_CACHE_DIR": str(home / "cache"),
            "PLAIT_CONFIG": str(home / "config.toml"),
        }
        target = f'otlp_endpoint = "http://127.0.0.1:{port}"'
        (home / "config.toml").write_text(target, encoding="utf-8")

    def grow(self) -> None:
        """Add a turn."""
        with self.path.open("ab") as file:
            file.write(next(self.turns))

    def hook(self) -> Run:
        """Add a turn, runs the hook, and wait for the worker after the measurement."""
        self.grow()
        plait = Path(sys.executable).with_name("plait")
        run = shell(f"{plait} hook stop", self.told, **self.env)
        self.settle()
        return run

    def worker(self) -> tuple[Run, Run, Run]:
        """Return what the worker takes for all of the log, for a turn more, for nothing new."""
        shutil.rmtree(self.folder)
        first = self.work()
        self.grow()
        return first, self.work(), self.work()

    def work(self) -> Run:
        """Leave a job and run the worker to its end."""
        jobs = self.folder / "jobs"
        jobs.mkdir(parents=True, exist_ok=True)
        (jobs / f"{time.time_ns()}-1-stop.json").write_text(self.told, encoding="utf-8")
        command = f"{sys.executable} -m plait hook work --folder {self.folder}"
        return shell(command, **self.env)

    def settle(self) -> None:
        """Wait until the worker has ended."""
        while list_jobs(self.folder) or is_worker_running(self.folder):
            time.sleep(0.02)


def shell(command: str, told: str = "", **env: str) -> Run:
    """Run a command as Claude Code runs a hook."""
    started = time.perf_counter()
    process = subprocess.Popen(
        ["sh", "-c", command], stdin=subprocess.PIPE, env=os.environ | env, text=True
    )
    assert process.stdin
    process.stdin.write(told)
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    assert process.returncode == 0
    return Run(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024, "")


def print_figures(name: str, runs: list[Run]) -> None:
    """Print the figures of one command."""
    walls = sorted(run.wall * 1000 for run in runs)
    cpu = statistics.median(run.cpu * 1000 for run in runs)
    p95 = walls[int(len(walls) * 0.95)]
    figures = (walls[0], statistics.median(walls), p95, cpu)
    row(name, *(f"{figure:.0f}" for figure in figures), widths=WIDTHS)


def ratios(runs: list[Run], python: list[Run], nothing: list[Run]) -> None:
    """Print how many times as long as nothing at all they take: a loaded machine slows all."""
    result = []
    for name, others in (("python -c pass", python), ("sh -c true", nothing)):
        wall = min(run.wall for run in runs) / min(run.wall for run in others)
        cpu = statistics.median(run.cpu for run in runs) / statistics.median(
            run.cpu for run in others
        )
        result.append(f"{wall:.1f} times {name} ({cpu:.1f} times its CPU)")
    print(f"  {', '.join(result)}")


def bytes_in(size: str) -> int:
    """Return a size such as 50MB in bytes."""
    return int(size[:-2]) * {"KB": 1000, "MB": MB}[size[-2:]]


def turns() -> Iterator[bytes]:
    """Yield the turns of a session: a prompt, a call with a long result, an answer, the end."""
    parent, number = None, 0
    while True:
        number += 1
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "ls"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "line\n" * 1000}
        entries: list[tuple[str, dict[str, Any]]] = [
            ("user", {"message": {"role": "user", "content": f"prompt {number}"}}),
            ("assistant", {"message": make_response(f"a{number}", call)}),
            ("user", {"message": {"role": "user", "content": [result]}}),
            (
                "assistant",
                {"message": make_response(f"b{number}", {"type": "text", "text": "done"})},
            ),
            ("system", {"subtype": "turn_duration", "durationMs": 1000}),
        ]
        data = b""
        for place, (kind, more) in enumerate(entries):
            uuid = f"{number:08x}-0000-4000-8000-{place:012x}"
            stamp = f"2026-11-02T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
            entry = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": SESSION}
            data += json.dumps({**entry, "timestamp": stamp, **more}).encode() + b"\n"
            parent = uuid
        yield data


def make_response(name: str, block: Any) -> dict[str, object]:
    """Return a response of the model."""
    usage = {"input_tokens": 10, "output_tokens": 5}
    return {
        "id": name,
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [block],
        "usage": usage,
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
