"""Records and paths to what a transcript is named by and headed with."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from plait.conversation.model import Called, Conversation, Said, Shown, Thought
from plait.graph.model import SessionGraph
from plait.graph.paths import Path
from plait.record import Record

UNSAFE = re.compile(r"[^\w.~-]+")
LONGEST = 120
OfModel = (Said, Thought, Called, Shown)


@dataclass(frozen=True)
class Surroundings:
    """What the records of a session say of where it took place."""

    directory: str | None = None
    branch: str | None = None
    versions: tuple[str, ...] = ()


@dataclass
class Names:
    """Gives each transcript a name of its own."""

    taken: set[str] = field(default_factory=set)

    def free(self, name: str) -> str:
        """Returns a name that no other has, on any file system."""
        safe = UNSAFE.sub("_", name)[:LONGEST]
        found, number = safe, 2
        while found.casefold() in self.taken:
            found, number = f"{safe}_{number}", number + 1
        self.taken.add(found.casefold())
        return found


def heard(told: Conversation) -> Conversation:
    """Returns a path with those responses alone that stand on it, for counting."""
    spoken = {item.response for item in told.items() if isinstance(item, OfModel)}
    kept = tuple(one for number, one in enumerate(told.responses) if number in spoken)
    return replace(told, responses=kept)


def surroundings(records: Iterable[Record]) -> Surroundings:
    """Returns the first directory, the last branch and all versions that records name."""
    directory = branch = None
    versions: dict[str, None] = {}
    for record in records:
        envelope = record.envelope
        directory = directory or envelope.cwd
        branch = envelope.git_branch or branch
        if envelope.version:
            versions[envelope.version] = None
    return Surroundings(directory, branch, tuple(versions))


def empty(path: Path, graph: SessionGraph) -> Conversation:
    """Returns the conversation of a session that has none of its own."""
    project = graph.sessions[path.session].project
    files = tuple(file.path for file in graph.files)
    return Conversation(path.session, "trunk", path.session, project, None, (), (), files)
