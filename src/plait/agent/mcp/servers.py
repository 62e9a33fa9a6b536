"""The servers of a session: started together, waited for a while, ended with it."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from plait.agent.mcp.connection import MOST_TOOLS, START_WITHIN, Connection, check_installed
from plait.agent.mcp.model import Server
from plait.agent.mcp.tool import tools_of
from plait.agent.tools.model import Tool
from plait.agent.tools.secrets import Discreet
from plait.errors import MissingExtra, UserError

PATIENCE = 5.0
"""Seconds that the first prompt waits for servers; those that come later join then."""


class SessionServers:
    """Holds the servers, and puts their tools among those of the session."""

    def __init__(
        self,
        servers: Sequence[Server],
        tools: dict[str, Tool],
        cwd: Path,
        environment: Mapping[str, str],
        *,
        notices: Sequence[str] = (),
        forbidden: frozenset[str] = frozenset(),
        patience: float = PATIENCE,
        start_within: float = START_WITHIN,
    ) -> None:
        self.connections = [
            Connection(server, cwd, environment, start_within=start_within) for server in servers
        ]
        self._tools = tools
        self._forbidden = forbidden
        self._patience = patience
        self._notices = [*notices]
        self._is_begun = False
        self._joined: set[str] = set()
        self._joining: list[asyncio.Task[None]] = []

    @property
    def instructions(self) -> dict[str, str]:
        """What servers that are ready say of themselves."""
        ready = (one for one in self.connections if one.state == "ready" and one.instructions)
        return {one.server.name: one.instructions for one in ready}

    async def begin(self) -> list[str]:
        """Starts them once, waits a while, and returns what a person should know."""
        if not self._is_begun:
            self._is_begun = True
            await self._start()
        notices, self._notices = self._notices, []
        return notices

    async def _start(self) -> None:
        waiting = [one for one in self.connections if one.server.is_approved]
        for one in self.connections:
            if not one.server.is_approved:
                name = one.server.name
                self._notices.append(
                    f"the project's server '{name}' waits for your leave: `/mcp approve {name}`"
                )
        if not waiting:
            return
        try:
            await asyncio.to_thread(check_installed)  # it takes seconds to load
        except MissingExtra as error:
            self._notices.append(f"servers are left out: {error.message}")
            return
        await self._reach(waiting)

    async def _reach(self, connections: Sequence[Connection]) -> None:
        joining = [asyncio.ensure_future(self._join(one)) for one in connections]
        self._joining += joining
        _, late = await asyncio.wait(joining, timeout=self._patience)
        for task, one in zip(joining, connections, strict=True):
            if task in late:
                self._notices.append(f"the server '{one.server.name}' is not ready yet")

    async def _join(self, one: Connection) -> None:
        """Reaches a server, and offers its tools once it is there."""
        one.start()
        await one.settled()
        if one.state != "ready":
            self._notices.append(f"the server '{one.server.name}' is not there: {one.fault}")
            return
        offered = tools_of(one, self._tools, MOST_TOOLS)
        self._tools |= {
            tool.name: Discreet(tool) for tool in offered if not self._is_forbidden(tool.name)
        }
        if len(one.tools) > len(offered):
            counted = f"{len(offered)} of {len(one.tools)} tools"
            self._notices.append(f"the server '{one.server.name}' offers {counted} here")

    def _is_forbidden(self, name: str) -> bool:
        server = "__".join(name.split("__")[:2])
        return bool({name, server, f"{server}__*"} & self._forbidden)

    async def approve(self, name: str) -> str:
        """Starts a server that waited for leave; returns what is told of it."""
        found = next((one for one in self.connections if one.server.name == name), None)
        if found is None:
            raise UserError(f"no server is called '{name}'", "`/mcp` lists them")
        check_installed()
        if found.state != "ready":
            await self._reach([found])
            self._notices.clear()
        if found.state != "ready":
            return f"{name} is not there: {found.fault or 'it is not ready yet'}"
        return f"{name} is ready, with {len(found.tools)} tools"

    async def close(self) -> None:
        """Ends all of them."""
        for task in self._joining:
            task.cancel()
        await asyncio.gather(*self._joining, return_exceptions=True)
        await asyncio.gather(*(one.close() for one in self.connections))

    def lines(self) -> list[str]:
        """Returns how each stands, for a person."""
        return [_line(one) for one in self.connections]


def _line(one: Connection) -> str:
    state = f"{len(one.tools)} tools" if one.state == "ready" else one.state
    words = {"unapproved": f"waits for leave: /mcp approve {one.server.name}"}
    fault = f": {one.fault}" if one.fault and one.state in ("failed", "ended") else ""
    told = words.get(one.state, state)
    return f"{one.server.name} ({one.server.source}) {told}{fault} — {one.server.where}"
