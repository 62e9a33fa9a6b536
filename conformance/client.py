"""Run the real client in print mode, and collect what it sends and writes."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.compare import comparable
from conformance.model import Json, Resumed
from conformance.sandbox import UID, Desk, Room
from conformance.whole import added_texts, whole
from tests.standin import Asked, StandIn

PROBE = "Probe 7f3a: what was said?"
SUMMARIZE = "Your task is to create a detailed summary"
LONGEST = 90
CHAIN = ("user", "assistant", "system", "attachment")


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run of the client ended."""

    out: str
    err: str
    code: int

    @property
    def said(self) -> str:
        """The result it printed, or its complaint."""
        try:
            return str(json.loads(self.out)["result"])
        except (ValueError, KeyError, TypeError):
            return (self.err or self.out).strip()


@dataclass(frozen=True, slots=True)
class Client:
    """The installed executable, the room it works in, and the stand-in it speaks to."""

    executable: Path
    room: Room
    standin: StandIn

    def run(self, desk: Desk, *arguments: str, seconds: float = LONGEST) -> Finished:
        """Run the client in print mode to its end; what takes too long is ended."""
        process = subprocess.Popen(
            [str(self.executable), *arguments, "--output-format", "json"],
            cwd=desk.directory,
            env=desk.environment(self.standin.url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            user=UID,
            group=UID,
            extra_groups=[],
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        return Finished(out, err, process.returncode)

    def resume(self, desk: Desk, file: Path) -> Resumed:
        """Resume a session where it lies, and return what the client made of it."""
        known = set(desk.sessions())
        self.standin.taken()
        finished = self.run(desk, "-p", PROBE, "--resume", file.stem, "--fork-session")
        asked = probe_request(self.standin.taken())
        forks = [path for path in desk.sessions() if path not in known]
        if asked is None or not forks:
            return Resumed(False, None, (), [], [], finished.said)
        found = seen(file, asked, forks[-1])
        for fork in forks:
            fork.unlink()
        return found


def probe_request(asked: list[Asked]) -> list[Json] | None:
    """Return the conversation of the first request that ends with the probe.

    A session that is too long is summarized before it goes on: the request for that summary
    holds the conversation then.
    """
    for one in asked:
        last = json.dumps(one.messages[-3:])
        if one.is_message and (PROBE in last or SUMMARIZE in last):
            return one.messages
    return None


def seen(file: Path, request: list[Json], fork: Path) -> Resumed:
    """Return what the request and the fork tell: the messages, the chain and its leaf.

    The client makes up entries when it repairs a chain; those are not of the file and left out.
    """
    own = {entry.get("uuid") for entry in objects(file)}
    written = list(forked(fork))
    chain = tuple(entry["uuid"] for entry in written if entry.get("uuid") in own)
    added = added_texts(objects(fork), own, (PROBE,))
    full = whole(request, (PROBE, SUMMARIZE), added)
    messages = comparable({"role": role, "content": blocks} for role, blocks in full)
    is_summarized = SUMMARIZE in json.dumps(request[-3:])
    leaf = chain[-1] if chain else None
    return Resumed(True, leaf, chain, messages, full, is_summarized=is_summarized)


def forked(fork: Path) -> Iterator[Json]:
    """Yield the entries that a fork took over: those before the probe."""
    for entry in objects(fork):
        if entry.get("type") in CHAIN:
            message = entry.get("message")
            if isinstance(message, dict) and message.get("content") == PROBE:
                return
            yield entry


def objects(file: Path) -> Iterator[Json]:
    """Yield the lines of a file that are objects."""
    for line in file.read_bytes().split(b"\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry
