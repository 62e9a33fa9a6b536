"""What the graph knows of one record: who it is, whom it names, where its bytes lie."""

from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

PREVIEW = 120

SourceKind: TypeAlias = Literal["session", "agent", "journal"]


class Place(NamedTuple):
    """Where the bytes of a record lie: a file of the graph, its line, its bytes."""

    file: int
    line: int
    offset: int
    length: int


class Trait:
    """What a record is, as far as the graph needs to know.

    Plain numbers: an enumeration costs more than all the rest of a graph.
    """

    HUMAN = 1  # a prompt that a person typed
    QUEUED = 2  # a prompt typed while the model worked
    ANSWER = 4  # a text or a call of the model, no error
    STRUCTURAL = 8  # bridged when forks are judged
    SIDECHAIN = 16
    META = 32
    SUMMARY = 64  # what a compaction left of the conversation
    ERROR = 128  # the API's error in the place of an answer
    INTERRUPTION = 256
    BOUNDARY = 512  # a compaction
    CLEAR = 1024  # the command that clears the context
    ASKS = 2048  # a command, a notice or a meta record: opens a turn where an answer follows
    TEAM = 4096


class Call(Struct, frozen=True, gc=False):
    """A call of a tool, with what it says of the agent it may send out."""

    id: str
    name: str
    prompt: int | None = None
    """A digest of the agent's prompt."""
    label: str | None = None
    """The agent's name, else its description."""


class Spawned(Struct, frozen=True, gc=False):
    """What the result of a call says of the agent, the teammate or the workflow it started."""

    agent: str | None = None
    run: str | None = None
    name: str | None = None
    in_text: bool = False
    """True where only the words of the result name the agent."""


class Node(Struct, frozen=True, gc=False):
    """A record in the graph: who it is, whom it names, where it stands."""

    uuid: str
    parent: str | None
    """As the record says; `SessionGraph.edge_of` says where it really hangs."""
    file: int
    line: int
    offset: int
    length: int
    session: str
    """The session that owns it; an agent's is its parent's."""
    kind: str
    subtype: str | None = None
    """Of a system record, an attachment or progress."""
    timestamp: str | None = None
    traits: int = 0
    message_id: str | None = None
    request_id: str | None = None
    calls: tuple[Call, ...] = ()
    results: tuple[str, ...] = ()
    """The calls that it answers."""
    source: str | None = None
    """The record whose call it answers, where the client says so."""
    agent: str | None = None
    logical: str | None = None
    """The record that a compaction goes on from."""
    kept: tuple[str, ...] = ()
    """Records that a compaction keeps in the context."""
    spawned: Spawned | None = None
    digest: int | None = None
    """Of the words of a prompt, so that equal ones are known."""
    preview: str | None = None
    """The first words of a prompt."""
    forked_from: str | None = None
    """The session that it was copied from, where the client says so."""
    copies: tuple[Place, ...] = ()
    """The other lines that hold this uuid."""

    @property
    def place(self) -> Place:
        """Where its bytes lie."""
        return Place(self.file, self.line, self.offset, self.length)

    @property
    def is_human_prompt(self) -> bool:
        return bool(self.traits & (Trait.HUMAN | Trait.QUEUED))

    @property
    def is_structural(self) -> bool:
        return bool(self.traits & Trait.STRUCTURAL)

    @property
    def is_sidechain(self) -> bool:
        return bool(self.traits & Trait.SIDECHAIN)

    @property
    def is_boundary(self) -> bool:
        return bool(self.traits & Trait.BOUNDARY)


class SourceFile(Struct, frozen=True, gc=False):
    """A file that records came from, named by where it lies."""

    path: str
    kind: SourceKind
    session: str | None
    agent: str | None = None
    run: str | None = None
    project: str = ""
    size: int = 0
