"""`plait serve`: the archive as a page on this machine, live."""

import os
import shlex
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

import click

from plait.archive.live.library import LiveArchive
from plait.cli.browser import open_in_browser
from plait.cli.index import brought_up_to_date
from plait.cli.options import Request, global_options
from plait.cli.settings import has_display
from plait.cli.text import safe
from plait.cli.usage_prices import prices_with
from plait.errors import UserError
from plait.web.access import Keys, new_secret
from plait.web.app import is_local
from plait.web.server import (
    PORT,
    Running,
    alive,
    announced,
    listening,
    opening_file,
    run,
    stopped,
)

HOUR = 3600
ENDS = ("SIGTERM", "SIGHUP")


@click.command("serve")
@click.option("--port", type=click.IntRange(0, 65535), help=f"Where to listen; {PORT} by default.")
@click.option("--host", default="127.0.0.1", help="The address to listen on.")
@click.option("--allow-remote", is_flag=True, help="Listen where other machines can reach it.")
@click.option("--name", "names", multiple=True, help="A name that other machines know it by.")
@click.option("--open/--no-open", "is_opened", default=None, help="Open a browser, or do not.")
@click.option(
    "--until-idle",
    "idle",
    type=click.FloatRange(min=0, min_open=True),
    metavar="HOURS",
    help="End when no page was open for so many hours.",
)
@click.option("--stop", "is_stopped", is_flag=True, help="End the server that runs, if one does.")
@click.option("--gallery", hidden=True, help="Show this folder where there are no sessions yet.")
@click.option("--background", "is_background", is_flag=True, hidden=True, help="Say nothing.")
@global_options
@click.pass_obj
def command(
    request: Request,
    port: int | None,
    host: str,
    allow_remote: bool,
    names: tuple[str, ...],
    is_opened: bool | None,
    idle: float | None,
    is_stopped: bool,
    gallery: str | None,
    is_background: bool,
) -> None:
    """Serve your sessions as a page on this machine, live.

    Only you can read it: the browser is let in by a file that belongs to you. Nothing is
    loaded from elsewhere, and nothing leaves this machine.
    """
    if not is_local(host) and not allow_remote:
        raise UserError(
            f"'{host}' can be reached from other machines",
            "`--allow-remote` says that this is meant",
        )
    request = with_gallery(request, gallery)
    if is_stopped:
        end(request)
        return
    known = alive(running_file(request))
    if known is not None:
        show_again(request, known, is_opened=is_opened)
        return
    brought_up_to_date(request)
    serving = Serving(request, frozenset(name.lower() for name in names), idle)
    serving.serve(host, port, is_opened=is_opened, is_background=is_background)


class Serving:
    """A server about to run."""

    def __init__(self, request: Request, names: frozenset[str], idle: float | None) -> None:
        self.request = request
        self.names = names
        self.idle = idle * HOUR if idle else None

    def serve(
        self, host: str, port: int | None, *, is_opened: bool | None, is_background: bool
    ) -> None:
        """Serves until nobody comes any more, or until Ctrl-C, which is no failure."""
        listener = listening(host, PORT if port is None else port)
        place = listener.getsockname()
        running = Running(place[0], place[1], os.getpid(), new_secret())
        here = running_file(self.request)
        with listener, announced(here, running), suppress(KeyboardInterrupt):
            for name in ENDS:
                if hasattr(signal, name):
                    signal.signal(getattr(signal, name), signal.default_int_handler)
            if not is_background:
                tell(self.request, running)
                if should_open(is_opened):
                    show(self.request, running)
            self.run(running, listener)

    def run(self, running: Running, listener: socket.socket) -> None:
        """Runs the server."""
        settings = self.request.settings
        prices = prices_with(settings.prices)
        roots = tuple(root.path for root in self.request.archive.roots)
        library = LiveArchive(roots, settings.index, prices)
        run(library, listener, Keys(running.secret), self.names, self.idle)


def tell(request: Request, running: Running) -> None:
    """Says where the page is and how to come in."""
    say(request, f"Plait is at {running.place.address}")
    is_seen = sys.stderr.isatty()  # a key does not belong into a log
    key = Keys(running.secret).key if is_seen else f"`{asking(request)}` prints it"
    say(request, f"key      {key}")
    say(request, "stop with Ctrl-C")


def asking(request: Request) -> str:
    """Returns the command that prints the key of the server of these roots."""
    roots = [part for root in request.roots for part in ("--root", root)]
    return shlex.join(["plait", "open", "--print-key", *roots])


def say(request: Request, text: str) -> None:
    """Writes a line that is never broken: an address or a key must stay whole."""
    request.output.stderr.print(safe(text), style="dim", soft_wrap=True, highlight=False)


def show_again(request: Request, running: Running, *, is_opened: bool | None) -> None:
    """Opens what is served already."""
    say(request, f"Plait is served already at {running.place.address}")
    if should_open(is_opened):
        show(request, running)


def show(request: Request, running: Running) -> None:
    """Opens the page in a browser, or says that none could be opened."""
    if not open_in_browser(opening_file(running_file(request).parent, running, "/")):
        say(request, "no browser could be opened: the address and the key will do")


def should_open(is_opened: bool | None) -> bool:
    """Tells whether a browser should be opened: where somebody sits at a screen."""
    return (sys.stdout.isatty() and has_display()) if is_opened is None else is_opened


def end(request: Request) -> None:
    """Ends the server that runs."""
    running = stopped(running_file(request))
    if running is None:
        request.output.note("no server runs for these sessions")
    else:
        say(request, f"the server at {running.place.address} has ended")


def with_gallery(request: Request, gallery: str | None) -> Request:
    """Returns the request, for the gallery where there are no sessions yet."""
    if gallery is None or request.archive.sessions:
        return request
    request.output.note("no sessions of yours were found: this is the examples gallery")
    return Request((gallery,), request.colour, request.has_pager)


def running_file(request: Request) -> Path:
    """Returns the file that tells of the server of these roots."""
    return request.settings.state / f"serve-{request.settings.index.name}.json"
