"""An open session to its conversations as a program meets them: what a turn cost, how it reads."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from plait.archive.model import Session
from plait.archive.open_session import OpenSession
from plait.conversation.model import Conversation, Conversations, Turn

if TYPE_CHECKING:  # who only reads turns loads neither prices nor files
    from plait.archive.archive import Archive
    from plait.conversation.changes import Touch
    from plait.conversation.walk import Depth
    from plait.graph import SessionGraph
    from plait.view.costs import Figures, SessionFigures


class SessionTurn(Turn, frozen=True, kw_only=True, dict=True):
    """A turn of a session, with what it took; as JSON it is a turn like any other."""

    @cached_property
    def took(self) -> "Figures":
        """What it took, counted when it is asked for."""
        told, figures = self.__dict__["counted"]
        found: Figures = figures().of_turn(told, self)
        return found

    @property
    def cost(self) -> float:
        """In US dollars, of what has a price; the agents that it sent out are part of it."""
        return self.took.cost or 0.0

    @property
    def tokens(self) -> int:
        """All that was read and written, by its agents too."""
        return self.took.tokens

    @property
    def edits(self) -> "tuple[Touch, ...]":
        """What its calls did to files: created, written, edited."""
        from plait.conversation.changes import CHANGING, of_call

        touches = (of_call(call, self.number) for call in self.calls)
        return tuple(one for one in touches if one and one.action in CHANGING)


class SessionConversation(Conversation, frozen=True, kw_only=True, eq=False, dict=True):
    """A conversation of a session that is open; as JSON it is a conversation like any other."""

    turns: tuple[SessionTurn, ...]

    @property
    def cost(self) -> float:
        """In US dollars, of what has a price, agents included."""
        return sum(turn.cost for turn in self.turns)

    @property
    def tokens(self) -> int:
        """All that was read and written, by agents too."""
        return sum(turn.tokens for turn in self.turns)

    def markdown(self, depth: "Depth" = "tools") -> str:
        """Returns it as a transcript, from the session's first turn to its end, not redacted."""
        from plait.archive.export.transcripts import Family, Names
        from plait.view.passages.stream import Manner
        from plait.view.transcript.markdown import markdown_of, text_of

        family = Family(self.__dict__["opened"], str, Names())
        found = (*family.transcripts(), *family.agent_transcripts())
        own = next(one for one in found if one.name == family.targets[self.id])
        return text_of(markdown_of(own, Manner(depth=depth)))


class SessionConversations(Conversations, frozen=True, kw_only=True, eq=False):
    """All conversations of a session that is open: its trunk, its branches, its agents."""

    by_line: Mapping[str, SessionConversation]

    @property
    def active(self) -> SessionConversation:
        """The one that Claude Code would go on with."""
        return self.by_line[self.main]

    @property
    def branches(self) -> tuple[SessionConversation, ...]:
        """Those that were left, each from its session's beginning."""
        spoken = (one for one in self.by_line.values() if one.kind in ("trunk", "branch"))
        return tuple(one for one in spoken if one.id != self.main)

    @property
    def agents(self) -> tuple[SessionConversation, ...]:
        """Those of agents."""
        return tuple(one for one in self.by_line.values() if one.kind == "agent")

    def __iter__(self) -> Iterator[SessionConversation]:
        return iter(self.by_line.values())

    def __len__(self) -> int:
        return len(self.by_line)


def session_conversations(opened: OpenSession, archive: "Archive") -> SessionConversations:
    """Returns the conversations of an open session, with what each turn took."""
    found = opened.conversations

    @cache
    def figures() -> "SessionFigures":
        from plait.view.costs import SessionFigures

        return SessionFigures(found, archive.prices)

    def bound(one: Conversation) -> SessionConversation:
        turns = tuple(SessionTurn(**_fields(turn)) for turn in one.turns)
        for turn in turns:
            turn.__dict__["counted"] = one, figures
        told = SessionConversation(**_fields(one) | {"turns": turns})
        told.__dict__["opened"] = opened
        return told

    by_line = {name: bound(one) for name, one in found.by_line.items()}
    return SessionConversations(**_fields(found) | {"by_line": by_line})


def _fields(value: Struct) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__struct_fields__}


def distinct_turns(
    sessions: Iterable[Session], since: datetime | None = None, until: datetime | None = None
) -> Iterator[tuple[Session, SessionTurn]]:
    """Yields the turns of all conversations that people held, each once.

    A turn that stands in several sessions belongs to the one that began first.
    """
    from plait.archive.families import in_order
    from plait.conversation.stats.owning import Ownership

    met = Ownership(since, until)
    for session in in_order(sessions):
        conversations = session.conversations
        met.begin(session.archive.open(session).copied if session.archive else {})
        for conversation in conversations:
            if conversation.kind in ("trunk", "branch"):
                for turn in conversation.turns:
                    if turn.opener and met.owns(turn.opener):
                        yield session, turn


def turns_on(
    archive: "Archive", held: OpenSession | None, graph: "SessionGraph", lines: list[str]
) -> dict[str, Turn]:
    """Returns the turns of some DAG-lines of a graph, of the session that is open or of several."""
    if held and held.is_graph(graph):
        return held.turns_on(graph, lines)
    wanted = {graph.lines[name].session for name in lines}
    found: dict[str, Turn] = {}
    for session in archive.sessions:
        if session.id in wanted:
            opened = archive.open(session)
            found.update(opened.turns_on(opened.graph, opened.graph.lines))
    return found
