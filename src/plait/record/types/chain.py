"""The entries of the chain, by type, each with the fields that its kind carries.

Every attribute is None where the line does not have it, or has something else there.
Versions up to 2.1.81 wrote progress as links of the chain.
"""

from typing import Any

from msgspec import Struct

from plait.record.codec import by_type, wire_name
from plait.record.record import Record, Wire
from plait.record.types.attachments import ATTACHMENTS
from plait.record.types.results import ToolUseResult, tool_use_result_of


class AgentProgress(Struct, frozen=True, rename=wire_name):
    """A message of a running sub-agent."""

    message: dict[str, Any] | None = None
    normalized_messages: list[Any] | None = None
    prompt: str | None = None
    agent_id: str | None = None


class BashProgress(Struct, frozen=True, rename=wire_name):
    """Output of a running command."""

    output: str | None = None
    full_output: str | None = None
    elapsed_time_seconds: int | float | None = None
    total_lines: int | float | None = None
    total_bytes: int | float | None = None
    task_id: str | None = None
    timeout_ms: int | float | None = None


class HookProgress(Struct, frozen=True, rename=wire_name):
    """A hook is running."""

    hook_event: str | None = None
    hook_name: str | None = None
    command: str | None = None


class McpProgress(Struct, frozen=True, rename=wire_name):
    """A tool of an MCP server is running."""

    status: str | None = None
    server_name: str | None = None
    tool_name: str | None = None


class QueryUpdate(Struct, frozen=True, rename=wire_name):
    """A web search asks this."""

    query: str | None = None


class SearchResultsReceived(Struct, frozen=True, rename=wire_name):
    """A web search has found this many."""

    result_count: int | float | None = None
    query: str | None = None


class WaitingForTask(Struct, frozen=True, rename=wire_name):
    """Waiting for a background task."""

    task_description: str | None = None
    task_type: str | None = None


PROGRESS: dict[str, type[Struct]] = {
    "agent_progress": AgentProgress,
    "bash_progress": BashProgress,
    "hook_progress": HookProgress,
    "mcp_progress": McpProgress,
    "query_update": QueryUpdate,
    "search_results_received": SearchResultsReceived,
    "waiting_for_task": WaitingForTask,
}


class PreservedSegment(Struct, frozen=True, rename=wire_name):
    """A stretch of the old chain that stays in the context, by its ends."""

    head_uuid: str | None = None
    anchor_uuid: str | None = None
    tail_uuid: str | None = None


class PreservedMessages(Struct, frozen=True, rename=wire_name):
    """Messages that stay in the context, one by one."""

    anchor_uuid: str | None = None
    uuids: list[str] | None = None
    all_uuids: list[str] | None = None


class CompactMetadata(Struct, frozen=True, rename=wire_name):
    """How and why a conversation was compacted."""

    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: float | None = None
    cumulative_dropped_tokens: int | None = None
    pre_compact_discovered_tools: list[str] | None = None
    preserved_segment: PreservedSegment | None = None
    preserved_messages: PreservedMessages | None = None


class MicrocompactMetadata(Struct, frozen=True, rename=wire_name):
    """Which old tool results were cleared."""

    trigger: str | None = None
    pre_tokens: int | None = None
    tokens_saved: int | None = None
    compacted_tool_ids: list[str] | None = None
    cleared_attachment_uuids: list[str] | None = None


class User(Record):
    """A prompt, a tool's result, or anything else that speaks in the user's place."""

    __slots__ = ()
    __match_args__ = ("text",)
    agent_slug = Wire("agentSlug", str)
    classifier_meta_lines = Wire("classifierMetaLines", str)
    image_paste_ids = Wire("imagePasteIds", list[Any])
    interrupted_by_shutdown = Wire("interruptedByShutdown", bool)
    interrupted_message_id = Wire("interruptedMessageId", str)
    mcp_meta = Wire("mcpMeta", dict[str, Any])
    permission_decision = Wire("permissionDecision", dict[str, Any])
    permission_mode = Wire("permissionMode", str)
    plan_content = Wire("planContent", str)
    prompt_source = Wire("promptSource", str)
    queue_skip_attachments = Wire("queueSkipAttachments", bool)
    queue_transcript_only = Wire("queueTranscriptOnly", bool)
    refused_message_id = Wire("refusedMessageId", str)
    sandboxed = Wire("sandboxed", bool)
    summarize_metadata = Wire("summarizeMetadata", dict[str, Any])
    thinking_metadata = Wire("thinkingMetadata", dict[str, Any])
    todos = Wire("todos", list[Any])
    tool_denial_kind = Wire("toolDenialKind", str)
    tool_ends_turn = Wire("toolEndsTurn", bool)
    turn_companion = Wire("turnCompanion", bool)
    turn_origin = Wire("turnOrigin", str)
    turn_position = Wire("turnPosition", object)
    user_feedback = Wire("userFeedback", str)

    @property
    def tool_use_result(self) -> ToolUseResult | None:
        """The client's own view of a tool's result."""
        return tool_use_result_of(self.fields.get("toolUseResult"))


class Assistant(Record):
    """One block, seldom several, of a response of the model."""

    __slots__ = ()
    __match_args__ = ("text",)
    advisor_model = Wire("advisorModel", str)
    api_block_index = Wire("apiBlockIndex", int)
    api_error = Wire("apiError", str)
    api_error_status = Wire("apiErrorStatus", int)
    api_error_type = Wire("apiErrorType", str)
    attribution_agent = Wire("attributionAgent", str)
    attribution_mcp_server = Wire("attributionMcpServer", str)
    attribution_mcp_tool = Wire("attributionMcpTool", str)
    attribution_plugin = Wire("attributionPlugin", str)
    attribution_skill = Wire("attributionSkill", str)
    context_window_size = Wire("contextWindowSize", int)
    cost_usd = Wire("costUSD", float)
    duration_ms = Wire("durationMs", float)
    effort = Wire("effort", str)
    error = Wire("error", object)
    error_details = Wire("errorDetails", dict[str, Any])
    failed_response_had_no_tool_call = Wire("failedResponseHadNoToolCall", bool)
    is_aborted_mid_stream = Wire("isAbortedMidStream", bool)
    made_by = Wire("madeBy", str)
    model = Wire("model", str)
    neutralized_by_fork = Wire("neutralizedByFork", bool)
    per_turn_effort = Wire("perTurnEffort", str)
    prompt_cache_requested = Wire("promptCacheRequested", bool)
    refused_message_id = Wire("refusedMessageId", str)
    refusing_model = Wire("refusingModel", str)
    request_ref = Wire("requestRef", object)
    requested_model = Wire("requestedModel", str)
    server_classifier_request = Wire("serverClassifierRequest", object)
    supersedes_uuids = Wire("supersedesUuids", list[str])
    thinking_display = Wire("thinkingDisplay", str)
    thinking_duration_ms = Wire("thinkingDurationMs", float)
    tool_input_stream_ms = Wire("toolInputStreamMs", float)
    usage_metadata = Wire("usageMetadata", dict[str, Any])


class System(Record):
    """A note of the client: a compaction, a command, an error, the length of a turn."""

    __slots__ = ()
    __match_args__ = ("subtype",)
    agent = Wire("agent", str)
    api_refusal_category = Wire("apiRefusalCategory", str)
    api_refusal_explanation = Wire("apiRefusalExplanation", str)
    cause = Wire("cause", dict[str, Any])
    command_outcome = Wire("commandOutcome", str)
    command_run = Wire("commandRun", object)
    compact_metadata = Wire("compactMetadata", CompactMetadata)
    content = Wire("content", str)
    context_usage = Wire("contextUsage", object)
    direction = Wire("direction", str)
    duration_ms = Wire("durationMs", float)
    error = Wire("error", dict[str, Any])
    fallback_model = Wire("fallbackModel", str)
    has_output = Wire("hasOutput", bool)
    hook_additional_context = Wire("hookAdditionalContext", list[Any])
    hook_count = Wire("hookCount", int)
    hook_errors = Wire("hookErrors", list[Any])
    hook_infos = Wire("hookInfos", list[Any])
    id = Wire("id", str)
    level = Wire("level", str)
    max_retries = Wire("maxRetries", int)
    message_count = Wire("messageCount", int)
    microcompact_metadata = Wire("microcompactMetadata", MicrocompactMetadata)
    model = Wire("model", str)
    original_model = Wire("originalModel", str)
    pending_background_agent_count = Wire("pendingBackgroundAgentCount", int)
    pending_workflow_count = Wire("pendingWorkflowCount", int)
    prevented_continuation = Wire("preventedContinuation", bool)
    reasoning_effort = Wire("reasoning_effort", str)
    refused_user_message_uuid = Wire("refusedUserMessageUuid", str)
    retracted_message_uuids = Wire("retractedMessageUuids", list[str])
    retry_attempt = Wire("retryAttempt", int)
    retry_in_ms = Wire("retryInMs", float)
    scope = Wire("scope", str)
    source = Wire("source", str)
    stop_reason = Wire("stopReason", str)
    summary = Wire("summary", str)
    system_payload = Wire("systemPayload", dict[str, Any])
    tool_use_id = Wire("toolUseID", str)
    tools = Wire("tools", list[str])
    trigger = Wire("trigger", str)
    upgrade_nudge = Wire("upgradeNudge", str)
    url = Wire("url", str)
    workspace = Wire("workspace", str)


class Attachment(Record):
    """What the client told the model besides the prompts; a link of the chain."""

    __slots__ = ()
    __match_args__ = ("attachment_type",)
    rendered = Wire("rendered", object)
    rendered_role = Wire("renderedRole", str)
    rendered_beside_tool_result = Wire("renderedBesideToolResult", object)

    @property
    def attachment_type(self) -> str | None:
        """The kind of attachment."""
        return self.envelope.attachment.type if self.envelope.attachment else None

    @property
    def attachment(self) -> Struct | dict[str, Any] | None:
        """The attachment in its typed form, or as it is where its kind is unknown."""
        return by_type(self.fields.get("attachment"), ATTACHMENTS)


class Progress(Record):
    """News of running work; a link of the chain up to 2.1.81."""

    __slots__ = ()
    __match_args__ = ("progress_type",)
    parent_tool_use_id = Wire("parentToolUseID", str)
    tool_use_id = Wire("toolUseID", str)

    @property
    def progress_type(self) -> str | None:
        """The kind of progress."""
        return self.envelope.data.type if self.envelope.data else None

    @property
    def data(self) -> Struct | dict[str, Any] | None:
        """The news in their typed form, or as they are where their kind is unknown."""
        return by_type(self.fields.get("data"), PROGRESS)
