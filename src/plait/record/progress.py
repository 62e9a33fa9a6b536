"""What a `progress` record carries, by its kind.

Versions up to 2.1.81 wrote progress as links of the chain.
"""

from typing import Any

from msgspec import Struct

from plait.record.names import wire_name


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
