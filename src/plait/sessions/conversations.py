"""The conversations of an open session for programs: what a turn cost, how it reads.

The types extend those of `plait.conversation.model` and encode to the same JSON; what they add is
computed on demand.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from plait.conversation.costs import CostFigures, SessionCosts
from plait.conversation.model import Conversation, Conversations, Turn
from plait.conversation.session_counts import Ownership
from plait.conversation.walk import Depth
from plait.sessions.families import sort_by_start
from plait.sessions.model import Session
from plait.sessions.open_session import OpenSession

if TYPE_CHECKING:  # reading turns alone loads neither prices nor files
    from plait.conversation.changes import Touch
    from plait.sessions.library import SessionLibrary


class SessionTurn(Turn, frozen=True, kw_only=True, dict=True):
    """A turn with its cost."""

    @cached_property
    def took(self) -> "CostFigures":
        """Its tokens, its cost and its duration."""
        conversation, costs = self.__dict__["counted"]
        figures: CostFigures = costs().for_turn(conversation, self)
        return figures

    @property
    def cost(self) -> float:
        """In US dollars, as far as prices are known, with the agents it started."""
        return self.took.cost or 0.0

    @property
    def tokens(self) -> int:
        """All tokens read and written, agents included."""
        return self.took.tokens

    @property
    def edits(self) -> "tuple[Touch, ...]":
        """Changes to files by its calls: created, written, edited."""
        from plait.conversation.changes import CHANGING, list_touches

        touches = (touch for call in self.calls for touch in list_touches(call, self.number))
        return tuple(touch for touch in touches if touch.action in CHANGING)


class SessionConversation(Conversation, frozen=True, kw_only=True, eq=False, dict=True):
    """A conversation whose turns have their cost."""

    turns: tuple[SessionTurn, ...]

    @property
    def cost(self) -> float:
        """In US dollars, as far as prices are known, agents included."""
        return sum(turn.cost for turn in self.turns)

    @property
    def tokens(self) -> int:
        """All tokens read and written, agents included."""
        return sum(turn.tokens for turn in self.turns)

    def markdown(self, depth: "Depth" = "tools") -> str:
        """Return it as a transcript, not redacted."""
        opened, library = self.__dict__["opened"]
        text: str = library.render_markdown(opened, self.id, depth)
        return text


class SessionConversations(Conversations, frozen=True, kw_only=True, eq=False):
    """All conversations of an open session: its main line, its branches, its agents."""

    by_line: Mapping[str, SessionConversation]

    @property
    def active(self) -> SessionConversation:
        """The one that Claude Code would resume."""
        return self.by_line[self.main]

    @property
    def branches(self) -> tuple[SessionConversation, ...]:
        """The abandoned ones, each from the beginning of the session."""
        spoken = (found for found in self.by_line.values() if found.kind in ("trunk", "branch"))
        return tuple(found for found in spoken if found.id != self.main)

    @property
    def agents(self) -> tuple[SessionConversation, ...]:
        """Those of sub-agents."""
        return tuple(found for found in self.by_line.values() if found.kind == "agent")

    def __iter__(self) -> Iterator[SessionConversation]:
        return iter(self.by_line.values())

    def __len__(self) -> int:
        return len(self.by_line)


def build_session_conversations(
    opened: OpenSession, library: "SessionLibrary"
) -> SessionConversations:
    """Return the conversations of an open session with the cost of each turn."""
    conversations = opened.conversations

    @cache
    def costs() -> "SessionCosts":
        return SessionCosts(conversations, library.prices)

    def fields(value: Struct) -> dict[str, Any]:
        return {name: getattr(value, name) for name in value.__struct_fields__}

    by_line: dict[str, SessionConversation] = {}
    for name, plain in conversations.by_line.items():
        turns = tuple(SessionTurn(**fields(turn)) for turn in plain.turns)
        for turn in turns:
            turn.__dict__["counted"] = plain, costs
        by_line[name] = SessionConversation(**fields(plain) | {"turns": turns})
        by_line[name].__dict__["opened"] = opened, library
    return SessionConversations(**fields(conversations) | {"by_line": by_line})


def iter_distinct_turns(
    sessions: Iterable[Session], since: datetime | None = None, until: datetime | None = None
) -> Iterator[tuple[Session, SessionTurn]]:
    """Yield the turns of all main lines and branches, each once.

    A turn that several sessions hold belongs to the one that started first.
    """
    ownership = Ownership(since, until)
    for session in sort_by_start(sessions):
        conversations = session.conversations
        ownership.start_session(session.archive.open(session).copied if session.archive else {})
        for conversation in conversations:
            if conversation.kind in ("trunk", "branch"):
                for turn in conversation.turns:
                    if turn.opener and ownership.owns(turn.opener):
                        yield session, turn
