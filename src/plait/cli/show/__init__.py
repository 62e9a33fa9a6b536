"""`plait show`: a conversation in the terminal, as deep as one wants to read."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from plait.archive import Session, chosen_conversation, short_name
from plait.cli.options import Request, global_options, json_option, session_argument
from plait.cli.selection import chosen_turns
from plait.cli.text import counted, safe
from plait.conversation.model import Called, Conversation, Conversations, Notable, Turn
from plait.conversation.prices import Prices
from plait.conversation.results import output_path, persisted_text
from plait.conversation.totals import Totals, agents_below, totals_over
from plait.conversation.walk import DEPTHS, Depth, turns_with_calls
from plait.view.amounts import money_in_words, tokens_in_words
from plait.view.costs import Figures, SessionFigures, total_figures
from plait.view.terminal.teller import TerminalTeller

if TYPE_CHECKING:
    from plait.cli.output import Output
    from plait.line import Line


MOST_NAMED = 4


@click.command("show")
@session_argument
@click.option(
    "--branch",
    metavar="B",
    help="A branch or an agent instead: its id, the beginning of it, or its number.",
)
@click.option("--turn", metavar="N[-M]", help="Only this turn, or these; -1 is the last.")
@click.option(
    "--depth",
    type=click.Choice(DEPTHS),
    default="tools",
    show_default=True,
    help="How much to show, each with all before it.",
)
@click.option(
    "--outcome",
    type=click.Choice(get_args(Notable)),
    help="Only calls that ended so, each with the prompt of its turn.",
)
@click.option("--tool", metavar="NAME", help="Only calls of this tool, or of these: Read,Edit.")
@click.option("--thinking", is_flag=True, help="Show the model's thinking too.")
@click.option("--raw", is_flag=True, help="The records behind it, as they lie in the files.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    session: str,
    branch: str | None,
    turn: str | None,
    depth: Depth,
    outcome: Notable | None,
    tool: str | None,
    thinking: bool,
    raw: bool,
    as_json: bool,
) -> None:
    """Show SESSION as the conversation it was: prompts, answers, tools, agents.

    Without options it is the conversation that Claude Code would go on with. Rewinds and
    compactions are marked where they happened; `--branch` reads what was left.
    """
    chosen = _chosen_by(request, session, branch, turn)
    if outcome or tool:
        calls = turns_with_calls(chosen.turns, outcome, tool)
        chosen = replace(chosen, turns=calls, is_whole=False)
    if as_json:
        _print_json(request, chosen, has_data=raw)
    elif raw:
        reading = TerminalTeller(chosen.found, SessionFigures(chosen.found), depth, thinking)
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


def _chosen_by(request: Request, session: str, branch: str | None, turn: str | None) -> Chosen:
    meant = request.session(session)
    found = request.archive.open(meant).conversations
    shown = chosen_conversation(found, branch)
    return Chosen(meant, found, shown, chosen_turns(shown, turn), turn is None)


def _print_json(request: Request, chosen: Chosen, *, has_data: bool) -> None:
    from plait.view.transcript.json_form import show_object

    totals = _totals_of(chosen.found, chosen.shown, request.prices)
    value = show_object(chosen.found, chosen.shown, chosen.turns, totals, has_data=has_data)
    request.output.json(value)


def _print_page(request: Request, chosen: Chosen, depth: Depth, *, thinking: bool) -> None:
    from plait.cli.show.page import Page, print_heading, print_totals

    output, found, shown = request.output, chosen.found, chosen.shown
    facts = request.archive.facts(chosen.session)
    folder = chosen.session.path.with_suffix("")
    whole, is_kept = partial(_kept_beside, folder), partial(_is_kept_beside, folder)
    page = Page(output, chosen.session.id, "wrap" if depth == "all" else "cut")
    prices = request.prices
    with output.paged():
        spending = SessionFigures(found, prices)
        reading = TerminalTeller(found, spending, depth, thinking, facts.cwd, whole, is_kept)
        print_heading(output, chosen.session, facts, found, shown)
        print_totals(output, shown, _totals_of(found, shown, prices))
        page.print(reading.passages(shown, chosen.turns))
        if not (chosen.turns or chosen.is_whole):
            output.print("no call here is like that: `--branch` looks at branches and agents")
        elif page.before is None:
            output.say(f"nothing to show at depth {depth}: `plait doctor` accounts for each line")
        if chosen.is_whole and shown.id == found.main:
            if found.recovered:
                output.print("")
                output.print("recovered from broken lines", style="dim")
                page.print(reading.passages(found.recovered))
            _print_rest(output, found, reading)


def _kept_beside(folder: Path, called: Called) -> str | None:
    """Returns an output that was too large for the log, None where it is not there."""
    persisted = called.result.persisted if called.result else None
    return persisted_text(folder, persisted) if persisted else None


def _is_kept_beside(folder: Path, called: Called) -> bool:
    persisted = called.result.persisted if called.result else None
    return persisted is not None and output_path(folder, persisted.name) is not None


def _totals_of(found: Conversations, shown: Conversation, prices: Prices) -> Totals:
    names = [name for name in agents_below(found, shown.id) if found.by_line[name].kind == "agent"]
    return totals_over([shown, *(found.by_line[name] for name in names)], prices)


def _print_rest(output: "Output", found: Conversations, reading: TerminalTeller) -> None:
    told = reading.stream.told
    rest = [one for one in found.by_line.values() if one.id not in told and not one.call]
    for kind, noun in (("agent", "agent that no call names"), ("service", "service agent")):
        names = [one.id for one in rest if one.kind == kind]
        if not names:
            continue
        plural = noun.replace("agent", "agents", 1).replace("names", "name")
        count = counted(len(names), noun, plural)
        took = ", ".join([count, *_taken(map(reading.spending.of_agent, names))])
        shown = [safe(short_name(name)) for name in names[:MOST_NAMED]]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        which = "it" if len(names) == 1 else "the first"
        output.print("")
        output.print(
            f"{took}: {', '.join(shown)}{more}, `--branch {shown[0]}` shows {which}", style="dim"
        )


def _taken(agents: Iterable[Figures]) -> Iterator[str]:
    spent = total_figures(Figures(), agents)
    if spent.tokens:
        yield f"{tokens_in_words(spent.tokens)} tokens"
    if spent.cost is not None:
        more = " and some without a price" if spent.is_partly_priced else ""
        yield f"{money_in_words(spent.cost)}{more}"


def _print_raw(request: Request, chosen: Chosen, reading: TerminalTeller) -> None:
    from plait.cli.cat import print_line

    shown, turns = chosen.shown, chosen.turns
    places = dict.fromkeys((item.file, item.line) for item in reading.items(shown, turns))
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
    from plait.line import lines

    for line in lines(path):
        if line.number in numbers:
            yield line
