"""Conversations as plain values: turns, items, responses and calls.

Every record of a DAG-line becomes one item of its conversation, or several: a `UserMessage`,
`AssistantText` and `AssistantThinking` by the model, a `ToolCall` and a `LateResult` by tools, a
`ClientNote` by the client. Each item names the record that it comes from.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from plait.conversation.usage import NO_TOKENS, Tokens, make_response_key, parse_tokens
from plait.graph.model import FoldReason, LineKind
from plait.record.message import Usage
from plait.record.time import Interval, compute_elapsed_ms, make_interval

UserMessageKind: TypeAlias = Literal[
    "prompt",  # typed by the user; in an agent's conversation by whoever started it
    "queued",  # typed while the model worked
    "command",  # a slash command
    "command-output",
    "bash",  # a shell line typed after `!`
    "bash-output",
    "skill",  # the expansion of a skill or a custom command
    "interruption",
    "summary",  # the summary of a compaction
    "notice",  # of a background task
    "teammate",
    "peer",  # another session or its coordinator
    "ide",  # the editor's selection, without a text of the user
    "reminder",
    "hook",  # output of a hook
    "document",  # an image or a file that a tool read
    "meta",  # any other text by the client in a user message
    "empty",
]
Outcome: TypeAlias = Literal[
    "ok",
    "failed",
    "rejected",  # rejected by the user
    "interrupted",
    "launched",  # continues in the background
    "missing",  # no result is in the log
]
SUCCESSFUL: frozenset[Outcome] = frozenset({"ok", "launched"})
NotableOutcome: TypeAlias = Literal["failed", "rejected", "interrupted", "launched"]
"""Outcomes that can be filtered for, in search and in a conversation."""
ResultOrigin: TypeAlias = Literal[
    "own",  # answers a call of this conversation
    "repeat",  # the call was answered before
    "foreign",  # the call is in another conversation
    "orphan",  # the call is in no file that was read
]


class Enclosure(Struct, frozen=True):
    """An image, a document or a block of unknown kind, as logged."""

    kind: str
    value: Any
    media_type: str | None = None
    title: str | None = None
    size: int = 0
    """The length of its data in bytes; 0 if unknown."""


class PersistedOutput(Struct, frozen=True):
    """An output too large for the log, saved in a file next to it."""

    name: str
    """Within the session's folder of tool results."""
    size: int | None = None


class Result(Struct, frozen=True):
    """What a tool answered."""

    text: str
    outcome: Outcome
    enclosures: tuple[Enclosure, ...] = ()
    detail: Any = None
    """The client's own view of it, as logged; see `plait.record.types`."""
    persisted: PersistedOutput | None = None
    feedback: str | None = None
    """The user's words when rejecting the call."""
    exit_code: int | None = None


class ItemBase(Struct, frozen=True, kw_only=True, tag_field="item"):
    """The origin and time of an item."""

    uuid: str | None = None
    """None for lines outside the chain."""
    file: int = 0
    line: int = 0
    time: str | None = None


class UserMessage(ItemBase, frozen=True, kw_only=True, tag="told"):
    """A message in the user role, typed or made by the client."""

    kind: UserMessageKind
    text: str
    """As shown to a reader, without machine tags."""
    name: str | None = None
    """The name of the command, skill, teammate, task or hook."""
    arguments: str | None = None
    output: str | None = None
    """The output of a command that carries its own, or of the task in a notice."""
    errors: str | None = None
    status: str | None = None
    context: str | None = None
    """What the editor added before a prompt, or what else a notice says."""
    enclosures: tuple[Enclosure, ...] = ()
    prompt: str | None = None
    """The client's id of the prompt that it belongs to; None in older logs."""
    is_typed: bool = False
    """Whether the user typed it."""
    is_only_queued: bool = False
    """Whether it is only in the queue of prompts."""


class AssistantText(ItemBase, frozen=True, kw_only=True, tag="said"):
    """Text of the model."""

    response: int
    text: str
    is_intermediate: bool = False
    """Whether the same response repeats it in full."""


class AssistantThinking(ItemBase, frozen=True, kw_only=True, tag="thought"):
    """Reasoning of the model."""

    response: int
    text: str
    """Empty if it was not recorded."""
    is_encrypted: bool = False
    is_intermediate: bool = False


class ToolCall(ItemBase, frozen=True, kw_only=True, tag="called"):
    """A tool call, with its result wherever that is."""

    response: int
    call: str
    name: str
    input: Any = None
    outcome: Outcome = "missing"
    result: Result | None = None
    answered_by: str | None = None
    """The record that holds the result."""
    answered_at: str | None = None
    answered_in: tuple[int, int] | None = None
    """The file and the line of that record."""
    agents: tuple[str, ...] = ()
    """The conversations of agents that it started."""
    is_server_side: bool = False
    is_intermediate: bool = False

    @property
    def interval(self) -> Interval:
        """From the call to its result."""
        return make_interval(self.time, self.answered_at)

    @property
    def duration_ms(self) -> float | None:
        """How long it took; None if the log does not say."""
        return compute_elapsed_ms(self.time, self.answered_at)

    @property
    def succeeded(self) -> bool:
        """Whether it succeeded, as far as is known yet."""
        return self.outcome in SUCCESSFUL


class LateResult(ItemBase, frozen=True, kw_only=True, tag="answered"):
    """The result of a call at the place where it arrived."""

    call: str
    name: str | None
    result: Result
    origin: ResultOrigin = field(default="own", name="standing")


class OtherBlock(ItemBase, frozen=True, kw_only=True, tag="shown"):
    """A block of a response that is neither text nor a call."""

    response: int
    enclosure: Enclosure


class CompactionItem(ItemBase, frozen=True, kw_only=True, tag="compacted"):
    """The place where a summary replaced the conversation before it."""

    text: str
    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: float | None = None
    preserved: tuple[str, ...] = ()
    """The records that stay in the context word by word."""


class ClientNote(ItemBase, frozen=True, kw_only=True, tag="noted"):
    """A note of the client: system records, attachments, progress, state, unknown kinds."""

    kind: str
    subtype: str | None = None
    text: str = ""
    value: Any = None


class BranchPoint(ItemBase, frozen=True, kw_only=True, tag="left"):
    """The place where another DAG-line leaves this one."""

    to: str
    kind: LineKind
    label: str | None = None
    is_active: bool = False


class FoldedItems(ItemBase, frozen=True, kw_only=True, tag="folded"):
    """Records folded under the one that replaced them, out of the reading order."""

    reason: FoldReason
    under: str
    items: "tuple[Item, ...]"


Item: TypeAlias = (
    UserMessage
    | AssistantText
    | AssistantThinking
    | ToolCall
    | LateResult
    | OtherBlock
    | CompactionItem
    | ClientNote
    | BranchPoint
    | FoldedItems
)


class Response(Struct, frozen=True):
    """One response of the model: all blocks of one `message.id`, with its final figures."""

    id: str | None
    request: str | None
    model: str | None
    uuids: tuple[str, ...]
    started: str | None
    ended: str | None
    stop_reason: str | None
    usage: Usage | None
    is_synthetic: bool = False
    """Made by the client, not by a model."""
    is_error: bool = False
    """Whether it is an API error in place of a response."""
    is_meta: bool = False
    """Whether the client added it, outside of the conversation."""
    logged_cost: float | None = None
    effort: str | None = None

    @property
    def key(self) -> str | None:
        """Its key in all conversations and files."""
        return make_response_key(self.id, self.request, next(iter(self.uuids), None))

    @property
    def tokens(self) -> Tokens:
        """Its usage; empty if not recorded."""
        return parse_tokens(self.usage) if self.usage else NO_TOKENS

    @property
    def output_tokens(self) -> int:
        """Its output tokens, which decide which of its copies counts."""
        return self.usage.output_tokens if self.usage else 0


class Turn(Struct, frozen=True):
    """A prompt and everything that answers it."""

    number: int
    """From 1; 0 for what comes before the first prompt."""
    opener: UserMessage | None
    items: tuple[Item, ...]
    """In reading order, the opener first."""
    responses: tuple[int, ...]
    """Those that begin here, by their positions among the conversation's."""
    started: str | None
    ended: str | None
    """The time of the last response or result: later records do not count."""
    duration_ms: float | None = None
    """From the prompt to the last response or result, waiting for the user included."""
    working_ms: float | None = None
    """The duration without waiting for the user."""
    waited_ms: float | None = None
    """How long the conversation waited for this prompt."""
    is_interrupted: bool = False
    unseen: tuple[str, ...] = ()
    """Its records that are not on the client's chain: not sent on resume."""

    @property
    def prompt(self) -> str | None:
        """Its prompt; None before the first prompt."""
        return self.opener.text if self.opener else None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Tool calls, in reading order, each with its result."""
        found = (item for item in self.items if isinstance(item, ToolCall))
        return tuple(call for call in found if not call.is_intermediate)

    @property
    def is_answered(self) -> bool:
        """Whether the model answered, even with an error."""
        return bool(self.responses)

    @property
    def asking_ms(self) -> float:
        """The part of the duration in which the model waited for the user."""
        return (self.duration_ms or 0) - (self.working_ms or 0)


class Conversation(Struct, frozen=True):
    """One DAG-line as a conversation."""

    id: str
    kind: LineKind
    session: str
    project: str
    title: str | None
    turns: tuple[Turn, ...]
    responses: tuple[Response, ...]
    files: tuple[str, ...]
    """The files of the graph; items refer to them by number."""
    is_active: bool = True
    parent: str | None = None
    """The conversation that it leaves, or whose call started it."""
    attachment: str | None = None
    """The record where it leaves its parent."""
    label: str | None = None
    agent: str | None = None
    call: str | None = None
    """The call that started the agent."""
    started: str | None = None
    ended: str | None = None

    @property
    def interval(self) -> Interval:
        """From its first record to its last."""
        return make_interval(self.started, self.ended)

    @property
    def duration_ms(self) -> float:
        """The sum of its turns' durations."""
        return sum(turn.duration_ms or 0 for turn in self.turns)

    def items(self) -> Iterator[Item]:
        """Yield everything in reading order, folded records inside their folds."""
        for turn in self.turns:
            yield from turn.items


class Conversations(Struct, frozen=True):
    """All conversations of a session: its main line, its branches, its agents."""

    session: str
    main: str
    """The one that Claude Code would resume."""
    by_line: Mapping[str, Conversation]
    recovered: Conversation | None = None
    """What could be read from broken lines; the client never sees it."""

    @property
    def active(self) -> Conversation:
        """The one that Claude Code would resume."""
        return self.by_line[self.main]
