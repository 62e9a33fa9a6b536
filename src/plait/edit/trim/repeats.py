"""What is sent to what of it is said again later: readings of a file, reminders of the client."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from plait.conversation.tools import tool_named
from plait.edit.trim import marks
from plait.edit.trim.model import Cut
from plait.edit.trim.pairs import words_of
from plait.edit.trim.sent import SentBlock, SentLog, SentRecord
from plait.graph.client.context import REMINDER
from plait.record import Record
from plait.record.codec import mapping, said
from plait.record.prompt import is_typed_in_queue, queued_text

STALE = "stale reading of a file"
REPEATED = "repeated reminder"
PATHS = ("file_path", "notebook_path")
RANGE = ("offset", "limit", "pages")
UNCHANGED = "file_unchanged"
"""What the client calls a reading that only points to an earlier one."""
TAGS = re.compile(r"</?system-reminder>")
Range = tuple[str, ...]


@dataclass(slots=True)
class _Since:
    """What was read and changed of a file behind a place of the chain."""

    changed: bool = False
    ranges: set[Range] = field(default_factory=set)

    def news_of(self, wanted: Range) -> str | None:
        """Says what happened later to what was read, None where it still holds."""
        if self.changed:
            return "changed"
        whole: Range = ()
        return "read again" if self.ranges & {whole, wanted} else None


def stale_readings(log: SentLog) -> Iterator[tuple[SentBlock, Cut]]:
    """Yields the readings of files that were read again or changed since, the last first."""
    since: dict[str, _Since] = {}
    for one, call in reversed(list(log.results())):
        tool, given = tool_named(log.pairs.names.get(call, "")), log.input_of(call)
        path = next((path for name in PATHS if (path := said(given, name))), None)
        if path is None or tool.action is None or one.block.get("is_error") is True:
            continue
        known = since.setdefault(path, _Since())
        if tool.action != "read":
            known.changed = True
            continue
        wanted = tuple(f"{name}={given[name]}" for name in RANGE if given.get(name) is not None)
        if not _holds_file(one):
            continue
        if news := known.news_of(wanted):
            yield one, Cut(one.line, one.place, marks.stale(path, news), STALE)
        else:
            known.ranges.add(wanted)


def _holds_file(one: SentBlock) -> bool:
    """Tells a result that holds what was read from one that points elsewhere."""
    view = mapping(one.of.record.fields.get("toolUseResult"))
    return said(view, "type") != UNCHANGED and not marks.is_short(words_of(one.block))


def repeated_reminders(log: SentLog) -> Iterator[tuple[SentRecord, Cut]]:
    """Yields the reminders of the client that are told once more later, the last first."""
    told: set[str] = set()
    for one in reversed(log.chain):
        record = one.record
        if record.type == "attachment":
            yield from _attached(one, told)
        elif record.type == "user":
            yield from _in_blocks(one, told)


def _attached(one: SentRecord, told: set[str]) -> Iterator[tuple[SentRecord, Cut]]:
    texts = [str(block.get("text")) for block in one.blocks if block.get("type") == "text"]
    if not texts or len(texts) != len(one.blocks) or _is_of_person(one.record):
        return
    if _is_told("\n".join(texts), told):
        yield one, Cut(one.record.line, None, None, REPEATED)


def _is_of_person(record: Record) -> bool:
    words = queued_text(record)
    return bool(words) and is_typed_in_queue(record.envelope, words or "")


def _in_blocks(one: SentRecord, told: set[str]) -> Iterator[tuple[SentRecord, Cut]]:
    content = mapping(one.record.fields.get("message")).get("content")
    blocks = content if isinstance(content, list) else []
    for place in reversed(range(len(blocks))):
        block = mapping(blocks[place])
        if block.get("type") == "text":
            if _is_reminder(block.get("text")) and _is_told(str(block["text"]), told):
                yield one, Cut(one.record.line, place, None, REPEATED)
        elif block.get("type") == "tool_result":
            yield from ((one, cut) for cut in _in_result(one.record.line, place, block, told))


def _in_result(line: int, place: int, block: Any, told: set[str]) -> Iterator[Cut]:
    content = block.get("content")
    if isinstance(content, str):
        if (left := _without_told(content, told)) != content:
            yield Cut(line, place, left, REPEATED)
        return
    parts = content if isinstance(content, list) else []
    for inner in reversed(range(len(parts))):
        text = mapping(parts[inner]).get("text")
        if isinstance(text, str) and (left := _without_told(text, told)) != text:
            yield Cut(line, place, left or None, REPEATED, inner)


def _without_told(text: str, told: set[str]) -> str:
    """Returns a text without the reminders in it that were told already."""
    found = list(REMINDER.finditer(text)) if "<system-reminder>" in text else []
    left = text
    for match in reversed(found):
        if _is_told(match[0], told):
            left = left[: match.start()].rstrip("\n") + left[match.end() :]
    return left


def _is_reminder(text: object) -> bool:
    return isinstance(text, str) and REMINDER.fullmatch(text.strip()) is not None


def _is_told(text: str, told: set[str]) -> bool:
    """Tells whether a reminder was met before; now it was."""
    bare = TAGS.sub("", text).strip()
    if not bare or bare in told:
        return bool(bare)
    told.add(bare)
    return False
