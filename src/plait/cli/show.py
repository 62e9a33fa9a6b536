"""`plait show`: a conversation in the terminal, at a chosen depth."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from plait.archive import Session, resolve_conversation, shorten_name
from plait.cli.options import Request, command, json_option, session_argument
from plait.cli.selection import select_turns
from plait.cli.text import safe
from plait.conversation.costs import (
    CostFigures,
    SessionCosts,
    Totals,
    add_agent_figures,
    list_descendant_agents,
    sum_conversations,
)
from plait.conversation.model import Conversation, Conversations, NotableOutcome, ToolCall, Turn
from plait.conversation.prices import Prices
from plait.conversation.results import find_output_file, read_persisted_output
from plait.conversation.walk import DEPTHS, Depth, filter_turns_by_call
from plait.view.formats import format_count, format_money, format_tokens
from plait.view.terminal import TerminalRenderer

if TYPE_CHECKING:
    from plait.cli.output import Output
    from plait.line import Line


MOST_NAMED = 4


@command(
    "show",
    session_argument,
    click.option(
        "--branch",
        metavar="B",
        help="Show this branch or agent: an id, the beginning of one, or a number.",
    ),
    click.option(
        "--turn", "--at", "turn", metavar="N[-M]", help="Only this turn or range; -1 is the last."
    ),
    click.option(
        "--depth",
        type=click.Choice(DEPTHS),
        default="tools",
        show_default=True,
        help="How much to show; each level includes those before it.",
    ),
    click.option(
        "--outcome",
        type=click.Choice(get_args(NotableOutcome)),
        help="Only tool calls with this outcome, each with its prompt.",
    ),
    click.option("--tool", metavar="NAME", help="Only calls of this tool, or several: Read,Edit."),
    click.option("--thinking", is_flag=True, help="Also show thinking."),
    click.option("--raw", is_flag=True, help="The original records."),
    json_option,
)
def show_command(
    request: Request,
    session: str,
    branch: str | None,
    turn: str | None,
    depth: Depth,
    outcome: NotableOutcome | None,
    tool: str | None,
    thinking: bool,
    raw: bool,
    as_json: bool,
) -> None:
    """Show SESSION as a conversation: prompts, answers, tool calls, agents.

    Without options: the conversation that Claude Code would resume. Rewinds and compactions are
    marked where they happened; `--branch` shows an abandoned branch.
    """
    meant = request.session(session)
    found = request.archive.open(meant).conversations
    shown = resolve_conversation(found, branch)
    chosen = Chosen(meant, found, shown, select_turns(shown, turn), turn is None)
    if outcome or tool:
        calls = filter_turns_by_call(chosen.turns, outcome, tool)
        chosen = replace(chosen, turns=calls, is_whole=False)
    if as_json:
        _print_json(request, chosen, has_data=raw)
    elif raw:
        reading = TerminalRenderer(chosen.found, SessionCosts(chosen.found), depth, thinking)
        _print_raw(request, chosen, reading)
    else:
        _print_page(request, chosen, depth, thinking=thinking)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be shown: some turns of one conversation of a session."""

    session: Session
    found: Conversations
    shown: Conversation
    turns: Sequence[Turn]
    is_whole: bool


def _print_json(request: Request, chosen: Chosen, *, has_data: bool) -> None:
    from plait.view.transcript.json_form import conversation_to_json

    totals = _totals_of(chosen.found, chosen.shown, request.prices)
    value = conversation_to_json(
        chosen.found, chosen.shown, chosen.turns, totals, has_data=has_data
    )
    request.output.json(value)


def _print_page(request: Request, chosen: Chosen, depth: Depth, *, thinking: bool) -> None:
    from plait.cli.passages import PassagePrinter, print_heading, print_totals

    output, found, shown = request.output, chosen.found, chosen.shown
    facts = request.archive.facts(chosen.session)
    folder = chosen.session.path.with_suffix("")
    whole, is_kept = partial(_read_persisted_output, folder), partial(_has_persisted_output, folder)
    page = PassagePrinter(output, chosen.session.id, "wrap" if depth == "all" else "cut")
    prices = request.prices
    with output.paged():
        spending = SessionCosts(found, prices)
        reading = TerminalRenderer(found, spending, depth, thinking, facts.cwd, whole, is_kept)
        print_heading(output, chosen.session, facts, found, shown)
        print_totals(output, shown, _totals_of(found, shown, prices))
        page.print(reading.iter_blocks(shown, chosen.turns))
        if not (chosen.turns or chosen.is_whole):
            output.print("no such call here; `--branch` looks at branches and agents")
        elif page.before is None:
            output.print_message(
                f"nothing to show at depth {depth}: `plait doctor` accounts for every line"
            )
        if chosen.is_whole and shown.id == found.main:
            if found.recovered:
                output.print("")
                output.print("recovered from broken lines", style="dim")
                page.print(reading.iter_blocks(found.recovered))
            _print_rest(output, found, reading)


def _read_persisted_output(folder: Path, called: ToolCall) -> str | None:
    """Return an output that was too large for the log, None where it is not there."""
    persisted = called.result.persisted if called.result else None
    return read_persisted_output(folder, persisted) if persisted else None


def _has_persisted_output(folder: Path, called: ToolCall) -> bool:
    persisted = called.result.persisted if called.result else None
    return persisted is not None and find_output_file(folder, persisted.name) is not None


def _totals_of(found: Conversations, shown: Conversation, prices: Prices) -> Totals:
    names = [
        name
        for name in list_descendant_agents(found, shown.id)
        if found.by_line[name].kind == "agent"
    ]
    return sum_conversations([shown, *(found.by_line[name] for name in names)], prices)


def _print_rest(output: "Output", found: Conversations, reading: TerminalRenderer) -> None:
    shown_agents = reading.stream.shown_agents
    rest = [
        conversation
        for conversation in found.by_line.values()
        if conversation.id not in shown_agents and not conversation.call
    ]
    for kind, noun in (("agent", "agent without a tool call"), ("service", "service agent")):
        names = [conversation.id for conversation in rest if conversation.kind == kind]
        if not names:
            continue
        plural = noun.replace("agent", "agents", 1).replace("names", "name")
        count = format_count(len(names), noun, plural)
        took = ", ".join([count, *_format_spent(map(reading.spending.for_agent, names))])
        shown = [safe(shorten_name(name)) for name in names[:MOST_NAMED]]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        which = "it" if len(names) == 1 else "the first"
        output.print("")
        output.print(
            f"{took}: {', '.join(shown)}{more}, `--branch {shown[0]}` shows {which}", style="dim"
        )


def _format_spent(agents: Iterable[CostFigures]) -> Iterator[str]:
    spent = add_agent_figures(CostFigures(), agents)
    if spent.tokens:
        yield f"{format_tokens(spent.tokens)} tokens"
    if spent.cost is not None:
        more = " and some without a price" if spent.is_partly_priced else ""
        yield f"{format_money(spent.cost)}{more}"


def _print_raw(request: Request, chosen: Chosen, reading: TerminalRenderer) -> None:
    from plait.cli.cat import print_line

    shown, turns = chosen.shown, chosen.turns
    places = dict.fromkeys((item.file, item.line) for item in reading.iter_items(shown, turns))
    files = {file: Path(shown.files[file]) for file, _ in places}
    kept = {
        (file, line.number): line
        for file, path in files.items()
        for line in _lines_of(path, {number for other, number in places if other == file})
    }
    with request.output.paged():
        for place in places:
            if place in kept:
                print_line(request, kept[place], pretty=request.output.console.is_terminal)


def _lines_of(path: Path, numbers: set[int]) -> "Iterator[Line]":
    from plait.line import iter_lines

    for line in iter_lines(path):
        if line.number in numbers:
            yield line
