"""Lines that fit the page to the screen, thousands of them quickly."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from plait.cli.output import Output

if TYPE_CHECKING:
    from rich.text import Text


def print_lines(output: Output, lines: Iterable["Text"]) -> None:
    """Writes one line each: laid out where it is too wide, without colours the words alone."""
    console, width = output.console, output.width
    is_plain = not (console.is_terminal or console.color_system)
    for line in lines:
        fits = line.cell_len <= width
        if is_plain and fits:
            console.file.write(f"{line.plain}\n")
        else:
            console.print(line, soft_wrap=fits)
