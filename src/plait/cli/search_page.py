"""Hits to the screen: which session, when, which turn, and the words that were looked for."""

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from plait.cli.figures import SEPARATOR, fitting, local, short
from plait.cli.options import Request
from plait.cli.printing import print_lines
from plait.cli.search import opening
from plait.cli.text import ago, clipped, columns, counted, now, number, safe
from plait.index.model import Found, Hit

if TYPE_CHECKING:
    from rich.text import Text

MARKED = "bold red"
"""As other programs mark what they found: it can be read on dark and on light."""
INDENT = "  "
STYLES = {"prompt": "bold green", "answer": "bold", "title": "bold magenta", "command": "green"}
ASIDE = {name: name for name in ("abandoned", "agent", "service", "recovered")}
NARROWED = {"project": "project:", "tool": "tool:", "kind": "in:", "month": "after:"}
"""Fields that say what a facet counts."""
MOST_FACETS = 4


def print_found(request: Request, found: Found, query: str) -> None:
    """Prints the hits, those of one session below its title."""
    output = request.output
    if not found.hits:
        print_nothing(request, found, query)
        return
    if found.note:
        output.note(found.note)
    with output.paged():
        for place, hits in enumerate(by_session(found)):
            if place:
                output.print("")
            print_session(request, hits[0])
            for hit in hits:
                print_hit(request, hit)
        print_total(request, found)


def print_nothing(request: Request, found: Found, query: str) -> None:
    """Prints that nothing was found, and what may find more."""
    output = request.output
    where = f" in {counted(found.sessions, 'session')}" if found.sessions else ""
    output.print(f"nothing matches '{safe(clipped(query, 200))}'{where}")
    if found.near:
        output.print(f"did you mean {' or '.join(f'`{one}`' for one in found.near)}?")
    elif found.note:
        output.print(found.note)
    else:
        output.print("fewer words, `word*` or `--exact` may find more", style="dim")


def by_session(found: Found) -> list[list[Hit]]:
    """Returns the hits of each session together, that of the best hit first."""
    sessions: dict[str, list[Hit]] = {}
    for hit in found.hits:
        sessions.setdefault(hit.session, []).append(hit)
    return list(sessions.values())


def print_session(request: Request, hit: Hit) -> None:
    """Prints which session the next hits are of."""
    from rich.text import Text

    output = request.output
    project = hit.project.strip("-") or hit.project
    beside = f"  {short(hit.session)}{SEPARATOR}{safe(project)}"
    title = safe(" ".join((hit.title or "(no title)").split()))
    room = max(output.width - columns(beside), output.width // 2)
    line = Text(clipped(title, room), style="bold").append(beside, style="dim not bold")
    line.truncate(output.width, overflow="ellipsis")
    print_lines(output, [line])


def print_hit(request: Request, hit: Hit) -> None:
    """Prints one hit: what it is, its words, how to open it."""
    output, width = request.output, request.output.width
    words = marked(hit).wrap(output.console, max(width - len(INDENT) * 2, 10))
    print_lines(
        output,
        (
            *heading(hit, width),
            *(aside(line, width) for line in hit.before),
            *(indented(line) for line in words),
            *(aside(line, width) for line in hit.after),
        ),
    )


def heading(hit: Hit, width: int) -> "Iterator[Text]":
    """Yields the line above the words of a hit, and the command that opens it: beside or below."""
    from rich.text import Text

    command = " ".join(opening(hit))
    more = counted(hit.more, "more match", "more matches") if hit.more else ""
    text = told(hit, more)
    if more and text.cell_len + len(command) + 2 > width:
        text = told(hit)
    room = width - text.cell_len - len(command)
    if room >= 2:
        yield text.append(" " * room + command, style="dim italic")
        return
    text.truncate(width, overflow="ellipsis")
    yield text
    yield Text(f"{INDENT}{command}", style="dim italic", overflow="fold")


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

    words = clipped(safe(line.expandtabs(4).rstrip()), max(width - 5, 10))
    return Text(f"{INDENT * 2}{words}".rstrip(), style="dim")


def print_total(request: Request, found: Found) -> None:
    """Prints how much was found, what goes on from here, and what narrows it down."""
    output = request.output
    shown = sum(hit.more + 1 for hit in found.hits)
    is_all = found.total - shown <= len(by_session(found))  # titles are not shown as turns
    parts = (
        counted(len(found.hits), "turn"),
        f"{number(found.total)} passages match" if found.total > len(found.hits) else "",
        "`--open` shows the first",
        f"`plait resume {short(found.hits[0].session)}` goes on with it",
    )
    output.print("")
    output.print(fitting(parts, output.width), style="dim")
    for counts in [] if is_all else narrowing(found):
        output.print(fitting(counts, output.width), style="dim")


def narrowing(found: Found) -> Iterator[list[str]]:
    """Yields the fields that leave only a part, with how many passages that is."""
    for name, field in NARROWED.items():
        counts = found.facets.get(name, {})
        if len(counts) > 1:
            chosen = since_months(counts) if name == "month" else list(counts.items())
            yield [
                f"{field}{safe(value.strip('-'))} {number(count)}"
                for value, count in chosen[:MOST_FACETS]
            ]


def since_months(counts: dict[str, int]) -> list[tuple[str, int]]:
    """Returns months, the newest first, with how many passages there are since each."""
    newest = sorted(counts, reverse=True)
    return list(zip(newest, accumulate(counts[month] for month in newest), strict=True))
