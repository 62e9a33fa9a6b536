"""Hits to the screen: which session, when, which turn, and the words that were looked for."""

from typing import TYPE_CHECKING

from plait.cli.figures import SEPARATOR, local, short
from plait.cli.options import Request
from plait.cli.printing import print_lines
from plait.cli.search import opening
from plait.cli.text import ago, clipped, counted, now, number, safe
from plait.index.model import Found, Hit

if TYPE_CHECKING:
    from rich.text import Text

MARKED = "bold yellow"
INDENT = "  "
STYLES = {"prompt": "bold green", "answer": "bold", "title": "bold magenta", "command": "green"}
ASIDE = {name: name for name in ("abandoned", "agent", "service", "recovered")}


def print_found(request: Request, found: Found, query: str) -> None:
    """Prints the hits, those of one session below its title."""
    output = request.output
    if found.note:
        output.note(found.note)
    if not found.hits:
        output.print(f"nothing matches '{safe(query)}'")
        output.print("fewer words, `word*` or `--exact` may find more", style="dim")
        return
    with output.paged():
        before = None
        for hit in found.hits:
            if hit.session != before:
                print_session(request, hit, is_first=before is None)
            before = hit.session
            print_hit(request, hit)
        print_total(request, found)


def print_session(request: Request, hit: Hit, *, is_first: bool) -> None:
    """Prints which session the next hits are of."""
    from rich.text import Text

    output = request.output
    if not is_first:
        output.print("")
    beside = SEPARATOR.join((short(hit.session), hit.project.strip("-") or hit.project))
    room = max(output.width - len(beside) - 2, 20)
    title = clipped(safe(" ".join((hit.title or "(no title)").split())), room)
    line = Text(title, style="bold").append(f"  {safe(beside)}", style="dim not bold")
    output.console.print(line, no_wrap=True, overflow="ellipsis", crop=True)


def print_hit(request: Request, hit: Hit) -> None:
    """Prints one hit: what it is, its words, how to open it."""
    output, width = request.output, request.output.width
    words = marked(hit).wrap(output.console, width - len(INDENT) * 2)
    print_lines(
        output,
        (
            heading(hit, width),
            *(aside(line, width) for line in hit.before),
            *(indented(line) for line in words),
            *(aside(line, width) for line in hit.after),
        ),
    )


def heading(hit: Hit, width: int) -> "Text":
    """Returns the line above the words of a hit, with the command that opens it."""
    command = " ".join(opening(hit))
    more = counted(hit.more, "more match", "more matches") if hit.more else ""
    text = told(hit, more)
    if more and text.cell_len + len(command) + 2 > width:
        text = told(hit)
    if text.cell_len + len(command) + 2 <= width:
        text.append(" " * (width - text.cell_len - len(command)) + command, style="dim italic")
    return text


def told(hit: Hit, more: str = "") -> "Text":
    """Returns what a hit is, where it stands and when it was."""
    from rich.text import Text

    turn = f"turn {hit.turn}" if hit.turn is not None else ""
    parts = (turn, hit.tool or "", ASIDE.get(hit.state or "", ""), when(hit), more)
    text = Text(INDENT).append(hit.kind, style=STYLES.get(hit.kind, "cyan"))
    for part in parts:
        if part:
            text.append(f"{SEPARATOR}{safe(part)}", style="dim")
    return text


def when(hit: Hit) -> str:
    """Returns when a hit was, in the user's own time."""
    time = local(hit.time)
    if time is None:
        return ""
    passed = ago(time, now())
    return f"{time:%Y-%m-%d %H:%M}" if passed == f"{time:%Y-%m-%d}" else passed


def marked(hit: Hit) -> "Text":
    """Returns the words of a hit, those that were looked for marked."""
    from rich.text import Text

    text = Text(safe(hit.snippet) or "(the log has changed since)", overflow="fold")
    for start, end in hit.marks:
        text.stylize(MARKED, start, end)
    return text


def indented(line: "Text") -> "Text":
    """Returns a line of words below its heading."""
    from rich.text import Text

    line.rstrip()
    return Text(INDENT * 2).append_text(line)


def aside(line: str, width: int) -> "Text":
    """Returns a line of the text around a hit."""
    from rich.text import Text

    return Text(f"{INDENT * 2}{clipped(safe(line), width - 5)}".rstrip(), style="dim")


def print_total(request: Request, found: Found) -> None:
    """Prints how much was found, and what narrows it down."""
    output = request.output
    shown = counted(len(found.hits), "turn")
    of = f" of {number(found.total)} matching passages" if found.total > len(found.hits) else ""
    output.print("")
    output.print(f"{shown}{of}", style="dim")
