"""Arguments to lines on the screen: the `plait` command."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Runs the command. What Claude Code calls as a hook goes a short way of its own."""
    if sys.argv[1:2] == ["hook"]:
        from plait.cli.hook.event import is_event, run_event

        if is_event(sys.argv[2:]):
            run_event(sys.argv[2:])
    elif sys.argv[1:2] == ["keep"] and "--background" in sys.argv:
        from plait.cli.hook.keeping import is_background, keep_in_background

        if is_background(sys.argv[2:]):
            keep_in_background(sys.argv[2:])
    from plait.cli.app import main as run

    run()


__all__ = ["main"]
