"""Kinds of sub-agents: those built in, and those defined in `.claude/agents`.

    <configuration>/agents/**/*.md       the user's own
    <directory>/.claude/agents/**/*.md   the project's: this directory and those above it, up to
                                         the repository's root; the nearest one wins

A definition only narrows: an agent never has a tool or a permission that its session lacks.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plait.chat.approval import MODES, Mode
from plait.chat.front_matter import parse_document
from plait.chat.tools.base import Tool
from plait.line import read_file_stamp, read_regular

DEFAULT_KIND: Final = "general-purpose"
MAX_DEPTH: Final = 3
"""Depth at which agents can no longer start agents of their own."""
AGENT_TOOL_NAMES: Final = ("Agent", "Task")
"""Names of the tool that starts agents, in newer and in older versions."""


@dataclass(frozen=True, slots=True)
class AgentKind:
    """A kind of agent: its purpose, instructions, tools and limits."""

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] | None = None
    """The tools it has; None for all."""
    excluded_tools: tuple[str, ...] = ()
    """Tools it never has."""
    model: str | None = None
    """The model it uses; None for the session's."""
    mode: Mode | None = None
    """Its permission mode; None for the session's."""
    max_turns: int | None = None
    """The most requests it may make."""
    is_background: bool = False
    """Whether it runs in the background by default."""
    is_built_in: bool = False
    is_one_shot: bool = False
    """Whether it ends with its first report and takes no further messages."""

    def select_tools(self, tools: Mapping[str, Tool], depth: int) -> dict[str, Tool]:
        """Return which of the given tools an agent at this depth has."""
        return {
            name: tool
            for name, tool in tools.items()
            if (self.tools is None or _matches_tool(name, self.tools))
            and not _matches_tool(name, self.excluded_tools)
            and (name not in AGENT_TOOL_NAMES or depth < MAX_DEPTH)
        }

    @property
    def tools_summary(self) -> str:
        """The tools it may use, as text."""
        if self.tools is not None:
            return ", ".join(self.tools) or "none"
        return (
            f"all tools except {', '.join(self.excluded_tools)}"
            if self.excluded_tools
            else "all tools"
        )


def _matches_tool(tool: str, names: Collection[str]) -> bool:
    """Return whether names contain a tool: itself, its name in other versions, or its server."""
    if tool in names or (tool in AGENT_TOOL_NAMES and not {*AGENT_TOOL_NAMES}.isdisjoint(names)):
        return True
    parts = tool.split("__")
    return len(parts) > 2 and "__".join(parts[:2]) in names


REPORT_PROMPT = """\
Only your final message is returned. Include what you found or did, with file paths, and mention \
anything that does not work or that you are not sure about. Nobody can answer questions while you \
work."""
GENERAL_PROMPT = f"""\
You are an agent with one task. Complete it fully, and do nothing else. Search broadly first, then \
narrow down. Change only the files that the task requires.

{REPORT_PROMPT}"""
EXPLORE_PROMPT = f"""\
You are an agent that searches files. The task is read-only: do not create, edit, move or delete \
files with any tool or command. Search by name and by content, run several searches in parallel, \
and read the relevant parts of the files.

{REPORT_PROMPT}"""
PLAN_PROMPT = f"""\
You are an agent that plans a change. The task is read-only: do not change anything yourself. Find \
out how the code is structured and what can be reused. Then describe the steps in order, the \
alternatives you rejected and why, and the few files that matter most.

{REPORT_PROMPT}"""
WRITING_TOOLS = (*AGENT_TOOL_NAMES, "Edit", "NotebookEdit", "Write")

BUILT_IN_KINDS: Final = (
    AgentKind(
        "Explore",
        "Searches many files and reports where things are. Read-only.",
        EXPLORE_PROMPT,
        excluded_tools=WRITING_TOOLS,
        is_built_in=True,
        is_one_shot=True,
    ),
    AgentKind(
        DEFAULT_KIND,
        "Handles multi-step tasks on its own: research, open-ended searches, edits.",
        GENERAL_PROMPT,
        is_built_in=True,
    ),
    AgentKind(
        "Plan",
        "Plans an implementation: steps, files, trade-offs. Read-only.",
        PLAN_PROMPT,
        excluded_tools=WRITING_TOOLS,
        is_built_in=True,
        is_one_shot=True,
    ),
)
"""The agents that every session has."""


AGENTS_FOLDER = Path(".claude", "agents")
MAX_FILES, MAX_FILE_BYTES = 500, 1_000_000
ALL_TOOLS = "*"


def load_agent_kinds(
    configuration: Path | None, directory: Path
) -> tuple[dict[str, AgentKind], list[str]]:
    """Return the kinds of agents for a user and a directory, and problems in their files."""
    kinds, notices = {kind.name: kind for kind in BUILT_IN_KINDS}, []
    project: list[Path] = []
    for parent in (directory, *directory.parents):
        project.append(parent / AGENTS_FOLDER)
        if (parent / ".git").exists():
            break
    else:
        project = project[:1]  # outside a repository only the directory itself counts
    for folder in (*([configuration / "agents"] if configuration else ()), *reversed(project)):
        paths: list[Path] = []
        with suppress(OSError):
            paths = sorted(folder.rglob("*.md"))[:MAX_FILES]
        for path in paths:
            try:
                stamp = read_file_stamp(path)
                if stamp and stamp.size > MAX_FILE_BYTES:
                    raise ValueError("it is too large")
                document = parse_document(read_regular(path).decode(errors="replace"))
                name, description = document.get_text("name"), document.get_text("description")
                if not name or not description:
                    raise ValueError(f"it has no {'description' if name else 'name'}")
                tools = tuple(_tool_names(document.get_list("tools")))
                turns = document.get_text("maxTurns")
                has_all = "tools" not in document.head or ALL_TOOLS in tools
                mode_name = document.get_text("permissionMode")
                is_number = turns.isascii() and turns.isdecimal() and len(turns) < 10
                kinds[name] = AgentKind(
                    name,
                    description,
                    document.body.strip(),
                    tools=None if has_all else tools,
                    excluded_tools=tuple(_tool_names(document.get_list("disallowedTools"))),
                    model=document.get_text("model") or None,
                    mode=next((mode for mode in MODES if mode == mode_name), None),
                    max_turns=max(1, int(turns)) if is_number else None,
                    is_background=document.is_true("background"),
                )
            except ValueError as error:
                notices.append(f"agent file '{path}' ignored: {error}")
            except OSError as error:
                reason = f"it cannot be read ({error.strerror})"
                notices.append(f"agent file '{path}' ignored: {reason}")
    return dict(sorted(kinds.items(), key=lambda kind: kind[0].casefold())), notices


def _tool_names(rules: Iterable[str]) -> Iterator[str]:
    """Yield the tool names of rules such as `Bash(git log:*)`."""
    for rule in rules:
        if name := rule.partition("(")[0].strip():
            yield name
