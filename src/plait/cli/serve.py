"""`plait serve` and `plait open`: sessions or a lake in the web browser, live."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from plait.archive import ProgressCallback
from plait.archive.live import LiveArchive, ReadingProgress
from plait.cli.desktop import open_in_browser
from plait.cli.lake import open_lake
from plait.cli.options import Request, command, complete_session
from plait.cli.output import write_bytes
from plait.cli.settings import (
    claude_folder_setting,
    config_file,
    expand_user,
    has_display,
    home_folder,
    plait_command,
)
from plait.cli.text import shell_command
from plait.errors import SourceError, UserError
from plait.web.address import (
    PORT,
    RunningServer,
    announce_server,
    find_running_server,
    is_local,
    open_listener,
    stop_server,
    write_opening_file,
)
from plait.web.guard import Commands, Keys, new_secret
from plait.web.server import run
from plait.web.watcher import MUCH, ReadingCallback

if TYPE_CHECKING:
    from plait.lake.access import PolicyFile
    from plait.redact import Rules


HOUR = 3600
ENDS = ("SIGTERM", "SIGHUP")
PATIENCE = 60.0
IDLE_HOURS = 4
"""After so long without an open page, a server that was started here ends by itself."""
STEP = 0.2
"""How much more is read when it is said again, where nobody looks at a bar."""


@command(
    "serve",
    click.option(
        "--port", type=click.IntRange(0, 65535), help=f"The port to listen on; default {PORT}."
    ),
    click.option("--host", default="127.0.0.1", help="The address to listen on."),
    click.option("--allow-remote", is_flag=True, help="Allow other machines to connect."),
    click.option(
        "--name", "names", multiple=True, help="A host name that other machines use for it."
    ),
    click.option("--open/--no-open", "is_opened", default=None, help="Open a browser or not."),
    click.option(
        "--until-idle",
        "idle",
        type=click.FloatRange(min=0, min_open=True),
        metavar="HOURS",
        help="Stop when no page was open for this many hours.",
    ),
    click.option("--read-only", "is_read_only", is_flag=True, help="Do not allow edits."),
    click.option("--lake", metavar="URL", help="Serve this lake instead of local sessions."),
    click.option("--policy", metavar="FILE", help="Who may see what in the lake."),
    click.option("--new-key", metavar="NAME", help="Create a key for a person and exit."),
    click.option("--stop", "is_stopped", is_flag=True, help="Stop the running server."),
    click.option("--gallery", hidden=True, help="Show this folder if you have no sessions yet."),
    click.option("--background", "is_background", is_flag=True, hidden=True, help="Say nothing."),
)
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
    """Browse your sessions in a web browser, updated live.

    Only you can read it: a file that belongs to you lets your browser in. Nothing is loaded
    from elsewhere, and nothing leaves this machine.
    """
    if not is_local(host) and not allow_remote:
        raise UserError(
            f"'{host}' is reachable from other machines",
            "add `--allow-remote` if you want that",
        )
    if lake or policy or new_key:
        place = LakeServing(lake, policy, new_key, host, port, names, idle, is_opened, is_stopped)
        serve_lake(request, place)
        return
    request = _with_gallery(request, gallery)
    if is_stopped:
        stop_running_server(request, _running_file(request))
        return
    known = find_running_server(_running_file(request))
    if known is not None:
        request.output.note(f"Plait is already running at {known.address.url}", no_wrap=True)
        request.output.note(f"key      `{_print_key_command(request)}` prints it", no_wrap=True)
        if should_open(is_opened):
            open_page(request, known)
        return
    listener = bind_listener(request, host, PORT if port is None else port)
    place = listener.getsockname()
    running = RunningServer(place[0], place[1], os.getpid(), new_secret())
    with listener, announce_server(_running_file(request), running), stop_on_signals():
        if not is_background:
            request.output.note(f"Plait is at {running.address.url}", no_wrap=True)
            is_seen = sys.stderr.isatty()  # a key does not belong into a log
            key = (
                Keys(running.secret).key
                if is_seen
                else f"`{_print_key_command(request)}` prints it"
            )
            request.output.note(f"key      {key}", no_wrap=True)
            request.output.note("stop with Ctrl-C", no_wrap=True)
            if should_open(is_opened):
                open_page(request, running)
        library = _library(request, is_read_only=is_read_only)
        known_as = frozenset(name.lower() for name in names)
        keys, seconds = Keys(running.secret), idle * HOUR if idle else None
        with report_reading(request, is_silent=is_background) as report:
            run(library, listener, keys, known_as, seconds, report, _commands(request))


def _own_rules() -> "Rules":
    """Return what is hidden from whatever is shared: the names of this machine, too."""
    from plait.redact import add_own_names

    return add_own_names(None, home_folder())


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
        expand_user(claude_folder_setting({}), {}),
        settings.stars,
        plait_command(is_anywhere=True),
    )


def bind_listener(request: Request, host: str, port: int) -> socket.socket:
    """Return what listens; says so where the port is taken and another one is used."""
    listener = open_listener(host, port)
    used = listener.getsockname()[1]
    if port not in (0, used):
        request.output.note(f"port {port} is in use; using another one", no_wrap=True)
    return listener


@contextmanager
def report_reading(request: Request, *, is_silent: bool) -> Iterator[ReadingCallback]:
    """Yield what tells how far a reading has come: by a bar, by words where nobody looks."""
    if is_silent:
        yield lambda _: None
        return
    with ExitStack() as bars:
        by = _report_by_bar if sys.stderr.isatty() else _report_by_lines
        yield by(request, bars)


def _report_by_bar(request: Request, bars: ExitStack) -> ReadingCallback:
    drawn: list[ProgressCallback] = []

    def report(progress: ReadingProgress | None) -> None:
        if progress is None or progress.problem:
            bars.close()
            drawn.clear()
            _print_problem(request, progress)
            return
        if not progress.total:
            return
        if not drawn and (meter := bars.enter_context(request.output.byte_progress())):
            drawn.append(meter)
        for meter in drawn:
            meter(progress.done, progress.total)

    return report


def _report_by_lines(request: Request, _: ExitStack) -> ReadingCallback:
    reported: list[float] = []

    def report(progress: ReadingProgress | None) -> None:
        if progress is None or progress.problem:
            if reported and progress is None:
                request.output.note("all sessions are read", no_wrap=True)
            reported.clear()
            _print_problem(request, progress)
        elif progress.total >= MUCH and (not reported or progress.share >= reported[-1] + STEP):
            reported.append(progress.share)
            request.output.note(progress.description, no_wrap=True)

    return report


def _print_problem(request: Request, progress: ReadingProgress | None) -> None:
    if progress:
        request.output.note(progress.problem, no_wrap=True)


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """End in good order by Ctrl-C, which is no failure, and by what the system sends."""
    with suppress(KeyboardInterrupt):
        for name in ENDS:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.default_int_handler)
        yield


def _print_key_command(request: Request) -> str:
    return shell_command("plait", "open", "--print-key", *_root_arguments(request))


def _root_arguments(request: Request) -> list[str]:
    return [part for root in request.roots for part in ("--root", root)]


def _commands(request: Request) -> Commands:
    """Return what is typed to come in, and to start the server again."""
    roots = _root_arguments(request)
    return Commands(shell_command("plait", "open", *roots), shell_command("plait", "serve", *roots))


def open_page(request: Request, running: RunningServer) -> None:
    """Open the page in a browser, or says that none could be opened."""
    if not open_in_browser(write_opening_file(request.settings.state, running, "/")):
        request.output.note("could not open a browser; use the address and the key", no_wrap=True)


def should_open(is_opened: bool | None) -> bool:
    """Return whether a browser is opened: as was said, else where somebody sits before a screen."""
    return (sys.stdout.isatty() and has_display()) if is_opened is None else is_opened


def stop_running_server(request: Request, file: Path) -> None:
    """End the server that a file tells of, or says that none runs."""
    running = stop_server(file)
    if running is None:
        request.output.note("no server is running for these sessions")
    else:
        request.output.note(f"the server at {running.address.url} was stopped", no_wrap=True)


def _with_gallery(request: Request, gallery: str | None) -> Request:
    if gallery is None or request.archive.sessions:
        return request
    request.output.note("you have no sessions yet; this is the examples gallery")
    copy = request.settings.state / "gallery"
    found = Request((str(copy),), request.colour, request.has_pager)
    if find_running_server(_running_file(found)) is None:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(gallery, copy)  # sessions can be edited: those of the checkout stay
    return found


def _running_file(request: Request) -> Path:
    return request.settings.state / f"serve-{request.settings.index.name}.json"


@command(
    "open",
    click.argument("session", required=False, shell_complete=complete_session),
    click.option("--turn", type=click.IntRange(1), metavar="N", help="Open this turn."),
    click.option("--print", "is_printed", is_flag=True, help="Print the file to open instead."),
    click.option(
        "--print-key",
        "is_key_printed",
        is_flag=True,
        help="Print the key for programs instead.",
    ),
)
def open_command(
    request: Request,
    session: str | None,
    turn: int | None,
    is_printed: bool,
    is_key_printed: bool,
) -> None:
    """Open Plait in your web browser, at SESSION and a turn of it if named.

    If no server is running for these sessions, one is started in the background. It stops after
    four hours without an open page; `plait serve --stop` stops it at once.
    """
    if turn and session is None:
        raise UserError("`--turn` needs a session", "`plait open SESSION --turn N`")
    to = _page_path(request, session, turn) if session else "/"
    running = find_running_server(_running_file(request)) or _start_server(request)
    if is_key_printed:
        write_bytes(f"{Keys(running.secret).key}\n".encode())
        return
    path = write_opening_file(_running_file(request).parent, running, to)
    if is_printed:
        write_bytes(f"{path}\n".encode("utf-8", "surrogateescape"))
    elif not open_in_browser(path):
        request.output.note(
            f"could not open a browser; Plait is at {running.address.url}{to}", no_wrap=True
        )
        request.output.note(f"key      {Keys(running.secret).key}", no_wrap=True)


def _page_path(request: Request, name: str, turn: int | None) -> str:
    session = request.session(name)
    roots = tuple(root.path for root in request.archive.roots)
    names = LiveArchive(roots, request.settings.index, store=request.store).snapshot.name_of
    known = names.get(str(session.path.absolute()))
    if known is None:
        raise UserError(
            f"'{session.path}' is outside the served folders",
            "name its folder: `--root`",
        )
    return f"/s/{known}?turn={turn}" if turn else f"/s/{known}"


def _start_server(request: Request) -> RunningServer:
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
    path = _running_file(request)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        has_ended = process.poll() is not None
        running = find_running_server(path)
        if running:
            return running
        if has_ended:
            break
        time.sleep(0.05)
    raise SourceError("the server did not start", f"'{log}' says why")


def _command_line(request: Request) -> list[str]:
    roots = [part for root in request.settings.roots for part in ("--root", str(root.absolute()))]
    asked = ["--background", "--no-open", "--port", "0", "--until-idle", str(IDLE_HOURS)]
    # -P: a folder called plait where the user stands is not this program
    start = [sys.executable, "-P", "-m", "plait", "serve", *asked]
    return start if request.settings.is_default_root else start + roots


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class LakeServing(NamedTuple):
    """What was asked for."""

    lake: str | None
    policy: str | None
    new_key: str | None
    host: str
    port: int | None
    names: tuple[str, ...]
    idle: float | None
    is_opened: bool | None
    is_stopped: bool


def serve_lake(request: Request, asked: LakeServing) -> None:
    """Serve a lake, ends the server that does, or makes a key for somebody."""
    if asked.new_key:
        _make_key(request, asked.new_key)
        return
    if not asked.lake:
        raise UserError("`--policy` needs a lake", "add `--lake URL`")
    lake = asked.lake
    local = Path(lake).absolute() if "://" not in lake else lake
    name = sha256(str(local).encode()).hexdigest()[:16]
    file = request.settings.state / f"serve-lake-{name}.json"
    if asked.is_stopped:
        stop_running_server(request, file)
        return
    if not is_local(asked.host) and not asked.policy:
        raise UserError(
            "a lake that other machines can reach needs a policy",
            "add `--policy FILE`: docs/guide/serve.md has an example",
        )
    if (known := find_running_server(file)) is not None:
        _print_lake_address(request, known, asked, "is already served")
        return
    _run_lake_server(request, asked, file)


def _run_lake_server(request: Request, asked: LakeServing, file: Path) -> None:
    from plait.lake.access import PolicyFile, ServedLake
    from plait.lake.saved_queries import FILE_NAME, load_saved_queries
    from plait.web.lake import LakeState, run_lake

    policy = PolicyFile(Path(asked.policy)) if asked.policy else None
    served = ServedLake(open_lake(request, asked.lake), policy)
    own = config_file().with_name(FILE_NAME)
    state = LakeState(served, lambda: load_saved_queries(own))
    state.questions()  # what is wrong with the file is said before anybody comes
    listener = bind_listener(request, asked.host, PORT if asked.port is None else asked.port)
    host, port = listener.getsockname()[:2]
    running = RunningServer(host, port, os.getpid(), new_secret())
    seconds = asked.idle * HOUR if asked.idle else None
    known_as = frozenset(name.lower() for name in asked.names)
    commands = Commands("", shell_command("plait", "serve", "--lake", asked.lake or ""))
    with listener, announce_server(file, running), stop_on_signals():
        _print_lake_address(request, running, asked, "is")
        run_lake(state, listener, _lake_keys(running, policy), known_as, seconds, commands)


def _lake_keys(running: RunningServer, policy: "PolicyFile | None") -> Keys:
    if policy is None:
        return Keys(running.secret)
    from plait.web.lake import PeopleKeys

    return PeopleKeys(running.secret, policy)


def _print_lake_address(
    request: Request, running: RunningServer, asked: LakeServing, how: str
) -> None:
    output = request.output
    output.note(f"the lake {how} at {running.address.url}", no_wrap=True)
    if asked.policy:
        output.note("key      each person's own, as in the policy", no_wrap=True)
        output.note("stop with Ctrl-C", no_wrap=True)
        return
    is_seen = sys.stderr.isatty()  # a key does not belong into a log
    key = Keys(running.secret).key if is_seen else "shown if you run this again in a terminal"
    output.note(f"key      {key}", no_wrap=True)
    output.note("stop with Ctrl-C", no_wrap=True)
    if should_open(asked.is_opened):
        open_page(request, running)


def _make_key(request: Request, name: str) -> None:
    """Print a key for somebody, and what the policy has to know of it."""
    from plait.lake.access import hash_key

    key = Keys(new_secret()).key
    request.output.note(f"the key of {name}, shown only once; put this into the policy file:")
    quoted = json.dumps(name, ensure_ascii=False)
    request.output.note(f'[people.{quoted}]\nkey = "{hash_key(key)}"', no_wrap=True)
    write_bytes(f"{key}\n".encode())
