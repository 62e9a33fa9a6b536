"""What a session may use to the tools that it has."""

from collections.abc import Collection

from plait.agent.tools.bash import Bash
from plait.agent.tools.edit import Edit
from plait.agent.tools.model import Outcome, Tool, ToolError
from plait.agent.tools.read import Read
from plait.agent.tools.secrets import Discreet
from plait.agent.tools.write import Write


def toolbox(
    *, only: Collection[str] | None = None, without: Collection[str] = (), has_network: bool = False
) -> dict[str, Tool]:
    """Returns the tools by name, in the order in which the model is told of them."""
    tools: tuple[Tool, ...] = (Bash(), Edit(), Read(), Write())
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
