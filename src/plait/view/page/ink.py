"""What a program printed to HTML: its colours kept, every other sequence gone."""

import re

from plait.view.ansi import with_colours
from plait.view.page.escape import esc

COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
PLAIN, BRIGHT = range(30, 38), range(90, 98)


def ink(text: str) -> str:
    """Returns printed text as HTML; the sixteen colours and bold become classes."""
    if "\x1b" not in text and "\x9b" not in text and "\r" not in text:
        return esc(text)
    parts = COLOUR.split(with_colours(text))
    html = [esc(parts[0])]
    style: frozenset[str] = frozenset()
    for codes, words in zip(parts[1::2], parts[2::2], strict=True):
        style = styled(style, codes)
        if words:
            names = " ".join(sorted(style))
            html.append(f'<span class="{names}">{esc(words)}</span>' if style else esc(words))
    return "".join(html)


def styled(style: frozenset[str], codes: str) -> frozenset[str]:
    """Returns the classes that are in force after some codes."""
    numbers = [int(code) for code in codes.split(";") if code] or [0]
    if numbers[0] in (38, 48):  # one of many colours: the page keeps to its own sixteen
        return style
    for number in numbers:
        style = after(style, number)
    return style


def after(style: frozenset[str], number: int) -> frozenset[str]:
    """Returns the classes that are in force after one code."""
    if number == 0:
        return frozenset()
    if number == 1:
        return style | {"ib"}
    if number == 22:
        return style - {"ib"}
    uncoloured = frozenset(name for name in style if name == "ib")
    if number == 39:
        return uncoloured
    if number in PLAIN:
        return uncoloured | {f"i{number - 30}"}
    return uncoloured | {f"i{number - 90}"} if number in BRIGHT else style
