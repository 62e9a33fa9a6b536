"""`plait keep --background`: a run of `plait keep` by itself, and Claude Code goes on.

As with all that Claude Code waits for: the exit code is 0, nothing is printed, and next to nothing
is imported. What the run says stands in a log.
"""

import os

from plait.cli.hook.event import find_state_folder
from plait.trace.hook_event import WORKER_LOG, start_worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

BACKGROUND = "--background"
FOLDER = "keep"
MOST = 1 << 18
"""Bytes of the log; a longer one begins anew."""


def is_background(arguments: "Sequence[str]") -> bool:
    """Return whether a hook has called; somebody who wants help is a person."""
    return BACKGROUND in arguments and not {"-h", "--help"} & set(arguments)


def keep_in_background(arguments: "Sequence[str]") -> "NoReturn":
    """Start a run, and ends well whatever happens."""
    try:
        folder = os.path.join(find_state_folder(), FOLDER)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        log = os.path.join(folder, WORKER_LOG)
        if os.path.exists(log) and os.path.getsize(log) > MOST:
            os.unlink(log)
        start_worker(folder, ["keep", *(one for one in arguments if one != BACKGROUND)])
    finally:
        os._exit(0)
