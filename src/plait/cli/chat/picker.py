"""A choice among sessions to a screen where one types what is looked for."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from plait.cli.chat.picking import Picking, Row
from plait.cli.chat.whole_screen import room, whole_screen
from plait.cli.text import clipped, counted, safe_line
from plait.errors import PlaitError

if TYPE_CHECKING:
    from prompt_toolkit.application import Application
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

KEYS = "Enter goes on, Tab {scope}, Ctrl-S looks in what was said, Esc"
REFRESH = 0.2


async def pick(
    picking: Picking, source: "Input | None" = None, output: "Output | None" = None
) -> Row | None:
    """Returns the session that the person chose, None where they went back."""
    work: list[asyncio.Future[None]] = []

    def begin(task: Callable[[], None]) -> None:
        work.append(asyncio.ensure_future(_aside(picking, task)))

    app = _app(picking, begin, source, output)
    begin(picking.read)
    try:
        chosen: Row | None = await app.run_async(handle_sigint=False)
    finally:
        picking.forget()
        await asyncio.gather(*work)
    return chosen


async def _aside(picking: Picking, task: Callable[[], None]) -> None:
    """Does what takes long while one goes on typing; what goes wrong is told."""
    try:
        await asyncio.to_thread(task)
    except PlaitError as error:
        picking.note, picking.is_reading = error.message, False


def _app(
    picking: Picking,
    begin: Callable[[Callable[[], None]], None],
    source: "Input | None",
    output: "Output | None",
) -> "Application[Row | None]":
    app = whole_screen(
        lambda: head(picking),
        lambda: body(picking),
        lambda: foot(picking),
        _keys(picking, begin),
        source,
        output,
    )
    app.refresh_interval = REFRESH
    return app


def head(picking: Picking) -> str:
    """Returns what is looked for, and where."""
    where = "everywhere" if picking.is_everywhere else f"in {safe_line(picking.directory)}"
    return clipped(f"Go on with: {safe_line(picking.typed)}▏  {where}", room()[0])


def body(picking: Picking) -> "StyleAndTextTuples":
    """Returns the sessions around the one that is meant, and what that one is about."""
    width, rows = room()
    found, chosen = picking.found, picking.chosen
    if chosen is None:
        return [("", _nothing(picking))]
    most = max(rows - 2, 1)
    at = found.index(chosen)
    first = max(min(at - most // 2, len(found) - most), 0)
    lines: StyleAndTextTuples = [
        _shown(row, width, picking, is_chosen=row is chosen) for row in found[first : first + most]
    ]
    about = chosen.about if chosen.about != chosen.title else ""
    return [*lines, ("", "\n"), ("italic", clipped(about, width))]


def _shown(row: Row, width: int, picking: Picking, *, is_chosen: bool) -> tuple[str, str]:
    line = row.line(width - 2, picking.time)
    return ("class:chosen", f"▸ {line}\n") if is_chosen else ("", f"  {line}\n")


def _nothing(picking: Picking) -> str:
    if picking.is_reading:
        return "reading …"
    return "no session has that; Ctrl-S looks in what was said" if picking.typed else "no sessions"


def foot(picking: Picking) -> str:
    """Returns how many there are, and what can be done."""
    scope = "this directory" if picking.is_everywhere else "everywhere"
    count = "…" if picking.is_reading else counted(len(picking.found), "session")
    told = picking.note or count
    return clipped(f"{safe_line(told)}  {KEYS.format(scope=scope)}", room()[0])


def _keys(picking: Picking, begin: Callable[[Callable[[], None]], None]) -> KeyBindings:
    keys = KeyBindings()
    _add_typing(keys, picking)

    @keys.add("tab")
    def _(event: KeyPressEvent) -> None:
        picking.is_everywhere, picking.at = not picking.is_everywhere, 0
        begin(picking.read)

    @keys.add("c-s")
    def _(event: KeyPressEvent) -> None:
        if picking.typed.strip():
            begin(picking.look)

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        if picking.chosen:
            event.app.exit(result=picking.chosen)

    @keys.add("escape")
    @keys.add("c-c")
    @keys.add("c-d")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    return keys


def _add_typing(keys: KeyBindings, picking: Picking) -> None:
    steps = {"up": -1, "c-p": -1, "down": 1, "c-n": 1, "pageup": -10, "pagedown": 10}
    for key, count in steps.items():
        keys.add(key)(lambda event, count=count: picking.move(count))
    keys.add("backspace")(lambda event: picking.type(picking.typed[:-1]))
    keys.add("c-u")(lambda event: picking.type(""))

    @keys.add("<any>")
    @keys.add("<bracketed-paste>")
    def _(event: KeyPressEvent) -> None:
        picking.type(picking.typed + "".join(filter(str.isprintable, event.data)))
