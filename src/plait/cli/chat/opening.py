"""What was chosen to a client: a session that is begun, gone on with or copied."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from plait.agent.assembly import Manner
from plait.agent.client import Client
from plait.agent.engine import Engine, Sessions
from plait.agent.holding import has_snapshots
from plait.agent.parts import Limits
from plait.agent.permission import Asker
from plait.agent.rewinding import Point, chain_before
from plait.agent.rewinding.branching import branched
from plait.agent.sessions import cleared
from plait.agent.settings import ClientSettings
from plait.agent.streaming import Model
from plait.cli.chat.choice import Choice
from plait.cli.chat.past import Past
from plait.conversation.prices import Prices
from plait.view.terminal.model import AnyBlock
from plait.write import SessionWriter

KEEPS_FILES = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"
"""By what programs have files kept before they change, as in the client."""


class Opener(Sessions, Protocol):
    """Whoever opens sessions of one directory, for somebody at a keyboard."""

    asker: Asker | None
    """Whoever is asked before something is done."""

    @property
    def past(self) -> Past:
        """What was said before."""
        ...

    @property
    def prices(self) -> Prices:
        """What tokens cost."""
        ...

    @property
    def choice(self) -> Choice:
        """What was chosen."""
        ...

    @property
    def directory(self) -> Path:
        """Where the tools work."""
        ...

    @property
    def old(self) -> Path | None:
        """The session that goes on; None for a new one."""
        ...

    @property
    def greeting(self) -> tuple[str, ...]:
        """What is said before all else."""
        ...

    @property
    def farewell(self) -> tuple[str, ...]:
        """What is said at last, where it is not the usual."""
        ...

    def recent(self) -> Iterable[AnyBlock]:
        """Returns the last turn of the session that goes on."""
        ...

    @property
    def model_name(self) -> str:
        """The name of whoever answers."""
        ...

    def client(self) -> Engine:
        """Returns the session that was chosen."""
        ...

    def start(self, client: Engine) -> None:
        """Has what takes time begin while the person still thinks."""
        ...


@dataclass
class Opening:
    """Opens sessions of one directory, all in the same way."""

    root: Path
    """The configuration folder that the sessions are logged in."""
    directory: Path
    choice: Choice
    model: Model
    past: Past
    prices: Prices = field(default_factory=Prices)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    let_through: tuple[str, ...] = ()
    settings: ClientSettings = field(default_factory=ClientSettings)
    """What settings files of Claude Code say."""
    note: Callable[[str], None] = lambda text: None
    """Told of trouble when nobody looks at the screen any more."""
    asker: Asker | None = None
    """Whoever is asked before something is done; without one it is refused."""
    old: Path | None = None
    """The session that goes on; None for a new one."""
    is_fork: bool = False
    """Whether it goes on in a copy."""
    at: str | None = None
    """The message that it goes on from; None for where it stands."""
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
    def manner(self) -> Manner:
        """How the sessions are held."""
        choice = self.choice
        return Manner(
            self.model,
            mode=choice.mode,
            asker=self.asker,
            allowed=choice.allowed,
            forbidden=choice.denied,
            settings=self.settings,
            note=self.note,
            others=choice.others,
            environment=self.environment,
            let_through=self.let_through,
            limits=Limits(responses=choice.max_turns, dollars=choice.max_budget_usd),
            system_prompt=choice.system_prompt,
            appended=choice.appended,
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Client]:
        """Opens the session that was chosen, and closes it."""
        async with self.client() as client:
            yield client

    def client(self) -> Client:
        """Returns the client of the session that was chosen."""
        client = self._chosen()
        if self.at:
            client.parts.writer.rewind(self.at)
        if self.choice.title:
            client.parts.writer.title(self.choice.title)
        return client

    def start(self, client: Engine) -> None:
        """Has hooks told that a session begins while the person still thinks."""
        if isinstance(client, Client):
            client.visit.begin()

    def _chosen(self) -> Client:
        if self.old is None:
            return self.new(self.choice.session)
        return self.forked(self.old) if self.is_fork else self.resumed(self.old)

    def new(self, session: str | None = None) -> Client:
        """Begins a session."""
        writer = SessionWriter.new(self.root, cwd=self.directory, session=session, **self._form)
        return self._client(writer)

    def resumed(self, path: Path) -> Client:
        """Goes on with a session where it lies."""
        return self._client(SessionWriter.resume(path, cwd=self.directory, **self._form))

    def forked(self, path: Path) -> Client:
        """Goes on with a session in a copy."""
        writer = SessionWriter.fork(
            path, self.root, session=self.choice.session, cwd=self.directory, **self._form
        )
        return self._client(writer)

    def cleared(self, old: Engine) -> Client:
        """Begins a session in the place of another."""
        assert isinstance(old, Client)
        old.visit.reason = "clear"
        return self._client(cleared(old.parts.writer))

    async def branched(self, old: Engine, point: Point | None, title: str) -> Client:
        """Goes on with what was said in a session of its own, as `/branch` does."""
        assert isinstance(old, Client)
        chain = chain_before(old.chain, point) if point else old.chain
        return self._client(branched(old.parts.writer, chain, title))

    @property
    def _form(self) -> dict[str, Any]:
        """How the log is written."""
        version, entrypoint = self.choice.version, "sdk-cli" if self.choice.is_printed else "cli"
        return {
            "version": version,
            "model": self.model_name,
            "permission_mode": self.choice.mode,
            "entrypoint": entrypoint,
            "has_snapshots": has_snapshots(version, entrypoint)
            or self.environment.get(KEEPS_FILES) == "true",
        }

    def _client(self, writer: SessionWriter) -> Client:
        return Client.of(writer, self.manner, prices=self.prices)
