"""Things that were lost to findings: all that was lost for one reason, with its evidence."""

from datetime import datetime

from msgspec import Struct, field

from plait.conversation.waste.model import Loss, WasteKind

MOST_EVIDENCE = 10


class Evidence(Struct, frozen=True, kw_only=True):
    """One thing that was lost, and where."""

    session: str
    uuid: str | None
    time: datetime | None
    cost_usd: float
    about: str = ""
    """A file, a command, an agent."""
    response: str = ""
    """What paid for it."""


class WasteFinding(Struct, kw_only=True):
    """All that was lost for one reason."""

    kind: WasteKind
    cost_usd: float = 0.0
    least_usd: float = 0.0
    """What of it was surely in vain."""
    count: int = 0
    evidence: list[Evidence] = field(default_factory=list)
    """The dearest."""
    advice: str = ""
    entrypoints: dict[str, float] = field(default_factory=dict)
    """Dollars by the way that sessions were held: cli, SDK, editor."""

    def add(self, one: Evidence, loss: Loss) -> None:
        """Takes in one thing."""
        self.count += 1
        self.cost_usd += one.cost_usd
        self.least_usd += one.cost_usd * loss.certain
        way = loss.entrypoint or "unknown"
        self.entrypoints[way] = self.entrypoints.get(way, 0.0) + one.cost_usd
        self.evidence.append(one)

    def join(self, other: "WasteFinding") -> None:
        """Takes in what was lost for the same reason elsewhere."""
        self.count += other.count
        self.cost_usd += other.cost_usd
        self.least_usd += other.least_usd
        for way, cost in other.entrypoints.items():
            self.entrypoints[way] = self.entrypoints.get(way, 0.0) + cost
        self.evidence += other.evidence

    def shorten(self) -> None:
        """Leaves the dearest things."""
        self.evidence = sorted(self.evidence, key=lambda one: -one.cost_usd)[:MOST_EVIDENCE]


class SessionWaste(Struct, kw_only=True):
    """What one session could have cost less."""

    input_usd: float = 0.0
    """What everything cost that was sent."""
    findings: list[WasteFinding] = field(default_factory=list)


class Waste(Struct, frozen=True, kw_only=True):
    """What an archive could have cost less."""

    findings: list[WasteFinding]
    total_usd: float
    """Of all findings; one thing is never counted twice."""
    least_usd: float
    input_usd: float
    """What everything cost that was sent."""
    share_of_input: float | None
    sessions: int
