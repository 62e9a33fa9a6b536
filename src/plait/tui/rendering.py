"""What the commands print, as lines of a screen; conversations turn by turn."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from plait.archive import Facts, Session, describe_conversation
from plait.cli.options import Request
from plait.settings import Settings
from plait.terminal.output import Output
from plait.terminal.text import safe, safe_line
from plait.view.text import shorten_to_width

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from plait.conversation.costs import Totals
    from plait.conversation.model import Conversation, Conversations
    from plait.conversation.prices import Prices

WIDTH = 100
MOST_PREVIEWED = 40
"""Turns whose prompts a preview shows."""


class CountingBuffer(io.StringIO):
    """Text in memory that knows how many lines it has."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = 0

    def write(self, text: str) -> int:
        """Add text."""
        self.lines += text.count("\n")
        return super().write(text)


class ScreenOutput(Output):
    """Output that ends up on a screen of the terminal's interface instead of in the terminal."""

    def __init__(
        self, settings: Settings, root_options: Sequence[str] = (), width: int = WIDTH
    ) -> None:
        super().__init__(settings, root_options)
        self.columns = width
        self.written = CountingBuffer()

    @cached_property
    def console(self) -> "Console":
        """A console that writes into memory."""
        from plait.terminal.console import SafeConsole

        return SafeConsole(
            file=self.written,
            force_terminal=True,
            no_color=self.settings.colour == "never",
            color_system="256",
            width=self.columns,
            height=1_000,
            highlight=False,
            emoji=False,
            markup=False,
            _environ={},
        )

    @cached_property
    def stderr(self) -> "Console":
        """The same console: notes belong to what is shown."""
        return self.console

    @property
    def width(self) -> int:
        """The number of columns of the screen."""
        return self.columns

    def print_heading(self, facts: Facts) -> None:
        """Print nothing: the screen itself shows which session it is."""

    def print(self, *parts: "RenderableType", style: str | None = None) -> None:
        """Print text or tables."""
        self.console.print(*(safe(p) if isinstance(p, str) else p for p in parts), style=style)

    def note(self, text: str, *, no_wrap: bool = False) -> None:
        """Print a note."""
        self.print(text, style="dim")

    def progress(self, items: Sequence[Any], label: str) -> Sequence[Any]:
        """Return the items: a screen says in its own way that it is reading."""
        return items

    @contextmanager
    def byte_progress(self, label: str = "reading sessions") -> Iterator[None]:
        """Yield None: there is no bar."""
        yield None

    @contextmanager
    def paged(self) -> Iterator[None]:
        """Print without a pager."""
        yield

    def lines(self) -> list[str]:
        """Return what was printed, with colours as escape sequences."""
        return self.written.getvalue().rstrip("\n").split("\n")


def with_output(request: Request, width: int) -> tuple[Request, ScreenOutput]:
    """Return the same request with an output of its own."""
    output = ScreenOutput(request.settings, request.root_options, width)
    own = replace(request)
    own.__dict__.update({**request.__dict__, "output": output})
    return own, output


def run_command(request: Request, width: int, name: str, *words: str) -> list[str]:
    """Run a command as if it was typed, and return the lines that it prints."""
    from plait.cli.app import load_command
    from plait.cli.registry import ROWS

    row = next(row for row in ROWS if row.name == name)
    command = load_command(row)
    own, output = with_output(request, width)
    with command.make_context(name, list(words), obj=own) as context:
        command.invoke(context)
    return output.lines()


@dataclass(frozen=True)
class RenderedTurn:
    """Where a turn stands in the lines of a conversation."""

    line: int
    number: int
    record: str | None
    """The last record of the turn, by which it can be forked."""
    records: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RenderedConversation:
    """A conversation as lines, and where its turns begin."""

    session: Session
    name: str
    """The branch that is shown."""
    label: str
    branches: tuple[str, ...]
    """All branches, the active one first."""
    lines: list[str]
    turns: tuple[RenderedTurn, ...] = ()
    unfolded: frozenset[int] = field(default=frozenset())

    def turn_at(self, line: int) -> RenderedTurn | None:
        """Return the turn that a line belongs to, above all turns the first."""
        before = (turn for turn in reversed(self.turns) if turn.line <= line)
        return next(before, self.turns[0] if self.turns else None)


def render_conversation(
    request: Request,
    session: Session,
    width: int,
    branch: str | None = None,
    unfolded: frozenset[int] = frozenset(),
) -> RenderedConversation:
    """Render a branch of a session as `plait show` does; unfolded turns show everything."""
    from plait.conversation.costs import SessionCosts
    from plait.terminal.passages import PassagePrinter, print_state, print_totals
    from plait.view.terminal import TerminalRenderer

    own, output = with_output(request, width)
    archive = own.archive
    found = archive.open(session).conversations
    name = branch if branch and branch in found.by_line else found.main
    shown = found.by_line[name]
    facts = archive.facts(session)
    print_state(output, found, shown)
    print_totals(output, shown, _sum_with_agents(found, shown, own.prices))
    spending = SessionCosts(found, own.prices)
    folded = TerminalRenderer(found, spending, "tools", False, facts.cwd)
    full = TerminalRenderer(found, spending, "all", True, facts.cwd)
    printer = PassagePrinter(output, session.id, hint=", `o` shows them")
    turns = []
    for turn in shown.turns:
        is_full = turn.number in unfolded
        records = [item.uuid for item in turn.items if item.uuid]
        last = records[-1] if records else None
        turns.append(RenderedTurn(output.written.lines, turn.number, last, frozenset(records)))
        printer.beyond = "wrap" if is_full else "cut"
        printer.print((full if is_full else folded).iter_blocks(shown, [turn]))
    if printer.before is None:
        output.print("no messages", style="dim")
    label = "" if name == found.main else describe_conversation(shown)
    spoken = ("branch", "trunk", "foreign")
    others = (key for key, line in found.by_line.items() if line.kind in spoken)
    branches = tuple(dict.fromkeys([found.main, *others]))
    return RenderedConversation(
        session, name, label, branches, output.lines(), tuple(turns), unfolded
    )


def _sum_with_agents(found: "Conversations", shown: "Conversation", prices: "Prices") -> "Totals":
    from plait.conversation.costs import list_descendant_agents, sum_conversations

    agents = [found.by_line[name] for name in list_descendant_agents(found, shown.id)]
    return sum_conversations([shown, *(a for a in agents if a.kind == "agent")], prices)


def render_preview(request: Request, session: Session, width: int) -> list[str]:
    """Render the prompts of a session and its last answer."""
    from plait.conversation.costs import SessionCosts
    from plait.terminal.passages import PassagePrinter, print_state, print_totals
    from plait.view.terminal import TerminalRenderer

    own, output = with_output(request, width)
    archive = own.archive
    found = archive.open(session).conversations
    shown: Conversation = found.active
    facts = archive.facts(session)
    output.print(shorten_to_width(safe_line(facts.title or "(no title)"), width), style="bold")
    output.print(shorten_to_width(safe_line(facts.cwd or facts.project), width), style="dim")
    print_state(output, found, shown)
    print_totals(output, shown, _sum_with_agents(found, shown, own.prices))
    spending = SessionCosts(found, own.prices)
    printer = PassagePrinter(output, session.id)
    turns = shown.turns
    if len(turns) > MOST_PREVIEWED:
        output.print(f"… {len(turns) - MOST_PREVIEWED} earlier turns", style="dim")
        turns = turns[-MOST_PREVIEWED:]
    printer.print(TerminalRenderer(found, spending, "prompts").iter_blocks(shown, turns[:-1]))
    printer.print(TerminalRenderer(found, spending, "answers").iter_blocks(shown, turns[-1:]))
    return output.lines()
