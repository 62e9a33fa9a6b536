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
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import click

from plait.archive import ProgressCallback
from plait.archive.live import LiveArchive, ReadingProgress
from plait.cli import shared
from plait.cli.lake import open_lake
from plait.cli.options import OptionGroup, Request, argument, command, option
from plait.errors import SourceError, UserError
from plait.redact import add_own_names
from plait.settings import (
    expand_user,
    find_config_file,
    find_home_folder,
    format_plait_command,
    has_display,
    read_claude_folder,
)
from plait.terminal.desktop import open_in_browser
from plait.terminal.output import write_bytes
from plait.terminal.text import shell_command
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

HOUR = 3600
ENDS = ("SIGTERM", "SIGHUP")
PATIENCE = 60.0
IDLE_HOURS = 4
"""How long a server started by `plait open` waits for a page before it stops."""
STEP = 0.2
"""Share of progress between two lines, without a progress bar."""


class ServeOptions(OptionGroup):
    """Where the page is served, to whom, and for how long."""

    port: int | None = option(
        "--port", least=0, most=65535, help=f"The port to listen on; default {PORT}."
    )
    host: str = option("--host", default="127.0.0.1", help="The address to listen on.")
    allow_remote: bool = option("--allow-remote", help="Allow other machines to connect.")
    names: tuple[str, ...] = option(
        "--name", help="A host name under which other machines reach this server."
    )
    is_opened: bool | None = option(
        "--open/--no-open", default=None, help="Whether to open the page in a browser."
    )
    idle: float | None = option(
        "--until-idle",
        type=click.FloatRange(min=0, min_open=True),
        metavar="HOURS",
        help="Stop after this many hours without an open page.",
    )
    is_read_only: bool = option("--read-only", help="Do not allow edits.")
    lake: str | None = option(
        "--lake", metavar="URL", help="Serve this lake instead of local sessions."
    )
    policy: str | None = option(
        "--policy", metavar="FILE", help="A file that defines who may see which parts of the lake."
    )
    new_key: str | None = option(
        "--new-key", metavar="NAME", help="Create a key for a person and exit."
    )
    is_stopped: bool = option("--stop", help="Stop the running server.")
    gallery: str | None = option(
        "--gallery", hidden=True, help="Show this folder if you have no sessions yet."
    )
    is_background: bool = option("--background", hidden=True, help="Print nothing.")

    @property
    def known_names(self) -> frozenset[str]:
        """The host names that other machines use for this one."""
        return frozenset(name.lower() for name in self.names)

    @property
    def idle_seconds(self) -> float | None:
        """After how many seconds without an open page the server stops."""
        return self.idle * HOUR if self.idle else None


@command(examples="plait serve\nplait serve --port 9000 --no-open\nplait serve --stop")
def serve_command(request: Request, asked: ServeOptions) -> None:
    """Browse your sessions in a web browser, updated live.

    Only you can read the page: your browser signs in with a key from a file that only you can
    read. Nothing is loaded from other servers, and nothing leaves this machine.
    """
    if not is_local(asked.host) and not asked.allow_remote:
        raise UserError(
            f"'{asked.host}' is reachable from other machines",
            "add `--allow-remote` if you want that",
        )
    if asked.new_key:
        from plait.lake.access import hash_key

        key, name = Keys(new_secret()).key, json.dumps(asked.new_key, ensure_ascii=False)
        words = f"the key of {asked.new_key}, shown only once; put this into the policy file:"
        request.output.note(words)
        request.output.note(f'[people.{name}]\nkey = "{hash_key(key)}"', no_wrap=True)
        write_bytes(f"{key}\n".encode())
    elif asked.lake:
        _serve_lake(request, asked.lake, asked)
    elif asked.policy:
        raise UserError("`--policy` needs a lake", "add `--lake URL`")
    else:
        if asked.gallery is not None and not request.archive.sessions:
            request.output.note("you have no sessions yet; this is the examples gallery")
            copy = request.settings.state / "gallery"
            request = replace(request, roots=(str(copy),))
            if find_running_server(running_file(request)) is None:
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(asked.gallery, copy)  # edits must not change the checkout
        _serve_sessions(request, asked)


def _serve_sessions(request: Request, asked: ServeOptions) -> None:
    file, output = running_file(request), request.output
    if asked.is_stopped:
        stop_running_server(request, file)
        return
    roots = request.root_options
    key_command = shell_command("plait", "open", "--print-key", *roots)
    if known := find_running_server(file):
        output.note(f"Plait is already running at {known.address.url}", no_wrap=True)
        output.note(f"key      `{key_command}` prints it", no_wrap=True)
        if should_open(asked.is_opened):
            open_page(request, known)
        return
    with run_server(request, file, asked) as (listener, running):
        if not asked.is_background:
            output.note(f"Plait is at {running.address.url}", no_wrap=True)
            hint = f"`{key_command}` prints it"
            print_key(request, running, hint, is_opened=asked.is_opened)
        settings = request.settings
        named = tuple(root.path for root in request.archive.roots)
        library = LiveArchive(
            settings.roots if settings.is_default_root else named,  # some may be created later
            settings.index,
            request.prices,
            lambda: add_own_names(None, find_home_folder()),
            asked.is_read_only,
            request.store,
            expand_user(read_claude_folder({}), {}),
            settings.stars,
            settings.translations,
            format_plait_command(is_anywhere=True),
        )
        commands = Commands(
            shell_command("plait", "open", *roots), shell_command("plait", "serve", *roots)
        )
        with report_reading(request, is_silent=asked.is_background) as report:
            keys, idle = Keys(running.secret), asked.idle_seconds
            run(library, listener, keys, asked.known_names, idle, report, commands)


@contextmanager
def run_server(
    request: Request, file: Path, asked: ServeOptions
) -> Iterator[tuple[socket.socket, RunningServer]]:
    """Listen, announce the server in a file, and exit quietly when it is stopped."""
    port = PORT if asked.port is None else asked.port
    listener = open_listener(asked.host, port)
    address, used = listener.getsockname()[:2]
    if port not in (0, used):
        request.output.note(f"port {port} is in use; using another one", no_wrap=True)
    running = RunningServer(address, used, os.getpid(), new_secret())
    # Ctrl-C and a termination signal are no failures.
    with suppress(KeyboardInterrupt), listener, announce_server(file, running):
        for name in ENDS:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.default_int_handler)
        yield listener, running


def print_key(
    request: Request, running: RunningServer, hint: str, *, is_opened: bool | None
) -> None:
    """Print the key, or a hint if it would end up in a log, and open the page."""
    key = Keys(running.secret).key if sys.stderr.isatty() else hint
    request.output.note(f"key      {key}", no_wrap=True)
    request.output.note("stop with Ctrl-C", no_wrap=True)
    if should_open(is_opened):
        open_page(request, running)


@contextmanager
def report_reading(request: Request, *, is_silent: bool) -> Iterator[ReadingCallback]:
    """Yield a function that shows how much has been read: a bar on a terminal, else lines."""
    if is_silent:
        yield lambda _: None
        return
    output, is_terminal = request.output, sys.stderr.isatty()
    with ExitStack() as bars:
        bar: ProgressCallback | None = None
        share: float | None = None

        def report(progress: ReadingProgress | None) -> None:
            nonlocal bar, share
            if progress is None or progress.problem:
                bars.close()
                if progress:
                    output.note(progress.problem, no_wrap=True)
                elif share is not None:
                    output.note("all sessions have been read", no_wrap=True)
                bar = share = None
            elif is_terminal:
                if progress.total and bar is None:
                    bar = bars.enter_context(output.byte_progress())
                if progress.total and bar:
                    bar(progress.done, progress.total)
            elif progress.total >= MUCH and (share is None or progress.share >= share + STEP):
                share = progress.share
                output.note(progress.description, no_wrap=True)

        yield report


def open_page(request: Request, running: RunningServer) -> None:
    """Open the page in a browser, or note that none could be opened."""
    if not open_in_browser(write_opening_file(request.settings.state, running, "/")):
        request.output.note("could not open a browser; use the address and the key", no_wrap=True)


def should_open(is_opened: bool | None) -> bool:
    """Return whether to open a browser: as asked, else if there is a terminal and a display."""
    return (sys.stdout.isatty() and has_display()) if is_opened is None else is_opened


def stop_running_server(request: Request, file: Path) -> None:
    """Stop the server announced in a file, or note that none is running."""
    running = stop_server(file)
    if running is None:
        request.output.note("no server is running for these sessions")
    else:
        request.output.note(f"the server at {running.address.url} was stopped", no_wrap=True)


def running_file(request: Request) -> Path:
    """Return the file that announces a running server for these sessions."""
    return request.settings.state / f"serve-{request.settings.index.name}.json"


@command(examples="plait open\nplait open latest --turn 12")
def open_command(
    request: Request,
    session: str | None = argument(shell_complete=shared.complete_session),
    turn: int | None = option("--turn", "--at", least=1, metavar="N", help="Open this turn."),
    is_printed: bool = option("--print", help="Print the path of the file to open."),
    is_key_printed: bool = option("--print-key", help="Print the key that programs need."),
) -> None:
    """Open Plait in your web browser, at SESSION or one of its turns if given.

    If no server is running for these sessions, one is started in the background. It stops after
    four hours without an open page; `plait serve --stop` stops it at once.
    """
    if turn and session is None:
        raise UserError("`--turn` needs a session", "`plait open SESSION --turn N`")
    to = "/"
    if session:
        source, settings = request.session(session), request.settings
        roots = tuple(root.path for root in request.archive.roots)
        library = LiveArchive(
            roots, settings.index, store=request.store, translations=settings.translations
        )
        known = library.snapshot.name_of.get(str(source.path.absolute()))
        if known is None:
            hint = "add its folder with `--root`"
            raise UserError(f"'{source.path}' is outside the served folders", hint)
        to = f"/s/{known}?turn={turn}" if turn else f"/s/{known}"
    running = find_running_server(running_file(request)) or _start_server(request)
    if is_key_printed:
        write_bytes(f"{Keys(running.secret).key}\n".encode())
        return
    path = write_opening_file(running_file(request).parent, running, to)
    if is_printed:
        write_bytes(f"{path}\n".encode("utf-8", "surrogateescape"))
    elif not open_in_browser(path):
        request.output.note(
            f"could not open a browser; Plait is at {running.address.url}{to}", no_wrap=True
        )
        request.output.note(f"key      {Keys(running.secret).key}", no_wrap=True)


def _start_server(request: Request) -> RunningServer:
    settings = request.settings
    # -P: a folder called plait in the current directory must not be imported
    command = [sys.executable, "-P", "-m", "plait", "serve", "--background", "--no-open"]
    command += ["--port", "0", "--until-idle", str(IDLE_HOURS)]
    if not settings.is_default_root:
        command += [part for root in settings.roots for part in ("--root", str(root.absolute()))]
    log = settings.state / "serve.log"
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    request.output.note("starting the server")
    with open(log, "wb", opener=_private) as file:
        process = subprocess.Popen(  # noqa: S603  this very program
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        has_ended = process.poll() is not None
        if running := find_running_server(running_file(request)):
            return running
        if has_ended:
            break
        time.sleep(0.05)
    raise SourceError("the server did not start", f"see '{log}' for the reason")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _serve_lake(request: Request, url: str, asked: ServeOptions) -> None:
    """Serve a lake, or stop the server that does."""
    place = str(Path(url).absolute()) if "://" not in url else url
    name = sha256(place.encode()).hexdigest()[:16]
    file = request.settings.state / f"serve-lake-{name}.json"
    if asked.is_stopped:
        stop_running_server(request, file)
        return
    if not is_local(asked.host) and not asked.policy:
        raise UserError(
            "a lake that other machines can reach needs a policy",
            "add `--policy FILE`: docs/guide/serve.md has an example",
        )
    if known := find_running_server(file):
        _print_lake_address(request, known, asked, "is already served")
        return
    from plait.lake.access import PolicyFile, ServedLake
    from plait.lake.saved_queries import FILE_NAME, load_saved_queries
    from plait.web.lake import LakeState, PeopleKeys, run_lake

    policy = PolicyFile(Path(asked.policy)) if asked.policy else None
    served = ServedLake(open_lake(request, url), policy)
    own = find_config_file().with_name(FILE_NAME)
    state = LakeState(served, lambda: load_saved_queries(own))
    state.questions()  # fails now rather than at the first visit if the file is invalid
    with run_server(request, file, asked) as (listener, running):
        _print_lake_address(request, running, asked, "is")
        keys = PeopleKeys(running.secret, policy) if policy else Keys(running.secret)
        commands = Commands("", shell_command("plait", "serve", "--lake", url))
        run_lake(state, listener, keys, asked.known_names, asked.idle_seconds, commands)


def _print_lake_address(
    request: Request, running: RunningServer, asked: ServeOptions, state: str
) -> None:
    request.output.note(f"the lake {state} at {running.address.url}", no_wrap=True)
    if asked.policy:
        request.output.note(
            "key      each person has their own, listed in the policy", no_wrap=True
        )
        request.output.note("stop with Ctrl-C", no_wrap=True)
    else:
        hint = "shown if you run this again in a terminal"
        print_key(request, running, hint, is_opened=asked.is_opened)
