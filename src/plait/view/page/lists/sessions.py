"""Branches and agents of a session to rows below it."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from plait.view.amounts import many
from plait.view.page.escape import esc
from plait.view.page.icons import icon
from plait.view.page.listing import address
from plait.view.page.sessions import COLUMNS
from plait.view.text import shortened

NAMES = {"branch": "Branch", "agent": "Agent", "foreign": "Session"}
ICONS = {"branch": "fork", "agent": "agent"}


class SessionPart(NamedTuple):
    """One of the lines that hang on a session."""

    id: str
    kind: str
    state: str
    turns: int
    label: str | None
    uuid: str | None
    """The record that it begins with."""


def parts_rows(name: str, parts: Sequence[SessionPart]) -> str:
    """Returns what hangs on a session, as rows of its table."""
    if not parts:
        return (
            f'<tr class="part"><td colspan="{len(COLUMNS)}">'
            "Nothing is known of its branches yet: the index is being written.</td></tr>"
        )
    return "".join(part_row(name, part) for part in parts)


def part_row(name: str, part: SessionPart) -> str:
    """Returns one of them."""
    words = shortened(part.label or "", 160) or part.id.rpartition("#")[2].rpartition("@")[2]
    state = "abandoned" if part.state == "abandoned" else ""
    told = " · ".join(one for one in (NAMES.get(part.kind, ""), state) if one)
    anchor = quote(part.uuid) if part.uuid else f"line-{quote(part.id, safe='@#~')}"
    return (
        f'<tr class="part"><th scope="row"><div class="titled"><span class="fold"></span>'
        f'<a href="{address(name)}#{anchor}">{icon(ICONS.get(part.kind, "note"))}'
        f"{esc(words)}</a><small>{esc(told)}</small></div></th>"
        f'<td class="num">{part.turns or ""}</td><td colspan="{len(COLUMNS) - 2}">'
        f'<span class="state">{many(part.turns, "turn")}</span></td></tr>'
    )
