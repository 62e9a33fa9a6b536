"""What is known of each tool, by name: one row per tool.

How the input and result of a call are shown is decided in `view`, by the same names; a tool without
a row is shown generically.
"""

from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.graph.facts import SPAWNERS

ToolKind: TypeAlias = Literal[
    "read",  # reads a file
    "edit",  # changes one
    "shell",  # runs commands, or reports on them
    "find",
    "web",
    "agent",  # starts agents, or sends them messages
    "list",  # task lists
    "ask",
    "plan",
    "skill",
    "mcp",  # of an MCP server
    "other",
]


class Tool(Struct, frozen=True):
    """What is known of a tool."""

    name: str
    kind: ToolKind = "other"
    nouns: tuple[str, str] | None = None
    """Singular and plural noun for one call among others."""
    action: Literal["read", "written", "edited"] | None = None
    """What it does to the file that it names."""
    is_terminal: bool = False
    """Whether its result is terminal output."""
    is_answered_by_person: bool = False
    is_prose: bool = False
    """Whether its result is written for a reader."""
    agent: str | None = None
    """The kind of agent that it starts if a call names none."""
    same_as: str | None = None
    """The tool of Claude Code that it is under another agent's name."""

    @property
    def sends_agents(self) -> bool:
        """Whether it starts agents, whether their conversations are logged or not."""
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
OTHER_AGENTS = {
    "Read": "read read_file view",
    "Edit": "edit replace str_replace apply_patch patch multiedit",
    "Write": "write write_file create",
    "Bash": "bash shell exec_command shell_command local_shell run_shell_command",
    "Grep": "grep grep_search search_file_content",
    "Glob": "glob find",
    "LS": "ls list list_directory",
    "WebFetch": "webfetch",
    "WebSearch": "websearch google_web_search",
    "TodoWrite": "todowrite todo_write write_todos",
}
"""Names that the tools of Claude Code have in other agents."""
OTHER_TOOLS = {
    name: replace(TOOLS[known], name=name, same_as=known)
    for known, names in OTHER_AGENTS.items()
    for name in names.split()
}


@lru_cache(maxsize=256)
def get_tool(name: str) -> Tool:
    """Return the row of a tool; only its name if there is none."""
    known = TOOLS.get(name) or OTHER_TOOLS.get(name)
    return known or Tool(name, "mcp" if name.startswith("mcp__") else "other")


def is_plan_tool(name: str) -> bool:
    """Return whether a tool proposes a plan to the user."""
    tool = get_tool(name)
    return tool.kind == "plan" and tool.is_answered_by_person
