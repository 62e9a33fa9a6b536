"""A session and a person at its keyboard: what they see, what they are asked, what stops it."""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from plait.agent.engine import Engine
from plait.cli.chat.commands import offered_commands
from plait.cli.chat.dialogue import Dialogue
from plait.cli.chat.drawing import Drawing
from plait.cli.chat.keyboard import Keyboard, Live, PlainKeyboard
from plait.cli.chat.looking import offered_sessions
from plait.cli.chat.opening import Opener
from plait.cli.chat.screen import Screen
from plait.cli.chat.signals import caught, stopped_by
from plait.cli.chat.standing import Standing
from plait.cli.chat.talk import Talk
from plait.cli.output import Output
from plait.cli.settings import Settings, own_home
from plait.cli.text import short, to_type
from plait.view.forms import model_name

if TYPE_CHECKING:
    from plait.cli.chat.completion import Offer

DUMB = ("dumb", "unknown")
"""Terminals on which nothing that was drawn can be taken back."""


async def sit(output: Output, opening: Opener, prompt: str | None) -> int:
    """Talks with whoever is there until they leave; returns the exit code."""
    live = Live()
    drawing = Drawing(str(opening.directory), echoes=True)
    keyboard = keyboard_for(
        output.settings, str(opening.directory), live, lambda: talk.client.commands
    )
    screen = Screen(output, drawing, keyboard)
    opening.asker = Dialogue(screen, keyboard, lambda: talk.settled())
    standing = Standing(opening.prices, output.settings.chat.ask_above_usd)
    talk = Talk(opening.client(), screen, keyboard, opening, standing, opening.past)
    _connect(live, talk)
    try:
        with _stopping(keyboard, talk), keyboard.attached():
            _warm_up(opening)
            await screen.say(*_greeting(opening, talk.client))
            opening.start(talk.client)
            await screen.print(opening.recent())
            if opening.old:
                talk.foresee()
            code = await talk.run(prompt)
        await screen.say(*(opening.farewell or _farewell(talk)))
    finally:
        await talk.client.close()
    return code


def _connect(live: Live, talk: Talk) -> None:
    """Has the lines below tell what goes on, and keys do what they are for."""
    screen = talk.screen
    live.words, live.doing = screen.open_words, lambda: screen.drawing.doing
    live.beside, live.folded = lambda: talk.beside.lines(), screen.folded
    live.waiting, live.take_back = talk.waiting, talk.take_back
    live.stop, live.change_mode = talk.stop, talk.change_mode
    live.standing = lambda: talk.standing.line(talk.client, talk.beside.in_words)
    live.doubt = talk.standing.doubt
    live.sessions = lambda typed: offered_sessions(talk, typed)


def _warm_up(opening: Opener) -> None:
    """Loads what is sent with while nothing is sent yet: it takes seconds."""
    if opening.choice.asks_api and opening.choice.engine == "api":
        threading.Thread(target=_load, daemon=True).start()


def _load() -> None:
    with suppress(ImportError):  # told when something is sent
        import_module("anthropic")


def keyboard_for(
    settings: Settings,
    directory: str,
    live: Live | None = None,
    commands: Callable[[], Mapping[str, str]] = dict,
) -> Keyboard:
    """Returns the keyboard that there is; a plain one without a terminal, or what reads keys."""
    live = live or Live()
    is_dumb = settings.chat.environment.get("TERM") in DUMB
    if is_dumb or not (os.isatty(0) and sys.stdout.isatty()):
        return PlainKeyboard()
    try:
        from plait.cli.chat.terminal import TerminalKeyboard
    except ImportError:
        return PlainKeyboard()
    from plait.cli.chat.completion import ChatCompleter, FileOffers
    from plait.cli.chat.history import KeptHistory
    from plait.cli.chat.steady import steady_output

    def offered(typed: str) -> "Iterator[Offer]":
        return offered_commands(typed, commands())

    return TerminalKeyboard(
        live,
        ChatCompleter(
            offered,
            {"resume": lambda typed: live.sessions(typed)},
            FileOffers(Path(directory), own_home()),
        ),
        history=KeptHistory(settings.data / "chat" / "history.jsonl", directory),
        is_vi=settings.chat.editing_mode == "vi",
        has_colours=settings.colour != "never",
        editor=settings.chat.editor,
        output=steady_output(),
    )


def _stopping(keyboard: Keyboard, talk: Talk) -> AbstractContextManager[None]:
    if not keyboard.is_live:
        return stopped_by(talk.stop)
    return caught(keyboard.interrupted)


def _greeting(opening: Opener, client: Engine) -> list[str]:
    what = "goes on" if opening.old else "begins"
    return [
        *opening.greeting,
        f"{model_name(opening.model_name)} in {opening.directory}",
        f"session {client.session} {what}; /help lists commands",
        "",
    ]


def _farewell(talk: Talk) -> list[str]:
    if not talk.has_spoken:
        return []
    typed = to_type("plait", "chat", "--resume", short(talk.client.session))
    return [f"`{typed}` goes on with it"]
