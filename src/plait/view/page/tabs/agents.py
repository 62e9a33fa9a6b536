"""Agents of a session to a table: what each was asked, what it took, where it is read."""

from collections.abc import Iterable, Sequence
from urllib.parse import quote

from plait.view.agents import AgentCost, agents_together, cost_in_words
from plait.view.amounts import many, time_in_words, tokens_in_words
from plait.view.forms import few_models
from plait.view.page.figures.charts import cells
from plait.view.page.markup import esc
from plait.view.page.tabs.head import Head

HEADS = ("Asked", "Cost", "Time", "Responses", "In", "Out", "Model", "Type", "Look")


def agents_html(head: Head, agents: Iterable[AgentCost]) -> str:
    """Returns the agents, the dearest first, those that the client sent by itself closed."""
    found = sorted(agents, key=lambda one: (-(one.cost or 0), -one.tokens.total))
    sent = [one for one in found if one.type != "service"]
    own = [one for one in found if one.type == "service"]
    html = (
        f'<div class="lead-line of-agents"><h3>Agents</h3></div>{_table(head, sent)}'
        if sent
        else ""
    )
    if own:
        words = f"{many(len(own), 'errand')} of the client"
        html += f'<details class="errands"><summary>{words}</summary>{_table(head, own)}</details>'
    return html


def _table(head: Head, agents: Sequence[AgentCost]) -> str:
    heads = "".join(f'<th scope="col">{name}</th>' for name in HEADS)
    rows = "".join(_row(head, one) for one in agents)
    foot = f"<tfoot>{_last_row(agents)}</tfoot>" if len(agents) > 1 else ""
    return (
        '<div class="scroll" tabindex="0"><table class="figures-table agents-table">'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>{foot}</table></div>"
    )


def _row(head: Head, one: AgentCost) -> str:
    note = "<small>abandoned</small>" if one.who == "abandoned" else ""
    href = esc(f"{head.place()}#line-{quote(one.line)}")
    time = esc(f"{head.place('timeline')}?line={quote(one.line, safe='')}")
    about = f'<th scope="row"><a href="{href}">{esc(one.words)}</a></th>'
    told = cells(
        esc(few_models(one.models)),
        f"{esc(one.type)}{note}",
        f'<a href="{time}">timeline</a>',
    )
    return f"<tr>{about}{_figures(one, time_in_words(one.duration_ms) or '–')}{told}</tr>"


def _last_row(agents: Sequence[AgentCost]) -> str:
    figures = _figures(agents_together(agents), "")
    return f'<tr><th scope="row">Total</th>{figures}{cells("", "", "")}</tr>'


def _figures(one: AgentCost, took: str) -> str:
    missing = f' title="{many(one.unpriced, "response")} without a price"' if one.unpriced else ""
    return cells(
        ("money", f"<span{missing}>{cost_in_words(one) or '–'}</span>"),
        took,
        str(one.responses),
        tokens_in_words(one.tokens.total_input),
        tokens_in_words(one.tokens.output),
    )
