"""What a trimmed session must send, told by what it sent before and by nothing that trims."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

from plait.edit.trim import Cut
from plait.graph.client import Context, context
from plait.record import Record
from plait.record.prompt import is_human_prompt, is_typed_in_queue, queued_text

ASKING = ("AskUserQuestion", "ExitPlanMode", "exit_plan_mode")
REFUSED = "The user doesn't want to "
OF_CLIENT = (
    "<system-reminder>",
    "</system-reminder>",
    "Tool loaded.",
    "[Tool call interrupted: the session ended",
    "[Tool result missing due to internal error]",
)
"""Lines that the client makes up."""
THOUGHTS = ("thinking", "redacted_thinking")


def content_of(record: Record) -> list[Any]:
    """Returns the blocks of a message."""
    message = record.fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def some_calls(records: Iterable[Record], share: float, seed: int) -> list[Cut]:
    """Returns cuts of some calls, by chance, and of all thoughts."""
    chance, found = Random(seed), []
    for record in records:
        for place, block in enumerate(content_of(record)):
            if not isinstance(block, dict) or record.type != "assistant":
                continue
            if block.get("type") == "tool_use" and chance.random() < share:
                found.append(Cut(record.line, place, None, "a call"))
            elif block.get("type") in THOUGHTS:
                found.append(Cut(record.line, place, None, "a thought"))
    return found


def cut_ids(records: Iterable[Record], cuts: Iterable[Cut]) -> set[str]:
    """Returns the ids of the calls that are cut, without those that a person answered."""
    by_line = {record.line: record for record in records}
    blocks = (content_of(by_line[cut.line])[cut.block or 0] for cut in cuts)
    calls = {str(block["id"]) for block in blocks if block.get("type") == "tool_use"}
    return calls - {call for record in by_line.values() for call in answered_by_people(record)}


def answered_by_people(record: Record) -> Iterator[str]:
    """Yields the calls that a person was asked by, or said something to."""
    for block in content_of(record):
        if isinstance(block, dict) and block.get("name") in ASKING:
            yield str(block.get("id"))
        words = json.dumps(block)
        if (
            REFUSED in words
            and ("the user said:" in words or "provided the following reason" in words)
        ) or (isinstance(block, dict) and record.fields.get("userFeedback")):
            yield str(block.get("tool_use_id"))


def expect(
    before: list[Record], after: list[Record], sizes: tuple[int, int], gone: set[str]
) -> None:
    """Holds what is sent afterwards to what was sent before, without some calls and thoughts."""
    old, new = context(before, size=sizes[0]), context(after, size=sizes[1])
    assert old.resumes == new.resumes
    assert said(new, "assistant") == without(said(old, "assistant"), gone)
    assert results(new) == [call for call in results(old) if call not in gone]
    taken = told_by(before) - told_by(after) + notices(old, gone)
    assert not words(new) - words(old)
    assert not (words(old) - words(new)) - taken
    assert typed(before) == typed(after)
    assert pairs(after) == {
        call: count for call, count in pairs(before).items() if call not in gone
    }


def said(found: Context, role: str) -> list[str]:
    """Returns what one side says, block by block, white space around it left out."""
    blocks = (block for one, blocks in found.request if one == role for block in blocks)
    return [json.dumps(block, sort_keys=True) for block in blocks]


def without(blocks: list[str], gone: set[str]) -> list[str]:
    """Returns blocks without thoughts, and without some calls."""
    decoded = [(one, json.loads(one)) for one in blocks]
    return [
        one
        for one, block in decoded
        if block["type"] not in THOUGHTS and block.get("id") not in gone
    ]


def results(found: Context) -> list[str]:
    """Returns the calls that are answered, in order."""
    blocks = (block for role, blocks in found.request if role == "user" for block in blocks)
    return [str(one["tool_use_id"]) for one in blocks if one.get("type") == "tool_result"]


def words(found: Context) -> Counter[str]:
    """Returns the lines that people, tools and the client tell the model, wherever they stand."""
    told: Counter[str] = Counter()
    for role, blocks in found.request:
        if role != "assistant":
            told += lines_in(blocks)
    return told


def notices(found: Context, gone: set[str]) -> Counter[str]:
    """Returns the lines of what the client tells of some calls in words of its own."""
    told: Counter[str] = Counter()
    for role, blocks in found.request:
        for block in blocks:
            text = block.get("text")
            if role != "assistant" and isinstance(text, str) and any(one in text for one in gone):
                told += lines_in(block)
    return told


def told_by(records: Iterable[Record]) -> Counter[str]:
    """Returns all lines of text that records hold."""
    told: Counter[str] = Counter()
    for record in records:
        if record.type in ("user", "attachment", "system"):
            told += lines_in(record.fields)
    return told


def lines_in(value: Any) -> Counter[str]:
    """Returns the lines of all texts in a value."""
    found: Counter[str] = Counter()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            lines = (line.strip() for line in one.split("\n"))
            found.update(line for line in lines if line and not line.startswith(OF_CLIENT))
        elif isinstance(one, dict):
            waiting += [value for key, value in one.items() if key not in ("type", "tool_use_id")]
        elif isinstance(one, list):
            waiting += one
    return found


def typed(records: Iterable[Record]) -> Counter[str]:
    """Returns what people typed, also what waited in the queue."""
    found: Counter[str] = Counter()
    for record in records:
        if is_human_prompt(record):
            found[record.text] += 1
        elif (text := queued_text(record)) and is_typed_in_queue(record.envelope, text):
            found[text] += 1
    return found


def pairs(records: Iterable[Record]) -> dict[str, tuple[int, int]]:
    """Returns for each call how often it is made and how often answered."""
    made: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for record in records:
        for block in content_of(record):
            if isinstance(block, dict) and block.get("type") == "tool_use":
                made[str(block.get("id"))] += 1
            elif isinstance(block, dict) and block.get("type") == "tool_result":
                answered[str(block.get("tool_use_id"))] += 1
    return {call: (made[call], answered[call]) for call in made | answered}
