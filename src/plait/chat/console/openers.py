"""Opening sessions for a console: new, resumed, forked or cleared."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from plait.chat.approval import Approver
from plait.chat.claude_code import ClaudeEngine, ClaudeOptions
from plait.chat.client import Client
from plait.chat.console.archive import ChatArchive
from plait.chat.console.options import ChatOptions
from plait.chat.rewind import RewindPoint, chain_before
from plait.chat.runtime import Limits
from plait.chat.session import SessionOptions, keeps_file_history
from plait.chat.session_commands import branch_session, clear_session
from plait.chat.settings import ClientSettings
from plait.chat.streaming import Model
from plait.conversation.prices import Prices
from plait.errors import UserError
from plait.view.terminal import AnyBlock
from plait.write import SessionWriter


@dataclass(kw_only=True)
class OpenerBase:
    """What the openers of both engines have in common."""

    chat_options: ChatOptions
    archive: ChatArchive
    prices: Prices = field(default_factory=Prices)
    approver: Approver | None = None
    """Asked before something is done; without one, calls are rejected."""
    resumed_path: Path | None = None
    """The session to resume; None for a new one."""
    recent: Callable[[], Iterable[AnyBlock]] = tuple
    """Returns the last turn of the resumed session."""
    greeting: tuple[str, ...] = ()
    """The greeting shown first."""
    farewell: tuple[str, ...] = ()


@dataclass(kw_only=True)
class ApiOpener(OpenerBase):
    """Opens the sessions of one directory with the same options."""

    root: Path
    """The configuration folder that sessions are logged in."""
    directory: Path
    model: Model
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    allowed_secrets: tuple[str, ...] = ()
    settings: ClientSettings = field(default_factory=ClientSettings)
    """Claude Code's settings files."""
    on_warning: Callable[[str], None] = lambda text: None
    """Called with warnings that the screen can no longer show."""
    is_fork: bool = False
    """Whether to resume in a copy."""
    at: str | None = None
    """The message to continue from; None for the newest."""

    @property
    def model_name(self) -> str:
        """The model name that the log gets."""
        return self.chat_options.model if self.chat_options.asks_api else self.model.name

    @property
    def session_options(self) -> SessionOptions:
        """Options of the sessions."""
        choice = self.chat_options
        return SessionOptions(
            self.model,
            mode=choice.mode,
            asker=self.approver,
            allowed=choice.allowed,
            forbidden=choice.denied,
            settings=self.settings,
            note=self.on_warning,
            others=choice.others,
            environment=self.environment,
            let_through=self.allowed_secrets,
            limits=Limits(responses=choice.max_turns, dollars=choice.max_budget_usd),
            system_prompt=choice.system_prompt,
            appended=choice.appended,
        )

    def open(self) -> Client:
        """Return the client of the chosen session."""
        if self.resumed_path is None:
            writer = SessionWriter.new(
                self.root,
                cwd=self.directory,
                session=self.chat_options.session,
                **self._log_options,
            )
            client = self._make_client(writer)
        elif self.is_fork:
            writer = SessionWriter.fork(
                self.resumed_path,
                self.root,
                session=self.chat_options.session,
                cwd=self.directory,
                **self._log_options,
            )
            client = self._make_client(writer)
        else:
            client = self.resume(self.resumed_path)
        if self.at:
            client.runtime.writer.rewind(self.at)
        if self.chat_options.title:
            client.runtime.writer.title(self.chat_options.title)
        return client

    def resume(self, path: Path) -> Client:
        """Resume a session in its own log."""
        return self._make_client(
            SessionWriter.resume(path, cwd=self.directory, **self._log_options)
        )

    def clear(self, old: "Engine") -> Client:
        """Start a session in place of another."""
        assert isinstance(old, Client)
        old.lifecycle.reason = "clear"
        return self._make_client(clear_session(old.runtime.writer))

    async def branch(self, old: "Engine", point: RewindPoint | None, title: str) -> Client:
        """Copy the conversation into a new session, as `/branch` does."""
        assert isinstance(old, Client)
        chain = chain_before(old.chain, point) if point else old.chain
        return self._make_client(branch_session(old.runtime.writer, chain, title))

    @property
    def _log_options(self) -> dict[str, Any]:
        """Options of the log's format."""
        version, entrypoint = (
            self.chat_options.version,
            "sdk-cli" if self.chat_options.is_printed else "cli",
        )
        return {
            "version": version,
            "model": self.model_name,
            "permission_mode": self.chat_options.mode,
            "entrypoint": entrypoint,
            "has_snapshots": keeps_file_history(version, entrypoint, self.environment),
        }

    def _make_client(self, writer: SessionWriter) -> Client:
        return Client.from_writer(writer, self.session_options, prices=self.prices)


@dataclass(kw_only=True)
class ClaudeOpener(OpenerBase):
    """Opens sessions of one directory like `ApiOpener`, all run by the installed client."""

    options: ClaudeOptions

    @property
    def directory(self) -> Path:
        """The client's working directory."""
        return self.options.directory

    @property
    def model_name(self) -> str:
        return self.chat_options.named_model or "Claude Code"

    def open(self) -> ClaudeEngine:
        return self._make_engine(self.options)

    def clear(self, old: "Engine") -> ClaudeEngine:
        return self._make_engine(self._new_options(old))

    def resume(self, path: Path) -> ClaudeEngine:
        fresh = replace(self.options, session=None, title=None, at=None, is_fork=False)
        return self._make_engine(replace(fresh, resumed=path.stem))

    async def branch(self, old: "Engine", point: RewindPoint | None, title: str) -> ClaudeEngine:
        if not old.rewind_points():
            raise UserError("there is nothing to branch yet")
        new = replace(
            self._new_options(old), title=title or None, resumed=old.session, is_fork=True
        )
        return self._make_engine(replace(new, at=point.before if point else None))

    def _new_options(self, old: "Engine") -> ClaudeOptions:
        fields = {"resumed": None, "is_fork": False, "at": None, "session": None, "title": None}
        return replace(self.options, **fields, mode=old.mode)  # type: ignore[arg-type]

    def _make_engine(self, start: ClaudeOptions) -> ClaudeEngine:
        return ClaudeEngine(start, approver=self.approver, prices=self.prices)


Engine: TypeAlias = Client | ClaudeEngine
"""A session as the console uses it: through the API, or through the installed client."""
SessionOpener: TypeAlias = ApiOpener | ClaudeOpener
