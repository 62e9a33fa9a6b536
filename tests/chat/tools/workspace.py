"""A workspace for tests of tools: calls in, results out."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plait.chat.tools import toolbox
from plait.chat.tools.base import Outcome, ToolError, Workplace

PATH = "/usr/local/bin:/usr/bin:/bin"


class ToolWorkspace:
    """A workspace with all tools."""

    def __init__(self, root: Path, **more: Any) -> None:
        self.root = root.resolve() / "work"
        self.root.mkdir()
        self.place = Workplace(self.root, self.root, environment={"PATH": PATH}, **more)
        self.place.results_folder = root.resolve() / "tool-results"
        self.place.scratch = root.resolve() / "scratch"
        self.tools = toolbox(has_network=True)
        self.reports: list[Mapping[str, Any]] = []

    def put(self, name: str, content: str | bytes) -> Path:
        """Write a file of the workspace."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    async def call(self, tool: str, **arguments: Any) -> Outcome:
        """Run a call as a turn does once it is permitted."""
        try:
            proposal = self.tools[tool].propose(arguments, self.place)
            return await self.tools[tool].run(proposal, self.place, self.reports.append)
        except ToolError as error:
            return error.outcome

    def run_tool(self, tool: str, **arguments: Any) -> Outcome:
        """Run a call in an event loop of its own."""
        return asyncio.run(self.call(tool, **arguments))

    def result_text(self, tool: str, **arguments: Any) -> str:
        """Return the text for the model, with the workspace as `.`."""
        return str(self.run_tool(tool, **arguments).content).replace(str(self.root), ".")

    def place_folder(self) -> Path:
        """Return the folder for output of running commands."""
        assert self.place.scratch
        return self.place.scratch


def apply_hunks(old: str, hunks: list[dict[str, Any]]) -> str:
    """Apply hunks to a text."""
    source, pieces, at = re.findall(r".*\n|.+", old), list[str](), 0
    for hunk in hunks:
        pieces += source[at : hunk["oldStart"] - 1]
        at = hunk["oldStart"] - 1 + hunk["oldLines"]
        lines = hunk["lines"]
        for order, line in enumerate(lines):
            if line[0] in " +":
                is_open = lines[order + 1 : order + 2] == ["\\ No newline at end of file"]
                pieces.append(line[1:] if is_open else f"{line[1:]}\n")
    return "".join([*pieces, *source[at:]])
