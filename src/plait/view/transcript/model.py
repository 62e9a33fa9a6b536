"""What a transcript is: one conversation from its root to its end, with what it says of itself."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from plait.conversation.model import Conversation
from plait.conversation.totals import Totals
from plait.graph.paths import Status
from plait.view.passages.stream import AnyPassage, Manner, Stream


class Heading(Struct, frozen=True, kw_only=True):
    """What a transcript says of itself before it begins."""

    session: str
    path: int = 1
    of: int = 1
    status: Status = "ACTIVE"
    fork_point: str | None = None
    """Where an abandoned path leaves the active one."""
    messages: int = 0
    compactions: int = 0
    turns: int = 0
    """Of the path itself, not of its agents."""
    title: str | None = None
    project: str | None = None
    directory: str | None = None
    branch: str | None = None
    """The one of git."""
    models: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    started: str | None = None
    ended: str | None = None
    totals: Totals
    """With the agents that were sent out."""
    resume: str | None = None
    """What to type to go on with it."""


class Transcript(Struct, frozen=True, kw_only=True):
    """One path, ready to be written."""

    name: str
    """Of its file, without what the format adds."""
    heading: Heading
    conversation: Conversation
    by_line: Mapping[str, Conversation]
    """All conversations of the session, and of those that it shares records with."""
    names: Mapping[str, str]
    """By DAG-line: the transcript that reads it to its end."""
    way: frozenset[str]
    """The DAG-lines that the path goes along."""
    unnamed: tuple[str, ...] = ()
    """Agents that no call names, and what broken lines hold; they stand at the end."""
    agent: str | None = None
    """The DAG-line of the agent that it is about, None for a path."""


def stream_of(transcript: Transcript, manner: Manner) -> Stream:
    """Returns what tells a transcript."""
    return Stream(transcript.by_line, manner, transcript.names)


def passages_of(transcript: Transcript, stream: Stream) -> Iterator[AnyPassage]:
    """Yields all passages of a transcript, agents that no call names at the end."""
    own = transcript.conversation
    for turn in own.turns:
        yield from stream.turn(own, turn)
    yield from stream.unnamed(own, transcript.unnamed)
