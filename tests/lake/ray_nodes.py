"""A Ray cluster on loopback: a head, and workers each with an address of its own.

    python -m tests.lake.ray_nodes FOLDER 2

Says the address of the head when all are there. A worker that dies gives way to another one. When
its input ends, for whatever reason, all processes are killed: who began this may die, and nothing
is left behind.
"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
PATIENT = 6_000
"""Looks for something, ten each second, before it is given up."""
MOST = 60
"""Nodes that are begun: some are killed, and Ray gives up what is not there after 30 seconds."""
START = (sys.executable, "-m", "ray.scripts.scripts", "start")
GENEROUS = {
    "RAY_health_check_timeout_ms": "60000",
    "RAY_worker_register_timeout_seconds": "600",
    "RAY_agent_register_timeout_ms": "600000",
}


class Nodes:
    """The head and the workers: processes, each with a session of its own for all it begins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.begun: list[subprocess.Popen[bytes]] = []
        self._begin("--head", "--port", "0", "--num-cpus", "0", "--include-dashboard=false")
        self.workers: list[subprocess.Popen[bytes]] = []
        port = _awaited(lambda: _text(next(folder.glob("session_*/gcs_server_port_*"), None)))
        self.address = f"127.0.0.2:{port}"

    def add(self) -> None:
        """Begin a machine with one CPU, and wait until it belongs to the cluster."""
        while len(self.begun) < MOST:
            node = self._begin("--address", self.address, "--num-cpus", "1")
            log = self.folder / f"node-{len(self.begun)}.log"
            _awaited(partial(_is_settled, node, log))
            if node.poll() is None:
                self.workers.append(node)
                return
            kill_all([node.pid])
        raise SystemExit("no worker came up")

    def _begin(self, *options: str) -> "subprocess.Popen[bytes]":
        number = len(self.begun) + 1
        quiet = ("--disable-usage-stats", "--include-log-monitor=false", "--log-style", "record")
        small = ("--object-store-memory", "100000000", "--temp-dir", str(self.folder))
        here = ("--block", "--node-ip-address", f"127.0.0.{number + 1}")
        with (self.folder / f"node-{number}.log").open("wb") as log:
            node = subprocess.Popen(
                [*START, *quiet, *small, *here, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=os.environ | GENEROUS,
            )
        self.begun.append(node)
        return node

    def replace_dead(self) -> None:
        """Begin another worker for each that died."""
        for node in [one for one in self.workers if one.poll() is not None]:
            self.workers.remove(node)
            kill_all([node.pid])
            self.add()

    def end(self) -> None:
        """Kill everything."""
        kill_all([node.pid for node in self.begun])
        for node in self.begun:
            node.wait()


def main() -> None:
    """Has a cluster until the input ends."""
    nodes = Nodes(Path(sys.argv[1]))
    try:
        for _ in range(int(sys.argv[2])):
            nodes.add()
        print(nodes.address, flush=True)
        while not select.select([sys.stdin], [], [], 0.2)[0]:
            nodes.replace_dead()
    finally:
        nodes.end()


def _is_settled(node: "subprocess.Popen[bytes]", log: Path) -> bool:
    return node.poll() is not None or "--block" in log.read_text()


def _text(path: Path | None) -> str:
    return path.read_text() if path else ""


def _awaited(look: Callable[[], T]) -> T:
    """Wait until a look finds something."""
    for _ in range(PATIENT):
        if found := look():
            return found
        time.sleep(0.1)
    raise SystemExit("waited for in vain")


def kill_all(sessions: Collection[int]) -> None:
    """Kill the processes of sessions until none is left."""
    for _ in range(PATIENT):
        found = [*_processes(sessions)]
        if not found:
            return
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.05)


def _processes(sessions: Collection[int]) -> Iterator[int]:
    """Yield the processes of sessions that live."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                state, _, _, session = (entry / "stat").read_text().rpartition(") ")[2].split()[:4]
                if int(session) in sessions and state != "Z":
                    yield int(entry.name)


if __name__ == "__main__":
    main()
