"""A conversation as a stream of passages, shared by every output format.

Formats differ in how they write a passage. Which passages there are is decided here, once: what a
depth shows, which results are shown with their calls, where agents and folds start and whether they
are shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.changes import compactions_of
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    ClientNote,
    CompactionItem,
    Conversation,
    Enclosure,
    FoldedItems,
    Item,
    LateResult,
    ResultOrigin,
    ToolCall,
    Turn,
    UserMessage,
    UserMessageKind,
)
from plait.conversation.results import get_call_key, iter_story
from plait.conversation.walk import Depth, filter_visible
from plait.graph.paths import SPOKEN
from plait.view.calls import find_first_text, get_text, to_int
from plait.view.formats import format_bytes, format_count, format_duration, format_thousands
from plait.view.summaries import format_prompt, to_single_line
from plait.view.text import format_log_time, shorten_clean

AgentPlacement: TypeAlias = Literal[
    "inline",  # where they were started
    "files",  # in files of their own
    "apart",  # wherever the writer puts them
]


class RenderOptions(Struct, frozen=True, kw_only=True):
    """How much of a conversation is shown, and how."""

    depth: Depth = "tools"
    has_thinking: bool = True
    has_tools: bool = True
    is_simple: bool = False
    """One line per call."""
    agents: AgentPlacement = "inline"
    has_front_matter: bool = False


class Passage(Struct, frozen=True, gc=False):
    """A displayed part of a conversation, nested like its agents and folds."""

    conversation: Conversation
    level: int


class TurnStart(Passage, frozen=True, gc=False):
    """A turn of which something is shown."""

    turn: Turn
    first: Item
    """What is shown first: not the prompt if the depth does not show it."""


class ItemPassage(Passage, frozen=True, gc=False):
    """An item at its place in reading order."""

    item: Item
    has_result: bool = False
    """Whether it is a call shown together with its result."""
    called: ToolCall | None = None
    """The call of a result shown apart from it, if that is shown as well."""


class AgentStart(Passage, frozen=True, gc=False):
    """The conversation of an agent follows."""

    agent: Conversation
    is_called: bool = True
    """False if no call names it."""
    siblings: int = 1
    """Agents that the same call started, including itself."""


class AgentReference(Passage, frozen=True, gc=False):
    """The conversation of an agent is in its own file, or was shown above."""

    agent: Conversation
    name: str | None


class FoldStart(Passage, frozen=True, gc=False):
    """Records out of reading order follow."""

    fold: FoldedItems


class SectionEnd(Passage, frozen=True, gc=False):
    """The agent or fold that started last ends."""


AnyPassage: TypeAlias = (
    TurnStart | ItemPassage | AgentStart | AgentReference | FoldStart | SectionEnd
)


@dataclass(frozen=True)
class PassageStream:
    """Yields the conversations of a session once; agents already shown are not repeated."""

    by_line: Mapping[str, Conversation]
    options: RenderOptions
    names: Mapping[str, str] = field(default_factory=dict)
    """By DAG-line: the file with its conversation."""
    shown_agents: dict[str, None] = field(default_factory=dict)
    """Agents shown so far, in order."""
    has_closed_folds: bool = False
    """Whether folded records are one passage without their content."""
    has_agents_by_time: bool = False
    """Whether several agents of a call come in the order they started, not as the call names them."""

    summaries: dict[str, dict[str | None, str | None]] = field(default_factory=dict)

    def find_summary(self, conversation: Conversation, compacted: CompactionItem) -> str | None:
        """Return the summary of a compaction; all of a conversation are found at once."""
        summaries = self.summaries.get(conversation.id)
        if summaries is None:
            summaries = {point.uuid: point.summary for point in compactions_of(conversation)}
            self.summaries[conversation.id] = summaries
        return summaries.get(compacted.uuid)

    def iter_turn(self, conversation: Conversation, turn: Turn) -> Iterator[AnyPassage]:
        """Yield the passages of one turn; none if nothing of it is shown."""
        return self._expand(self._iter_turn_passages(conversation, turn, 0))

    def iter_unnamed_agents(
        self, conversation: Conversation, names: Sequence[str]
    ) -> Iterator[AnyPassage]:
        """Yield agents that no call names, if the depth shows agents' calls."""
        if self.options.has_tools and self.options.depth in ("tools", "all"):
            for name in names:
                yield from self._expand(
                    self._start_agent(conversation, name, 0, 1, is_called=False)
                )

    def _expand(self, passages: Iterator[AnyPassage]) -> Iterator[AnyPassage]:
        stack = [passages]
        while stack:
            passage = next(stack[-1], None)
            if passage is None:
                stack.pop()
                continue
            yield passage
            if isinstance(passage, AgentStart):
                stack.append(self._iter_agent(passage))
            elif isinstance(passage, FoldStart):
                stack.append(self._iter_fold(passage))

    def _iter_turn_passages(
        self, conversation: Conversation, turn: Turn, level: int
    ) -> Iterator[AnyPassage]:
        items = filter_items(turn.items, self.options)
        if items:
            yield TurnStart(conversation, level, turn, items[0])
            yield from self._iter_items(conversation, items, level)

    def _iter_agent(self, start: AgentStart) -> Iterator[AnyPassage]:
        for turn in start.agent.turns:
            yield from self._iter_turn_passages(start.agent, turn, start.level + 1)
        yield SectionEnd(start.conversation, start.level)

    def _iter_fold(self, start: FoldStart) -> Iterator[AnyPassage]:
        items = filter_items(start.fold.items, self.options)
        yield from self._iter_items(start.conversation, items, start.level + 1)
        yield SectionEnd(start.conversation, start.level)

    def _iter_items(
        self, conversation: Conversation, items: Sequence[Item], level: int
    ) -> Iterator[AnyPassage]:
        calls: dict[tuple[str, str | None], ToolCall] = {}
        for item, has_result in iter_story(items):
            if isinstance(item, ToolCall):
                calls[get_call_key(item)] = item
                yield ItemPassage(conversation, level, item, has_result)
                if item.agents and self.options.agents != "apart":
                    names = item.agents
                    if self.has_agents_by_time:
                        names = tuple(sort_agents_by_time(item, self.by_line))
                    for name in names:
                        yield from self._start_agent(conversation, name, level, len(names))
            elif isinstance(item, FoldedItems) and not self.has_closed_folds:
                yield FoldStart(conversation, level, item)
            elif isinstance(item, LateResult):
                yield ItemPassage(conversation, level, item, called=calls.get(get_call_key(item)))
            else:
                yield ItemPassage(conversation, level, item)

    def _start_agent(
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
        if self.options.agents == "files" and agent.kind not in SPOKEN:
            yield AgentReference(conversation, level, agent, self.names.get(name))
        elif name in self.shown_agents:
            yield AgentReference(conversation, level, agent, None)
        else:
            self.shown_agents[name] = None
            yield AgentStart(conversation, level, agent, is_called, siblings)


def filter_items(items: Sequence[Item], options: RenderOptions) -> list[Item]:
    """Return the items that are shown."""
    shown = filter_visible(items, options.depth, thinking=options.has_thinking)
    if not options.has_thinking:
        shown = [item for item in shown if not isinstance(item, AssistantThinking)]
    if not options.has_tools:
        shown = [item for item in shown if not isinstance(item, ToolCall | LateResult)]
    return shown


def sort_agents_by_time(call: ToolCall, by_line: Mapping[str, Conversation]) -> list[str]:
    """Return a call's agents with conversations, in the order they started."""
    agents = [name for name in call.agents if name in by_line]
    return sorted(agents, key=lambda name: by_line[name].started or "")


MESSAGES = (UserMessage, AssistantText, AssistantThinking, ToolCall, LateResult)
MOST = 100
FOLD_REASONS = {"retracted": "retracted", "resent": "sent again", "replay": "written twice"}
DETACHED_RESULTS: dict[ResultOrigin, str] = {
    "own": "result of a call that is not shown",
    "repeat": "answered again",
    "foreign": "result of a call in another conversation",
    "orphan": "result of a call missing from the log",
}
"""Notes about results shown apart from their calls."""


SOURCE_NOTE = "source-note"
"""The kind of a line of another agent's log that is no message."""
CONTEXT_LABELS: dict[UserMessageKind, str] = {
    "command": "message sent while the command ran",
    "teammate": "summary",
    "peer": "surrounding text",
    "notice": "sent with the notice",
}


def get_context_label(entry: UserMessage) -> str:
    """Return the label of the context that belongs to a user entry."""
    return CONTEXT_LABELS.get(entry.kind, "added by the editor")


def format_turn_title(turn: Turn) -> str:
    """Return the title of a turn: the text of its prompt."""
    opener = turn.opener
    if opener is None:
        return "(continues)"
    if opener.kind == "command":
        return f"{opener.name or ''} {opener.arguments or ''}".strip() or opener.text
    if opener.kind == "bash":
        return f"! {opener.text}"
    if opener.text.strip():
        return opener.text
    return ", ".join(enclosure.kind for enclosure in opener.enclosures) or f"({opener.kind})"


def format_unsent(turn: Turn) -> str:
    """Return the note that the client will not send a turn or part of it; empty if it will."""
    if not turn.unseen:
        return ""
    shown = {item.uuid for item in turn.items if isinstance(item, MESSAGES) and item.uuid}
    return "not sent on resume" if shown <= set(turn.unseen) else "only partly sent on resume"


def find_speaker(conversation: Conversation, answer: AssistantText) -> str:
    """Return who wrote an answer: the model, the client in its place, or an API error."""
    response = conversation.responses[answer.response]
    return "error" if response.is_error else "client" if response.is_synthetic else "model"


def format_agent(agent: Conversation, *, is_called: bool = True) -> str:
    """Format an agent in a line: its task and duration."""
    if agent.kind in SPOKEN:
        return "Recovered from broken lines"
    name = agent.agent or agent.id.rpartition("#")[2]
    label = agent.label or agent.title or ""
    who = "Agent" if agent.kind == "agent" else "Background request"
    is_lost = not is_called and agent.kind == "agent"
    first = f"{who} {name} (without a call)" if is_lost else f"{who} {name}"
    words = f": {shorten_clean(format_prompt(label), MOST)}" if label else ""
    took = format_duration(agent.duration_ms)
    return f"{first}{words}" + (f" · {took}" if took else "")


def format_fold(fold: FoldedItems) -> str:
    """Format folded records in a line: the reason and the first text."""
    entry = find_first_text_entry(fold)
    words = shorten_clean(entry.text, MOST) if entry else format_count(len(fold.items), "item")
    return f"{FOLD_REASONS.get(fold.reason, fold.reason)}: {words}"


def find_first_text_entry(fold: FoldedItems) -> UserMessage | None:
    """Return the first user entry with text among folded records."""
    return next((item for item in fold.items if isinstance(item, UserMessage) and item.text), None)


def format_compaction(compacted: CompactionItem) -> str:
    """Format a compaction: the size of the conversation and the time."""
    label = shorten_clean(compacted.text, MOST) or "Conversation compacted"
    size = format_thousands(compacted.pre_tokens)
    label += f" ({size} tokens)" if size else ""
    time = format_log_time(compacted.time)
    return f"{label} • {time}" if time else label


def format_enclosure(enclosure: Enclosure) -> str:
    """Format a picture or document in a few words."""
    size = format_bytes(enclosure.size) if enclosure.size else None
    return ", ".join(filter(None, (enclosure.title or enclosure.kind, enclosure.media_type, size)))


def format_note(note: ClientNote, times: int = 1) -> str:
    """Format a client note in a line; repeated API errors as one."""
    if note.subtype == "api_error":
        return _format_api_error(note.value, times)
    body = get_note_body(note)
    hook, code = get_text(body, "hookName"), to_int(body.get("exitCode"))
    if hook:
        ended = f", exit {code}" if code is not None else ""
        words = f"{hook}{ended}" + (f": {note.text}" if note.text else "")
    else:
        figures = (
            f"{name} {value}" for name, value in body.items() if isinstance(value, int | float)
        )
        words = note.text
        if note.kind != SOURCE_NOTE:
            words = words or find_first_text(body) or ", ".join(figures)
    words = to_single_line(words)
    if note.kind == "gone":
        return words
    size = len(note.text.encode("utf-8", "replace"))
    large = f" ({format_bytes(size)})" if size > len(words) * 2 else ""
    return f"{format_note_kind(note)}{large}" + (f"  {words}" if words else "")


def _format_api_error(value: object, times: int) -> str:
    details = value if isinstance(value, Mapping) else {}
    number, most = to_int(details.get("retryAttempt")), to_int(details.get("maxRetries"))
    suffix = ""
    if times > 1:
        suffix = f", {times} times"
    elif number is not None:
        suffix = f", retry {number}" + (f" of {most}" if most is not None else "")
    error = details.get("error")
    status = to_int(error.get("status")) if isinstance(error, Mapping) else None
    inner = error.get("error") if isinstance(error, Mapping) else None
    inner = inner.get("error", inner) if isinstance(inner, Mapping) else inner
    words = get_text(inner, "message") or get_text(error, "message") or get_text(error, "formatted")
    message = f": {to_single_line(words)}" if words else ""
    return f"API error{f' {status}' if status else ''}{message}{suffix}"


def format_note_kind(note: ClientNote) -> str:
    """Return what kind of note it is; of a line from another agent's log, the agent's own kind."""
    if note.kind == SOURCE_NOTE:
        return get_note_name(note).replace("_", " ")
    return " ".join(filter(None, (note.kind, note.subtype)))


def get_note_name(note: ClientNote) -> str:
    """Return the most specific name of a note's kind."""
    if note.kind == SOURCE_NOTE and isinstance(note.value, Mapping):
        return str(note.value.get("kind") or note.kind)
    return note.subtype or note.kind


def get_note_body(note: ClientNote) -> Mapping[str, object]:
    """Return a note's content without its kind."""
    value = note.value if isinstance(note.value, Mapping) else {"value": note.value}
    if note.kind == SOURCE_NOTE and isinstance(record := value.get("record"), Mapping):
        return record
    inner = value.get("attachment" if note.kind == "attachment" else "data")
    body = inner if isinstance(inner, Mapping) else value
    return {name: field for name, field in body.items() if name not in ("type", "subtype")}
