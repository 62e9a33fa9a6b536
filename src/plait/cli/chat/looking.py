"""Commands that look at a session, at others and at what goes on, or go on with another one."""

import shutil
from typing import TYPE_CHECKING

from plait.cli.chat.keyboard import View
from plait.cli.text import safe_line, short
from plait.errors import UserError
from plait.view.terminal.model import Remark, Todos

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plait.cli.chat.completion import Offer
    from plait.cli.chat.picking import Picking
    from plait.cli.chat.talk import Talk

MOST_OFFERED = 30
TAIL = 12
"""Lines of what a task printed that are shown."""
MOST_TAIL_BYTES = 20_000


async def resume(talk: "Talk", rest: str) -> None:
    """Goes on with another session of this directory: the one that is named, or chosen."""
    past = talk.past
    if rest:
        session = past.session(rest)
    else:
        row = await talk.keyboard.pick(picking(talk))
        if row is None:
            return
        session = past.archive.session_at(row.facts.path)
    past.place_of(session)
    await talk.resume(session.path)
    await talk.screen.print(past.recent(session))
    await talk.screen.print([Remark(text=f"session {talk.client.session} goes on")])
    talk.foresee()


def picking(talk: "Talk") -> "Picking":
    """Returns the choice among all sessions but this one."""
    return talk.past.picking(lambda facts: facts.path != talk.client.path)


async def export(talk: "Talk", rest: str) -> None:
    """Writes what was said to a file."""
    _check_said(talk)
    lines = talk.past.export(talk.client.path, rest)
    await talk.say(*talk.client.noted("export", rest, lines))


async def graph(talk: "Talk", rest: str) -> None:
    """Draws the session as the graph it is; one that is long on a screen of its own."""
    _check_said(talk)
    lines = talk.past.graph(talk.client.path)
    rows = shutil.get_terminal_size().lines
    if talk.keyboard.is_live and len(lines) > rows - 4:
        await talk.keyboard.look_at(View(f"session {talk.client.session}", lambda width: lines))
    else:
        await talk.keyboard.above("".join(f"{line}\n" for line in lines))


def _check_said(talk: "Talk") -> None:
    if not talk.client.path.exists():
        raise UserError("nothing was said yet")


async def todos(talk: "Talk", rest: str) -> None:
    """Shows what is to be done, and how far it is."""
    if talk.beside.plan:
        await talk.screen.print([Todos(items=talk.beside.plan)])
    else:
        await talk.say("nothing is on the list")


async def tasks(talk: "Talk", rest: str) -> None:
    """Shows what runs in the background, or the end of what one task printed."""
    if not rest:
        await talk.say(*(talk.beside.running() or ["nothing runs in the background"]))
        return
    job = talk.beside.jobs.get(rest)
    if job is None or job.output is None:
        raise UserError(f"no task is called '{rest}'", "`/tasks` lists what runs")
    await talk.say(job.what, *_tail(job.output.read_bytes()))


def _tail(data: bytes) -> "list[str]":
    lines = data[-MOST_TAIL_BYTES:].decode("utf-8", "replace").rstrip("\n").split("\n")
    return [f"    {safe_line(line)}" for line in lines[-TAIL:]]


async def open_folded(talk: "Talk", rest: str) -> None:
    """Shows the last result, or the one before it by that number, whole."""
    views = talk.screen.folded()
    number = int(rest) if rest.isdecimal() else 1
    if not 0 < number <= len(views):
        raise UserError("there is no such result", f"{len(views)} are kept")
    await talk.keyboard.look_at(views[-number])


def offered_sessions(talk: "Talk", typed: str) -> "Iterator[Offer]":
    """Yields the sessions of the directory whose id or title begins so."""
    from plait.cli.chat.completion import Offer

    wanted = typed.casefold()
    found: Sequence[Offer] = [
        Offer(short(one.session), one.title or "")
        for one in talk.past.rows()
        if one.path != talk.client.path
        and (one.session.startswith(wanted) or wanted in (one.title or "").casefold())
    ]
    yield from found[:MOST_OFFERED]
