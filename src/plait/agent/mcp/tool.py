"""A tool of a server to a tool of a session."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from plait.agent.mcp.connection import Connection
from plait.agent.mcp.model import tool_name
from plait.agent.mcp.results import Results
from plait.agent.tools.model import Arguments, Effect, Outcome, Proposal, Report, Workplace

LONGEST_ABOUT = 2048
"""Letters of a description: what is longer is cut."""


@dataclass(frozen=True, slots=True)
class ServerTool:
    """Something that a server does."""

    connection: Connection
    told: Mapping[str, Any]
    """What the server says of it."""
    name: str

    @property
    def server(self) -> str:
        """The name of the server."""
        return self.connection.server.name

    @property
    def own_name(self) -> str:
        """What the server calls it."""
        return str(self.told["name"])

    @property
    def only_reads(self) -> bool | None:
        """Whether the server says that nothing is changed by it, None where it says nothing."""
        hint = (self.told.get("annotations") or {}).get("readOnlyHint")
        return hint if isinstance(hint, bool) else None

    @property
    def effect(self) -> Effect:
        """What it does at most; what may change something is done alone."""
        return "network" if self.only_reads else "execute"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        about = str(self.told.get("description") or "")
        cut = about if len(about) <= LONGEST_ABOUT else f"{about[:LONGEST_ABOUT]}… [cut]"
        return {"name": self.name, "description": cut, "input_schema": self.told["inputSchema"]}

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Takes arguments as they are: the server checks them."""
        return Proposal(self.name, arguments, self.effect, f"{self.server} - {self.own_name}")

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Has the server do it."""
        begun = monotonic()
        about = {"serverName": self.server, "toolName": self.own_name}

        async def progress(done: float, total: float | None, words: str | None) -> None:
            told = {"progress": done, "total": total, "progressMessage": words}
            known = {name: value for name, value in told.items() if value is not None}
            report({"type": "mcp_progress", "status": "progress", **about, **known})

        report({"type": "mcp_progress", "status": "started", **about})
        told = await self.connection.call(self.own_name, proposal.arguments, progress)
        took = round((monotonic() - begun) * 1000)
        report({"type": "mcp_progress", "status": "completed", **about, "elapsedTimeMs": took})
        outcome = Results(self.server, place.results).outcome(self.own_name, self.name, told)
        return replace(outcome, fields={**outcome.fields, **self._said(outcome)})

    def _said(self, outcome: Outcome) -> Mapping[str, Any]:
        """What the line of a result says of whether it only read."""
        if outcome.is_error or self.only_reads:
            return {}
        return {"mcp_call_not_read_only": "no_hint" if self.only_reads is None else "hint_false"}


def tools_of(connection: Connection, taken: Mapping[str, Any], most: int) -> list[ServerTool]:
    """Returns the tools of a server that can be offered: as many as fit, each name once."""
    found: dict[str, ServerTool] = {}
    for told in connection.tools[:most]:
        name = tool_name(connection.server.name, str(told.get("name", "")))
        if name not in taken:
            found.setdefault(name, ServerTool(connection, told, name))
    return [*found.values()]
