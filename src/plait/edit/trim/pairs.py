"""Records to their calls and results, and to what only accompanies a call."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from plait.conversation.results import FEEDBACK, REJECTED
from plait.conversation.tools import tool_named
from plait.edit.draft import DraftLine
from plait.record import Record
from plait.record.codec import mapping, said
from plait.record.machine_text import is_wholly_wrapped
from plait.record.prompt import queued_text

CALL, RESULT = "tool_use", "tool_result"
"""How the kinds of blocks end that call a tool and that answer one, whoever runs it."""
NAMED = re.compile(rb'"(?:parentToolUseID|toolUseID|sourceToolUseID)":"([^"\\]+)"')
NOTIFIED = re.compile(rb"<tool-use-id>([^<\\]+)</tool-use-id>")
NOTIFICATION = "<task-notification>"
COMPANIONS = ("progress", "attachment", "system")

Spoken = Iterable[tuple[DraftLine, Record]]
Block = dict[str, Any]
Place = tuple[int, int]
"""The number of a line, and the place of a block in its message."""


def blocks_in(record: Record) -> list[Any]:
    """Returns the content of a message as it is written, nothing where it is no list."""
    content = mapping(record.fields.get("message")).get("content")
    return content if isinstance(content, list) else []


def call_of(block: object) -> str | None:
    """Returns the id of the call that a block makes, None where it makes none."""
    return _id_of(block, CALL, "id")


def answered_by(block: object) -> str | None:
    """Returns the id of the call that a block answers, None where it answers none."""
    return _id_of(block, RESULT, "tool_use_id")


def _id_of(block: object, ending: str, field: str) -> str | None:
    value = mapping(block)
    return said(value, field) if (said(value, "type") or "").endswith(ending) else None


class Pairs:
    """The calls of a log and what answers them."""

    def __init__(self, spoken: Spoken) -> None:
        self.calls: dict[str, list[Place]] = {}
        self.results: dict[str, list[Place]] = {}
        self.names: dict[str, str] = {}
        self.answered_by_people: set[str] = set()
        """Calls whose result holds what a person said."""
        for line, record in spoken:
            if b"tool_use" in record.raw or b"tool_result" in record.raw:
                self._take(line.number or 0, record)

    def _take(self, number: int, record: Record) -> None:
        for place, block in enumerate(blocks_in(record)):
            if call := call_of(block):
                self.calls.setdefault(call, []).append((number, place))
                self.names.setdefault(call, said(block, "name") or "")
            elif call := answered_by(block):
                self.results.setdefault(call, []).append((number, place))
                if self._is_of_person(record, block, call):
                    self.answered_by_people.add(call)

    def _is_of_person(self, record: Record, block: Block, call: str) -> bool:
        if tool_named(self.names.get(call, "")).is_answered_by_person:
            return True
        if record.fields.get("userFeedback"):
            return True
        words = block.get("content")
        is_refusal = isinstance(words, str) and words.startswith(REJECTED)
        return is_refusal and FEEDBACK.search(str(words)) is not None

    def places(self, call: str) -> Iterator[Place]:
        """Yields where a call and its results stand."""
        yield from self.calls.get(call, ())
        yield from self.results.get(call, ())


def accompanies(record: Record, calls: set[str]) -> bool:
    """Tells whether a record is there only for one of some calls: news, hooks, notices of it."""
    if record.type == "user" and record.source_tool_use_id:
        return record.source_tool_use_id in calls
    if record.type in COMPANIONS and any(_named(one) in calls for one in NAMED.findall(record.raw)):
        return True
    notified = NOTIFIED.search(record.raw)
    return notified is not None and _named(notified[1]) in calls and _is_notice(record)


def _named(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def _is_notice(record: Record) -> bool:
    """Tells the client's own news of work in the background from what people typed."""
    words = record.text if record.type == "user" else queued_text(record)
    return is_wholly_wrapped(words or "") and (words or "").strip().startswith(NOTIFICATION)
