"""The `plait ui` command."""

import sys
from importlib.util import find_spec

from plait.cli.options import Request, argument, command
from plait.errors import MissingExtra, UserError


@command(examples="plait ui\nplait ui project:shop parser")
def ui_command(request: Request, query: tuple[str, ...] = argument(metavar="[FILTER]...")) -> None:
    """Browse, read, resume and edit all sessions in the terminal.

    FILTER is the initial filter of the list: words, `project:`, `agent:`, `tool:`, `cost:>1`. Keys
    are shown at the bottom; `?` shows all of them.
    """
    from plait.settings import read_terminal_kind

    if read_terminal_kind() in ("dumb", "unknown"):
        raise UserError(
            "this terminal cannot run a full-screen program: TERM is 'dumb'",
            "`plait ls` lists the sessions",
        )
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UserError("`plait ui` needs a terminal", "`plait ls` lists the sessions")
    if find_spec("textual") is None:
        raise MissingExtra(
            "`plait ui` needs an optional dependency that is not installed",
            "pip install 'plait[tui]'",
        )
    from plait.tui.keys import parse_keys

    keys = parse_keys(request.settings.ui_keys)
    from plait.tui.app import PlaitApp

    PlaitApp(request, " ".join(query), keys).run()
