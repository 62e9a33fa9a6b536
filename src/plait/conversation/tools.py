"""What is known of each tool, by name: one row per tool.

How a view shows the input and result of a call is in the view, by the same names; a tool without
a row is shown as any other.
"""

from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.graph.facts import SPAWNERS

ToolKind: TypeAlias = Literal[
    "read",  # looks into a file
    "edit",  # changes one
    "shell",  # runs commands, or tells of those that run
    "find",
    "web",
    "agent",  # sends agents out, or speaks to them
    "list",  # keeps things to do
    "ask",
    "plan",
    "skill",
    "mcp",  # of a server that the person added
    "other",
]


class Tool(Struct, frozen=True):
    """What is known of a tool."""

    name: str
    kind: ToolKind = "other"
    nouns: tuple[str, str] | None = None
    """What one call of it is called among others, and what several are."""
    action: Literal["read", "written", "edited"] | None = None
    """What it does to the file that it names."""
    is_terminal: bool = False
    """True where its result is what a terminal printed."""
    is_answered_by_person: bool = False
    is_prose: bool = False
    """True where its result is written for a reader."""
    agent: str | None = None
    """The kind of agent that it sends out where a call names none."""

    @property
    def sends_agents(self) -> bool:
        """Whether it sends agents out, be their conversations in the log or not."""
        return self.name in SPAWNERS


_GENERAL = "general-purpose"
_EDITS, _SEARCHES, _AGENTS = ("edit", "edits"), ("search", "searches"), ("agent", "agents")
TOOLS = {
    tool.name: tool
    for tool in (
        Tool("Read", "read", ("read", "reads"), "read"),
        Tool("NotebookRead", "read", action="read"),
        Tool("Edit", "edit", _EDITS, "edited"),
        Tool("MultiEdit", "edit", _EDITS, "edited"),
        Tool("Write", "edit", ("file written", "files written"), "written"),
        Tool("NotebookEdit", "edit", action="edited"),
        Tool("Bash", "shell", ("command", "commands"), is_terminal=True),
        Tool("PowerShell", "shell", is_terminal=True),
        Tool("BashOutput", "shell", is_terminal=True),
        Tool("TaskOutput", "shell", is_terminal=True),
        Tool("KillShell", "shell"),
        Tool("Grep", "find", _SEARCHES),
        Tool("Glob", "find", _SEARCHES),
        Tool("LS", "find"),
        Tool("ToolSearch", "find"),
        Tool("LSP", "find"),
        Tool("WebFetch", "web", ("page", "pages"), is_prose=True),
        Tool("WebSearch", "web", ("web search", "web searches")),
        Tool("Task", "agent", _AGENTS, is_prose=True, agent=_GENERAL),
        Tool("Agent", "agent", _AGENTS, is_prose=True, agent=_GENERAL),
        Tool("Workflow", "agent"),
        Tool("SendMessage", "agent"),
        Tool("TodoWrite", "list", ("to-do list", "to-do lists")),
        Tool("TaskCreate", "list", ("new task", "new tasks")),
        Tool("TaskUpdate", "list", ("task update", "task updates")),
        Tool("TaskList", "list"),
        Tool("TaskGet", "list"),
        Tool("AskUserQuestion", "ask", ("question", "questions"), is_answered_by_person=True),
        Tool("EnterPlanMode", "plan"),
        Tool("ExitPlanMode", "plan", ("plan", "plans"), is_answered_by_person=True, is_prose=True),
        Tool("exit_plan_mode", "plan", is_answered_by_person=True, is_prose=True),
        Tool("Skill", "skill", ("skill", "skills")),
    )
}


@lru_cache(maxsize=256)
def get_tool(name: str) -> Tool:
    """Return what is known of a tool, its name alone where nothing is."""
    return TOOLS.get(name) or Tool(name, "mcp" if name.startswith("mcp__") else "other")


def is_plan_tool(name: str) -> bool:
    """Return whether a tool puts a plan to the person."""
    tool = get_tool(name)
    return tool.kind == "plan" and tool.is_answered_by_person
