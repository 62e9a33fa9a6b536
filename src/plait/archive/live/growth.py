"""A session that is being written to the turns that its new lines add, at their cost alone.

What follows the last turn is read together with it, as if it were a session of its own. That
holds as long as the log goes on straight (`plait.archive.checkpoint`). Where it does not, there
is no answer, and the session is read anew.
"""

from threading import Lock

from msgspec.structs import replace

from plait.archive.checkpoint import goes_on_straight, with_judged
from plait.archive.open_session import OpenSession, is_still_there
from plait.conversation.branching import Branching
from plait.conversation.model import (
    Answered,
    Called,
    Conversation,
    Conversations,
    Item,
    Left,
    Noted,
)
from plait.errors import SourceError
from plait.graph.source import source_of
from plait.line.split import Follower
from plait.record import Record
from plait.record.read import Blank, entry_of

MOST = 4 << 20
"""Bytes of a last turn and what follows beyond which reading anew is as good."""


class Growing:
    """Follows the own file of a session from where it was read to."""

    def __init__(self, opened: OpenSession, told: Conversations | None) -> None:
        self.session = opened.session
        self.opened = opened
        self.told = told
        self.is_straight = True
        self._lock = Lock()
        self._records: list[Record] = []
        self._brought: tuple[Item, ...] = ()
        """Notes of the last turn that stand elsewhere in the log."""
        self._follower: Follower | None = None
        self._judge: Branching | None = None
        self._conversation: Conversation | None = None
        self._begin()

    def conversation(self) -> Conversation | None:
        """Returns the last turn and all that follows it, None where the log has turned.

        Its turns go on from the first of them: the one that was the last.
        """
        with self._lock:
            if self.is_straight and self._look():
                self._conversation = self._tell()
            self.is_straight = self.is_straight and self._conversation is not None
            return self._conversation if self.is_straight else None

    @property
    def first(self) -> int:
        """The place of the turn that it begins with."""
        return len(self.told.active.turns) - 1 if self.told else 0

    def _begin(self) -> None:
        """Takes the records of the last turn, where nothing but they stand at the end."""
        told, file, graph = self.told, self.session.file, self.opened.graph
        self.is_straight = bool(told and file and told.active.turns)
        if told is None or file is None or not self.is_straight:
            return
        last = told.active.turns[-1]
        held = self.opened.records
        start = last.opener.line if last.opener else 0
        self._records = [record for record in held if record.line >= start]
        self._brought = tuple(item for item in last.items if item.file or item.line < start)
        self.is_straight = (
            graph.files[0].path == str(file.path)
            and bool(self._records)
            and all(isinstance(item, Noted) for item in self._brought)
            and not any(isinstance(item, Left) for item in last.items)
            and all(self._is_of_line(record) for record in self._records)
            and is_still_there(file.path, held[-1])
        )
        if held:
            end = held[-1].offset + len(held[-1].raw) + 1
            self._follower = Follower(file.path, offset=end, number=held[-1].line + 1)
            self._conversation = replace(told.active, turns=told.active.turns[-1:])

    def _is_of_line(self, record: Record) -> bool:
        graph, uuid = self.opened.graph, record.uuid
        is_inline = self.told is not None and graph.line_of.get(uuid or "") == self.told.main
        return uuid is None or (is_inline and uuid not in graph.folds)

    def _look(self) -> bool:
        """Takes in what is new; tells whether anything is."""
        if self._follower is None:
            return False
        try:
            grown = self._follower.look()
        except SourceError:
            self.is_straight = False
            return False
        entries = [entry_of(line) for line in grown.lines]
        found = [entry for entry in entries if isinstance(entry, Record)]
        odd = sum(not isinstance(entry, Record | Blank) for entry in entries)
        is_other = grown.is_restarted or grown.is_gone or bool(odd)
        self.is_straight = not is_other and self._goes_on(found)
        self._records += found
        return bool(found) and self.is_straight

    def _goes_on(self, new: list[Record]) -> bool:
        if self._judge is None:
            self._judge = with_judged(Branching(), self.opened.records)
        return goes_on_straight(self._judge, new)

    def _tell(self) -> Conversation | None:
        """Reads the last turn and what follows as a session of its own."""
        file = self.session.file
        size = sum(len(record.raw) for record in self._records)
        if file is None or self.told is None or size > MOST:
            return None
        last = OpenSession([source_of(file, self._records)])
        return self._continued(last.conversations.active) if len(last.graph.lines) == 1 else None

    def _continued(self, found: Conversation) -> Conversation | None:
        """Returns what was told with the numbers that it has in its conversation."""
        assert self.told is not None
        last = self.told.active.turns[-1]
        step = last.number - found.turns[0].number if found.turns else -1
        is_late = any(isinstance(one, Answered) and one.standing != "own" for one in found.items())
        if step < 0 or is_late or (last.number and not found.turns[0].number):
            return None
        agents = {item.call: item.agents for item in last.items if isinstance(item, Called)}
        turns = [
            replace(
                turn,
                number=turn.number + step,
                items=tuple(_with_agents(item, agents) for item in turn.items),
            )
            for turn in found.turns
        ]
        turns[0] = replace(turns[0], items=(*turns[0].items, *self._brought))
        return replace(found, id=self.told.main, turns=tuple(turns))


def _with_agents(item: Item, agents: dict[str, tuple[str, ...]]) -> Item:
    if isinstance(item, Called) and agents.get(item.call):
        return replace(item, agents=agents[item.call])
    return item
