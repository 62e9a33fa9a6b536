"""Two branches of a session to a page that sets them side by side, turn by turn."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from urllib.parse import quote

from plait.conversation.model import Conversations, Turn
from plait.view.amounts import many
from plait.view.comparison import Comparison, Side, sums_of
from plait.view.page.conversation.blocks import Setting
from plait.view.page.conversation.column import spoken, weight
from plait.view.page.conversation.page import way_name
from plait.view.page.conversation.turns import TurnWriter
from plait.view.page.markup import esc, icon, options, session_address, with_breaks
from plait.view.page.tabs.head import head_beginning, head_rest, tabs
from plait.view.text import shortened

ROOM = 400_000
"""About so many characters of each branch are drawn; what follows is read on its own page."""
MOST_FILES, FEW_FILES = 200, 5


def compare_page(
    name: str,
    title: str,
    told: Conversations,
    found: Comparison,
    setting: Setting,
    agents: Mapping[str, str],
) -> str:
    """Returns what stands in the page."""
    drawn = ComparedPage(found, setting, agents, told)
    back = (
        f'<a class="home" href="{esc(session_address(name))}" title="To the session" '
        f'aria-label="To the session">{icon("back")}</a>'
    )
    return (
        f"{head_beginning(title, back)}{head_rest('', tabs(name, 'read'), 'Compare')}"
        f'<main id="main" class="versus show-one" data-session="{esc(name)}" '
        f'data-served="/s/{esc(quote(name))}" data-versus>{_picks(name, told, found)}'
        f"{drawn.sums()}{drawn.shared(name)}{drawn.sides(name)}</main>"
    )


def _picks(name: str, told: Conversations, found: Comparison) -> str:
    ways = [(one.id, way_name(one, told)) for one in spoken(told) if one.turns]
    return (
        f'<form class="picks" action="/s/{esc(quote(name))}/compare">'
        f'<label>One <select name="a">{options(ways, found.one.line)}</select></label>'
        f'<label>Two <select name="b">{options(ways, found.two.line)}</select></label>'
        '<button class="more">Compare</button>'
        '<button type="button" class="more flip" data-do="flip">Show the other</button></form>'
    )


class ComparedPage:
    """Draws one comparison."""

    def __init__(
        self,
        found: Comparison,
        setting: Setting,
        agents: Mapping[str, str],
        told: Conversations,
    ) -> None:
        self.found = found
        self.setting = setting
        self.writer = TurnWriter(setting, agents)
        self.told = told

    def sums(self) -> str:
        """Returns what the branches came to after they parted, in a table."""
        sides = (self.found.one, self.found.two)
        rows = sums_of(self.found)
        names = "".join(f"<th>{esc(self._name(side))}</th>" for side in sides)
        body = "".join(_row(label, cells) for label, cells in rows)
        return (
            '<h2>After they part</h2><table class="sums"><thead><tr><td></td>'
            f"{names}</tr></thead><tbody>{body}{self._files()}</tbody></table>"
        )

    def _files(self) -> str:
        one, two = self.found.one.files, self.found.two.files
        cells = "".join(
            f"<td>{_file_list(own, other, self.setting.directory)}</td>"
            for own, other in ((one, two), (two, one))
        )
        return f"<tr><th>Files changed</th>{cells}</tr>"

    def _name(self, side: Side) -> str:
        one = self.told.by_line.get(side.line)
        return way_name(one, self.told) if one else side.line

    def shared(self, name: str) -> str:
        """Returns what both have in common, closed, and where they part."""
        common = self.found.one.path.turns[: self.found.shared]
        turns = [turn for turn in common if turn.opener]
        if not turns:
            return '<p class="blank">They have no turn in common.</p>'
        rows = "".join(
            f'<li value="{turn.number}">'
            f'<a href="{esc(session_address(name))}#{esc(_uuid_of(turn))}">'
            f"{esc(shortened(turn.opener.text if turn.opener else ''))}</a></li>"
            for turn in turns
        )
        last = shortened(turns[-1].opener.text, 100) if turns[-1].opener else ""
        return (
            f'<details class="shared"><summary>{many(len(turns), "turn")} in common, up to '
            f"“{esc(last)}”</summary><ol>{rows}</ol></details>"
        )

    def sides(self, name: str) -> str:
        """Returns the two columns, turn beside turn."""
        one, two = self.found.one, self.found.two
        first = self.found.shared
        rows = list(
            zip_longest(self._within(one.path.turns[first:]), self._within(two.path.turns[first:]))
        )
        cells = "".join(
            f'<div class="one">{self._cell(one, left)}</div>'
            f'<div class="two">{self._cell(two, right)}</div>'
            for left, right in rows
        )
        more = [
            self._rest(name, side, len(side.path.turns) - first - shown)
            for side, shown in (
                (one, sum(left is not None for left, _ in rows)),
                (two, sum(right is not None for _, right in rows)),
            )
        ]
        return (
            f'<h2>Side by side</h2><div class="sides">{self._heads()}{cells}'
            f'<div class="one">{more[0]}</div><div class="two">{more[1]}</div></div>'
        )

    def _heads(self) -> str:
        return "".join(
            f'<div class="{kind} side-name">{esc(self._name(side))}</div>'
            for kind, side in (("one", self.found.one), ("two", self.found.two))
        )

    def _within(self, turns: Sequence[Turn]) -> Iterable[Turn]:
        room = ROOM
        for turn in turns:
            if room <= 0:
                return
            room -= weight(turn)
            yield turn

    def _cell(self, side: Side, turn: Turn | None) -> str:
        if turn is None:
            return ""
        return "".join(self.writer.sections(side.path, turn))

    def _rest(self, name: str, side: Side, count: int) -> str:
        if count <= 0:
            return '<p class="blank">This branch ends here.</p>'
        address = f"{session_address(name)}#line-{side.line}"
        return (
            f'<p class="blank">{many(count, "more turn")}: '
            f'<a href="{esc(address)}">read on</a>.</p>'
        )


def _row(label: str, cells: Sequence[str]) -> str:
    kind = ' class="differ"' if len(set(cells)) > 1 else ""
    told = "".join(f"<td>{esc(cell)}</td>" for cell in cells)
    return f"<tr{kind}><th>{label}</th>{told}</tr>"


def _file_list(
    own: Mapping[str, tuple[int, int]], other: Mapping[str, object], directory: str | None
) -> str:
    if not own:
        return "none"
    rows = "".join(
        f"<li{' class=both' if path in other else ''}>{with_breaks(_within(path, directory))} "
        f"+{added} −{removed}</li>"
        for path, (added, removed) in list(own.items())[:MOST_FILES]
    )
    rest = f"<li>and {len(own) - MOST_FILES} more</li>" if len(own) > MOST_FILES else ""
    listed = f"<ul>{rows}{rest}</ul>"
    if len(own) <= FEW_FILES:
        return listed
    both = len(own.keys() & other.keys())
    words = f"{many(len(own), 'file')}{f', {both} of them on both sides' if both else ''}"
    return f"<details><summary>{words}</summary>{listed}</details>"


def _within(path: str, directory: str | None) -> str:
    return path.removeprefix(f"{directory}/") if directory else path


def _uuid_of(turn: Turn) -> str:
    return (turn.opener.uuid if turn.opener else None) or ""
