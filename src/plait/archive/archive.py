"""Roots to sessions, projects and accounts."""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import tzinfo
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal

from plait.archive.facts import facts_of
from plait.archive.model import Facts, Project, Session
from plait.archive.sessions import resolve, sessions_of
from plait.errors import NoSuchSession, UserError
from plait.line import Discovery, LogFile, Root, discover, root_at
from plait.line.discover import AGENT, SUFFIX, session_folder
from plait.line.split import unreadable
from plait.record.sidecar import cleanup_days, running_clients

if TYPE_CHECKING:  # listing needs no graph: its modules are loaded when one is asked for
    from plait.conversation.model import Conversations
    from plait.conversation.prices import Prices
    from plait.conversation.spending import By, Spending
    from plait.conversation.stats.model import Figures
    from plait.graph import SessionGraph
    from plait.graph.client import Context


class Archive:
    """All sessions under some roots.

    A root is a configuration folder of the client, a projects folder, any folder with logs
    somewhere in it, or one file. Nothing is read before it is asked for, and nothing is
    ever written.
    """

    def __init__(self, roots: Iterable[Path | str]) -> None:
        self.roots: tuple[Root, ...] = tuple(root_at(Path(root)) for root in roots)
        self._facts: dict[Path, Facts] = {}

    @cached_property
    def discovery(self) -> Discovery:
        """Everything that lies under the roots."""
        return discover(self.roots)

    @property
    def files(self) -> tuple[LogFile, ...]:
        """All log files, in the order of their paths."""
        return self.discovery.files

    @cached_property
    def sessions(self) -> tuple[Session, ...]:
        """All sessions, the newest last."""
        found = sessions_of(self.files, self.roots)
        return tuple(sorted(found, key=lambda session: (session.modified, str(session.path))))

    @cached_property
    def projects(self) -> tuple[Project, ...]:
        """All projects by name, with their sessions."""
        members: dict[str, list[Session]] = defaultdict(list)
        for session in self.sessions:
            members[session.project].append(session)
        return tuple(Project(name, tuple(found)) for name, found in sorted(members.items()))

    @cached_property
    def live(self) -> frozenset[str]:
        """The ids of sessions that a client is running now."""
        clients = [client for root in self.roots if root.config for client in _running(root.config)]
        return frozenset(clients)

    @cached_property
    def kept_days(self) -> dict[Path, float]:
        """After how many days each client deletes its sessions, by its configuration folder."""
        return {root.config: cleanup_days(root.config) for root in self.roots if root.config}

    def facts(self, session: Session) -> Facts:
        """Returns what a list shows of a session; its file is read once."""
        known = self._facts.get(session.path)
        if known is None:
            days = self.kept_days.get(session.config) if session.config else None
            known = facts_of(session, is_live=session.id in self.live, kept_days=days)
            self._facts[session.path] = known
        return known

    def remember(self, known: Mapping[Path, Facts]) -> None:
        """Takes the facts of sessions, by path, that need not be read again."""
        self._facts.update(known)

    def session(self, name: str, directory: Path | None = None) -> Session:
        """Returns the session that a name means: a file, an id, a title, `latest`, `.`."""
        path = Path(name)
        if path.suffix == SUFFIX or (os.sep in name and path.exists()):
            return self.session_at(path)
        return resolve(name, self.sessions, self.facts, directory)

    def session_at(self, path: Path) -> Session:
        """Returns the session that a file belongs to, whether it lies under a root or not."""
        check_file(path)
        real = path.resolve()
        for session in (*self.sessions, *beside(real)):
            if any(file.path.resolve() == real for file in session.files):
                return session
        raise NoSuchSession(f"no session lies at '{path}'")

    def graph(self, *sessions: Session) -> "SessionGraph":
        """Returns the graph of some sessions with their agents, or of the whole archive."""
        from plait.archive.graphs import graph_of

        return graph_of(sessions or self.sessions)

    def conversations(self, session: Session) -> "Conversations":
        """Returns a session as people and tools took turns: its trunk, branches and agents."""
        from plait.archive.open_session import conversations

        return conversations(session)

    def usage(
        self,
        by: "By" = "daily",
        prices: "Prices | None" = None,
        zone: tzinfo | None = None,
    ) -> "Spending":
        """Returns tokens and money by day, week, month, session, project or model.

        Each response counts once over all files. Without prices of the caller's own the
        embedded list is used; without a time zone the local one.
        """
        from plait.archive.usage import abandoned, count
        from plait.conversation.prices import Prices
        from plait.conversation.spending import spending

        responses = count(self.sessions).responses
        left = abandoned(self.sessions, responses)
        return spending(responses, by, prices or Prices(), zone, left)

    def stats(self, *sessions: Session, zone: tzinfo | None = None) -> "Figures":
        """Returns what was done in some sessions, or in all: turns, tools, agents, files."""
        from plait.archive.stats import stats_of

        return stats_of(sessions or self.sessions, zone)

    def context(self, session: Session, as_: Literal["client", "sdk"] = "client") -> "Context":
        """Returns what Claude will see when a session is resumed."""
        return context(session, as_)


def context(session: Session | Path | str, as_: Literal["client", "sdk"] = "client") -> "Context":
    """Returns what Claude will see when a session, or the session of a file, is resumed."""
    from plait.archive.graphs import context_of

    if not isinstance(session, Session):
        session = Archive([session]).session_at(Path(session))
    return context_of(session, as_)


def check_file(path: Path) -> None:
    """Refuses what is no file that can be read, and says what it is."""
    if path.is_dir():
        hint = f"`plait ls --root {quote(str(path))}` lists the sessions in it"
        raise UserError(f"'{path}' is a folder", hint)
    try:
        path.open("rb").close()
    except OSError as error:
        raise unreadable(path, error) from error


def beside(path: Path) -> tuple[Session, ...]:
    """Returns the sessions of a file that lies under no root, and of what lies beside it."""
    home, _ = session_folder(path)
    own = home.with_suffix(SUFFIX) if home else path
    places = [own, own.with_suffix(""), *own.parent.glob(f"{AGENT}*{SUFFIX}"), path]
    roots = [Root(place, None, place) for place in places if place.exists()]
    return sessions_of(discover(roots).files, ())


def _running(config: Path) -> list[str]:
    return [
        client.session_id
        for client in running_clients(config)
        if client.session_id and client.pid and _is_running(client.pid)
    ]


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # there, signal 0 would end it
        return True
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
