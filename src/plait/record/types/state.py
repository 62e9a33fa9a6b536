"""The lines outside the chain, by type, each with the fields that its kind carries.

They hold the state of a session (titles, modes, queues, backups, costs), mostly without
a uuid; many are written again and again, and the last one counts.
"""

from typing import Any

from msgspec import Struct

from plait.record.codec import wire_name
from plait.record.record import Record, Wire


class FileBackup(Struct, frozen=True, rename=wire_name):
    """A copy of a file as it was before an edit."""

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
    """A git worktree and where it came from."""

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
    summary = Wire("summary", str)

    @property
    def leaf_uuid(self) -> str | None:
        """The record that the summary describes."""
        return self.envelope.leaf_uuid


class LastPrompt(Record):
    """The newest prompt and the leaf the client stood on."""

    __slots__ = ()
    __match_args__ = ("last_prompt",)
    last_prompt = Wire("lastPrompt", str)
    explicit = Wire("explicit", bool)

    @property
    def leaf_uuid(self) -> str | None:
        """The leaf that the client stood on."""
        return self.envelope.leaf_uuid


class CustomTitle(Record):
    """A title that the user gave."""

    __slots__ = ()
    __match_args__ = ("custom_title",)
    custom_title = Wire("customTitle", str)


class AiTitle(Record):
    """A title that the model gave."""

    __slots__ = ()
    __match_args__ = ("ai_title",)
    ai_title = Wire("aiTitle", str)


class AgentName(Record):
    """The name of the session's agent."""

    __slots__ = ()
    __match_args__ = ("agent_name",)
    agent_name = Wire("agentName", str)


class AgentSetting(Record):
    """The kind of agent that the session runs as."""

    __slots__ = ()
    __match_args__ = ("agent_setting",)
    agent_setting = Wire("agentSetting", str)


class AgentColor(Record):
    """The colour of the session's agent."""

    __slots__ = ()
    __match_args__ = ("agent_color",)
    agent_color = Wire("agentColor", str)


class Tag(Record):
    """A tag that the user gave."""

    __slots__ = ()
    __match_args__ = ("tag",)
    tag = Wire("tag", str)


class Mode(Record):
    """The mode of the client."""

    __slots__ = ()
    __match_args__ = ("mode",)
    mode = Wire("mode", str)


class PermissionMode(Record):
    """How much the client may do without asking."""

    __slots__ = ()
    __match_args__ = ("permission_mode",)
    permission_mode = Wire("permissionMode", str)


class QueueOperation(Record):
    """A prompt that began or ended waiting."""

    __slots__ = ()
    __match_args__ = ("operation",)
    operation = Wire("operation", str)
    task_id = Wire("taskId", str)
    content = Wire("content", object)


class FileHistorySnapshot(Record):
    """The backups of edited files as they were at a message."""

    __slots__ = ()
    __match_args__ = ("message_id",)
    message_id = Wire("messageId", str)
    snapshot = Wire("snapshot", Snapshot)
    is_snapshot_update = Wire("isSnapshotUpdate", bool)
    files = Wire("files", list[str])


class FileHistoryDelta(Record):
    """One more backup for an earlier snapshot."""

    __slots__ = ()
    __match_args__ = ("tracking_path",)
    message_id = Wire("messageId", str)
    snapshot_message_id = Wire("snapshotMessageId", str)
    tracking_path = Wire("trackingPath", str)
    backup = Wire("backup", FileBackup)


class BridgeSession(Record):
    """The remote control that drives the session; holds account ids."""

    __slots__ = ()
    __match_args__ = ("bridge_session_id",)
    bridge_session_id = Wire("bridgeSessionId", str)
    last_sequence_num = Wire("lastSequenceNum", int)
    owner_account_uuid = Wire("ownerAccountUuid", str)
    owner_organization_uuid = Wire("ownerOrganizationUuid", str)


class WorktreeState(Record):
    """The git worktree that the session works in."""

    __slots__ = ()
    __match_args__ = ("worktree_session",)
    worktree_session = Wire("worktreeSession", WorktreeSession)


class PrLink(Record):
    """A pull request that came of the session."""

    __slots__ = ()
    __match_args__ = ("pr_url",)
    pr_number = Wire("prNumber", int)
    pr_url = Wire("prUrl", str)
    pr_repository = Wire("prRepository", str)


class FrameLink(Record):
    """An artifact that the session published."""

    __slots__ = ()
    __match_args__ = ("frame_url",)
    path = Wire("path", str)
    frame_url = Wire("frameUrl", str)
    title = Wire("title", str)


class Relocated(Record):
    """The session went on in another directory."""

    __slots__ = ()
    __match_args__ = ("relocated_cwd",)
    relocated_cwd = Wire("relocatedCwd", str)


class ForkContextRef(Record):
    """The context of a forked sub-agent: its parent session up to a record."""

    __slots__ = ()
    __match_args__ = ("parent_last_uuid",)
    parent_session_id = Wire("parentSessionId", str)
    parent_last_uuid = Wire("parentLastUuid", str)
    context_length = Wire("contextLength", int)


class CostState(Record):
    """What the session has cost so far, by the client's count."""

    __slots__ = ()
    __match_args__ = ("total_cost_usd",)
    total_cost_usd = Wire("totalCostUSD", float)
    total_api_duration = Wire("totalAPIDuration", float)
    total_api_duration_without_retries = Wire("totalAPIDurationWithoutRetries", float)
    total_tool_duration = Wire("totalToolDuration", float)
    total_lines_added = Wire("totalLinesAdded", int)
    total_lines_removed = Wire("totalLinesRemoved", int)
    total_duration = Wire("totalDuration", float)
    start_time = Wire("startTime", object)
    model_usage = Wire("modelUsage", dict[str, Any])
    has_unknown_model_cost = Wire("hasUnknownModelCost", bool)


class ToolsUsed(Record):
    """The tools that have been used."""

    __slots__ = ()
    __match_args__ = ("tools",)
    tools = Wire("tools", object)


class AtisLatch(Record):
    """A switch of the client."""

    __slots__ = ()
    __match_args__ = ("atis",)
    atis = Wire("atis", str)


class ContentReplacement(Record):
    """Tool results that stand elsewhere."""

    __slots__ = ()
    __match_args__ = ("replacements",)
    replacements = Wire("replacements", list[Any])


class AttributionSnapshot(Record):
    """Which part of the code the model wrote."""

    __slots__ = ()
    __match_args__ = ("file_states",)
    message_id = Wire("messageId", str)
    surface = Wire("surface", str)
    file_states = Wire("fileStates", dict[str, Any])
    prompt_count = Wire("promptCount", int)
    prompt_count_at_last_commit = Wire("promptCountAtLastCommit", int)


class ApiRequest(Record):
    """A request to the API, in the log of requests."""

    __slots__ = ()


class ApiRequestShape(Record):
    """The form of requests, in the log of requests."""

    __slots__ = ()


class ApiRequestBlob(Record):
    """A message of a request, in the log of requests."""

    __slots__ = ()


class HistorySuppression(Record):
    """Why prompts were kept out of the history."""

    __slots__ = ()
    __match_args__ = ("cause",)
    cause = Wire("cause", str)
    ts = Wire("ts", object)


class ContextCollapse(Record):
    """A stretch of messages that was collapsed into a summary."""

    __slots__ = ()
    __match_args__ = ("collapse_id",)
    collapse_id = Wire("collapseId", str)
    summary_uuid = Wire("summaryUuid", str)
    first_archived_uuid = Wire("firstArchivedUuid", str)
    last_archived_uuid = Wire("lastArchivedUuid", str)


class ContextCollapseSnapshot(Record):
    """What is collapsed at this point."""

    __slots__ = ()


class TaskSummary(Record):
    """What a task came to."""

    __slots__ = ()
    __match_args__ = ("summary",)
    summary = Wire("summary", str)


class SpeculationAccept(Record):
    """A guess of the client that the user took up."""

    __slots__ = ()


class GoalState(Record):
    """The goal of the session."""

    __slots__ = ()


class ArtifactCommentMonitor(Record):
    """A watch on comments of an artifact."""

    __slots__ = ()


class ArtifactAutoreactLedger(Record):
    """Reactions to an artifact."""

    __slots__ = ()


class WorkflowStarted(Record):
    """An agent of a workflow that began, in the run's journal."""

    __slots__ = ()
    __match_args__ = ("key",)
    key = Wire("key", str)


class WorkflowAnswer(Record):
    """What an agent of a workflow answered, in the run's journal."""

    __slots__ = ()
    __match_args__ = ("key",)
    key = Wire("key", str)
    result = Wire("result", object)


class Completion(Record):
    """The end of a turn, as another agent's log writes it."""

    __slots__ = ()
    __match_args__ = ("final_text",)
    final_text = Wire("finalText", str)
    usage = Wire("usage", dict[str, Any])
    id = Wire("id", str)


class Note(Record):
    """A message, as another agent's log writes it."""

    __slots__ = ()
    __match_args__ = ("words",)
    words = Wire("text", str)
    id = Wire("id", str)


class ErrorNote(Record):
    """An error, as another agent's log writes it."""

    __slots__ = ()
    __match_args__ = ("source",)
    source = Wire("source", str)


class ToolNote(Record):
    """A tool's work, as another agent's log writes it."""

    __slots__ = ()
    workspace = Wire("workspace", str)
    agent = Wire("agent", str)


class ToolCallNote(Record):
    """A call, as another agent's log writes it."""

    __slots__ = ()
    __match_args__ = ("tool_name",)
    id = Wire("id", str)
    message_id = Wire("messageId", str)
    tool_id = Wire("toolId", str)
    tool_name = Wire("toolName", str)
    parameters = Wire("parameters", dict[str, Any])


class ToolResultNote(Record):
    """A result, as another agent's log writes it."""

    __slots__ = ()
    __match_args__ = ("value",)
    id = Wire("id", str)
    message_id = Wire("messageId", str)
    tool_id = Wire("toolId", str)
    tool_name = Wire("toolName", str)
    is_error = Wire("isError", bool)
    output = Wire("output", object)
    tool_call_result = Wire("toolCallResult", dict[str, Any])
    value = Wire("value", object)


class ToolUseNote(Record):
    """A call, as another agent's log writes it."""

    __slots__ = ()
    __match_args__ = ("name",)
    name = Wire("name", str)
    input = Wire("input", dict[str, Any])
    output = Wire("output", object)


class Other(Record):
    """A record of a type not met before, or of none: kept, shown and counted like any other."""

    __slots__ = ()
