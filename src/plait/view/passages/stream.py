"""A conversation to passages: what is told of it, in which order, as deep as one wants to read.

Sinks differ in how they write a passage; which passages there are is decided here, once: what a
depth shows, which result stands with its call, where agents and folds open and whether they do.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.changes import compactions_of
from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Conversation,
    Enclosure,
    Folded,
    Item,
    Noted,
    Said,
    Standing,
    Thought,
    Told,
    ToldKind,
    Turn,
)
from plait.conversation.results import key_of, story
from plait.conversation.walk import Depth, visible
from plait.graph.paths import SPOKEN
from plait.view.amounts import bytes_in_words, many, thousands_in_words, time_in_words
from plait.view.passages.call_view import first_text, text_field, whole_number
from plait.view.text import short, when
from plait.view.words import one_line, plain_words

AgentsIn: TypeAlias = Literal[
    "inline",  # where they were sent out
    "files",  # in files of their own
    "apart",  # wherever the sink puts them
]


class Manner(Struct, frozen=True, kw_only=True):
    """How much of a conversation is told, and how."""

    depth: Depth = "tools"
    has_thinking: bool = True
    has_tools: bool = True
    is_simple: bool = False
    """One line a call."""
    agents: AgentsIn = "inline"
    has_front_matter: bool = False


class Passage(Struct, frozen=True, gc=False):
    """Something told, in a conversation, as deep as the agents and folds that it stands in."""

    conversation: Conversation
    level: int


class TurnBegins(Passage, frozen=True, gc=False):
    """A turn of which something is told."""

    turn: Turn
    first: Item
    """What is told first: not its opener where the depth does not show that."""


class Entry(Passage, frozen=True, gc=False):
    """An item at its place in the story."""

    item: Item
    has_result: bool = False
    """True for a call whose result is read together with it."""
    called: Called | None = None
    """The call that a result apart from it answers, where that is told as well."""


class AgentBegins(Passage, frozen=True, gc=False):
    """The conversation of an agent follows."""

    agent: Conversation
    is_called: bool = True
    """False where no call names it."""
    siblings: int = 1
    """Agents that the same call sent out, itself among them."""


class AgentElsewhere(Passage, frozen=True, gc=False):
    """The conversation of an agent stands in a file of its own, or stood above."""

    agent: Conversation
    name: str | None


class FoldBegins(Passage, frozen=True, gc=False):
    """Records follow that are out of the reading order."""

    fold: Folded


class Ends(Passage, frozen=True, gc=False):
    """The agent or the fold that began last is over."""


AnyPassage: TypeAlias = TurnBegins | Entry | AgentBegins | AgentElsewhere | FoldBegins | Ends


@dataclass(frozen=True)
class Stream:
    """Tells conversations of a session once; agents that were met already are not told again."""

    by_line: Mapping[str, Conversation]
    manner: Manner
    names: Mapping[str, str] = field(default_factory=dict)
    """By DAG-line: the file that holds its conversation."""
    told: dict[str, None] = field(default_factory=dict)
    """Agents that were met already, in their order."""
    has_closed_folds: bool = False
    """Folded records are one passage, what they hold is not told."""
    has_agents_by_time: bool = False
    """Several agents of a call in the order they began, not as the call names them."""

    summaries: dict[str, dict[str | None, str | None]] = field(default_factory=dict)

    def summary(self, conversation: Conversation, compacted: Compacted) -> str | None:
        """Returns what a compaction left; all of a conversation are looked up at once."""
        known = self.summaries.get(conversation.id)
        if known is None:
            known = {one.uuid: one.summary for one in compactions_of(conversation)}
            self.summaries[conversation.id] = known
        return known.get(compacted.uuid)

    def turn(self, conversation: Conversation, turn: Turn) -> Iterator[AnyPassage]:
        """Yields the passages of one turn; none where nothing of it is told."""
        return self._opened(self._turn(conversation, turn, 0))

    def unnamed(self, conversation: Conversation, names: Sequence[str]) -> Iterator[AnyPassage]:
        """Yields agents that no call names, where a depth shows agents' calls at all."""
        if self.manner.has_tools and self.manner.depth in ("tools", "all"):
            for name in names:
                yield from self._opened(self._sent(conversation, name, 0, 1, is_called=False))

    def _opened(self, passages: Iterator[AnyPassage]) -> Iterator[AnyPassage]:
        stack = [passages]
        while stack:
            passage = next(stack[-1], None)
            if passage is None:
                stack.pop()
                continue
            yield passage
            if isinstance(passage, AgentBegins):
                stack.append(self._agent(passage))
            elif isinstance(passage, FoldBegins):
                stack.append(self._fold(passage))

    def _turn(self, conversation: Conversation, turn: Turn, level: int) -> Iterator[AnyPassage]:
        items = told_items(turn.items, self.manner)
        if items:
            yield TurnBegins(conversation, level, turn, items[0])
            yield from self._story(conversation, items, level)

    def _agent(self, begun: AgentBegins) -> Iterator[AnyPassage]:
        for turn in begun.agent.turns:
            yield from self._turn(begun.agent, turn, begun.level + 1)
        yield Ends(begun.conversation, begun.level)

    def _fold(self, begun: FoldBegins) -> Iterator[AnyPassage]:
        items = told_items(begun.fold.items, self.manner)
        yield from self._story(begun.conversation, items, begun.level + 1)
        yield Ends(begun.conversation, begun.level)

    def _story(
        self, conversation: Conversation, items: Sequence[Item], level: int
    ) -> Iterator[AnyPassage]:
        calls: dict[tuple[str, str | None], Called] = {}
        for item, has_result in story(items):
            if isinstance(item, Called):
                calls[key_of(item)] = item
                yield Entry(conversation, level, item, has_result)
                if item.agents and self.manner.agents != "apart":
                    yield from self._agents(conversation, item, level)
            elif isinstance(item, Folded) and not self.has_closed_folds:
                yield FoldBegins(conversation, level, item)
            elif isinstance(item, Answered):
                yield Entry(conversation, level, item, called=calls.get(key_of(item)))
            else:
                yield Entry(conversation, level, item)

    def _agents(
        self, conversation: Conversation, called: Called, level: int
    ) -> Iterator[AnyPassage]:
        names = called.agents
        if self.has_agents_by_time:
            names = tuple(agents_by_time(called, self.by_line))
        for name in names:
            yield from self._sent(conversation, name, level, len(names))

    def _sent(
        self,
        conversation: Conversation,
        name: str,
        level: int,
        siblings: int,
        *,
        is_called: bool = True,
    ) -> Iterator[AnyPassage]:
        agent = self.by_line.get(name)
        if agent is None:
            return
        if self.manner.agents == "files" and agent.kind not in SPOKEN:
            yield AgentElsewhere(conversation, level, agent, self.names.get(name))
        elif name in self.told:
            yield AgentElsewhere(conversation, level, agent, None)
        else:
            self.told[name] = None
            yield AgentBegins(conversation, level, agent, is_called, siblings)


def told_items(items: Sequence[Item], manner: Manner) -> list[Item]:
    """Returns the items that are told."""
    found = visible(items, manner.depth, thinking=manner.has_thinking)
    if not manner.has_thinking:
        found = [item for item in found if not isinstance(item, Thought)]
    if not manner.has_tools:
        found = [item for item in found if not isinstance(item, Called | Answered)]
    return found


def agents_by_time(called: Called, by_line: Mapping[str, Conversation]) -> list[str]:
    """Returns the agents of a call whose conversations are there, the first sent out first."""
    known = [name for name in called.agents if name in by_line]
    return sorted(known, key=lambda name: by_line[name].started or "")


MESSAGES = (Told, Said, Thought, Called, Answered)
MOST = 100
FOLDED = {"retracted": "retracted", "resent": "sent again", "replay": "written twice"}
APART: dict[Standing, str] = {
    "own": "answers a call that is not shown",
    "repeat": "answered once more",
    "foreign": "answers a call of another conversation",
    "orphan": "answers a call that is in no file",
}
"""What is said of a result that stands apart from its call."""


CONTEXTS: dict[ToldKind, str] = {
    "command": "said while it ran",
    "teammate": "in short",
    "peer": "said around it",
    "notice": "said beside it",
}


def context_name(told: Told) -> str:
    """Returns what stands beside words in the user's place."""
    return CONTEXTS.get(told.kind, "what the editor added")


def turn_words(turn: Turn) -> str:
    """Returns what a turn is about: the words it was opened with."""
    opener = turn.opener
    if opener is None:
        return "(goes on)"
    if opener.kind == "command":
        return f"{opener.name or ''} {opener.arguments or ''}".strip() or opener.text
    if opener.kind == "bash":
        return f"! {opener.text}"
    if opener.text.strip():
        return opener.text
    return ", ".join(one.kind for one in opener.enclosures) or f"({opener.kind})"


def unseen_words(turn: Turn) -> str:
    """Says that the client will not send a turn, or some of it; "" where it will."""
    if not turn.unseen:
        return ""
    spoken = {item.uuid for item in turn.items if isinstance(item, MESSAGES) and item.uuid}
    return "not sent on resume" if spoken <= set(turn.unseen) else "not all sent on resume"


def speaker_of(conversation: Conversation, said: Said) -> str:
    """Returns who said something: the model, the client in its place, the API in trouble."""
    response = conversation.responses[said.response]
    return "error" if response.is_error else "client" if response.is_synthetic else "model"


def agent_words(agent: Conversation, *, is_called: bool = True) -> str:
    """Returns an agent in a line: what it was to do, how long that took."""
    if agent.kind in SPOKEN:
        return "Recovered from broken lines"
    name = agent.agent or agent.id.rpartition("#")[2]
    label = agent.label or agent.title or ""
    who = "Agent" if agent.kind == "agent" else "Service agent"
    is_lost = not is_called and agent.kind == "agent"
    first = f"{who} {name} (no call names it)" if is_lost else f"{who} {name}"
    words = f": {short(plain_words(label), MOST)}" if label else ""
    took = time_in_words(agent.duration_ms)
    return f"{first}{words}" + (f" · {took}" if took else "")


def fold_words(fold: Folded) -> str:
    """Returns folded records in a line: why they are, and what was said."""
    told = first_told(fold)
    words = short(told.text, MOST) if told else many(len(fold.items), "item")
    return f"{FOLDED.get(fold.reason, fold.reason)}: {words}"


def first_told(fold: Folded) -> Told | None:
    """Returns the first words among folded records."""
    return next((one for one in fold.items if isinstance(one, Told) and one.text), None)


def compaction_words(compacted: Compacted) -> str:
    """Returns the label of a compaction: how large the conversation was, and when."""
    label = short(compacted.text, MOST) or "Conversation compacted"
    size = thousands_in_words(compacted.pre_tokens)
    label += f" ({size} tokens)" if size else ""
    time = when(compacted.time)
    return f"{label} • {time}" if time else label


def enclosure_words(one: Enclosure) -> str:
    """Returns a picture or a document in a few words."""
    size = bytes_in_words(one.size) if one.size else None
    return ", ".join(filter(None, (one.title or one.kind, one.media_type, size)))


def note_line(item: Noted, times: int = 1) -> str:
    """Returns a note of the client in a line; the same trouble several times as one."""
    if item.subtype == "api_error":
        again = f", {times} times" if times > 1 else _retry(item.value)
        return f"API error{_api_error(item.value)}{again}"
    words = one_line(_note_words(item))
    if item.kind == "gone":
        return words
    size = len(item.text.encode("utf-8", "replace"))
    large = f" ({bytes_in_words(size)})" if size > len(words) * 2 else ""
    return f"{note_name(item)}{large}" + (f"  {words}" if words else "")


def note_name(item: Noted) -> str:
    """Returns what kind of note it is."""
    return " ".join(filter(None, (item.kind, item.subtype)))


def note_body(item: Noted) -> Mapping[str, object]:
    """Returns what a note holds, without the kind that its line begins with."""
    value = item.value if isinstance(item.value, Mapping) else {"value": item.value}
    inner = value.get("attachment" if item.kind == "attachment" else "data")
    body = inner if isinstance(inner, Mapping) else value
    return {name: one for name, one in body.items() if name not in ("type", "subtype")}


def _note_words(item: Noted) -> str:
    """Returns the words of a note, those of a hook behind its name and exit code."""
    said = note_body(item)
    name, code = text_field(said, "hookName"), whole_number(said.get("exitCode"))
    if name:
        ended = f", exit {code}" if code is not None else ""
        return f"{name}{ended}" + (f": {item.text}" if item.text else "")
    figures = (f"{name} {one}" for name, one in said.items() if isinstance(one, int | float))
    return item.text or first_text(said) or ", ".join(figures)


def _api_error(value: object) -> str:
    error = value.get("error") if isinstance(value, Mapping) else None
    status = whole_number(error.get("status")) if isinstance(error, Mapping) else None
    inner = error.get("error") if isinstance(error, Mapping) else None
    inner = inner.get("error", inner) if isinstance(inner, Mapping) else inner
    words = (
        text_field(inner, "message")
        or text_field(error, "message")
        or text_field(error, "formatted")
    )
    return (f" {status}" if status else "") + (f": {one_line(words)}" if words else "")


def _retry(value: object) -> str:
    said = value if isinstance(value, Mapping) else {}
    number, most = whole_number(said.get("retryAttempt")), whole_number(said.get("maxRetries"))
    if number is None:
        return ""
    return f", retry {number}" + (f" of {most}" if most is not None else "")
