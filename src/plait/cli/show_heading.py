"""A conversation to the lines above it: which it is, where it comes from, what it took."""

from collections.abc import Iterator

from plait.archive import Facts, Session
from plait.cli.figures import local
from plait.cli.output import Output
from plait.cli.show_choice import described, short_name
from plait.cli.show_lines import pieces
from plait.cli.text import clipped, columns, counted
from plait.conversation.model import Conversation, Conversations, Left
from plait.conversation.totals import Totals
from plait.view.amounts import money_in_words, time_in_words, tokens_in_words

TITLE_LINES = 2


def print_heading(
    output: Output, session: Session, facts: Facts, found: Conversations, shown: Conversation
) -> None:
    """Prints which conversation it is."""
    title = shown.title if shown.id != found.main else facts.title or shown.title
    words = pieces(title or facts.title or "(no title)")
    output.print(clipped(words, TITLE_LINES * output.width), style="bold")
    output.print(f"{session.id}  {facts.cwd or session.project}", style="dim")
    if state := state_of(found, shown):
        output.print(state, style="yellow")


def print_totals(output: Output, shown: Conversation, totals: Totals) -> None:
    """Prints when it was, with which models, and what it took."""
    line = ""
    for fact in facts_of(shown, totals):
        longer = f"{line} · {fact}" if line else fact
        if columns(longer) > output.width and line:
            output.print(line, style="dim")
            longer = fact
        line = longer
    output.print(line, style="dim")
    output.print("")


def state_of(found: Conversations, shown: Conversation) -> str:
    """Says of a branch or an agent where it comes from, "" for the active conversation."""
    if shown.id == found.main:
        branches = sum(one.kind == "branch" for one in found.by_line.values())
        return f"active, beside {counted(branches, 'branch', 'branches')}" if branches else ""
    if shown.kind in ("agent", "service"):
        sender = found.by_line.get(shown.parent or "")
        kind = "service agent" if shown.kind == "service" else "agent"
        by = f", sent out by {described(sender)}" if sender and shown.call else ""
        return f"{kind} {short_name(shown.id)}{by}"
    state = "active" if shown.is_active else "abandoned"
    return f"{shown.kind} {short_name(shown.id)}, {state}{leaves(found, shown)}"


def leaves(found: Conversations, shown: Conversation) -> str:
    """Says at which turn of its parent a branch leaves."""
    parent = found.by_line.get(shown.parent or "")
    if parent is None:
        return ""
    for turn in parent.turns:
        for item in turn.items:
            if isinstance(item, Left) and item.to == shown.id:
                return f": leaves {described(parent)} after turn {turn.number}"
    return f": leaves {described(parent)}"


def facts_of(shown: Conversation, totals: Totals) -> Iterator[str]:
    """Yields the figures of a conversation with its agents."""
    models = dict.fromkeys(
        one.model for one in shown.responses if one.model and not one.is_synthetic
    )
    if models:
        yield clipped(pieces(", ".join(models)), 60)
    if when := span_of(shown):
        yield when
    yield counted(sum(turn.number > 0 for turn in shown.turns), "turn")
    if took := time_in_words(totals.working_ms):
        yield f"{took} of work"
    if totals.conversations > 1:
        yield counted(totals.conversations - 1, "agent")
    if totals.tokens.total:
        yield f"{tokens_in_words(totals.tokens.total)} tokens"
    if totals.cost_usd:
        more = f" and {counted(sum(totals.unpriced.values()), 'response')} without a price"
        yield money_in_words(totals.cost_usd) + (more if totals.unpriced else "")


def span_of(shown: Conversation) -> str:
    """Returns the day and the hours of a conversation, by the reader's own clock."""
    first, last = local(shown.started), local(shown.ended)
    if first is None or last is None:
        return f"{first:%Y-%m-%d %H:%M}" if first else ""
    if first.date() != last.date():
        return f"{first:%Y-%m-%d %H:%M} – {last:%Y-%m-%d %H:%M}"
    if f"{first:%H:%M}" == f"{last:%H:%M}":
        return f"{first:%Y-%m-%d %H:%M}"
    return f"{first:%Y-%m-%d %H:%M}–{last:%H:%M}"
