"""What a session may use to the tools that it has."""

from collections.abc import Collection

from plait.agent.tools.bash import Bash
from plait.agent.tools.edit import Edit
from plait.agent.tools.glob import Glob
from plait.agent.tools.grep import Grep
from plait.agent.tools.model import Outcome, Tool, ToolError
from plait.agent.tools.notebook_edit import NotebookEdit
from plait.agent.tools.read import Read
from plait.agent.tools.secrets import Discreet
from plait.agent.tools.stopping import TaskOutput, TaskStop
from plait.agent.tools.tasks import TaskCreate, TaskGet, TaskList, TaskUpdate
from plait.agent.tools.todos import TodoWrite
from plait.agent.tools.web import WebFetch, WebSearch
from plait.agent.tools.write import Write


def toolbox(
    *, only: Collection[str] | None = None, without: Collection[str] = (), has_network: bool = False
) -> dict[str, Tool]:
    """Returns the tools by name, in the order in which the model is told of them."""
    tools: tuple[Tool, ...] = (
        Bash(),
        Edit(),
        Glob(),
        Grep(),
        NotebookEdit(),
        Read(),
        TaskCreate(),
        TaskGet(),
        TaskList(),
        TaskOutput(),
        TaskStop(),
        TaskUpdate(),
        TodoWrite(),
        WebFetch(),
        WebSearch(),
        Write(),
    )
    return {
        tool.name: Discreet(tool)
        for tool in tools
        if tool.name not in without
        and (only is None or tool.name in only)
        and (has_network or tool.effect != "network")
    }


def unknown_tool(name: str) -> Outcome:
    """Returns what the model is told that calls a tool that is not there."""
    text = f"Error: No such tool available: {name}"
    return ToolError(text, is_misuse=True, logged=text).outcome
