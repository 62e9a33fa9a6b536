"""`plait open`: the page at one place, its server started where none runs."""

import os
import subprocess
import sys
import time
from pathlib import Path

import click

from plait.archive.live.library import LiveArchive
from plait.cli.browser import open_in_browser
from plait.cli.index import brought_up_to_date
from plait.cli.options import Request, complete_session, global_options
from plait.cli.output import write_bytes
from plait.cli.serve import running_file, say
from plait.errors import SourceError, UserError
from plait.web.access import Keys
from plait.web.server import Running, alive, opening_file

PATIENCE = 60.0
IDLE_HOURS = 4
"""After so long without an open page, a server that was started here ends by itself."""


@click.command("open")
@click.argument("session", required=False, shell_complete=complete_session)
@click.option("--turn", type=click.IntRange(1), metavar="N", help="Open it at this turn.")
@click.option("--print", "is_printed", is_flag=True, help="Print the file to open; open nothing.")
@click.option(
    "--print-key", "is_key_printed", is_flag=True, help="Print the key for programs; open nothing."
)
@global_options
@click.pass_obj
def command(
    request: Request,
    session: str | None,
    turn: int | None,
    is_printed: bool,
    is_key_printed: bool,
) -> None:
    """Open the page, at SESSION and at a turn of it where one is named.

    Where no server runs for these sessions, one is started in the background. It ends by
    itself when no page was open for four hours; `plait serve --stop` ends it at once.
    """
    if turn and session is None:
        raise UserError("`--turn` needs a session", "`plait open SESSION --turn N`")
    to = place_of(request, session, turn) if session else "/"
    running = alive(running_file(request)) or started(request)
    if is_key_printed:
        write_bytes(f"{Keys(running.secret).key}\n".encode())
        return
    path = opening_file(running_file(request).parent, running, to)
    if is_printed:
        write_bytes(f"{path}\n".encode("utf-8", "surrogateescape"))
    elif not open_in_browser(path):
        say(request, f"no browser could be opened: Plait is at {running.place.address}{to}")
        say(request, f"key      {Keys(running.secret).key}")


def place_of(request: Request, name: str, turn: int | None) -> str:
    """Returns the address of a session, at one of its turns."""
    session = request.archive.session(name, request.settings.directory)
    roots = tuple(root.path for root in request.archive.roots)
    names = LiveArchive(roots, request.settings.index).now.name_of
    known = names.get(session.path)
    if known is None:
        raise UserError(
            f"'{session.path}' lies outside the folders that are served",
            "name its folder: `--root`",
        )
    return f"/s/{known}?turn={turn}" if turn else f"/s/{known}"


def started(request: Request) -> Running:
    """Starts a server in the background and waits until it answers."""
    brought_up_to_date(request)
    log = request.settings.state / "serve.log"
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    request.output.note("starting the server")
    with open(log, "wb", opener=private) as file:
        process = subprocess.Popen(  # noqa: S603  this very program
            command_line(request),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    return awaited(process, running_file(request), log)


def command_line(request: Request) -> list[str]:
    """Returns what starts a server in the background."""
    roots = [part for root in request.settings.roots for part in ("--root", str(root.absolute()))]
    asked = ["--background", "--no-open", "--port", "0", "--until-idle", str(IDLE_HOURS)]
    # -P: a folder called plait where the user stands is not this program
    start = [sys.executable, "-P", "-m", "plait", "serve", *asked]
    return start if request.settings.is_default_root else start + roots


def private(path: str, flags: int) -> int:
    """Opens a file that nobody else may read."""
    return os.open(path, flags, 0o600)


def awaited(process: "subprocess.Popen[bytes]", path: Path, log: Path) -> Running:
    """Returns the server as soon as it answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        has_ended = process.poll() is not None
        running = alive(path)
        if running:
            return running
        if has_ended:
            break
        time.sleep(0.05)
    raise SourceError("the server did not start", f"'{log}' says why")
