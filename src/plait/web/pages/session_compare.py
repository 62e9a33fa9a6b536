"""The comparison of two branches of a session, side by side, turn by turn."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from starlette.requests import Request
from starlette.responses import Response

from plait.conversation.model import Conversations, Turn
from plait.errors import UserError
from plait.view.comparison import Comparison, Side, compare_branches, list_comparison_rows
from plait.view.formats import format_count
from plait.view.page.blocks import PageOptions
from plait.view.page.column import estimate_size, iter_main_conversations
from plait.view.page.frame import (
    render_framed_page,
    render_header_end,
    render_header_start,
    render_tabs,
)
from plait.view.page.markup import break_path, esc, icon, quote_url, render_options, session_url
from plait.view.page.session import get_branch_name
from plait.view.page.turns import TurnWriter
from plait.view.text import shorten
from plait.web.responses import SessionRequest, html_response

ROOM = 400_000
"""Approximate number of characters shown of each branch; the rest is on its own page."""
MOST_FILES, FEW_FILES = 200, 5


class ComparedPage:
    """Renders one comparison."""

    def __init__(
        self,
        comparison: Comparison,
        options: PageOptions,
        agents: Mapping[str, str],
        conversations: Conversations,
    ) -> None:
        self.comparison = comparison
        self.options = options
        self.writer = TurnWriter(options, agents)
        self.conversations = conversations

    def render_totals(self) -> str:
        """Render the totals of both branches after the fork."""
        sides = (self.comparison.first, self.comparison.second)
        rows = list_comparison_rows(self.comparison)
        names = "".join(f"<th>{esc(self._get_name(side))}</th>" for side in sides)
        body = "".join(_render_row(label, cells) for label, cells in rows)
        return (
            '<h2>After the fork</h2><table class="sums"><thead><tr><td></td>'
            f"{names}</tr></thead><tbody>{body}{self._render_files()}</tbody></table>"
        )

    def _render_files(self) -> str:
        left, right = self.comparison.first.files, self.comparison.second.files
        folder = f"{self.options.directory}/" if self.options.directory else ""
        cells = []
        for files, other in ((left, right), (right, left)):
            items = "".join(
                f"<li{' class=both' if path in other else ''}>"
                f"{break_path(path.removeprefix(folder))} +{added} −{removed}</li>"
                for path, (added, removed) in list(files.items())[:MOST_FILES]
            )
            if len(files) > MOST_FILES:
                items += f"<li>and {len(files) - MOST_FILES} more</li>"
            html = f"<ul>{items}</ul>" if files else "none"
            if len(files) > FEW_FILES:
                both = len(files.keys() & other.keys())
                note = f", {both} of them in both branches" if both else ""
                summary = f"{format_count(len(files), 'file')}{note}"
                html = f"<details><summary>{summary}</summary>{html}</details>"
            cells.append(f"<td>{html}</td>")
        return f"<tr><th>Files changed</th>{''.join(cells)}</tr>"

    def _get_name(self, side: Side) -> str:
        conversation = self.conversations.by_line.get(side.line)
        return get_branch_name(conversation, self.conversations) if conversation else side.line

    def render_shared(self, name: str) -> str:
        """Render the shared turns, folded, and where the branches fork."""
        common = self.comparison.first.path.turns[: self.comparison.shared]
        openers = [(turn.number, turn.opener) for turn in common if turn.opener]
        if not openers:
            return '<p class="blank">These branches have no turns in common.</p>'
        rows = "".join(
            f'<li value="{number}"><a href="{esc(session_url(name))}#{esc(opener.uuid or "")}">'
            f"{esc(shorten(opener.text))}</a></li>"
            for number, opener in openers
        )
        last = shorten(openers[-1][1].text, 100)
        return (
            f'<details class="shared"><summary>{format_count(len(openers), "turn")} in common, up to '
            f"“{esc(last)}”</summary><ol>{rows}</ol></details>"
        )

    def render_sides(self, name: str) -> str:
        """Render the two columns, turn beside turn."""
        left, right = self.comparison.first, self.comparison.second
        start = self.comparison.shared
        rows = list(
            zip_longest(
                self._iter_shown(left.path.turns[start:]),
                self._iter_shown(right.path.turns[start:]),
            )
        )
        cells = "".join(
            f'<div class="one">{self._render_cell(left, left_turn)}</div>'
            f'<div class="two">{self._render_cell(right, right_turn)}</div>'
            for left_turn, right_turn in rows
        )
        rest = [
            self._render_rest(name, side, len(side.path.turns) - start - count)
            for side, count in (
                (left, sum(left_turn is not None for left_turn, _ in rows)),
                (right, sum(right_turn is not None for _, right_turn in rows)),
            )
        ]
        return (
            f'<h2>Side by side</h2><div class="sides">{self._render_heads()}{cells}'
            f'<div class="one">{rest[0]}</div><div class="two">{rest[1]}</div></div>'
        )

    def _render_heads(self) -> str:
        return "".join(
            f'<div class="{kind} side-name">{esc(self._get_name(side))}</div>'
            for kind, side in (("one", self.comparison.first), ("two", self.comparison.second))
        )

    def _iter_shown(self, turns: Sequence[Turn]) -> Iterable[Turn]:
        room = ROOM
        for turn in turns:
            if room <= 0:
                return
            room -= estimate_size(turn)
            yield turn

    def _render_cell(self, side: Side, turn: Turn | None) -> str:
        if turn is None:
            return ""
        return "".join(self.writer.iter_sections(side.path, turn))

    def _render_rest(self, name: str, side: Side, count: int) -> str:
        if count <= 0:
            return '<p class="blank">This branch ends here.</p>'
        address = f"{session_url(name)}#line-{side.line}"
        return (
            f'<p class="blank">{format_count(count, "more turn")}: '
            f'<a href="{esc(address)}">continue reading</a>.</p>'
        )


def _render_row(label: str, cells: Sequence[str]) -> str:
    kind = ' class="differ"' if len(set(cells)) > 1 else ""
    columns = "".join(f"<td>{esc(cell)}</td>" for cell in cells)
    return f"<tr{kind}><th>{label}</th>{columns}</tr>"


def serve_comparison(request: Request) -> Response:
    """Serve the comparison of two branches."""
    session, query = SessionRequest(request), request.query_params
    opened = session.live
    conversations, column, heading = opened.conversations_if_any, opened.column, opened.heading
    if conversations is None or column is None or heading is None:
        raise UserError("this session is empty")
    comparison = compare_branches(conversations, query.get("a"), query.get("b"), opened.prices)
    name = session.name
    page = ComparedPage(comparison, column.options, column.agents, conversations)
    back_link = (
        f'<a class="home" href="{esc(session_url(name))}" title="To the session" '
        f'aria-label="To the session">{icon("back")}</a>'
    )
    branches = [
        (branch.id, get_branch_name(branch, conversations))
        for branch in iter_main_conversations(conversations)
        if branch.turns
    ]
    choice = (
        f'<form class="picks" action="/s/{esc(quote_url(name))}/compare">'
        f'<label>First <select name="a">{render_options(branches, comparison.first.line)}</select></label>'
        f'<label>Second <select name="b">{render_options(branches, comparison.second.line)}</select></label>'
        '<button class="more">Compare</button>'
        '<button type="button" class="more flip" data-do="flip">Show the other branch</button></form>'
    )
    body = (
        f"{render_header_start(heading.title, back_link)}"
        f"{render_header_end('', render_tabs(name, 'read'), 'Compare')}"
        f'<main id="main" class="versus show-one" data-session="{esc(name)}" '
        f'data-served="/s/{esc(quote_url(name))}" data-versus>{choice}'
        f"{page.render_totals()}{page.render_shared(name)}{page.render_sides(name)}</main>"
    )
    title = f"Two branches of {heading.title}"
    return html_response(request, render_framed_page(title, body, session=session.name))
