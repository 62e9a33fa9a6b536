"""The path of a file and its content to that file, made or replaced."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plait.agent.tools import changing
from plait.agent.tools.arguments import Field, checked, definition
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    ToolError,
    Workplace,
)
from plait.agent.tools.patch import patch
from plait.agent.tools.paths import named
from plait.agent.tools.text import MARK, FileText

FIELDS = (
    Field("file_path", "string", "The file to write, as an absolute path", is_needed=True),
    Field("content", "string", "What the file will hold", is_needed=True),
)
ABOUT = (
    "Writes a file of the workspace, replacing what it held. Read a file that is there before"
    " writing it. For a change in a file, Edit says less and shows more."
)


@dataclass(frozen=True, slots=True)
class Write:
    """The tool that writes a file."""

    name: str = "Write"
    effect: Effect = "write"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, ABOUT, FIELDS)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Looks at the file that would be replaced."""
        taken = checked(self.name, FIELDS, arguments)
        text = taken["file_path"]
        _refuse_folder(text, place)
        found = changing.target(text, place)
        changing.refuse_unseen_change(found, place)
        held = found.held(is_misuse=False)
        before = held.text if held else None
        after = taken["content"]
        return Proposal(self.name, taken, self.effect, text, (found.path,), before, after)

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Writes it, whole or not at all."""
        found = changing.again(proposal, place)
        held = found.held(is_misuse=False)
        content = _as_held(str(proposal.arguments["content"]), held)
        path, text = found.path, str(proposal.arguments["file_path"])
        data = held.encoded(content) if held else content.encode("utf-8", "replace")
        changing.write(path, data, place, is_whole=True)
        output = {
            "type": "update" if held else "create",
            "filePath": text,
            "content": content,
            "structuredPatch": patch(held.text, content) if held else [],
            "originalFile": changing.original(held.text) if held else None,
            "userModified": proposal.is_changed,
        }
        return Outcome(_told(text, held is None, proposal.is_changed), output)


def _refuse_folder(text: str, place: Workplace) -> None:
    if named(text, place).is_dir():
        raise ToolError(
            f"{text} is a directory, not a file. To create a file inside it, include the file name"
            " in file_path.",
            is_misuse=True,
        )


def _as_held(content: str, held: FileText | None) -> str:
    """Returns a content with the mark of byte order that its file had."""
    is_marked = held is not None and held.raw.startswith(MARK)
    return MARK + content if is_marked and not content.startswith(MARK) else content


def _told(text: str, is_new: bool, is_changed: bool) -> str:
    by_hand = changing.CHANGED_BY_HAND if is_changed else ""
    if is_new:
        return f"File created successfully at: {text}{changing.KNOWN}{by_hand}"
    return f"The file {text} has been updated successfully.{changing.KNOWN}{by_hand}"
