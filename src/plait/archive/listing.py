"""The figures of listed sessions: turns, agents and cost."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plait.archive.archive import Archive
from plait.conversation.prices import Prices
from plait.sessions.model import Facts, Session, Tracker

if TYPE_CHECKING:
    from plait.index.catalogue import SessionSize
    from plait.usage.spending import SpendingSum


MOST_COUNTED = 100_000_000
"""Bytes of sessions whose turns are counted without an index."""


class Figures(NamedTuple):
    """The turns and the cost of a session; None for what was not counted."""

    shape: "SessionSize | None" = None
    spent: "SpendingSum | None" = None

    @property
    def turns(self) -> int | None:
        """The number of turns, on all branches."""
        return self.shape.turns if self.shape else None

    @property
    def agents(self) -> int | None:
        """The number of agents that were sent out, without the client's own requests."""
        return self.shape.agents if self.shape else None

    @property
    def cost_usd(self) -> float | None:
        """The cost of what has a price."""
        return self.spent.known_cost if self.spent else None


def read_figures(
    archive: Archive, rows: Sequence[Facts], prices: Prices, watch: Tracker[Session] | None = None
) -> dict[Path, Figures]:
    """Return the figures of sessions by path; turns only if counting them is quick."""
    if not rows:
        return {}
    costs = archive.costs(prices)
    by_path = {session.path: session for session in archive.sessions}
    sessions = [by_path[row.path] for row in rows]
    shapes: Sequence[SessionSize | None] = archive.shapes(
        sessions, watch=watch, most=MOST_COUNTED
    ) or [None] * len(rows)
    # Copies share a session id: its cost is shown once, for the first path.
    owners = {
        row.session: row.path for row in sorted(rows, key=lambda row: str(row.path), reverse=True)
    }
    return {
        row.path: Figures(
            shape, costs.get(row.session) if owners[row.session] == row.path else None
        )
        for row, shape in zip(rows, shapes, strict=True)
    }
