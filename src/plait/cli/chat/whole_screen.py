"""Lines and keys to a screen of their own, which leaves what was there as it was."""

import shutil
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import ANSI, to_formatted_text
from prompt_toolkit.layout import FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.styles import Style

from plait.view.text import only_colours

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.output import Output

ESCAPE_TIME = 0.1
FRAME = 2
"""Rows of the head and of the foot."""
STYLE = Style.from_dict({"head": "bold", "foot": "italic", "chosen": "reverse", "found": "reverse"})


def whole_screen(
    head: Callable[[], str],
    body: "Callable[[], StyleAndTextTuples]",
    foot: Callable[[], str],
    keys: "KeyBindings",
    source: "Input | None" = None,
    output: "Output | None" = None,
) -> "Application[Any]":
    """Returns what draws a head, a body and a foot, and obeys keys until it is left."""
    parts = [
        Window(FormattedTextControl(lambda: [("class:head", head())]), height=1),
        Window(FormattedTextControl(body, show_cursor=False), wrap_lines=False),
        Window(FormattedTextControl(lambda: [("class:foot", foot())]), height=1),
    ]
    app: Application[Any] = Application(
        Layout(HSplit(parts)),
        key_bindings=keys,
        style=STYLE,
        full_screen=True,
        input=source,
        output=output,
    )
    app.ttimeoutlen = ESCAPE_TIME
    return app


def room() -> tuple[int, int]:
    """Returns the columns and rows that a body has."""
    size = shutil.get_terminal_size()
    return size.columns - 1, max(size.lines - FRAME, 1)


def coloured(lines: Iterable[str], style: str = "") -> "StyleAndTextTuples":
    """Returns lines with no more than their own harmless colours."""
    text = "".join(f"{only_colours(line)}\n" for line in lines)
    return to_formatted_text(ANSI(text), style=style)
