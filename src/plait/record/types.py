"""Records: one class per type of line, with the fields of its kind.

The envelope is decoded at once, the rest on demand; a record always keeps its bytes. Every
attribute is None if the line does not have it or has another type there.
"""

from collections.abc import Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar, overload

from msgspec import Struct

from plait.record.codec import (
    BlockHead,
    Envelope,
    ForkedFrom,
    convert_by_type,
    convert_field,
    convert_leniently,
    convert_or_none,
    decode_envelope,
    decode_object,
    encode,
    wire_name,
)
from plait.record.fields import ATTACHMENT_FIELDS, PROGRESS_FIELDS, STATE_FIELDS, FieldTable
from plait.record.message import Message, MessageLine, decode_message_line, make_message
from plait.record.time import parse_time

T = TypeVar("T")
TRIMMED = "trimmedTokens"
"""The field in which an edited log notes removed tokens: the client does not know it."""
NOTED_TRIM = f'"{TRIMMED}"'.encode()


def _read_envelope(name: str) -> Any:
    """Return a property that reads a field of the envelope."""
    return property(attrgetter(f"envelope.{name}"))


class Record:
    """One JSON object of a log.

    `raw` is the line as it was read. `fields` is all of it, decoded on first use, including what
    has no attribute.
    """

    __match_args__: ClassVar[tuple[str, ...]] = ()
    __slots__ = ("_fields", "_message", "_spoken", "envelope", "line", "offset", "raw")
    _fields: dict[str, Any]
    _message: Message | None
    _spoken: MessageLine | None

    uuid: str | None = _read_envelope("uuid")
    parent_uuid: str | None = _read_envelope("parent_uuid")
    logical_parent_uuid: str | None = _read_envelope("logical_parent_uuid")
    session_id: str | None = _read_envelope("session_id")
    agent_id: str | None = _read_envelope("agent_id")
    subtype: str | None = _read_envelope("subtype")
    version: str | None = _read_envelope("version")
    cwd: str | None = _read_envelope("cwd")
    git_branch: str | None = _read_envelope("git_branch")
    team_name: str | None = _read_envelope("team_name")
    prompt_id: str | None = _read_envelope("prompt_id")
    source_tool_assistant_uuid: str | None = _read_envelope("source_tool_assistant_uuid")
    source_tool_use_id: str | None = _read_envelope("source_tool_use_id")
    forked_from: ForkedFrom | None = _read_envelope("forked_from")

    def __init__(self, envelope: Envelope, raw: bytes, line: int = 0, offset: int = 0) -> None:
        self.envelope = envelope
        self.raw = raw
        self.line = line
        """The number of its line, from 1; 0 for a record without a file."""
        self.offset = offset
        """The offset of its bytes in the file."""

    def __repr__(self) -> str:
        place = f" at line {self.line}" if self.line else ""
        return f"<{type(self).__name__} {self.uuid or self.kind}{place}>"

    @property
    def fields(self) -> dict[str, Any]:
        """All of the object by wire names. Do not modify: see `replace`."""
        try:
            return self._fields
        except AttributeError:  # not decoded yet
            self._fields = decode_object(self.raw)
            return self._fields

    def replace(self, **changes: object) -> Self:
        """Return a record with some wire fields changed, encoded again."""
        return self.with_fields({**self.fields, **changes})

    def with_fields(self, fields: Mapping[str, Any]) -> Self:
        """Return a record with other fields at the same place, encoded again."""
        raw = encode(fields)
        return type(self)(decode_envelope(raw), raw, self.line, self.offset)

    @property
    def type(self) -> str | None:
        """The `type` of the line; None if it has none."""
        return self.envelope.type

    @property
    def kind(self) -> str:
        """The type, else the role of its message, else "untyped"."""
        envelope = self.envelope
        return envelope.type or get_role(envelope) or "untyped"

    @property
    def request_id(self) -> str | None:
        """The id of the API request: the line's own, else its message's."""
        inner = self.envelope.message.request_id if self.envelope.message else None
        return self.envelope.request_id or inner

    @property
    def user_type(self) -> str | None:
        return convert_or_none(self.fields.get("userType"), str)

    @property
    def slug(self) -> str | None:
        return convert_or_none(self.fields.get("slug"), str)

    @property
    def is_sidechain(self) -> bool:
        return self.envelope.is_sidechain is True

    @property
    def is_meta(self) -> bool:
        return self.envelope.is_meta is True

    @property
    def is_compact_summary(self) -> bool:
        return self.envelope.is_compact_summary is True

    @property
    def is_visible_in_transcript_only(self) -> bool:
        return self.envelope.is_visible_in_transcript_only is True

    @property
    def is_api_error_message(self) -> bool:
        return self.envelope.is_api_error_message is True

    @property
    def timestamp(self) -> str | None:
        """The time in the line: its own, else its message's."""
        return get_timestamp(self.envelope)

    @property
    def time(self) -> datetime | None:
        """The moment of the timestamp; None if it is invalid."""
        return parse_time(self.timestamp) or parse_time(self.envelope.timestamp)

    @property
    def trimmed_tokens(self) -> int:
        """Estimated tokens that a trim removed here or before: later usage still counts them."""
        if NOTED_TRIM not in self.raw:
            return 0
        return max(convert_or_none(self.fields.get(TRIMMED), int) or 0, 0)

    @property
    def message_id(self) -> str | None:
        """The id shared by all blocks of one response."""
        return self.envelope.message.id if self.envelope.message else None

    @property
    def block_heads(self) -> tuple[BlockHead, ...]:
        """Types and ids of its content blocks; empty if the content is a string."""
        content = get_content(self.envelope)
        return tuple(content) if isinstance(content, list) else ()

    @property
    def message(self) -> Message | None:
        """The message with typed blocks; also of the plain form that has no `message`."""
        try:
            return self._message
        except AttributeError:  # not decoded yet
            if self.message_line:
                self._message = self.message_line.message
            else:
                value = self.fields.get("message")
                if isinstance(value, Mapping):
                    self._message = make_message(
                        value if "content" in value else {**self.fields, **value}
                    )
                elif get_role(self.envelope) and "content" in self.fields:
                    self._message = make_message(self.fields)
                else:
                    self._message = None
            return self._message

    @property
    def message_line(self) -> MessageLine | None:
        """The message with the fields around it; None if it has another form."""
        try:
            return self._spoken
        except AttributeError:  # not decoded yet
            self._spoken = decode_message_line(self.raw)
            return self._spoken

    @property
    def text(self) -> str:
        """The text of its message, or of its own content."""
        content = get_content(self.envelope)
        if isinstance(content, str):  # nothing is left to decode
            return content
        message = self.message
        return message.text if message else ""


def get_role(envelope: Envelope) -> str | None:
    """Return the role: the message's, or the line's own in the plain form."""
    role = envelope.message.role if envelope.message else None
    return role or envelope.role


def get_content(envelope: Envelope) -> str | list[BlockHead] | None:
    """Return the content of the message, else that of the line."""
    inner = envelope.message.content if envelope.message else None
    return envelope.content if inner is None else inner


def get_timestamp(envelope: Envelope) -> str | None:
    """Return the line's own timestamp if it is text, else its message's."""
    stamp = envelope.timestamp
    if not isinstance(stamp, str):
        stamp = envelope.message.timestamp if envelope.message else None
    return stamp if isinstance(stamp, str) else None


def has_message(record: Record) -> bool:
    """Return whether a prompt or a response has a readable message."""
    content = record.envelope.message.content if record.envelope.message else None
    if isinstance(content, str):
        return record.kind != "assistant" or bool(content.strip())
    if content is not None:
        return not content or any(head.type for head in content)
    return any(isinstance(block, dict) for block in get_content_blocks(record))


def get_content_blocks(record: Record) -> list[dict[str, Any]]:
    """Return the usable content blocks; a string is one text block."""
    message = record.fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return (
        [
            block
            for block in content
            if (
                not (not isinstance(block, dict) or not isinstance(block.get("type"), str))
                and (block["type"] != "text" or isinstance(block.get("text"), str))
            )
        ]
        if isinstance(content, list)
        else []
    )


class WireField(Generic[T]):
    """A typed attribute for one wire field, None if it is absent or has another type."""

    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: type[T]) -> None:
        self.name = name
        self.kind = kind

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...
    @overload
    def __get__(self, record: Record, owner: type) -> T | None: ...
    def __get__(self, record: Record | None, owner: type) -> Self | T | None:
        if record is None:
            return self
        value: T | None = convert_field(record.fields.get(self.name), self.kind)
        return value


# `toolUseResult` never reaches the model: the client keeps it for its screens. Failures are plain
# strings ("Error: …"), some tools give lists; what fits no form stays a plain value.


RESULT_FIELDS = FieldTable(
    """
EditResult: Text replaced in a file.
    filePath:str oldString:str newString:str originalFile:str structuredPatch:list
    userModified:bool replaceAll:bool contentNotInModelContext:bool
NotebookEditResult: A cell of a notebook that was changed.
    notebook_path:str cell_id:str cell_type:str language:str edit_mode:str old_source:str
    new_source:str original_file:str updated_file:str error:str
MultiEditResult: Several replacements in a file.
    filePath:str edits:list originalFileContents:str structuredPatch:list userModified:bool
WriteResult: A file that was created or overwritten.
    type:str filePath:str content:str structuredPatch:list originalFile:str userModified:bool
ReadResult: What was read from a file.
    type:str file:dict
BashOutputResult: Output fetched from a shell in the background.
    shellId:str command:str status:str exitCode stdout:str stderr:str stdoutLines:number
    stderrLines:number timestamp:str
BashResult: A command that ran.
    stdout:str stderr:str interrupted:bool isImage:bool noOutputExpected:bool
    returnCodeInterpretation:str backgroundTaskId:str assistantAutoBackgrounded:bool
    persistedOutputPath:str persistedOutputSize:number
GrepResult: A search in files.
    mode:str filenames:texts numFiles:number content:str numLines:number numMatches:number
    totalLines:number appliedLimit:number appliedOffset:number
GlobResult: Files found by a pattern.
    filenames:texts numFiles:number durationMs:number truncated:bool totalMatches:number
    countIsComplete:bool
TodoWriteResult: The to-do list, before and after.
    oldTodos:list newTodos:list verificationNudgeNeeded:bool
TeammateResult: A teammate that was started.
    status:str teammate_id:str agent_id:str name:str team_name:str prompt:str agent_type:str
    model:str color:str
WorkflowResult: A workflow that was started or has run.
    status:str taskId:str runId:str summary:str transcriptDir:str scriptPath:str isAsync:bool
AsyncAgentResult: A sub-agent started in the background.
    status:str isAsync:bool agentId:str description:str prompt:str outputFile:str
    canReadOutputFile:bool canContinueAgent:bool resolvedModel:str
AgentResult: A sub-agent that has finished.
    status:str agentId:str agentType:str prompt:str content totalDurationMs:number
    totalTokens:number totalToolUseCount:number usage toolStats worktreePath:str
    worktreeBranch:str resolvedModel:str canContinueAgent:bool harnessNoteCount:number
    harnessSectionHash harnessTailCount:number toolsUsed
TaskUpdateResult: A task that was changed.
    success:bool taskId:str updatedFields:list statusChange verificationNudgeNeeded:bool
    error:str
TaskOutputResult: Output of a background task.
    retrieval_status:str task
TaskResult: A task that was created or looked up.
    task
TaskListResult: All tasks.
    tasks:list
ToolSearchResult: Tools found by a search.
    matches:list query:str total_deferred_tools:number pending_mcp_servers
WebFetchResult: A page that was fetched.
    bytes:number code:number codeText:str result:str durationMs:number url:str
WebSearchResult: A web search.
    query:str results:list durationSeconds:number
PlanResult: A plan shown to the user.
    plan:str isAgent:bool filePath:str
SkillResult: A skill that was loaded.
    success:bool commandName:str allowedTools model:str status:str
QuestionResult: Questions with the answers the user chose.
    questions:list answers annotations
MessageResult: A message from a tool.
    message:str success:bool routing shell_id:str pin:bool resumedAgentId:str
    revivedAgentId:str
MonitorResult: A monitor for something that takes time.
    taskId:str timeoutMs:number persistent:bool
WakeupResult: A time to wake up.
    scheduledFor clampedDelaySeconds:number wasClamped:bool
"""
)
# The first form whose keys all exist is used: the more specific forms come first.
FORMS: tuple[tuple[frozenset[str], str], ...] = tuple(
    (frozenset(keys.split()), form)
    for keys, form in (
        ("oldString newString", "EditResult"),
        ("notebook_path edit_mode", "NotebookEditResult"),
        ("edits originalFileContents", "MultiEditResult"),
        ("filePath structuredPatch type", "WriteResult"),
        ("file", "ReadResult"),
        ("shellId stdoutLines", "BashOutputResult"),
        ("stdout stderr", "BashResult"),
        ("filenames mode", "GrepResult"),
        ("filenames numFiles", "GlobResult"),
        ("newTodos", "TodoWriteResult"),
        ("teammate_id", "TeammateResult"),
        ("runId scriptPath", "WorkflowResult"),
        ("agentId isAsync", "AsyncAgentResult"),
        ("agentId status", "AgentResult"),
        ("taskId updatedFields", "TaskUpdateResult"),
        ("retrieval_status", "TaskOutputResult"),
        ("task", "TaskResult"),
        ("tasks", "TaskListResult"),
        ("matches query", "ToolSearchResult"),
        ("url codeText", "WebFetchResult"),
        ("query results", "WebSearchResult"),
        ("plan isAgent", "PlanResult"),
        ("commandName success", "SkillResult"),
        ("questions answers", "QuestionResult"),
        ("message", "MessageResult"),
        ("taskId timeoutMs", "MonitorResult"),
        ("scheduledFor", "WakeupResult"),
    )
)

ToolUseResult: TypeAlias = Struct | str | list[Any] | dict[str, Any]


def parse_tool_use_result(value: object) -> ToolUseResult | None:
    """Return the typed form of a result; strings, lists and unknown forms as they are."""
    match value:
        case str() | list():
            return value
        case Mapping():
            form = find_result_form(value)
            return convert_leniently(value, form) if form else dict(value)
        case _:
            return None


def find_result_form(value: Mapping[str, Any]) -> type[Struct] | None:
    """Return the first form whose keys the value has."""
    for keys, form in FORMS:
        if keys <= value.keys():
            return RESULT_FIELDS[form]
    return None


# Versions up to 2.1.81 wrote progress as links of the chain.


class PreservedSegment(Struct, frozen=True, rename=wire_name):
    """A segment of the old chain that stays in the context, by its ends."""

    head_uuid: str | None = None
    tail_uuid: str | None = None


class PreservedMessages(Struct, frozen=True, rename=wire_name):
    """Messages that stay in the context, one by one."""

    uuids: list[str] | None = None


class Preserved(Struct, frozen=True, gc=False):
    """What a compaction preserves: listed messages, else a segment by its ends."""

    anchor: str | None = None
    """The record that it follows from now on."""
    listed: tuple[str, ...] | None = None
    head: str | None = None
    tail: str | None = None

    @property
    def uuids(self) -> tuple[str, ...]:
        """All records in it, last first."""
        return tuple(uuid for uuid in (*reversed(self.listed or ()), self.tail, self.head) if uuid)


NOTHING_PRESERVED = Preserved()


class CompactMetadata(Struct, frozen=True, rename=wire_name):
    """How and why a conversation was compacted."""

    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: float | None = None
    preserved_segment: PreservedSegment | None = None
    preserved_messages: PreservedMessages | None = None


class User(Record):
    """A prompt, a tool result, or anything else in the user role."""

    __slots__ = ()
    __match_args__ = ("text",)
    image_paste_ids = WireField("imagePasteIds", list[Any])
    permission_mode = WireField("permissionMode", str)
    prompt_source = WireField("promptSource", str)
    todos = WireField("todos", list[Any])
    tool_denial_kind = WireField("toolDenialKind", str)
    user_feedback = WireField("userFeedback", str)

    @property
    def tool_use_result(self) -> ToolUseResult | None:
        """The client's own view of a tool result."""
        return parse_tool_use_result(self.fields.get("toolUseResult"))


class Assistant(Record):
    """One block, rarely several, of a response of the model."""

    __slots__ = ()
    __match_args__ = ("text",)
    cost_usd = WireField("costUSD", float)
    duration_ms = WireField("durationMs", float)
    effort = WireField("effort", str)
    error = WireField("error", object)
    model = WireField("model", str)


class System(Record):
    """A note of Claude Code: a compaction, a command, an error, the length of a turn."""

    __slots__ = ()
    __match_args__ = ("subtype",)
    agent = WireField("agent", str)
    compact_metadata = WireField("compactMetadata", CompactMetadata)
    content = WireField("content", str)
    duration_ms = WireField("durationMs", float)
    error = WireField("error", dict[str, Any])
    id = WireField("id", str)
    level = WireField("level", str)
    message_count = WireField("messageCount", int)
    model = WireField("model", str)
    retry_attempt = WireField("retryAttempt", int)
    retry_in_ms = WireField("retryInMs", float)
    scope = WireField("scope", str)
    source = WireField("source", str)
    stop_reason = WireField("stopReason", str)
    summary = WireField("summary", str)
    tool_use_id = WireField("toolUseID", str)
    tools = WireField("tools", list[str])
    trigger = WireField("trigger", str)
    url = WireField("url", str)

    @property
    def preserved(self) -> Preserved | None:
        """What a compaction preserves; None if it names nothing."""
        metadata = self.fields.get("compactMetadata")
        messages = _object_in(metadata, "preservedMessages")
        segment = _object_in(metadata, "preservedSegment")
        uuids = messages.get("uuids")
        listed = tuple(filter(_is_text, uuids)) if isinstance(uuids, list) else None
        # format: the list wins over the segment
        anchor = (segment if listed is None else messages).get("anchorUuid")
        ends = (anchor, segment.get("headUuid"), segment.get("tailUuid"))
        anchor, head, tail = (value if _is_text(value) else None for value in ends)
        found = Preserved(anchor, listed, head, tail)
        return found if found != NOTHING_PRESERVED else None


def _object_in(value: object, key: str) -> dict[str, Any]:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def _is_text(value: object) -> bool:
    return isinstance(value, str)


class Attachment(Record):
    """What the client sent the model besides prompts; a link of the chain."""

    __slots__ = ()
    __match_args__ = ("attachment_type",)

    @property
    def attachment_type(self) -> str | None:
        """The kind of attachment."""
        return self.envelope.attachment.type if self.envelope.attachment else None

    @property
    def attachment(self) -> Struct | dict[str, Any] | None:
        """The typed attachment, or the plain value if its type is unknown."""
        return convert_by_type(self.fields.get("attachment"), ATTACHMENT_FIELDS)


class Progress(Record):
    """Progress of running work; a link of the chain up to 2.1.81."""

    __slots__ = ()
    __match_args__ = ("progress_type",)
    parent_tool_use_id = WireField("parentToolUseID", str)
    tool_use_id = WireField("toolUseID", str)

    @property
    def progress_type(self) -> str | None:
        """The kind of progress."""
        return self.envelope.data.type if self.envelope.data else None

    @property
    def data(self) -> Struct | dict[str, Any] | None:
        """The typed data, or the plain value if its type is unknown."""
        return convert_by_type(self.fields.get("data"), PROGRESS_FIELDS)


class FileBackup(Struct, frozen=True, rename=wire_name):
    """A copy of a file before an edit."""

    backup_file_name: str | None = None
    version: int | None = None
    backup_time: str | None = None
    real_parent_dir: str | None = None


class Snapshot(Struct, frozen=True, rename=wire_name):
    """The backups that belong to one message, by path."""

    message_id: str | None = None
    timestamp: str | None = None
    tracked_file_backups: dict[str, Any] | None = None


class WorktreeSession(Struct, frozen=True, rename=wire_name):
    """A git worktree and its origin."""

    original_cwd: str | None = None
    worktree_path: str | None = None
    worktree_name: str | None = None
    worktree_branch: str | None = None
    original_branch: str | None = None
    original_head_commit: str | None = None
    session_id: str | None = None


class Summary(Record):
    """A title for a conversation that ends at a leaf, often of another session."""

    __slots__ = ()
    __match_args__ = ("summary",)
    summary = WireField("summary", str)

    @property
    def leaf_uuid(self) -> str | None:
        """The record that the summary describes."""
        return self.envelope.leaf_uuid


class LastPrompt(Record):
    """The newest prompt and the client's current leaf."""

    __slots__ = ()
    __match_args__ = ("last_prompt",)
    last_prompt = WireField("lastPrompt", str)
    explicit = WireField("explicit", bool)

    @property
    def leaf_uuid(self) -> str | None:
        """The client's current leaf."""
        return self.envelope.leaf_uuid


class QueueOperation(Record):
    """A prompt that was queued or dequeued."""

    __slots__ = ()
    __match_args__ = ("operation",)
    operation = WireField("operation", str)
    task_id = WireField("taskId", str)
    content = WireField("content", object)


class FileHistorySnapshot(Record):
    """The backups of edited files at a message."""

    __slots__ = ()
    __match_args__ = ("message_id",)
    message_id = WireField("messageId", str)
    snapshot = WireField("snapshot", Snapshot)
    is_snapshot_update = WireField("isSnapshotUpdate", bool)
    files = WireField("files", list[str])


class FileHistoryDelta(Record):
    """One more backup for an earlier snapshot."""

    __slots__ = ()
    __match_args__ = ("tracking_path",)
    message_id = WireField("messageId", str)
    snapshot_message_id = WireField("snapshotMessageId", str)
    tracking_path = WireField("trackingPath", str)
    backup = WireField("backup", FileBackup)


class WorktreeState(Record):
    """The git worktree that the session works in."""

    __slots__ = ()
    __match_args__ = ("worktree_session",)
    worktree_session = WireField("worktreeSession", WorktreeSession)


class PrLink(Record):
    """A pull request created in the session."""

    __slots__ = ()
    __match_args__ = ("pr_url",)
    pr_number = WireField("prNumber", int)
    pr_url = WireField("prUrl", str)
    pr_repository = WireField("prRepository", str)


class ForkContextRef(Record):
    """The context of a forked sub-agent: its parent session up to a record."""

    __slots__ = ()
    __match_args__ = ("parent_last_uuid",)
    parent_session_id = WireField("parentSessionId", str)
    parent_last_uuid = WireField("parentLastUuid", str)
    context_length = WireField("contextLength", int)


class State(Record):
    """Any other line of state: its fields are known, and none is an attribute."""

    __slots__ = ()


class Other(Record):
    """A record of an unknown type or none: kept, shown and counted like any other."""

    __slots__ = ()


RECORD_CLASSES: dict[str, type[Record]] = {
    "user": User,
    "assistant": Assistant,
    "system": System,
    "attachment": Attachment,
    "progress": Progress,
    "summary": Summary,
    "last-prompt": LastPrompt,
    "queue-operation": QueueOperation,
    "file-history-snapshot": FileHistorySnapshot,
    "file-history-delta": FileHistoryDelta,
    "worktree-state": WorktreeState,
    "pr-link": PrLink,
    "fork-context-ref": ForkContextRef,
    **dict.fromkeys(STATE_FIELDS, State),
}


def get_record_class(envelope: Envelope) -> type[Record]:
    """Return the class for a record: by its type, else by the role of its message."""
    return RECORD_CLASSES.get(envelope.type or get_role(envelope) or "", Other)
