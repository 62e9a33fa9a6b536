"""The worker process: it reads tasks from a pipe and writes their results to another.

A frame is its length in eight bytes and a pickle. In comes the name of a function and the items
it is called with, out go its results in order: bytes, so that nothing is packed twice.
"""

import os
import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from struct import Struct
from typing import IO, Any

from plait.errors import PlaitError

LENGTH = Struct("<Q")
DONE, FAILED, BROKEN = 0, 1, 2


def send(pipe: IO[bytes], value: object) -> None:
    """Write a frame."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(LENGTH.pack(len(data)) + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Read a frame; raise EOFError if there is no complete one."""
    head = pipe.read(LENGTH.size)
    data = pipe.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
    if not data or len(data) < LENGTH.unpack(head)[0]:
        raise EOFError
    return pickle.loads(data)  # noqa: S301  from a pipe of our own


def serve(tasks: IO[bytes], results: IO[bytes]) -> None:
    """Carry out tasks until the pipe is closed."""
    while True:
        try:
            name, items = receive(tasks)
        except EOFError:
            return
        outcome: tuple[int, object]
        try:
            function = resolve_function(name)
            outcome = DONE, [function(item) for item in items]
        except PlaitError as error:
            outcome = FAILED, [type(error).__name__, error.message, list(error.hints)]
        except Exception:
            from traceback import format_exc

            outcome = BROKEN, format_exc()
        send(results, outcome)


def resolve_function(name: str) -> Callable[..., Any]:
    """Return the function named by `module:name`."""
    module, _, attribute = name.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), attribute)
    return function


def main() -> None:
    """Serve on the standard streams; Ctrl-C is for the parent process."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    results = sys.stdout.buffer
    sys.stdout = sys.stderr  # what a task prints must not land between the frames
    try:
        serve(sys.stdin.buffer, results)
    except BrokenPipeError:  # the parent has gone
        os._exit(1)
