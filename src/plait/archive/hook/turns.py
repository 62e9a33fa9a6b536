"""Conversations to which of their turns and agents are final: nothing more will come to them.

A turn is final when the next prompt stands after it, when the client has noted how long it took,
or when somebody says that it is over: the session has ended, or nothing has been written for
a while. An answer alone says little: a hook may send the model back to work.
"""

import time
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path

from plait.conversation.model import (
    Answered,
    Called,
    Conversation,
    Item,
    Noted,
    Said,
    Shown,
    Thought,
    Told,
    Turn,
)
from plait.conversation.walk import calls_of
from plait.graph.paths import SPOKEN

MODEL = (Said, Thought, Called, Shown, Answered)
ASIDE = frozenset({"command", "command-output", "bash", "bash-output", "ide", "reminder", "empty"})
"""What stands between two prompts though the model need not have seen it."""


@dataclass(frozen=True)
class Occasion:
    """Why a session is looked at."""

    is_over: bool = False
    """Nothing more comes to the last turn."""
    agents: Set[str] = frozenset()
    """The agents that said they are done."""
    idle: float = 30.0
    """Seconds without a new line after which an agent of the client's own is done."""
    forgotten: float = 3600.0
    """Seconds after which any agent is."""


def closing_line(turn: Turn) -> int | None:
    """Returns the line where the client has noted the end of a turn; None where it has not, or
    where the model did something after.
    """
    for item in reversed(turn.items):
        if isinstance(item, Noted) and item.subtype == "turn_duration":
            return item.line
        if isinstance(item, MODEL):
            return None
    return None


def is_at_rest(turn: Turn) -> bool:
    """Tells whether the model has said its last word, as far as one can see."""
    for item in reversed(turn.items):
        if isinstance(item, Told) and (item.kind in ASIDE or item.name == "caveat"):
            continue
        if isinstance(item, Told):
            return item.kind == "interruption"
        if isinstance(item, MODEL):
            return isinstance(item, Said | Shown)
    return False


@dataclass
class Agents:
    """Tells which agents are done."""

    by_line: Mapping[str, Conversation]
    occasion: Occasion
    callers: dict[str, Called] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    """The files of those that are not."""

    def __post_init__(self) -> None:
        for conversation in self.by_line.values():
            for _, call in calls_of(conversation):
                self.callers.update(dict.fromkeys(call.agents, call))

    def is_done(self, line: str) -> bool:
        """Tells whether nothing more comes to a conversation, where it is an agent's."""
        agent = self.by_line[line]
        if agent.kind in SPOKEN:
            return True
        caller = self.callers.get(line)
        if caller and caller.outcome != "launched":  # it ends with the turn that sent it out
            return True
        return self._has_ended(agent)

    def _has_ended(self, agent: Conversation) -> bool:
        path = file_of(agent)
        if self.occasion.is_over or agent.agent in self.occasion.agents or path is None:
            return True
        occasion = self.occasion
        limit = occasion.idle if agent.kind == "service" else occasion.forgotten
        try:
            is_idle = time.time() - path.stat().st_mtime >= limit
        except OSError:
            return True
        if not is_idle:
            self.held.add(str(path))
        return is_idle


def file_of(agent: Conversation) -> Path | None:
    """Returns the file that an agent stands in."""
    first = next(agent.items(), None)
    return Path(agent.files[first.file]) if first and first.file < len(agent.files) else None


def last_line(conversation: Conversation) -> int:
    """Returns the last line of a conversation in the session's own file."""
    return max((item.line for item in conversation.items() if is_own(item)), default=0)


def first_line(turn: Turn) -> int:
    """Returns the number of the line in the session's own file that a turn begins with."""
    return min((item.line for item in turn.items if is_own(item)), default=0)


def is_own(item: Item) -> bool:
    """Tells whether an item stands in the session's own file, at a known line."""
    return item.file == 0 and item.line > 0
