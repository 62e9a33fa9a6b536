"""`--verbose` and `--debug`: what a run does, as it happens and as a file for a report.

Python itself reports what is opened, started and connected to (audit events), so nothing else in
Plait has to be prepared for this. Workers are processes of their own: what they do is not seen.
"""

import atexit
import platform
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import plait

EVENTS = {
    "open": "open",
    "os.mkdir": "make folder",
    "os.remove": "remove",
    "os.rename": "rename",
    "plait.error": "error",
    "shutil.rmtree": "remove folder",
    "socket.bind": "listen",
    "socket.connect": "connect",
    "sqlite3.connect": "database",
    "subprocess.Popen": "run",
}
"""What is recorded, and how it is called."""
IGNORED = (".py", ".pyc", ".so", ".pyd", ".dist-info/METADATA", "entry_points.txt")
MOST = 50_000
"""Events in a file; the first ones, since a run that goes wrong goes wrong early."""


class Recorder:
    """What a run did so far."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.lines: list[str] = []
        self.last = ""
        self.is_printing = False
        self.file: Path | None = None
        self.installed = (sys.prefix, sys.base_prefix, "/proc/", "/sys/", "/dev/", "/etc/")

    def note(self, line: str) -> None:
        """Record a line with the time since the start."""
        line = f"{time.perf_counter() - self.started:8.3f}  {line}"
        if len(self.lines) < MOST:
            self.lines.append(line)
        if self.is_printing and sys.stderr is not None:
            from plait.terminal.text import safe

            print(safe(line), file=sys.stderr)

    def observe(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Record an event of Python."""
        label = EVENTS.get(event)
        if label is None:
            return
        subject = arguments[0] if arguments else ""
        if event == "open":
            name = _decode(subject)
            is_of_python = name.startswith(self.installed) or name.endswith(IGNORED)
            if is_of_python or not isinstance(subject, str | bytes):
                return
            label = "write" if arguments[2] & 3 else "read"
        elif event.startswith("socket") or event == "subprocess.Popen":
            subject = arguments[1]
        elif event == "os.rename":
            subject = f"{_decode(arguments[0])} to {_decode(arguments[1])}"
        if isinstance(subject, Sequence) and not isinstance(subject, str | bytes):
            subject = " ".join(map(str, subject))
        line = f"{label} {_decode(subject)}"
        if line != self.last:  # many files are looked at twice
            self.last = line
            self.note(line)
        if event == "plait.error" and self.file:
            self.note(traceback.format_exc())

    def save(self) -> None:
        """Write the file, without secrets, names and paths of this machine."""
        from plait.line.output import replace_file
        from plait.settings import load_redactor

        assert self.file is not None
        target, self.file = self.file, None
        text = "\n".join([*self.lines, ""])
        replace_file(target, load_redactor().text(text).encode("utf-8", "replace"))
        print(f"wrote '{target}'; read it before you attach it to a report", file=sys.stderr)


def _decode(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def describe_versions() -> list[str]:
    """Return the versions that a report has to name."""
    return [
        f"plait {plait.__version__}",
        f"python {platform.python_version()} {platform.python_implementation()}",
        f"system {platform.system()} {platform.release()} {platform.machine()}",
    ]


_recorder: Recorder | None = None


def start_recording(file: Path | None = None, *, is_printing: bool = False) -> None:
    """Record what this run does from now on: on stderr, or for a file that is written at its end."""
    global _recorder
    if _recorder is None:
        _recorder = Recorder()
        sys.addaudithook(_recorder.observe)
        previous = sys.excepthook

        def report(
            kind: type[BaseException], error: BaseException, at: TracebackType | None
        ) -> None:
            assert _recorder is not None
            _recorder.note("".join(traceback.format_exception(kind, error, at)))
            previous(kind, error, at)

        sys.excepthook = report
        _recorder.is_printing = is_printing
        for line in (*describe_versions(), f"arguments {sys.argv[1:]}"):
            _recorder.note(line)
    if file is not None and _recorder.file is None:
        _recorder.file = file
        atexit.register(_recorder.save)
    _recorder.is_printing |= is_printing
