"""An oracle for trims: what a trimmed session must send."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

from plait.edit.trim import Cut
from plait.graph.client import Context, build_context
from plait.record import Record
from plait.record.prompts import get_queued_text, is_human_prompt, is_typed_in_queue

ASKING = ("AskUserQuestion", "ExitPlanMode", "exit_plan_mode")
REFUSED = "The user doesn't want to "
MISSING = "[Tool result missing due to internal error]"
OF_CLIENT = (
    "<system-reminder>",
    "</system-reminder>",
    "Tool loaded.",
    "[Tool call interrupted: the session ended",
    "[SYSTEM NOTIFICATION - NOT USER INPUT]",
    "This is an automated background-task event",
    "Do NOT interpret this as user acknowledgement",
    "No human input has been received",
    MISSING,
    "[Orphaned tool result removed",
    "(no content)",
)
"""Lines that the client makes up."""
MADE_UP = ("No response requested.", "[Tool use interrupted]", "(no content)")
THOUGHTS = ("thinking", "redacted_thinking")


def content_of(record: Record) -> list[Any]:
    """Return the blocks of a message."""
    message = record.fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def some_calls(records: Iterable[Record], share: float, seed: int) -> list[Cut]:
    """Return cuts of some calls, by chance, and of all thoughts."""
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
    """Return the ids of the calls that are cut, without those that a person answered."""
    by_line = {record.line: record for record in records}
    blocks = (content_of(by_line[cut.line])[cut.block or 0] for cut in cuts)
    calls = {str(block["id"]) for block in blocks if block.get("type") == "tool_use"}
    result = {call for record in by_line.values() for call in person_answers(record)}
    answered = {call for call, count in pairs(by_line.values()).items() if count[1]}
    return calls - (result & answered)


def person_answers(record: Record) -> Iterator[str]:
    """Yield the calls that a person was asked by, or said something to."""
    for block in content_of(record):
        if isinstance(block, dict) and block.get("name") in ASKING:
            yield str(block.get("id"))
        words = json.dumps(block)
        if (
            REFUSED in words
            and ("the user said:" in words or "provided the following reason" in words)
        ) or (isinstance(block, dict) and record.fields.get("userFeedback")):
            yield str(block.get("tool_use_id"))


def expect(before: list[Record], after: list[Record], gone: set[str]) -> None:
    """Hold what is sent afterwards to what was sent before, without some calls and thoughts.

    Calls that nobody answered are left aside: the client sends those of the last response alone,
    and which that is may be another one.
    """
    old, new = sent(before), sent(after)
    assert old.resumes == new.resumes
    unanswered = {call for call, count in pairs(before).items() if not count[1]}
    answers = without(texts_of_role(old, "assistant"), gone | unanswered)
    assert without(texts_of_role(new, "assistant"), unanswered) == answers
    assert results(new, unanswered) == results(old, gone | unanswered)
    expect_no_loss(before, after, gone)
    more = words(new) - words(old)
    # what the client could not place between two calls it can once one of them is gone
    assert not more or (MISSING in json.dumps(old.request) and not more - count_text_lines(before))


def expect_no_loss(before: list[Record], after: list[Record], gone: set[str]) -> None:
    """Hold what is told afterwards to all that was told before, but for what went."""
    old, new = sent(before), sent(after)
    taken = count_text_lines(before) - count_text_lines(after) + notices(old, gone)
    assert not (words(old) - words(new)) - taken
    assert {item for item in typed(before) if item in words(old)} <= words(new).keys()
    expect_pairs(before, after, gone)


def expect_pairs(before: list[Record], after: list[Record], gone: set[str]) -> None:
    """Hold prompts, calls and results to those that were, and names to what is there."""
    assert typed(before) == typed(after)
    kept = {call: count for call, count in pairs(before).items() if call not in gone}
    assert pairs(after) == kept
    uuids = {record.uuid for record in before} - {record.uuid for record in after}
    assert not [item for record in after for item in names_in(record) if item in uuids]


def sent(records: list[Record]) -> Context:
    """Return what the client sends of records."""
    return build_context(records, size=sum(len(record.raw) + 1 for record in records))


def names_in(record: Record) -> Iterator[str]:
    """Yield all texts of a line that can be ids, but for what was said and where it is from."""
    waiting: list[tuple[str, Any]] = [("", record.fields)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict) and key not in ("forkedFrom", "toolUseResult", "input"):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [(key, item) for item in value]
        elif isinstance(value, str) and key not in ("text", "content", "prompt"):
            yield value


def texts_of_role(found: Context, role: str) -> list[str]:
    """Return what one side says, block by block, white space around it left out."""
    blocks = (block for item, blocks in found.request if item == role for block in blocks)
    return [json.dumps(item, sort_keys=True) for item in blocks if item.get("text") not in MADE_UP]


def without(blocks: list[str], gone: set[str]) -> list[str]:
    """Return blocks without thoughts, and without some calls."""
    decoded = [(item, json.loads(item)) for item in blocks]
    return [
        item
        for item, block in decoded
        if block["type"] not in THOUGHTS and block.get("id") not in gone
    ]


def results(found: Context, aside: set[str]) -> list[str]:
    """Return the calls that are answered, in order, without some."""
    blocks = (block for role, blocks in found.request if role == "user" for block in blocks)
    answered = [str(item["tool_use_id"]) for item in blocks if item.get("type") == "tool_result"]
    return [call for call in answered if call not in aside]


def words(found: Context) -> Counter[str]:
    """Return the lines that people, tools and the client tell the model, wherever they stand."""
    result: Counter[str] = Counter()
    for role, blocks in found.request:
        if role != "assistant":
            result += lines_in(blocks)
    return result


def notices(found: Context, gone: set[str]) -> Counter[str]:
    """Return the lines of what the client tells of some calls in words of its own."""
    result: Counter[str] = Counter()
    for role, blocks in found.request:
        for block in blocks:
            text = block.get("text")
            if role != "assistant" and isinstance(text, str) and any(item in text for item in gone):
                result += lines_in(block)
    return result


def count_text_lines(records: Iterable[Record]) -> Counter[str]:
    """Return all lines of text that records hold."""
    result: Counter[str] = Counter()
    for record in records:
        if record.type in ("user", "attachment", "system"):
            result += lines_in(record.fields)
    return result


def lines_in(value: Any) -> Counter[str]:
    """Return the lines of all texts in a value."""
    found: Counter[str] = Counter()
    waiting = [value]
    while waiting:
        first = waiting.pop()
        if isinstance(first, str):
            lines = (line.strip() for line in first.split("\n"))
            found.update(line for line in lines if line and not line.startswith(OF_CLIENT))
        elif isinstance(first, dict):
            waiting += [value for key, value in first.items() if key not in ("type", "tool_use_id")]
        elif isinstance(first, list):
            waiting += first
    return found


def typed(records: Iterable[Record]) -> Counter[str]:
    """Return what people typed, also what waited in the queue."""
    found: Counter[str] = Counter()
    for record in records:
        if record.is_sidechain:
            continue
        if is_human_prompt(record):
            found[record.text] += 1
        elif (text := get_queued_text(record)) and is_typed_in_queue(record.envelope, text):
            found[text] += 1
    return found


def pairs(records: Iterable[Record]) -> dict[str, tuple[int, int]]:
    """Return for each call how often it is made and how often answered."""
    made: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for record in records:
        for block in content_of(record):
            if isinstance(block, dict) and block.get("type") == "tool_use":
                made[str(block.get("id"))] += 1
            elif isinstance(block, dict) and block.get("type") == "tool_result":
                answered[str(block.get("tool_use_id"))] += 1
    return {call: (made[call], answered[call]) for call in made | answered}
