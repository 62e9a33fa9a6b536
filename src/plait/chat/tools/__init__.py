"""Built-in tools: what the model can do on this machine.

    tools = toolbox()
    place = Workplace(root, cwd=root, environment=without_secrets(environment))
    proposal = tools["Edit"].propose(arguments, place)
    outcome = await tools["Edit"].run(proposal, place, report)

A call that fails raises `ToolError`, whose `outcome` tells the model why. Permission is checked
between `propose` and `run`. `shell.stop_all` stops what still runs in the background.
"""

from collections.abc import Collection

from plait.chat.tools.base import Tool
from plait.chat.tools.edit import Edit, NotebookEdit, Write
from plait.chat.tools.read import Read
from plait.chat.tools.search import Glob, Grep
from plait.chat.tools.secrets import SecretHidingTool
from plait.chat.tools.shell import Bash, TaskOutput, TaskStop
from plait.chat.tools.tasks import TaskCreate, TaskGet, TaskList, TaskUpdate, TodoWrite
from plait.chat.tools.web import WebFetch, WebSearch

BUILT_IN_TOOLS: tuple[Tool, ...] = (
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


def toolbox(*, without: Collection[str] = (), has_network: bool = False) -> dict[str, Tool]:
    """Return the built-in tools by name, in the order in which the model gets them."""
    return {
        tool.name: SecretHidingTool(tool)
        for tool in BUILT_IN_TOOLS
        if tool.name not in without and (has_network or tool.effect != "network")
    }
