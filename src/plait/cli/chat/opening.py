"""What was chosen to a client: a session that is begun, gone on with or copied."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from plait.agent.aside import aside
from plait.agent.capacity import LONG
from plait.agent.client import Client, has_snapshots
from plait.agent.compaction import SessionCompactor
from plait.agent.context import LiveContext
from plait.agent.memory import SessionMemory
from plait.agent.parts import Limits, Parts
from plait.agent.permission import Asker
from plait.agent.permissions import SessionPermissions
from plait.agent.sessions import cleared
from plait.agent.streaming import Model
from plait.agent.system_prompt import Surroundings, system_prompt
from plait.agent.tools import Tool, Workplace, secret_values, toolbox, without_secrets
from plait.cli.chat.choice import Choice
from plait.conversation.prices import Prices
from plait.view.terminal.model import AnyBlock
from plait.write import SessionWriter

NETWORK = frozenset({"WebFetch", "WebSearch"})


@dataclass
class Opening:
    """Opens sessions of one directory, all in the same way."""

    root: Path
    """The configuration folder that the sessions are logged in."""
    directory: Path
    choice: Choice
    model: Model
    prices: Prices = field(default_factory=Prices)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    let_through: tuple[str, ...] = ()
    asker: Asker | None = None
    """Whoever is asked before something is done; without one it is refused."""
    old: Path | None = None
    """The session that goes on; None for a new one."""
    is_fork: bool = False
    """Whether it goes on in a copy."""
    recent: Callable[[], Iterable[AnyBlock]] = tuple
    """Returns the last turn of the session that goes on."""
    greeting: tuple[str, ...] = ()
    """What is said before all else."""
    farewell: tuple[str, ...] = ()

    @property
    def model_name(self) -> str:
        """The name that the log has for whoever answers."""
        return self.choice.model if self.choice.asks_api else self.model.name

    @property
    def tools(self) -> dict[str, Tool]:
        """What the model can have done, by name; the network only where that is allowed."""
        named = {rule.tool for rule in self.choice.allowed}
        whole = {rule.tool for rule in self.choice.denied if rule.words is None}
        return toolbox(without=whole | (NETWORK - named), has_network=True)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Client]:
        """Opens the session that was chosen, and closes it."""
        async with self.client() as client:
            yield client

    def client(self) -> Client:
        """Returns the client of the session that was chosen."""
        client = self._chosen()
        if self.choice.title:
            client.parts.writer.title(self.choice.title)
        return client

    def _chosen(self) -> Client:
        if self.old is None:
            return self.new(self.choice.session)
        return self.forked(self.old) if self.is_fork else self.resumed(self.old)

    def new(self, session: str | None = None) -> Client:
        """Begins a session."""
        writer = SessionWriter.new(self.root, cwd=self.directory, session=session, **self._manner)
        return self._client(writer)

    def resumed(self, path: Path) -> Client:
        """Goes on with a session where it lies."""
        return self._client(SessionWriter.resume(path, cwd=self.directory, **self._manner))

    def forked(self, path: Path) -> Client:
        """Goes on with a session in a copy."""
        writer = SessionWriter.fork(
            path, self.root, session=self.choice.session, cwd=self.directory, **self._manner
        )
        return self._client(writer)

    def cleared(self, old: Client) -> Client:
        """Begins a session in the place of another."""
        return self._client(cleared(old.parts.writer))

    @property
    def _manner(self) -> dict[str, Any]:
        version, entrypoint = self.choice.version, "sdk-cli" if self.choice.is_printed else "cli"
        return {
            "version": version,
            "model": self.model_name,
            "permission_mode": self.choice.mode,
            "entrypoint": entrypoint,
            "has_snapshots": has_snapshots(version, entrypoint),
        }

    def _client(self, writer: SessionWriter) -> Client:
        choice = self.choice
        around = Surroundings.of(self.directory, date.today(), choice.others)
        system = system_prompt(around, instead=choice.system_prompt, appended=choice.appended)
        tools, place = self.tools, self._place(writer)
        memory = SessionMemory(LiveContext(writer), self.model_name, system)
        parts = Parts(
            writer=writer,
            model=self.model,
            memory=memory,
            permissions=SessionPermissions(
                writer, place, choice.mode, self.asker, tools, choice.allowed, choice.denied
            ),
            place=place,
            tools=tools,
            compactor=SessionCompactor(
                writer, memory, self.model, tools=[tool.definition for tool in tools.values()]
            ),
            limits=Limits(responses=choice.max_turns, dollars=choice.max_budget_usd),
        )
        return Client(parts, prices=self.prices)

    def _place(self, writer: SessionWriter) -> Workplace:
        return Workplace(
            self.directory,
            cwd=self.directory,
            others=self.choice.others,
            environment=without_secrets(self.environment, self.let_through),
            secrets=secret_values(self.environment, self.let_through),
            results=writer.path.with_suffix("") / "tool-results",
            has_network=bool(self.tools.keys() & NETWORK),
            ask=aside(self.model, self.model_name.removesuffix(LONG)),
        )
