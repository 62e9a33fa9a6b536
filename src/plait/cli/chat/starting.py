"""Options to a session, and to whoever talks with it: a person at a terminal, or a program."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plait.cli.chat import CHOSEN
from plait.cli.chat.choice import MODES, REPLAY, SCRIPT, Choice, chosen, in_mode
from plait.cli.chat.keyboard import PlainKeyboard, whole_text
from plait.cli.chat.opening import Opening
from plait.cli.chat.past import Past
from plait.cli.chat.signals import stopped_by
from plait.cli.chat.trust import settings_in
from plait.cli.options import Request
from plait.errors import UserError

if TYPE_CHECKING:
    from plait.agent.streaming import Model
    from plait.archive import Session

INTERRUPTED = 130


def start(request: Request, prompt: str | None, asked: Mapping[str, Any]) -> int:
    """Runs a session to its end; returns the exit code."""
    choice = chosen(asked, request.settings.chat)
    prompt = whole_text(prompt) if prompt else None
    if asked["demo"]:
        from plait.cli.chat.demo import demo_opening

        opening = demo_opening(request, choice)
    elif choice.engine == "claude":
        from plait.cli.chat.claude import start_claude

        return start_claude(request, choice, prompt, asked)
    else:
        opening = _opening(request, choice, asked)
    if choice.is_printed:
        work = _printed(opening, prompt, asked)
    else:
        from plait.cli.chat.sitting import sit

        work = sit(request.output, opening, prompt)
    try:
        return asyncio.run(work)
    except asyncio.CancelledError:  # a signal ended it; all is logged
        return INTERRUPTED


def named_session(request: Request, asked: Mapping[str, Any]) -> "Session | None":
    """Returns the session that goes on, None for a new one."""
    if asked["resume"] == CHOSEN:
        return _picked(request, asked)
    if asked["resume"]:
        return request.session(asked["resume"])
    return request.session(".") if asked["is_continued"] else None


def _picked(request: Request, asked: Mapping[str, Any]) -> "Session":
    """Returns the session that the person chooses, before anything else begins."""
    from plait.cli.chat.sitting import keyboard_for

    if asked["is_printed"]:
        raise UserError("`--resume` needs a session where nobody can choose one", "name it")
    settings = request.settings
    past = Past(request, settings.directory)
    keyboard = keyboard_for(settings, str(settings.directory))
    row = asyncio.run(keyboard.pick(past.picking()))
    if row is None:
        raise click.exceptions.Exit(0)
    return request.archive.session_at(row.facts.path)


def _opening(request: Request, choice: Choice, asked: Mapping[str, Any]) -> Opening:
    settings, old = request.settings, named_session(request, asked)
    directory = directory_of(request, old)
    client_settings = settings_in(request, choice, directory)
    choice = in_mode(choice, client_settings.default_mode(MODES), settings.chat)
    past = Past(request, directory)
    return Opening(
        root=settings.roots[0],
        directory=directory,
        past=past,
        choice=choice,
        settings=client_settings,
        note=request.output.note,
        model=_model(request, choice),
        prices=request.prices,
        environment=settings.chat.environment,
        let_through=settings.chat.let_through,
        old=old.path if old else None,
        is_fork=asked["is_fork"],
        at=asked["at"],
        recent=lambda: past.recent(old) if old else (),
    )


def directory_of(request: Request, old: "Session | None") -> Path:
    """Returns where the tools work: here, or where a session that goes on worked."""
    here = request.settings.directory
    if old is None:
        return here
    resume = request.archive.resume(old, default=request.settings.roots[0])
    if resume.why_not:
        raise UserError(f"it cannot go on: {resume.why_not}")
    if live := resume.warning("live"):
        request.output.note(f"warning: {live.sentence}")
    place = Path(resume.directory) if resume.directory else here
    if not place.is_dir():
        raise UserError(
            f"'{place}' is not here, where the session worked",
            f"make it again, or `plait move {place} .` lets its sessions be those of this one",
        )
    if place.resolve() != here.resolve():
        request.output.note(f"works in {place}")
    return place


def _model(request: Request, choice: Choice) -> "Model":
    from plait.agent import models

    if choice.model.startswith(SCRIPT):
        return models.ScriptModel.of_file(Path(choice.model.removeprefix(SCRIPT)))
    if choice.model.startswith(REPLAY):
        session = request.session(choice.model.removeprefix(REPLAY))
        return models.ReplayModel(session.path)
    return models.MessagesApi(choice.model, key=choice.api_key, base_url=choice.base_url)


async def _printed(opening: Opening, prompt: str | None, asked: Mapping[str, Any]) -> int:
    from plait.cli.chat.control import Controls
    from plait.cli.chat.printing import Printing, given_words
    from plait.cli.chat.streamed import one

    lines = PlainKeyboard()
    is_streamed = asked["input_format"] == "stream-json"
    if is_streamed and prompt:
        raise UserError("prompts of a stream come on standard input alone")
    words = "" if is_streamed else await given_words(lines, prompt)
    controls = Controls(lines, opening.choice.mode == "bypassPermissions")
    opening.asker = controls if asked["prompt_tool"] else None
    async with opening.opened() as client:
        printing = Printing.of(client, opening, asked["output_format"], replays=asked["replays"])
        if asked["is_partial"]:
            printing.tell_pieces()
        with stopped_by(client.interrupt):
            controls.serve(client, printing.say)
            return await printing.run(controls.prompts() if is_streamed else one(words))
