"""`plait serve` and `plait open`: the archive as a page on this machine, live."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plait.archive import Meter
from plait.archive.live import LiveArchive, Progress
from plait.cli.desktop import open_in_browser
from plait.cli.options import Request, complete_session, global_options
from plait.cli.output import write_bytes
from plait.cli.settings import claude_folder, expanded, has_display, own_command, own_home
from plait.cli.text import to_type
from plait.errors import SourceError, UserError
from plait.web.guard import Commands, Keys, new_secret
from plait.web.place import (
    PORT,
    Running,
    alive,
    announced,
    is_local,
    listening,
    opening_file,
    stopped,
)
from plait.web.server import run
from plait.web.watcher import MUCH, Told

if TYPE_CHECKING:
    from plait.redact import Rules

HOUR = 3600
ENDS = ("SIGTERM", "SIGHUP")
PATIENCE = 60.0
IDLE_HOURS = 4
"""After so long without an open page, a server that was started here ends by itself."""
STEP = 0.2
"""How much more is read when it is said again, where nobody looks at a bar."""


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
@click.option("--read-only", "is_read_only", is_flag=True, help="Let nobody change a session.")
@click.option("--lake", metavar="URL", help="Serve this lake instead of sessions here.")
@click.option("--policy", metavar="FILE", help="Who may enter the lake, and what each sees.")
@click.option("--new-key", metavar="NAME", help="Make a key for somebody; serve nothing.")
@click.option("--stop", "is_stopped", is_flag=True, help="End the server that runs, if one does.")
@click.option("--gallery", hidden=True, help="Show this folder where there are no sessions yet.")
@click.option("--background", "is_background", is_flag=True, hidden=True, help="Say nothing.")
@global_options
@click.pass_obj
def serve_command(
    request: Request,
    port: int | None,
    host: str,
    allow_remote: bool,
    names: tuple[str, ...],
    is_opened: bool | None,
    idle: float | None,
    is_read_only: bool,
    lake: str | None,
    policy: str | None,
    new_key: str | None,
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
    if lake or policy or new_key:
        from plait.cli.lake.serving import LakeServing, serve_lake

        place = LakeServing(lake, policy, new_key, host, port, names, idle, is_opened, is_stopped)
        serve_lake(request, place)
        return
    request = _with_gallery(request, gallery)
    if is_stopped:
        end_server(request, _running_file(request))
        return
    known = alive(_running_file(request))
    if known is not None:
        _show_again(request, known, is_opened=is_opened)
        return
    listener = listener_on(request, host, PORT if port is None else port)
    place = listener.getsockname()
    running = Running(place[0], place[1], os.getpid(), new_secret())
    with listener, announced(_running_file(request), running), ended_by_signals():
        if not is_background:
            _tell(request, running)
            if should_open(is_opened):
                show(request, running)
        library = _library(request, is_read_only=is_read_only)
        known_as = frozenset(name.lower() for name in names)
        keys, seconds = Keys(running.secret), idle * HOUR if idle else None
        with reading_told(request, is_silent=is_background) as told:
            run(library, listener, keys, known_as, seconds, told, _commands(request))


def _own_rules() -> "Rules":
    """Returns what is hidden from whatever is shared: the names of this machine, too."""
    from plait.redact import with_own_names

    return with_own_names(None, own_home())


def _library(request: Request, *, is_read_only: bool) -> LiveArchive:
    roots, settings = tuple(root.path for root in request.archive.roots), request.settings
    roots = settings.roots if settings.is_default_root else roots  # which may come yet
    return LiveArchive(
        roots,
        request.settings.index,
        request.prices,
        _own_rules,
        is_read_only,
        request.store,
        expanded(claude_folder({}), {}),
        settings.stars,
        own_command(is_anywhere=True),
    )


def listener_on(request: Request, host: str, port: int) -> socket.socket:
    """Returns what listens; says so where the port is taken and another one is used."""
    listener = listening(host, port)
    taken = listener.getsockname()[1]
    if port not in (0, taken):
        request.output.note(f"port {port} is taken: another one is used", is_whole=True)
    return listener


@contextmanager
def reading_told(request: Request, *, is_silent: bool) -> Iterator[Told]:
    """Gives what tells how far a reading has come: by a bar, by words where nobody looks."""
    if is_silent:
        yield lambda _: None
        return
    with ExitStack() as bars:
        by = _by_bar if sys.stderr.isatty() else _by_words
        yield by(request, bars)


def _by_bar(request: Request, bars: ExitStack) -> Told:
    drawn: list[Meter] = []

    def told(progress: Progress | None) -> None:
        if progress is None or progress.problem:
            bars.close()
            drawn.clear()
            _tell_problem(request, progress)
            return
        if not progress.total:
            return
        if not drawn and (meter := bars.enter_context(request.output.watched())):
            drawn.append(meter)
        for meter in drawn:
            meter(progress.done, progress.total)

    return told


def _by_words(request: Request, _: ExitStack) -> Told:
    said: list[float] = []

    def told(progress: Progress | None) -> None:
        if progress is None or progress.problem:
            if said and progress is None:
                request.output.note("all sessions are read", is_whole=True)
            said.clear()
            _tell_problem(request, progress)
        elif progress.total >= MUCH and (not said or progress.share >= said[-1] + STEP):
            said.append(progress.share)
            request.output.note(progress.words, is_whole=True)

    return told


def _tell_problem(request: Request, progress: Progress | None) -> None:
    if progress:
        request.output.note(progress.problem, is_whole=True)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Ends in good order by Ctrl-C, which is no failure, and by what the system sends."""
    with suppress(KeyboardInterrupt):
        for name in ENDS:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.default_int_handler)
        yield


def _tell(request: Request, running: Running) -> None:
    request.output.note(f"Plait is at {running.place.address}", is_whole=True)
    is_seen = sys.stderr.isatty()  # a key does not belong into a log
    key = Keys(running.secret).key if is_seen else f"`{_asking(request)}` prints it"
    request.output.note(f"key      {key}", is_whole=True)
    request.output.note("stop with Ctrl-C", is_whole=True)


def _asking(request: Request) -> str:
    return to_type("plait", "open", "--print-key", *_roots(request))


def _roots(request: Request) -> list[str]:
    return [part for root in request.roots for part in ("--root", root)]


def _commands(request: Request) -> Commands:
    """Returns what is typed to come in, and to start the server again."""
    roots = _roots(request)
    return Commands(to_type("plait", "open", *roots), to_type("plait", "serve", *roots))


def _show_again(request: Request, running: Running, *, is_opened: bool | None) -> None:
    request.output.note(f"Plait is served already at {running.place.address}", is_whole=True)
    request.output.note(f"key      `{_asking(request)}` prints it", is_whole=True)
    if should_open(is_opened):
        show(request, running)


def show(request: Request, running: Running) -> None:
    """Opens the page in a browser, or says that none could be opened."""
    if not open_in_browser(opening_file(request.settings.state, running, "/")):
        request.output.note(
            "no browser could be opened: the address and the key will do", is_whole=True
        )


def should_open(is_opened: bool | None) -> bool:
    """Tells whether a browser is opened: as was said, else where somebody sits before a screen."""
    return (sys.stdout.isatty() and has_display()) if is_opened is None else is_opened


def end_server(request: Request, file: Path) -> None:
    """Ends the server that a file tells of, or says that none runs."""
    running = stopped(file)
    if running is None:
        request.output.note("no server runs for these sessions")
    else:
        request.output.note(f"the server at {running.place.address} has ended", is_whole=True)


def _with_gallery(request: Request, gallery: str | None) -> Request:
    if gallery is None or request.archive.sessions:
        return request
    request.output.note("no sessions of yours were found: this is the examples gallery")
    copy = request.settings.state / "gallery"
    found = Request((str(copy),), request.colour, request.has_pager)
    if alive(_running_file(found)) is None:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(gallery, copy)  # sessions can be edited: those of the checkout stay
    return found


def _running_file(request: Request) -> Path:
    return request.settings.state / f"serve-{request.settings.index.name}.json"


@click.command("open")
@click.argument("session", required=False, shell_complete=complete_session)
@click.option("--turn", type=click.IntRange(1), metavar="N", help="Open it at this turn.")
@click.option("--print", "is_printed", is_flag=True, help="Print the file to open; open nothing.")
@click.option(
    "--print-key", "is_key_printed", is_flag=True, help="Print the key for programs; open nothing."
)
@global_options
@click.pass_obj
def open_command(
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
    to = _place_of(request, session, turn) if session else "/"
    running = alive(_running_file(request)) or _started(request)
    if is_key_printed:
        write_bytes(f"{Keys(running.secret).key}\n".encode())
        return
    path = opening_file(_running_file(request).parent, running, to)
    if is_printed:
        write_bytes(f"{path}\n".encode("utf-8", "surrogateescape"))
    elif not open_in_browser(path):
        request.output.note(
            f"no browser could be opened: Plait is at {running.place.address}{to}", is_whole=True
        )
        request.output.note(f"key      {Keys(running.secret).key}", is_whole=True)


def _place_of(request: Request, name: str, turn: int | None) -> str:
    session = request.session(name)
    roots = tuple(root.path for root in request.archive.roots)
    names = LiveArchive(roots, request.settings.index, store=request.store).now.name_of
    known = names.get(str(session.path.absolute()))
    if known is None:
        raise UserError(
            f"'{session.path}' lies outside the folders that are served",
            "name its folder: `--root`",
        )
    return f"/s/{known}?turn={turn}" if turn else f"/s/{known}"


def _started(request: Request) -> Running:
    log = request.settings.state / "serve.log"
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    request.output.note("starting the server")
    with open(log, "wb", opener=_private) as file:
        process = subprocess.Popen(  # noqa: S603  this very program
            _command_line(request),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    return _awaited(process, _running_file(request), log)


def _command_line(request: Request) -> list[str]:
    roots = [part for root in request.settings.roots for part in ("--root", str(root.absolute()))]
    asked = ["--background", "--no-open", "--port", "0", "--until-idle", str(IDLE_HOURS)]
    # -P: a folder called plait where the user stands is not this program
    start = [sys.executable, "-P", "-m", "plait", "serve", *asked]
    return start if request.settings.is_default_root else start + roots


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _awaited(process: "subprocess.Popen[bytes]", path: Path, log: Path) -> Running:
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
