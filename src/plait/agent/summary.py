"""A conversation to the question for its summary, and an answer to what stands in its place."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from plait.agent.streaming import Message
from plait.record import Record
from plait.record.record import content_blocks
from plait.write.writer import CONTINUED

TASK = """\
Your task is to create a detailed summary of the conversation so far. It will stand in the place of
the conversation: whoever goes on with the work has nothing else to go by.

Think first, between <analysis> and </analysis>: go through the conversation in its order and note
what was asked, what was done, and what came of it. Then write between <summary> and </summary>:

1. What the person wants, in their own words where they matter, and every wish that still holds.
2. Decisions that were made, and why.
3. Files that were read, changed or made: their paths, what matters in them, code that is needed.
4. Errors that came up, what mended them, and what the person said about them.
5. All messages of the person that are no results of tools, in short.
6. What is open, what was being done last, and the next step if one was agreed on.

Be exact with names, paths, numbers and commands. Leave out what no longer matters. Do not call any
tool: answer with the analysis and the summary alone."""
FOCUS = "\n\nThe person asks that the summary looks above all at this:\n{}"
USED = re.compile(r"<tools-used-before-summary>(.*?)</tools-used-before-summary>")
SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL)
ANALYSIS = re.compile(r"<analysis>.*?(?:</analysis>|\Z)", re.DOTALL)

TOOLS_USED = (
    "<system-reminder>\n<tools-used-before-summary>{}</tools-used-before-summary>\n"
    "</system-reminder>\n"
)
TRANSCRIPT = (
    "\n\nIf you need specific details from before compaction (like exact code snippets, error"
    " messages, or content you generated), read the full transcript at: {}\n"
)
GO_ON = (
    "Continue the conversation from where it left off without asking the user any further"
    " questions. Resume directly — do not acknowledge the summary, do not recap what was happening,"
    ' do not preface with "I\'ll continue" or similar. Pick up the last task as if the break never'
    " happened."
)
PRESERVED = (
    "\n\nThe messages after this summary are the most recent messages from before compaction, kept"
    " verbatim. The summary was written without seeing them, so something it says has not happened"
    " yet may already have happened in them."
)


def told_summary(summary: str, head: Sequence[Record], log: Path, *, has_tail: bool) -> str:
    """Returns a summary as the model reads it: of what it is, and how to go on."""
    tools = ", ".join(sorted({*_tools_called(head), *_tools_named(head)} - {""}))
    used = TOOLS_USED.format(tools)
    kept = PRESERVED if has_tail else ""
    return f"{CONTINUED}{used}Summary:\n{summary}{TRANSCRIPT.format(log)}{GO_ON}{kept}"


def summary_in(text: str) -> str:
    """Returns the summary in an answer: what it marks as such, else all but its analysis."""
    without = ANALYSIS.sub("", text)
    marked = SUMMARY.search(without) or SUMMARY.search(text)
    return (marked[1] if marked else without).strip()


def with_task(messages: Sequence[Message], focus: str) -> list[Message]:
    """Returns a conversation with the question for its summary behind it."""
    words = TASK + (FOCUS.format(focus) if focus.strip() else "")
    task = {"type": "text", "text": words}
    if messages[-1]["role"] != "user":
        return [*messages, {"role": "user", "content": [task]}]
    last = {**messages[-1], "content": [*messages[-1]["content"], task]}
    return [*messages[:-1], last]


def shortened(messages: Sequence[Message]) -> list[Message]:
    """Returns the newer part of a conversation, from a prompt on; nothing where it has one."""
    for place in range(max(1, len(messages) // 4), len(messages)):
        message = messages[place]
        kinds = {block.get("type") for block in message["content"]}
        if message["role"] == "user" and "tool_result" not in kinds:
            return [*messages[place:]]
    return []


def _tools_called(records: Iterable[Record]) -> Iterator[str]:
    for record in records:
        for block in content_blocks(record) if record.type == "assistant" else ():
            if block["type"] == "tool_use" and isinstance(block.get("name"), str):
                yield block["name"]


def _tools_named(records: Iterable[Record]) -> Iterator[str]:
    """Yields the tools that a summary before named."""
    for record in records:
        if record.is_compact_summary and (found := USED.search(_words(record))):
            yield from found[1].split(", ")


def _words(record: Record) -> str:
    return record.message.text if record.message else ""
