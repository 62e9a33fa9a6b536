"""What an `attachment` record carries, by its kind.

Attachments are links of the chain: what the client told the model besides the prompts.
"""

from typing import Any

from msgspec import Struct

from plait.record.codec import wire_name


class AgentListingDelta(Struct, frozen=True, rename=wire_name):
    """Kinds of sub-agents that came or went."""

    added_types: list[str] | None = None
    added_lines: list[str] | None = None
    removed_types: list[Any] | None = None
    is_initial: bool | None = None
    show_concurrency_note: bool | None = None
    built_in_types: Any = None
    built_in_plugin_types: Any = None


class AsyncHookResponse(Struct, frozen=True, rename=wire_name):
    """What a hook answered that ran in the background."""

    process_id: str | None = None
    hook_name: str | None = None
    hook_event: str | None = None
    response: dict[str, Any] | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | float | None = None


class AutoMode(Struct, frozen=True, rename=wire_name):
    """A reminder that the client works without asking."""

    reminder_type: str | None = None
    auto_mode_consent_flow: Any = None
    finish_exposed_work: Any = None
    bash_first: Any = None
    bash_first_steer: Any = None
    steer_only: Any = None
    bypass: Any = None


class AutoModeExit(Struct, frozen=True, rename=wire_name):
    """The end of working without asking."""


class BatchingReminderSent(Struct, frozen=True, rename=wire_name):
    """A reminder to make calls together."""

    text: str | None = None
    model: str | None = None


class BudgetUsd(Struct, frozen=True, rename=wire_name):
    """The money spent and left."""

    used: int | float | None = None
    total: int | float | None = None
    remaining: int | float | None = None


class CommandPermissions(Struct, frozen=True, rename=wire_name):
    """Tools that a slash command may use."""

    allowed_tools: list[Any] | None = None


class CompactFileReference(Struct, frozen=True, rename=wire_name):
    """A file that was named again after a compaction."""

    filename: str | None = None
    display_path: str | None = None


class CompanionIntro(Struct, frozen=True, rename=wire_name):
    """The little companion of the prompt line."""

    name: str | None = None
    species: str | None = None


class Date(Struct, frozen=True, rename=wire_name):
    """The date at the start."""

    date: str | None = None


class DateChange(Struct, frozen=True, rename=wire_name):
    """The day has changed."""

    new_date: str | None = None


class DeferredToolsDelta(Struct, frozen=True, rename=wire_name):
    """Tools that can be loaded when needed, and those that no longer can."""

    added_names: list[str] | None = None
    added_lines: list[str] | None = None
    removed_names: list[Any] | None = None
    readded_names: Any = None
    pending_mcp_servers: Any = None
    wire_hidden_names: Any = None
    needs_auth_mcp_servers: Any = None
    failed_mcp_servers: Any = None


class DeferredToolsRecord(Struct, frozen=True, rename=wire_name):
    """The tools that can be loaded when needed."""

    tools: Any = None
    entries: Any = None


class Diagnostics(Struct, frozen=True, rename=wire_name):
    """Problems that the editor's language servers see."""

    files: list[Any] | None = None
    is_new: bool | None = None


class Directory(Struct, frozen=True, rename=wire_name):
    """The listing of a folder that the user mentioned."""

    path: str | None = None
    content: str | None = None
    display_path: str | None = None


class DynamicSkill(Struct, frozen=True, rename=wire_name):
    """Skills found in a folder."""

    skill_dir: str | None = None
    skill_names: list[str] | None = None
    display_path: str | None = None


class EditedTextFile(Struct, frozen=True, rename=wire_name):
    """A file that changed outside the conversation."""

    filename: str | None = None
    snippet: str | None = None


class Environment(Struct, frozen=True, rename=wire_name):
    """The machine, the folder and the state of the repository."""

    snapshot: dict[str, Any] | None = None
    changes: dict[str, Any] | None = None


class File(Struct, frozen=True, rename=wire_name):
    """A file that the user mentioned."""

    filename: str | None = None
    content: dict[str, Any] | None = None
    display_path: str | None = None
    saved_copy_framing: Any = None


class GoalStatus(Struct, frozen=True, rename=wire_name):
    """Whether the goal of the session has been met."""

    met: bool | None = None
    sentinel: bool | None = None
    condition: str | None = None
    reason: str | None = None
    iterations: int | float | None = None
    duration_ms: int | float | None = None
    tokens: int | float | None = None
    failed: bool | None = None


class HookAdditionalContext(Struct, frozen=True, rename=wire_name):
    """Context that a hook added."""

    content: list[str] | None = None
    hook_name: str | None = None
    tool_use_id: str | None = None
    hook_event: str | None = None


class HookBlockingError(Struct, frozen=True, rename=wire_name):
    """A hook that stopped what it watched."""

    hook_name: str | None = None
    tool_use_id: str | None = None
    hook_event: str | None = None
    blocking_error: dict[str, Any] | None = None


class HookCancelled(Struct, frozen=True, rename=wire_name):
    """A hook that was cut off."""

    hook_name: str | None = None
    tool_use_id: str | None = None
    hook_event: str | None = None
    command: str | None = None
    duration_ms: int | float | None = None


class HookNonBlockingError(Struct, frozen=True, rename=wire_name):
    """A hook that failed without stopping anything."""

    hook_name: str | None = None
    tool_use_id: str | None = None
    hook_event: str | None = None
    stderr: str | None = None
    stdout: str | None = None
    exit_code: int | float | None = None
    command: str | None = None
    duration_ms: int | float | None = None


class HookSuccess(Struct, frozen=True, rename=wire_name):
    """A hook that ran well."""

    hook_name: str | None = None
    tool_use_id: str | None = None
    hook_event: str | None = None
    content: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | float | None = None
    command: str | None = None
    duration_ms: int | float | None = None


class HookSystemMessage(Struct, frozen=True, rename=wire_name):
    """A message that a hook shows to the user."""

    content: str | None = None
    hook_name: str | None = None
    tool_use_id: str | None = None
    hook_event: str | None = None


class Instructions(Struct, frozen=True, rename=wire_name):
    """The instruction files in force."""

    files: list[Any] | None = None


class InvokedSkills(Struct, frozen=True, rename=wire_name):
    """Skills in use."""

    skills: list[Any] | None = None


class MaxTurnsReached(Struct, frozen=True, rename=wire_name):
    """The most turns that were allowed have been taken."""

    max_turns: int | None = None
    turn_count: int | None = None
    exit_committed: bool | None = None


class McpInstructionsDelta(Struct, frozen=True, rename=wire_name):
    """Instructions of MCP servers that came or went."""

    added_names: list[str] | None = None
    added_blocks: list[str] | None = None
    removed_names: list[Any] | None = None


class Model(Struct, frozen=True, rename=wire_name):
    """The model that answers, and what is said of it."""

    identity: dict[str, Any] | None = None
    text: str | None = None


class NestedMemory(Struct, frozen=True, rename=wire_name):
    """Instructions of a sub-folder that came into play."""

    path: str | None = None
    content: dict[str, Any] | None = None
    display_path: str | None = None


class OpenedFileInIde(Struct, frozen=True, rename=wire_name):
    """The file that is open in the editor."""

    filename: str | None = None


class PlanFileReference(Struct, frozen=True, rename=wire_name):
    """The plan that is being carried out."""

    plan_file_path: str | None = None
    plan_content: str | None = None


class PlanMode(Struct, frozen=True, rename=wire_name):
    """A reminder that only planning is allowed."""

    reminder_type: str | None = None
    is_sub_agent: bool | None = None
    plan_file_path: str | None = None
    plan_exists: bool | None = None


class PlanModeExit(Struct, frozen=True, rename=wire_name):
    """The end of planning."""

    plan_file_path: str | None = None
    plan_exists: bool | None = None


class PlanModeReentry(Struct, frozen=True, rename=wire_name):
    """Planning again."""

    plan_file_path: str | None = None


class PromptSnapshot(Struct, frozen=True, rename=wire_name):
    """The system prompt and the tools of a request."""

    system_prompt: list[Any] | None = None
    reminder_fold: Any = None
    echo_wire_tool_inputs: Any = None
    context_rendering: Any = None
    tools: list[Any] | None = None
    cli_prefix: Any = None
    system_turns: Any = None
    tool_change_header: Any = None
    inline_tools: Any = None
    kept_reminders: Any = None


class QueuedCommand(Struct, frozen=True, rename=wire_name):
    """A prompt typed while the model worked, or a notice that waited."""

    prompt: Any = None
    command_mode: str | None = None
    source_uuid: str | None = None


class ReadTruncationNotice(Struct, frozen=True, rename=wire_name):
    """A file was read only in part."""

    banner: str | None = None
    tool_use_id: str | None = None


class RemoteSessionChange(Struct, frozen=True, rename=wire_name):
    """What a remote session changed."""

    url: str | None = None
    commit: Any = None
    pr: Any = None
    send_user_file_hint: Any = None
    managed_commit: Any = None
    managed_pr: Any = None


class SelectedLinesInIde(Struct, frozen=True, rename=wire_name):
    """Lines that are selected in the editor."""

    ide_name: str | None = None
    line_start: int | float | None = None
    line_end: int | float | None = None
    filename: str | None = None
    content: str | None = None
    display_path: str | None = None


class SessionContext(Struct, frozen=True, rename=wire_name):
    """Context of the session."""

    context: Any = None


class SilentTurnReminder(Struct, frozen=True, rename=wire_name):
    """A reminder to say something."""

    text: str | None = None


class SkillListing(Struct, frozen=True, rename=wire_name):
    """Skills that can be used."""

    content: str | None = None
    skill_count: int | float | None = None
    is_initial: bool | None = None
    names: list[str] | None = None
    digests: Any = None


class TaskReminder(Struct, frozen=True, rename=wire_name):
    """The task list, as a reminder."""

    content: list[Any] | None = None
    item_count: int | float | None = None


class TaskStatus(Struct, frozen=True, rename=wire_name):
    """How a background task fares."""

    task_id: str | None = None
    task_type: str | None = None
    description: str | None = None
    status: str | None = None
    delta_summary: Any = None
    output_file_path: str | None = None


class TodoReminder(Struct, frozen=True, rename=wire_name):
    """The list of things to do, as a reminder."""

    content: list[Any] | None = None
    item_count: int | float | None = None


class TotalTokensReminder(Struct, frozen=True, rename=wire_name):
    """How many tokens are left."""

    text: str | None = None


class UltraEffortEnter(Struct, frozen=True, rename=wire_name):
    """The highest effort begins."""

    reminder_type: str | None = None


class UltraEffortExit(Struct, frozen=True, rename=wire_name):
    """The highest effort ends."""


class UnknownCommandFallback(Struct, frozen=True, rename=wire_name):
    """A slash command that does not exist."""

    command_name: str | None = None
    available_command_names: list[str] | None = None
    available_command_count: int | float | None = None
    suggestion: Any = None


ATTACHMENTS: dict[str, type[Struct]] = {
    "agent_listing_delta": AgentListingDelta,
    "async_hook_response": AsyncHookResponse,
    "auto_mode": AutoMode,
    "auto_mode_exit": AutoModeExit,
    "batching_reminder_sent": BatchingReminderSent,
    "budget_usd": BudgetUsd,
    "command_permissions": CommandPermissions,
    "compact_file_reference": CompactFileReference,
    "companion_intro": CompanionIntro,
    "date": Date,
    "date_change": DateChange,
    "deferred_tools_delta": DeferredToolsDelta,
    "deferred_tools_record": DeferredToolsRecord,
    "diagnostics": Diagnostics,
    "directory": Directory,
    "dynamic_skill": DynamicSkill,
    "edited_text_file": EditedTextFile,
    "environment": Environment,
    "file": File,
    "goal_status": GoalStatus,
    "hook_additional_context": HookAdditionalContext,
    "hook_blocking_error": HookBlockingError,
    "hook_cancelled": HookCancelled,
    "hook_non_blocking_error": HookNonBlockingError,
    "hook_success": HookSuccess,
    "hook_system_message": HookSystemMessage,
    "instructions": Instructions,
    "invoked_skills": InvokedSkills,
    "max_turns_reached": MaxTurnsReached,
    "mcp_instructions_delta": McpInstructionsDelta,
    "model": Model,
    "nested_memory": NestedMemory,
    "opened_file_in_ide": OpenedFileInIde,
    "plan_file_reference": PlanFileReference,
    "plan_mode": PlanMode,
    "plan_mode_exit": PlanModeExit,
    "plan_mode_reentry": PlanModeReentry,
    "prompt_snapshot": PromptSnapshot,
    "queued_command": QueuedCommand,
    "read_truncation_notice": ReadTruncationNotice,
    "remote_session_change": RemoteSessionChange,
    "selected_lines_in_ide": SelectedLinesInIde,
    "session_context": SessionContext,
    "silent_turn_reminder": SilentTurnReminder,
    "skill_listing": SkillListing,
    "task_reminder": TaskReminder,
    "task_status": TaskStatus,
    "todo_reminder": TodoReminder,
    "total_tokens_reminder": TotalTokensReminder,
    "ultra_effort_enter": UltraEffortEnter,
    "ultra_effort_exit": UltraEffortExit,
    "unknown_command_fallback": UnknownCommandFallback,
}
