"""A turn to its summary in the words of a command: one on its input, the other on its output.

The command is started without a shell, once for each turn. What it prints is the summary, cleaned
of what would command a terminal, and bounded. It is refused where it fails, says nothing, or takes
too long; all that it started ends with it.
"""

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import IO

from plait.edit.compress.extract import extract
from plait.edit.compress.model import Summariser, ToldTurn
from plait.errors import Refused, UserError

TIMEOUT = 120.0
"""Seconds that a command has for one turn."""
LONGEST = 4000
"""Letters of a summary that are kept."""
MOST = 4 * LONGEST
"""Bytes that are read of what a command prints: the rest is never waited for."""
WORDS = 300
"""Letters of what a command complains of that are told."""
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def summariser_of(command: str | Sequence[str] | None, timeout: float = TIMEOUT) -> Summariser:
    """Returns what sums up a turn: a command as it is typed, else its weightiest sentences."""
    if command is None:
        return extract
    arguments = _split(command) if isinstance(command, str) else list(command)
    if not arguments:
        raise UserError("the summariser is no command")

    def summarise(turn: ToldTurn) -> str:
        return _bounded(_output(arguments, turn, timeout), arguments[0], turn.number)

    return summarise


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as problem:
        raise UserError(f"'{command}' is no command: {str(problem).lower()}") from problem


def _output(arguments: list[str], turn: ToldTurn, timeout: float) -> bytes:
    """Returns what a command prints of a turn, no more than is needed."""
    name = arguments[0]
    try:
        process = subprocess.Popen(  # noqa: S603  the user's own command
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as problem:
        words = (problem.strerror or str(problem)).lower()
        raise Refused(f"the summariser '{name}' cannot be started: {words}") from problem
    until = monotonic() + timeout
    told, printed, complaint = _pipes(process, turn.text.encode("utf-8", "replace"))
    try:
        printed.join(timeout)
        if not printed.is_enough:
            process.wait(max(0.0, until - monotonic()))
    except subprocess.TimeoutExpired:
        raise Refused(
            f"the summariser '{name}' took more than {timeout:g} s for turn {turn.number}"
        ) from None
    finally:
        _end(process)
        for pipe in (told, printed, complaint):
            pipe.join()
    if process.returncode and not printed.is_enough:
        words = cleaned(complaint.data)[-WORDS:] or f"it ended with {process.returncode}"
        raise Refused(f"the summariser '{name}' failed at turn {turn.number}: {words}")
    return printed.data


class _Pipe(Thread):
    """What goes through a pipe, while others are waited for."""

    def __init__(self, stream: IO[bytes], data: bytes | None = None) -> None:
        super().__init__(daemon=True)
        self.stream = stream
        self.data = data or b""
        self.is_told = data is not None

    @property
    def is_enough(self) -> bool:
        """Whether more was printed than is kept."""
        return len(self.data) >= MOST

    def run(self) -> None:
        """Reads or writes, as long as the other end is open."""
        with suppress(OSError), self.stream:
            if self.is_told:
                self.stream.write(self.data)
            else:
                self.data = self.stream.read(MOST)


def _pipes(process: "subprocess.Popen[bytes]", told: bytes) -> tuple[_Pipe, _Pipe, _Pipe]:
    """Starts to tell a command what it is to sum up, and to read what it says."""
    if not process.stdin or not process.stdout or not process.stderr:
        raise Refused("the summariser cannot be told anything")
    pipes = _Pipe(process.stdin, told), _Pipe(process.stdout), _Pipe(process.stderr)
    for pipe in pipes:
        pipe.start()
    return pipes


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends a command and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _bounded(printed: bytes, name: str, turn: int) -> str:
    words = cleaned(printed)
    if not words:
        raise Refused(f"the summariser '{name}' said nothing of turn {turn}")
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


def cleaned(printed: bytes) -> str:
    """Returns what was printed without what would command a terminal."""
    text = printed.decode("utf-8", "replace").replace("\r\n", "\n")
    return CONTROLS.sub("", ESCAPES.sub("", text)).strip()
