"""`plait show`: a conversation in the terminal, at a chosen depth."""

from collections.abc import Sequence
from pathlib import Path

from plait.archive import Session, resolve_conversation, shorten_name
from plait.cli import shared
from plait.cli.cat import print_line
from plait.cli.options import Request, command, option
from plait.cli.selection import select_turns
from plait.conversation.costs import (
    CostFigures,
    SessionCosts,
    Totals,
    add_agent_figures,
    list_descendant_agents,
    sum_conversations,
)
from plait.conversation.model import (
    Conversation,
    Conversations,
    NotableOutcome,
    ToolCall,
    Turn,
)
from plait.conversation.results import find_output_file, read_persisted_output
from plait.conversation.walk import Depth, filter_turns_by_call
from plait.line import iter_lines
from plait.terminal.output import Output
from plait.terminal.text import safe
from plait.view.formats import format_count, format_money, format_tokens
from plait.view.terminal import TerminalRenderer

MOST_NAMED = 4


@command(
    examples="plait show latest\n"
    "plait show 3f2a --turn 12 --depth all\n"
    "plait show latest --outcome failed"
)
def show_command(
    request: Request,
    session: str = shared.session,
    branch: str | None = option(
        "--branch",
        metavar="B",
        help="Show this branch or agent: an id, the beginning of one, or a number.",
    ),
    turn: str | None = option(
        "--turn", "--at", metavar="N[-M]", help="Only this turn or range; -1 is the last."
    ),
    depth: Depth = option(
        "--depth",
        default="tools",
        show_default=True,
        help="How much to show; each level includes those before it.",
    ),
    outcome: NotableOutcome | None = option(
        "--outcome", help="Only tool calls with this outcome, each with its prompt."
    ),
    tool: str | None = option(
        "--tool", metavar="NAME", help="Only calls of this tool, or several: Read,Edit."
    ),
    thinking: bool = option("--thinking", help="Also show thinking."),
    raw: bool = option("--raw", help="Print the original records."),
    as_json: bool = shared.as_json,
) -> None:
    """Show SESSION as a conversation: prompts, answers, tool calls, agents.

    Without options: the conversation that Claude Code would resume. Rewinds and compactions are
    marked where they happened; `--branch` shows an abandoned branch.
    """
    source = request.session(session)
    found = request.archive.open(source).conversations
    shown = resolve_conversation(found, branch)
    turns: Sequence[Turn] = select_turns(shown, turn)
    if outcome or tool:
        turns = filter_turns_by_call(turns, outcome, tool)
    if raw and not as_json:
        reading = TerminalRenderer(found, SessionCosts(found), depth, thinking)
        # The lines that items were read from, in the order of the items.
        places = dict.fromkeys((item.file, item.line) for item in reading.iter_items(shown, turns))
        lines = {
            (file, line.number): line
            for file in {file for file, _ in places}
            for line in iter_lines(Path(shown.files[file]))
            if (file, line.number) in places
        }
        with request.output.paged():
            for place in places:
                if place in lines:
                    print_line(request, lines[place], pretty=request.output.console.is_terminal)
        return
    agents = [found.by_line[name] for name in list_descendant_agents(found, shown.id)]
    agents = [agent for agent in agents if agent.kind == "agent"]
    totals = sum_conversations([shown, *agents], request.prices)
    if as_json:
        from plait.view.transcript.json_form import conversation_to_json

        request.output.json(conversation_to_json(found, shown, turns, totals, has_data=raw))
        return
    is_complete = turn is None and not (outcome or tool)
    _print_page(request, source, shown, turns, totals, depth, thinking, is_complete)


def _print_page(
    request: Request,
    source: Session,
    shown: Conversation,
    turns: Sequence[Turn],
    totals: Totals,
    depth: Depth,
    has_thinking: bool,
    is_complete: bool,
) -> None:
    """Print turns of a conversation; if it is complete, also what belongs to no turn."""
    from plait.terminal.passages import PassagePrinter, print_heading, print_totals

    output, facts = request.output, request.archive.facts(source)
    found = request.archive.open(source).conversations
    folder = source.path.with_suffix("")

    def read_output(call: ToolCall) -> str | None:
        """Return an output that was too large for the log; None if its file is gone."""
        persisted = call.result.persisted if call.result else None
        return read_persisted_output(folder, persisted) if persisted else None

    def has_output(call: ToolCall) -> bool:
        persisted = call.result.persisted if call.result else None
        return persisted is not None and find_output_file(folder, persisted.name) is not None

    page = PassagePrinter(output, source.id, "wrap" if depth == "all" else "cut")
    with output.paged():
        spending = SessionCosts(found, request.prices)
        reading = TerminalRenderer(
            found, spending, depth, has_thinking, facts.cwd, read_output, has_output
        )
        print_heading(output, source, facts, found, shown)
        print_totals(output, shown, totals)
        page.print(reading.iter_blocks(shown, turns))
        if not (turns or is_complete):
            output.print(
                "no matching call in these turns; `--branch` shows other branches and agents"
            )
        elif page.before is None:
            output.print_message(
                f"nothing to show at depth {depth}: `plait doctor` accounts for every line"
            )
        if is_complete and shown.id == found.main:
            if found.recovered:
                output.print("")
                output.print("recovered from broken lines", style="dim")
                page.print(reading.iter_blocks(found.recovered))
            _print_rest(output, found, reading)


def _print_rest(output: Output, found: Conversations, reading: TerminalRenderer) -> None:
    shown_agents = reading.stream.shown_agents
    rest = [
        conversation
        for conversation in found.by_line.values()
        if conversation.id not in shown_agents and not conversation.call
    ]
    for kind, noun, plural in (
        (
            "agent",
            "agent whose starting call is missing",
            "agents whose starting calls are missing",
        ),
        ("service", "background request", "background requests"),
    ):
        names = [conversation.id for conversation in rest if conversation.kind == kind]
        if not names:
            continue
        facts = [format_count(len(names), noun, plural)]
        spent = add_agent_figures(CostFigures(), map(reading.spending.for_agent, names))
        if spent.tokens:
            facts.append(f"{format_tokens(spent.tokens)} tokens")
        if spent.cost is not None:
            more = " and some without a price" if spent.is_partly_priced else ""
            facts.append(f"{format_money(spent.cost)}{more}")
        shown = [safe(shorten_name(name)) for name in names[:MOST_NAMED]]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        which = "it" if len(names) == 1 else "the first"
        words = f"{', '.join(facts)}: {', '.join(shown)}{more}"
        output.print("")
        output.print(f"{words}, `--branch {shown[0]}` shows {which}", style="dim")
