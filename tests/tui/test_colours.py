"""Screens in light and dark terminals and without colours.

Text pictures (`screens/`) hold every letter in its place, and a change of one shows in a review.
Pictures in SVG would hold the same letters between a thousand coordinates; what they add is
colours, so each screen is exported as SVG here and its colours are held against the rules.
"""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.color import blend_rgb
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME, TerminalTheme

from tests.tui.ui import Screen, run_ui

LIGHT, DARK = DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME
LEAST_CONTRAST = 3.0
"""Of what the terminal's own palette makes of a colour: 4.5 depends on the palette."""
STEPS = (
    ("list", (), "▌ "),
    ("filter", ("slash", "t", "e", "s", "t", "s", "enter"), " of 20"),
    ("conversation", ("enter",), "turn "),
    ("graph", ("g",), "prompt"),
    ("timeline", ("t",), "Turn 1"),
    ("context", ("c",), "messages"),
    ("usage", ("u",), "requests"),
    ("files", ("F",), "in total"),
    ("keys", ("escape", "question_mark"), "fork: a new session"),
    ("trim", ("escape", "T"), "extreme"),
    ("plan", ("escape", "f"), "before"),
)


def segments(screen: Screen) -> Iterator[Segment]:
    """Yield what is drawn, but for empty places."""
    for strip in screen.app.screen._compositor.render_strips(screen.app.size):
        yield from (part for part in strip if any(map(str.isalnum, part.text)))


def contrast(style: Style, theme: TerminalTheme) -> float:
    """Return the contrast of a style by the formula of WCAG."""
    front = style.color.get_truecolor(theme) if style.color else theme.foreground_color
    back = (
        style.bgcolor.get_truecolor(theme, foreground=False)
        if style.bgcolor
        else theme.background_color
    )
    if style.reverse:
        front, back = back, front
    if style.dim:
        front = blend_rgb(front, back, 0.4)
    high, low = sorted((luminance(front), luminance(back)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: ColorTriplet) -> float:
    parts = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in colour.normalized
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def is_of_the_terminal(style: Style) -> bool:
    """Return whether a style has the terminal's own colours alone, of which it has sixteen."""
    colours = [colour for colour in (style.color, style.bgcolor) if colour]
    return all(colour.is_default or (colour.number or 0) < 16 for colour in colours)


@pytest.mark.parametrize("colour", ["auto", "never"])
def test_every_screen_is_readable(root: Path, colour: str) -> None:
    coloured = set[Style]()

    async def scenario(screen: Screen) -> None:
        for name, keys, text in STEPS:
            await screen.press(*keys)
            await screen.wait_for(text, without="\nreading…")
            drawn = {part.style or Style.null(): part.text for part in segments(screen)}
            for style, words in drawn.items():
                assert is_of_the_terminal(style), (name, words, style)
                for theme in (LIGHT, DARK):
                    assert contrast(style, theme) >= LEAST_CONTRAST, (name, words, style)
            coloured.update(style for style in drawn if style.color and not style.color.is_default)
            picture = ElementTree.fromstring(screen.app.export_screenshot())
            shown = "".join("".join(picture.itertext()).split())
            for line in screen.text.splitlines():
                assert "".join(line.split()) in shown, (name, line)

    run_ui(root, scenario, colour=colour, size=(100, 30))
    assert bool(coloured) == (colour == "auto"), coloured
