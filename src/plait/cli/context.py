"""`plait context`: a session to what Claude will see of it when it is resumed."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import click

from plait.archive import Resumption, Session
from plait.cli.ahead import ahead_value, print_ahead
from plait.cli.options import Request, global_options, json_option, session_argument
from plait.cli.output import Output
from plait.cli.text import clipped, columns, counted, number, safe, thousands
from plait.graph.client.model import Block, Context, Reason
from plait.view.context_window import NextSent, next_sent
from plait.view.words import block_names, first_words

if TYPE_CHECKING:
    from rich.text import Text

STYLES = {"user": "bold", "assistant": "cyan", "system": "dim"}
OF_THE_MOMENT = "what is added beside the next prompt: environment, date, tools, instructions"


@click.command("context")
@session_argument
@click.option(
    "--as",
    "as_",
    type=click.Choice(["client", "sdk"]),
    default="client",
    help="As Claude Code sends it, or as the Python SDK returns it.",
)
@click.option("--full", is_flag=True, help="Block for block: reminders, system texts, signatures.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    session: str,
    as_: Literal["client", "sdk"],
    full: bool,
    as_json: bool,
) -> None:
    """Show what Claude will see when SESSION is resumed, and what was left out.

    Messages stand as they are sent: after compactions, repairs and the choice of a branch.
    """
    found = request.session(session)
    resumption = request.archive.resumption(found, as_)
    is_sent = as_ == "client"
    following = next_sent(resumption.next_prompt, request.prices) if is_sent else None
    if as_json:
        request.output.json(_as_object(found, resumption, following, full=full))
        return
    with request.output.paged():
        request.output.heading(request.archive.facts(found))
        _print_context(request.output, resumption, following, full=full)


def _as_object(
    session: Session, resumption: Resumption, following: NextSent | None, *, full: bool
) -> dict[str, Any]:
    found = resumption.context
    return {
        "session": session.id,
        "resumes": found.resumes,
        "why_not": found.why_not,
        "leaf": found.leaf,
        "chain": found.chain,
        "tokens": resumption.tokens,
        "usage": resumption.usage,
        "next_prompt": ahead_value(following),
        "messages": found.request if full else found.messages,
        "left_out": found.left_out,
        **({"not_in_log": list(_not_in_log(found))} if full else {}),
    }


def _not_in_log(found: Context) -> Iterator[str]:
    """Yields what the client would send besides, and no log can tell."""
    if found.resumes:
        yield OF_THE_MOMENT
    worded = sum(one.reason is Reason.OWN_WORDS for one in found.left_out)
    if worded:
        yield f"the words that the client has for {counted(worded, 'attachment')}"


def _print_context(
    output: Output, resumption: Resumption, following: NextSent | None, *, full: bool
) -> None:
    found = resumption.context
    if not found.resumes:
        output.print(f"cannot be resumed: {found.why_not}", style="bold red")
    messages = found.request if full else found.messages
    width = len(str(len(messages)))
    for place, (role, blocks) in enumerate(messages, 1):
        output.print(_message_line(output, f"{place:>{width}}", role, blocks))
    output.print("" if messages else "no messages")
    output.print(", ".join(_totals(resumption, full=full)), style="bold")
    if following:
        print_ahead(output, following, "bold")
    for one in _not_in_log(found) if full else ():
        output.print(f"not in the log: {one}", style="dim")
    _print_left_out(output, found)


def _message_line(output: Output, place: str, role: str, blocks: list[Block]) -> "Text":
    from rich.text import Text

    text = Text(f"{place}  ", style="dim")
    text.append(f"{role:<9}  ", style=f"not dim {STYLES.get(role, '')}")
    names = clipped(safe(block_names(blocks)), output.width // 3)
    room = output.width - text.cell_len - columns(names) - 2
    words = clipped(safe(first_words(blocks)), max(room, 8))
    text.append(words + " " * max(room - columns(words), 0), style="not dim")
    return text.append(f"  {names}", style="dim")


def _totals(resumption: Resumption, *, full: bool) -> Iterator[str]:
    found = resumption.context
    yield counted(len(found.request if full else found.messages), "message")
    yield f"from {counted(len(found.chain), 'record')}"
    if resumption.tokens is not None:
        yield f"{thousands(resumption.tokens)} tokens after the last answer"


def _print_left_out(output: Output, found: Context) -> None:
    reasons = Counter(str(one.reason) for one in found.left_out)
    if not reasons:
        return
    output.print("")
    output.print(f"left out: {counted(len(found.left_out), 'record')}", style="bold")
    width = max(len(number(count)) for count in reasons.values())
    for reason, count in reasons.most_common():
        output.print(f"  {number(count):>{width}}  {reason}", style="dim")
