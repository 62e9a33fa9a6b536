"""Instructions that count to what the log and the model are told of them.

All of them are told with the first prompt. When a session goes on, only what has changed since is
told, and what is there no more; after a summary, which they are not part of, all is told again.
Those of a directory further down are told when something there is read or written.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from plait.agent.context import LiveContext
from plait.agent.instructions.finding import Grounds, nested, standing
from plait.agent.instructions.model import Instruction
from plait.graph.client.wording import as_reminder
from plait.record import Record
from plait.record.codec import mapping
from plait.write import SessionWriter

ALL, NESTED = "instructions", "nested_memory"
PREAMBLE = (
    "Codebase and user instructions are shown below. Be sure to adhere to these instructions."
    " IMPORTANT: These instructions OVERRIDE any default behavior and you MUST follow them exactly"
    " as written."
)
READ_AGAIN = "Instruction files were re-read when this session started"
DIFFERING = (
    f"{READ_AGAIN}; these differ from their earlier copies — each replaces its earlier copy, and"
    " the instructions preamble above still applies:"
)
GONE = "Instructions no longer present: {}"


def rendered(files: Sequence[Instruction]) -> str:
    """Returns instructions as the model is told them."""
    return as_reminder("\n\n".join([PREAMBLE, *(one.as_told for one in files)]))


class SessionInstructions:
    """Tells a session what counts where it works."""

    def __init__(self, writer: SessionWriter, context: LiveContext, grounds: Grounds) -> None:
        self._writer = writer
        self._context = context
        self._grounds = grounds
        self._told_from: str | None = None
        """The first message that was sent when they were told last: while it is, they are."""
        self._touched: dict[Path, None] = {}
        self._told: dict[str, str] = {}
        """What was told that no line of the log says, in the older form."""
        self.notices: list[str] = []

    @property
    def is_told_beside(self) -> bool:
        """Whether the model is told beside the log: the older form has no line for it."""
        return self._writer.setting.is_older

    def of_agent(self, writer: SessionWriter, context: LiveContext) -> "SessionInstructions":
        """Returns the same for the log of an agent, which was told nothing yet."""
        return SessionInstructions(writer, context, self._grounds)

    def files(self) -> list[Instruction]:
        """Reads what counts for the whole session."""
        reader = self._grounds.reader()
        found = standing(self._grounds, reader)
        self.notices = reader.notices
        return found

    def touch(self, path: Path) -> None:
        """Takes note of a file that was read or written."""
        self._touched[path] = None

    def tell(self) -> list[str]:
        """Tells with a prompt what counts for the whole session, unless the model knows it.

        Returns what a person should know of it.
        """
        first = self._context.records[0].uuid
        if first != self._told_from and not self._writer.setting.is_older:
            self._told_from = first
            self._tell_all()
        notices, self.notices = self.notices, []
        return notices

    def _tell_all(self) -> None:
        files, known = self.files(), self._standing_known()
        if known is None:
            if files:
                self._attach({"type": ALL, "files": _listed(files)}, rendered(files))
            return
        changed = [one for one in files if known.get(str(one.path)) != one.content.strip()]
        gone = [path for path in known if path not in {str(one.path) for one in files}]
        if changed or gone:
            told = {"type": ALL, "files": _listed(changed), "removed": gone}
            why = {"changed": True, "reason": "session_start"}
            self._attach(told | why, _changes(changed, gone))

    def tell_nested(self) -> None:
        """Tells what counts for the files that were read or written since the last time."""
        touched, self._touched = [*self._touched], {}
        known: dict[str, str] | None = None
        for path in touched:
            for one in nested(self._grounds, path, self._grounds.reader()):
                known = self._nested_known() if known is None else known
                if known.get(str(one.path)) != one.content.strip():
                    known[str(one.path)] = one.content.strip()
                    self._tell_one(one)

    def _tell_one(self, one: Instruction) -> None:
        words = as_reminder(f"Contents of {one.path}:\n\n{one.content}")
        if self._writer.setting.is_older:
            self._told[str(one.path)] = one.content.strip()
            self._writer.note(words)
            return
        shown = os.path.relpath(one.path, self._writer.setting.cwd)
        told = {"type": NESTED, "path": str(one.path), "content": one.fields, "displayPath": shown}
        self._attach(told, words)

    def _attach(self, attachment: dict[str, Any], words: str) -> None:
        self._writer.attachment(attachment, words, is_of_turn=True)

    def _standing_known(self) -> dict[str, str] | None:
        """Returns what the model was told last of each file, None where it was told nothing."""
        known: dict[str, str] | None = None
        for told in self._attached(ALL):
            known = known if known and told.get("changed") else {}
            for file in map(mapping, told.get("files") or ()):
                known[str(file.get("path"))] = str(file.get("content")).strip()
            for path in told.get("removed") or ():
                known.pop(str(path), None)
        return known

    def _nested_known(self) -> dict[str, str]:
        known = {**self._told, **(self._standing_known() or {})}
        for told in self._attached(NESTED):
            content = mapping(told.get("content")).get("content")
            known[str(told.get("path"))] = str(content).strip()
        return known

    def _attached(self, kind: str) -> Iterator[dict[str, Any]]:
        for record in self._context.records:
            if _is_attached(record, kind):
                yield dict(mapping(record.fields.get("attachment")))


def _is_attached(record: Record, kind: str) -> bool:
    head = record.envelope.attachment if record.type == "attachment" else None
    return head is not None and head.type == kind


def _listed(files: Sequence[Instruction]) -> list[dict[str, str]]:
    return [
        {"path": str(one.path), "type": one.kind, "content": one.content.strip()} for one in files
    ]


def _changes(changed: Sequence[Instruction], gone: Sequence[str]) -> str:
    head = DIFFERING if changed else f"{READ_AGAIN}."
    told = [head, *(one.as_told for one in changed), *(GONE.format(path) for path in gone)]
    return as_reminder("\n\n".join(told))
