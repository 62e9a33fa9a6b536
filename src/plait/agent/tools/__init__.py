"""Calls of the model to what they do on this machine.

    tools = toolbox()
    place = Workplace(root, cwd=root, environment=without_secrets(environment))
    proposal = tools["Edit"].propose(arguments, place)
    outcome = await tools["Edit"].run(proposal, place, report)

A call that cannot be done raises `ToolError`, whose `outcome` tells the model why. Whether it may
be done is asked in between. `end_all` ends what still runs in the background.
"""

from plait.agent.tools.background import Task, end_all
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    Sight,
    Tool,
    ToolError,
    Workplace,
)
from plait.agent.tools.registry import toolbox, unknown_tool
from plait.agent.tools.secrets import secret_values, without_secrets

__all__ = [
    "Arguments",
    "Effect",
    "Outcome",
    "Proposal",
    "Report",
    "Sight",
    "Task",
    "Tool",
    "ToolError",
    "Workplace",
    "end_all",
    "secret_values",
    "toolbox",
    "unknown_tool",
    "without_secrets",
]
