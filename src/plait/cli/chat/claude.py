"""`--engine claude`: what was chosen to a session that the installed client holds."""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from plait.agent.claude.engine import ClaudeEngine
from plait.agent.claude.finding import checked, found
from plait.agent.claude.start import Start
from plait.agent.engine import Engine
from plait.agent.permission import Asker
from plait.agent.rewinding import Point
from plait.cli.chat.choice import Choice
from plait.cli.chat.past import Past
from plait.cli.chat.starting import INTERRUPTED, directory_of, named_session
from plait.cli.options import Request
from plait.cli.output import escaped, write_bytes
from plait.cli.text import safe
from plait.conversation.prices import Prices
from plait.errors import UserError
from plait.view.terminal.model import AnyBlock

LONGEST_LINE = 64 << 20


@dataclass
class ClaudeOpening:
    """Opens sessions of one directory, all held by the installed client."""

    how: Start
    choice: Choice
    past: Past
    prices: Prices = field(default_factory=Prices)
    asker: Asker | None = None
    """Whoever is asked before something is done."""
    old: Path | None = None
    """The session that goes on; None for a new one."""
    recent: Callable[[], Iterable[AnyBlock]] = tuple
    greeting: tuple[str, ...] = ()
    farewell: tuple[str, ...] = ()

    @property
    def directory(self) -> Path:
        """Where the client works."""
        return self.how.directory

    @property
    def model_name(self) -> str:
        """Whoever answers, as far as that was said."""
        return self.choice.named_model or "Claude Code"

    def client(self) -> ClaudeEngine:
        """Returns the session that was chosen."""
        return self._engine(self.how)

    def start(self, client: Engine) -> None:
        """Has the client start while the person still thinks."""
        if isinstance(client, ClaudeEngine):
            client.warm_up()

    def cleared(self, old: Engine) -> ClaudeEngine:
        """Begins a session with nothing in its context."""
        return self._engine(self._new(old))

    def resumed(self, path: Path) -> ClaudeEngine:
        """Goes on with the session of a file."""
        fresh = replace(self.how, session=None, title=None, at=None, is_fork=False)
        return self._engine(replace(fresh, resumed=path.stem))

    async def branched(self, old: Engine, point: Point | None, title: str) -> ClaudeEngine:
        """Begins a session with what was said, up to now or to before a prompt."""
        if not old.points():
            raise UserError("there is nothing yet that could be branched")
        new = replace(self._new(old), title=title or None, resumed=old.session, is_fork=True)
        return self._engine(replace(new, at=point.before if point else None))

    def _new(self, old: Engine) -> Start:
        told = {"resumed": None, "is_fork": False, "at": None, "session": None, "title": None}
        return replace(self.how, **told, mode=old.mode)  # type: ignore[arg-type]

    def _engine(self, start: Start) -> ClaudeEngine:
        return ClaudeEngine(start, asker=self.asker, prices=self.prices)


def start_claude(
    request: Request, choice: Choice, prompt: str | None, asked: Mapping[str, Any]
) -> int:
    """Runs a session that the installed client holds; returns the exit code."""
    settings = request.settings.chat
    place = found(settings.environment, settings.claude)
    executable = checked(place, settings.environment, settings.claude)
    old = named_session(request, asked)
    start = Start(
        executable,
        request.settings.roots[0],
        directory_of(request, old),
        environment=_environment(choice, settings.environment),
        model=choice.named_model,
        mode=choice.mode if choice.has_mode else None,
        options=_options(choice),
        denied=choice.denied,
        session=choice.session,
        title=choice.title,
        resumed=old.path.stem if old else None,
        is_fork=asked["is_fork"],
        at=asked["at"],
    )
    if choice.is_printed:
        return asyncio.run(_passed_on(start, prompt, asked))
    from plait.cli.chat.sitting import sit

    past = Past(request, start.directory)
    opening = ClaudeOpening(
        start,
        choice,
        past,
        request.prices,
        old=old.path if old else None,
        recent=lambda: past.recent(old) if old else (),
        greeting=(f"Claude Code holds this session, and writes its log ({executable})",),
    )
    try:
        return asyncio.run(sit(request.output, opening, prompt))
    except asyncio.CancelledError:
        return INTERRUPTED


def _environment(choice: Choice, environment: Mapping[str, str]) -> dict[str, str]:
    where = {"ANTHROPIC_BASE_URL": choice.base_url} if choice.base_url else {}
    return {**environment, **where}


def _options(choice: Choice) -> tuple[str, ...]:
    words: list[str] = []
    for name, value in (
        ("--max-turns", choice.max_turns),
        ("--max-budget-usd", choice.max_budget_usd),
        ("--system-prompt", choice.system_prompt),
        ("--append-system-prompt", choice.appended or None),
    ):
        words += [name, str(value)] if value is not None else []
    for other in choice.others:
        words += ["--add-dir", str(other)]
    return (*words, *(("--allowedTools", *choice.allowed) if choice.allowed else ()))


async def _passed_on(start: Start, prompt: str | None, asked: Mapping[str, Any]) -> int:
    """Has the client answer a program, and passes on what it says; returns its exit code."""
    form = asked["output_format"]
    words = [*start.printed(form, asked["input_format"], replays=asked["replays"])]
    process = await asyncio.create_subprocess_exec(
        *words,
        *(("--", prompt) if prompt else ()),
        cwd=start.directory,
        env=start.whole_environment,
        stdout=asyncio.subprocess.PIPE,
        limit=LONGEST_LINE,
    )
    assert process.stdout
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError, RuntimeError):
        loop.add_signal_handler(signal.SIGINT, lambda: process.send_signal(signal.SIGINT))
    try:
        while line := await process.stdout.readline():
            _print(line, form)
    except BrokenPipeError:
        process.terminate()
        raise
    finally:
        code = await process.wait()
    return code if code >= 0 else INTERRUPTED


def _print(line: bytes, form: str) -> None:
    """Prints what the client said so that nothing in it commands the terminal."""
    if form == "text":
        sys.stdout.write(safe(line.decode(errors="replace")))
        sys.stdout.flush()
    else:
        write_bytes(escaped(line.rstrip(b"\n")) + b"\n")
