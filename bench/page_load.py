"""A server under load: clients read and search while files grow; then idle pages.

    python -m bench.page_load [--size 100MB] [--clients 10] [--seconds 60] [--pages 20]

Prints how long answers took by kind (median, p95, worst), errors, the server's CPU and memory,
and its CPU while pages only listen.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Event, Thread

from bench.archives import archive

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PLACES = (
    ("home", "/", 2),
    ("sessions", "/sessions", 2),
    ("search", "/search?q={word}", 6),
    ("read", "/s/{name}", 6),
    ("timeline", "/s/{name}/timeline", 2),
    ("context", "/s/{name}/context", 1),
    ("files", "/s/{name}/files", 1),
    ("usage of one", "/s/{name}/usage", 1),
    ("raw", "/s/{name}/raw?line=40", 2),
    ("api", "/api/v1/sessions?limit=50", 2),
)
WORDS = ("error", "test", "parser", "the", "harbour", "cache", "return", "list")
REST = 20.0
SETTLING = 10.0
"""Seconds in which the last lines are still taken in."""
GROWTH = 0.25
"""Seconds between lines that somebody writes."""


@dataclass
class Server:
    """A server in a process of its own."""

    port: int
    key: str
    cookie: str
    pid: int

    def ask(self, path: str) -> int:
        """Ask for a page and read all of it; returns the status."""
        client = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            headers = {"Cookie": self.cookie, "Authorization": f"Bearer {self.key}"}
            client.request("GET", path, headers=headers)
            answer = client.getresponse()
            answer.read()
            return answer.status
        finally:
            client.close()

    @property
    def cpu(self) -> float:
        """Return the CPU seconds that it has used."""
        parts = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(parts[11]) + int(parts[12])) / TICKS

    def memory(self, name: str) -> int:
        """Return its memory in bytes: `VmRSS` now, `VmHWM` at its highest."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * 1024
        return 0


@dataclass
class Tally:
    """How answers went."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)


@contextmanager
def serving(root: Path, home: Path) -> Iterator[Server]:
    """Run a server over some sessions."""
    folders = {f"PLAIT_{kind}_DIR": str(home / kind.lower()) for kind in ("STATE", "CACHE")}
    env = {**os.environ, **folders, "PLAIT_CONFIG": str(home / "none.toml")}
    plait = [sys.executable, "-m", "plait"]
    where = ["--root", str(root)]
    command = [*plait, "open", "--print-key", *where]
    key = subprocess.run(
        command, env=env, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    (path,) = (home / "state").glob("serve-*.json")
    result = json.loads(path.read_text())
    try:
        yield Server(result["port"], key, sign_in(result["port"], key), result["pid"])
    finally:
        subprocess.run([*plait, "serve", "--stop", *where], env=env, check=True)


def sign_in(port: int, key: str) -> str:
    """Return the cookie that the key is changed for."""
    client = HTTPConnection("127.0.0.1", port, timeout=60)
    head = {"Content-Type": "application/x-www-form-urlencoded"}
    client.request("POST", "/enter", f"ticket={key}", head)
    answer = client.getresponse()
    answer.read()
    client.close()
    return (answer.getheader("set-cookie") or "").partition(";")[0]


def load(server: Server, root: Path, clients: int, seconds: float) -> Tally:
    """Let clients read and search while files grow."""
    names = [session["name"] for session in sessions(server)]
    tally, end = Tally(), Event()
    threads = [Thread(target=client, args=(server, names, tally, end, n)) for n in range(clients)]
    threads.append(Thread(target=writer, args=(root, end)))
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    end.set()
    for thread in threads:
        thread.join()
    return tally


def sessions(server: Server) -> list[dict[str, str]]:
    """Return the sessions that are served, the newest first."""
    client = HTTPConnection("127.0.0.1", server.port, timeout=60)
    client.request(
        "GET", "/api/v1/sessions?limit=200", headers={"Authorization": f"Bearer {server.key}"}
    )
    found: list[dict[str, str]] = json.loads(client.getresponse().read())["sessions"]
    client.close()
    return found


def client(server: Server, names: Sequence[str], tally: Tally, end: Event, seed: int) -> None:
    """Ask for one page after the other."""
    rng = Random(seed)
    kinds = [(kind, path) for kind, path, weight in PLACES for _ in range(weight)]
    while not end.is_set():
        kind, path = rng.choice(kinds)
        asked = path.format(name=rng.choice(names), word=rng.choice(WORDS))
        started = time.perf_counter()
        try:
            status = server.ask(asked)
        except (OSError, HTTPException) as error:
            tally.errors.append(f"{asked}: {error!r}")
            continue
        tally.times[kind].append(time.perf_counter() - started)
        if status != 200:
            tally.errors.append(f"{asked}: {status}")


def writer(root: Path, end: Event) -> None:
    """Add a line to one of the newest files, again and again."""
    logs = sorted(root.rglob("*.jsonl"), key=lambda path: path.stat().st_mtime)[-3:]
    number = 0
    while not end.wait(GROWTH):
        number += 1
        output = {"role": "user", "content": f"line {number} that was added"}
        line = {"type": "user", "uuid": f"grown-{number}", "parentUuid": None, "message": output}
        with logs[number % len(logs)].open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")


def at_rest(server: Server, pages: int, seconds: float) -> float:
    """Return the share of a core that pages cost which only listen."""
    asked = (
        f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nCookie: {server.cookie}\r\n\r\n"
    )
    listeners = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(pages)]
    for listener in listeners:
        listener.sendall(asked.encode())
    time.sleep(min(SETTLING, seconds))
    before = server.cpu
    time.sleep(seconds)
    share = (server.cpu - before) / seconds
    for listener in listeners:
        listener.close()
    return share


def print_tally(tally: Tally) -> None:
    """Print how long answers took."""
    print(f"{'':14}{'asked':>7}{'median':>10}{'p95':>10}{'worst':>10}")
    every = [time for times in tally.times.values() for time in times]
    for kind, times in [*tally.times.items(), ("together", every)]:
        times.sort()
        middle, late = times[len(times) // 2], times[min(int(len(times) * 0.95), len(times) - 1)]
        figures = "".join(f"{item * 1000:>7.0f} ms" for item in (middle, late, times[-1]))
        print(f"{kind:14}{len(times):>7}{figures}")
    print(f"errors: {len(tally.errors)}")
    for error in tally.errors[:10]:
        print(f"  {error}")


def main(arguments: list[str] | None = None) -> int:
    """Run everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", default="100MB")
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pages", type=int, default=20)
    asked = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        root = Path(folder) / "logs"
        shutil.copytree(archive(asked.size), root)
        with serving(root, Path(folder)) as server:
            print(f"{asked.size}, {asked.clients} clients, {asked.seconds:.0f} s, files growing")
            before = server.cpu
            tally = load(server, root, asked.clients, asked.seconds)
            print_tally(tally)
            print(f"CPU    {server.cpu - before:.1f} s in {asked.seconds:.0f} s")
            now, most = server.memory("VmRSS"), server.memory("VmHWM")
            print(f"memory {now / 1e6:.0f} MB, {most / 1e6:.0f} MB at its highest")
            share = at_rest(server, asked.pages, REST)
            print(f"idle   {100 * share:.1f} % of a core with {asked.pages} open pages")
    return 1 if tally.errors else 0


if __name__ == "__main__":
    sys.exit(main())
