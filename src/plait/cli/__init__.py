"""The `plait` command: its entry point, kept light for what Claude Code calls."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Run the command; hooks of Claude Code take a faster path."""
    if sys.argv[1:2] == ["hook"]:
        from plait.hook.event import is_event, run_event

        if is_event(sys.argv[2:]):
            run_event(sys.argv[2:])
    elif sys.argv[1:2] == ["keep"] and "--background" in sys.argv:
        from plait.hook.event import is_background_keep, keep_in_background

        if is_background_keep(sys.argv[2:]):
            keep_in_background(sys.argv[2:])
    import gc

    gc.disable()  # until the command is imported: what is loaded stays
    from plait.cli.app import run

    _leave(run(sys.argv[1:]))


def _leave(code: int) -> "NoReturn":
    """Exit without tearing down the interpreter, which takes longer than freeing its memory."""
    import atexit

    threading = sys.modules.get("threading")
    is_alone = threading is None or threading.active_count() == 1
    if not is_alone or sys.getprofile() or sys.gettrace() or sys.flags.inspect:
        sys.exit(code)
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):  # closed or never open
        sys.exit(code)
    os._exit(code)


__all__ = ["main"]
