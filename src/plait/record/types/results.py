"""The client's own view of a tool's result, by the form it has.

`toolUseResult` never reaches the model: the client keeps it for its screens. Failures are
plain strings ("Error: …"), some tools give lists; what no form fits stays a plain value.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from plait.record.codec import lenient, wire_name


class EditResult(Struct, frozen=True, rename=wire_name):
    """Text replaced in a file."""

    file_path: str | None = None
    old_string: str | None = None
    new_string: str | None = None
    original_file: str | None = None
    structured_patch: list[Any] | None = None
    user_modified: bool | None = None
    replace_all: bool | None = None
    content_not_in_model_context: bool | None = None


class NotebookEditResult(Struct, frozen=True):
    """A cell of a notebook that was changed."""

    notebook_path: str | None = None
    cell_id: str | None = None
    cell_type: str | None = None
    language: str | None = None
    edit_mode: str | None = None
    old_source: str | None = None
    new_source: str | None = None
    original_file: str | None = None
    updated_file: str | None = None
    error: str | None = None


class MultiEditResult(Struct, frozen=True, rename=wire_name):
    """Several replacements in a file."""

    file_path: str | None = None
    edits: list[Any] | None = None
    original_file_contents: str | None = None
    structured_patch: list[Any] | None = None
    user_modified: bool | None = None


class WriteResult(Struct, frozen=True, rename=wire_name):
    """A file created or written anew."""

    type: str | None = None
    file_path: str | None = None
    content: str | None = None
    structured_patch: list[Any] | None = None
    original_file: str | None = None
    user_modified: bool | None = None


class ReadResult(Struct, frozen=True, rename=wire_name):
    """What was read of a file."""

    type: str | None = None
    file: dict[str, Any] | None = None


class BashOutputResult(Struct, frozen=True, rename=wire_name):
    """Output fetched from a shell in the background."""

    shell_id: str | None = None
    command: str | None = None
    status: str | None = None
    exit_code: Any = None
    stdout: str | None = None
    stderr: str | None = None
    stdout_lines: int | float | None = None
    stderr_lines: int | float | None = None
    timestamp: str | None = None


class BashResult(Struct, frozen=True, rename=wire_name):
    """A command that ran."""

    stdout: str | None = None
    stderr: str | None = None
    interrupted: bool | None = None
    is_image: bool | None = None
    no_output_expected: bool | None = None
    return_code_interpretation: str | None = None
    background_task_id: str | None = None
    assistant_auto_backgrounded: bool | None = None
    persisted_output_path: str | None = None
    persisted_output_size: int | float | None = None


class GrepResult(Struct, frozen=True, rename=wire_name):
    """A search in files."""

    mode: str | None = None
    filenames: list[str] | None = None
    num_files: int | float | None = None
    content: str | None = None
    num_lines: int | float | None = None
    num_matches: int | float | None = None
    total_lines: int | float | None = None
    applied_limit: int | float | None = None
    applied_offset: int | float | None = None


class GlobResult(Struct, frozen=True, rename=wire_name):
    """Files found by a pattern."""

    filenames: list[str] | None = None
    num_files: int | float | None = None
    duration_ms: int | float | None = None
    truncated: bool | None = None
    total_matches: int | float | None = None
    count_is_complete: bool | None = None


class TodoWriteResult(Struct, frozen=True, rename=wire_name):
    """The list of things to do, before and after."""

    old_todos: list[Any] | None = None
    new_todos: list[Any] | None = None
    verification_nudge_needed: bool | None = None


class TeammateResult(Struct, frozen=True):
    """A teammate that was started."""

    status: str | None = None
    teammate_id: str | None = None
    agent_id: str | None = None
    name: str | None = None
    team_name: str | None = None
    prompt: str | None = None
    agent_type: str | None = None
    model: str | None = None
    color: str | None = None


class WorkflowResult(Struct, frozen=True, rename=wire_name):
    """A workflow that was started or has run."""

    status: str | None = None
    task_id: str | None = None
    run_id: str | None = None
    summary: str | None = None
    transcript_dir: str | None = None
    script_path: str | None = None
    is_async: bool | None = None


class AsyncAgentResult(Struct, frozen=True, rename=wire_name):
    """A sub-agent sent out to work in the background."""

    status: str | None = None
    is_async: bool | None = None
    agent_id: str | None = None
    description: str | None = None
    prompt: str | None = None
    output_file: str | None = None
    can_read_output_file: bool | None = None
    can_continue_agent: bool | None = None
    resolved_model: str | None = None


class AgentResult(Struct, frozen=True, rename=wire_name):
    """A sub-agent that has answered."""

    status: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    prompt: str | None = None
    content: Any = None
    total_duration_ms: int | float | None = None
    total_tokens: int | float | None = None
    total_tool_use_count: int | float | None = None
    usage: Any = None
    tool_stats: Any = None
    worktree_path: str | None = None
    worktree_branch: str | None = None
    resolved_model: str | None = None
    can_continue_agent: bool | None = None
    harness_note_count: int | float | None = None
    harness_section_hash: Any = None
    harness_tail_count: int | float | None = None
    tools_used: Any = None


class TaskUpdateResult(Struct, frozen=True, rename=wire_name):
    """A task that was changed."""

    success: bool | None = None
    task_id: str | None = None
    updated_fields: list[Any] | None = None
    status_change: Any = None
    verification_nudge_needed: bool | None = None
    error: str | None = None


class TaskOutputResult(Struct, frozen=True):
    """Output of a background task."""

    retrieval_status: str | None = None
    task: Any = None


class TaskResult(Struct, frozen=True, rename=wire_name):
    """A task that was created or looked up."""

    task: Any = None


class TaskListResult(Struct, frozen=True, rename=wire_name):
    """All tasks."""

    tasks: list[Any] | None = None


class ToolSearchResult(Struct, frozen=True):
    """Tools found by a search."""

    matches: list[Any] | None = None
    query: str | None = None
    total_deferred_tools: int | float | None = None
    pending_mcp_servers: Any = None


class WebFetchResult(Struct, frozen=True, rename=wire_name):
    """A page that was fetched."""

    bytes: int | float | None = None
    code: int | float | None = None
    code_text: str | None = None
    result: str | None = None
    duration_ms: int | float | None = None
    url: str | None = None


class WebSearchResult(Struct, frozen=True, rename=wire_name):
    """A search of the web."""

    query: str | None = None
    results: list[Any] | None = None
    duration_seconds: int | float | None = None


class PlanResult(Struct, frozen=True, rename=wire_name):
    """A plan that was put to the user."""

    plan: str | None = None
    is_agent: bool | None = None
    file_path: str | None = None


class SkillResult(Struct, frozen=True, rename=wire_name):
    """A skill that was taken up."""

    success: bool | None = None
    command_name: str | None = None
    allowed_tools: Any = None
    model: str | None = None
    status: str | None = None


class QuestionResult(Struct, frozen=True, rename=wire_name):
    """Questions with the answers that the user chose."""

    questions: list[Any] | None = None
    answers: Any = None
    annotations: Any = None


class MessageResult(Struct, frozen=True):
    """What a tool has to say."""

    message: str | None = None
    success: bool | None = None
    routing: Any = None
    shell_id: str | None = None


class MonitorResult(Struct, frozen=True, rename=wire_name):
    """A watch on something that takes time."""

    task_id: str | None = None
    timeout_ms: int | float | None = None
    persistent: bool | None = None


class WakeupResult(Struct, frozen=True, rename=wire_name):
    """A time to wake up."""

    scheduled_for: Any = None
    clamped_delay_seconds: int | float | None = None
    was_clamped: bool | None = None


# The first form whose keys are all there is taken: the more telling forms stand first.
FORMS: tuple[tuple[frozenset[str], type[Struct]], ...] = tuple(
    (frozenset(keys.split()), form)
    for keys, form in (
        ("oldString newString", EditResult),
        ("notebook_path edit_mode", NotebookEditResult),
        ("edits originalFileContents", MultiEditResult),
        ("filePath structuredPatch type", WriteResult),
        ("file", ReadResult),
        ("shellId stdoutLines", BashOutputResult),
        ("stdout stderr", BashResult),
        ("filenames mode", GrepResult),
        ("filenames numFiles", GlobResult),
        ("newTodos", TodoWriteResult),
        ("teammate_id", TeammateResult),
        ("runId scriptPath", WorkflowResult),
        ("agentId isAsync", AsyncAgentResult),
        ("agentId status", AgentResult),
        ("taskId updatedFields", TaskUpdateResult),
        ("retrieval_status", TaskOutputResult),
        ("task", TaskResult),
        ("tasks", TaskListResult),
        ("matches query", ToolSearchResult),
        ("url codeText", WebFetchResult),
        ("query results", WebSearchResult),
        ("plan isAgent", PlanResult),
        ("commandName success", SkillResult),
        ("questions answers", QuestionResult),
        ("message", MessageResult),
        ("taskId timeoutMs", MonitorResult),
        ("scheduledFor", WakeupResult),
    )
)

ToolUseResult: TypeAlias = Struct | str | list[Any] | dict[str, Any]


def tool_use_result_of(value: object) -> ToolUseResult | None:
    """Returns the typed form of a result; strings, lists and unknown forms as they are."""
    match value:
        case str() | list():
            return value
        case Mapping():
            form = form_of(value)
            return lenient(value, form) if form else dict(value)
        case _:
            return None


def form_of(value: Mapping[str, Any]) -> type[Struct] | None:
    """Returns the first form whose keys the value has."""
    for keys, form in FORMS:
        if keys <= value.keys():
            return form
    return None
