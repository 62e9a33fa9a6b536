"""Tasks on a pipe to their results, in a process of its own.

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
    """Writes a frame."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(LENGTH.pack(len(data)) + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Reads a frame; raises EOFError where there is no whole one."""
    head = pipe.read(LENGTH.size)
    data = pipe.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
    if not data or len(data) < LENGTH.unpack(head)[0]:
        raise EOFError
    return pickle.loads(data)  # noqa: S301  from a pipe of our own


def serve(tasks: IO[bytes], results: IO[bytes]) -> None:
    """Does what comes until nothing comes any more."""
    while True:
        try:
            name, items = receive(tasks)
        except EOFError:
            return
        send(results, _outcome(name, items))


def _outcome(name: str, items: list[Any]) -> tuple[int, object]:
    try:
        run = function_named(name)
        return DONE, [run(item) for item in items]
    except PlaitError as error:
        return FAILED, [type(error).__name__, error.message, list(error.hints)]
    except Exception:
        from traceback import format_exc

        return BROKEN, format_exc()


def function_named(name: str) -> Callable[..., Any]:
    """Returns the function that `module:name` means."""
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def main() -> None:
    """Serves on the standard streams; Ctrl-C is for the one that asks."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    results = sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever prints does not print between the frames
    try:
        serve(sys.stdin.buffer, results)
    except BrokenPipeError:  # nobody asks any more, and nobody is to be told
        os._exit(1)
