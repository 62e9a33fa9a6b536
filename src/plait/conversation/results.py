"""Tool results: their text, outcome and enclosures, the calls they answer, and their files."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, get_args

from msgspec import to_builtins
from msgspec.structs import replace

from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    Enclosure,
    Item,
    LateResult,
    NotableOutcome,
    Outcome,
    PersistedOutput,
    Result,
    ResultOrigin,
    ToolCall,
    UserMessage,
)
from plait.errors import SourceError
from plait.line import read_slice
from plait.record import Record, User
from plait.record.codec import iter_strings
from plait.record.message import (
    BLOCKS,
    AdvisorToolResult,
    Block,
    Document,
    Image,
    Text,
    ToolReference,
    ToolResult,
    UnknownBlock,
    make_blocks,
)
from plait.record.text import extract_extra_text

BASE64_BYTES = 3 / 4
BLOCK_NAMES = {kind: name for name, kind in BLOCKS.items()}


def make_enclosures(blocks: Iterable[Block]) -> tuple[Enclosure, ...]:
    """Return each block as an enclosure, its value as the log has it."""
    return tuple(make_enclosure(block) for block in blocks)


def make_enclosure(block: Block) -> Enclosure:
    """Return one block as an enclosure."""
    match block:
        case Image(source):
            return _sourced("image", source, None)
        case Document(source, title):
            return _sourced("document", source, title)
        case UnknownBlock(kind, value):
            return Enclosure(kind or "unknown", value)
        case ToolReference(name):
            return Enclosure("tool_reference", {"tool_name": name}, title=name)
        case _:
            return Enclosure(BLOCK_NAMES[type(block)], to_builtins(block))


def _sourced(kind: str, source: Mapping[str, Any], title: str | None) -> Enclosure:
    media = source.get("media_type")
    data = source.get("data")
    size = 0
    if isinstance(data, str):
        size = int(len(data) * BASE64_BYTES) if source.get("type") == "base64" else len(data)
    return Enclosure(kind, source, media if isinstance(media, str) else None, title, size)


REJECTED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User rejected",
)
CUT_SHORT = ("[Request interrupted", "[Tool call interrupted", "[Tool use interrupted")
CUT_SHORT_AT_LAST = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
FEEDBACK = re.compile(r"[Tt]he user (?:said|provided the following reason[^:]*):\s*(.+)", re.DOTALL)
EXIT_CODE = re.compile(r"(?:Error: )?Exit code (-?\d+)")
SAVED_AS = re.compile(r"<persisted-output>.{0,400}?saved to: ([^\n]+)", re.DOTALL)
RUNNING = frozenset({"async_launched", "teammate_spawned", "remote_launched"})


def parse_result(
    record: Record, block: ToolResult | AdvisorToolResult, detail: Any = None
) -> Result:
    """Return the result in a block, with the client's own view of it."""
    if isinstance(block.content, str):
        blocks: tuple[Block, ...] = ()
        text = block.content
    else:
        blocks = make_blocks(block.content)
        text = "\n".join(block.text for block in blocks if isinstance(block, Text))
    is_error = isinstance(block, ToolResult) and block.is_error is True
    denial = None
    if isinstance(record, User):
        denial = (record.message_line or record).tool_denial_kind
    return Result(
        text,
        determine_outcome(text, detail, is_error=is_error, denial=denial),
        make_enclosures(block for block in blocks if not isinstance(block, Text)) if blocks else (),
        detail,
        _find_persisted_output(text, detail),
        _find_feedback(record, text) if is_error else None,
        _find_exit_code(text, detail),
    )


def determine_outcome(
    text: str, detail: Any, *, is_error: bool, denial: str | None = None
) -> Outcome:
    """Return the outcome of a call by its result, the client's view, and who rejected it."""
    view = detail if isinstance(detail, Mapping) else {}
    if denial == "interrupted":
        return "interrupted"
    if is_error and (text.startswith(REJECTED) or (denial and "user" in denial)):
        return "rejected"
    is_cut_short = text.startswith(CUT_SHORT) or (
        is_error and text.rstrip().endswith(CUT_SHORT_AT_LAST)
    )
    if is_cut_short or view.get("interrupted") is True:
        return "interrupted"
    if is_error or (isinstance(detail, str) and detail.startswith("Error: ")):
        return "failed"
    status = view.get("status")
    if (isinstance(status, str) and status in RUNNING) or view.get("isAsync") is True:
        return "launched"
    return "launched" if view.get("backgroundTaskId") else "ok"


NOTABLE: dict[Outcome, NotableOutcome] = {name: name for name in get_args(NotableOutcome)}


def get_notable_outcome(item: Item) -> NotableOutcome | None:
    """Return the outcome by which an item can be filtered; None for an ordinary one."""
    match item:
        case ToolCall(outcome=outcome) | LateResult(result=Result(outcome=outcome)):
            return NOTABLE.get(outcome)
        case UserMessage(kind="interruption"):
            return "interrupted"
        case _:
            return None


def _find_feedback(record: Record, text: str) -> str | None:
    feedback = record.user_feedback if isinstance(record, User) else None
    if feedback or not text.startswith(REJECTED):
        return feedback
    found = FEEDBACK.search(text)
    return found[1].strip() if found else None


def _find_exit_code(text: str, detail: Any) -> int | None:
    found = EXIT_CODE.match(text) or (EXIT_CODE.match(detail) if isinstance(detail, str) else None)
    if found:
        return int(found[1])
    code = detail.get("exitCode") if isinstance(detail, Mapping) else None
    return code if isinstance(code, int) else None


def _find_persisted_output(text: str, detail: Any) -> PersistedOutput | None:
    view = detail if isinstance(detail, Mapping) else {}
    path, size = view.get("persistedOutputPath"), view.get("persistedOutputSize")
    if not isinstance(path, str):
        found = SAVED_AS.match(text)
        if not found:
            return None
        path = found[1].strip()
    name = re.split(r"[/\\]", path)[-1]
    if not name or name in (".", "..") or "\0" in name:
        return None
    return PersistedOutput(name, int(size) if isinstance(size, int | float) else None)


def get_extra_text(called: ToolCall) -> dict[str, str]:
    """Return what only the client's view of a result says, by field name."""
    if called.result is None or called.result.detail is None:
        return {}
    result = called.result
    return extract_extra_text(result.detail, result.text, *iter_strings(called.input, ()))


def make_call_of_result(answer: LateResult, called: ToolCall | None) -> ToolCall:
    """Return a result without its call, with the call's input if known."""
    given = called.input if called else None
    name = answer.name or ""
    return ToolCall(response=0, call=answer.call, name=name, input=given, result=answer.result)


OUTPUTS = "tool-results"
MOST_OUTPUT = 32 << 20
FORBIDDEN = frozenset({"", ".", ".."})


def read_full_result(session_folder: Path, called: ToolCall, most: int = MOST_OUTPUT) -> str | None:
    """Return the complete result, or the part in the log if the rest is gone."""
    result = called.result
    if result is None or result.persisted is None:
        return result.text if result else None
    found = read_persisted_output(session_folder, result.persisted, most)
    return result.text if found is None else found


def read_persisted_output(
    session_folder: Path, persisted: PersistedOutput, most: int = MOST_OUTPUT
) -> str | None:
    """Return the text of an output saved next to the log; None if it cannot be read.

    A name in a log is not trusted: it must be that of a regular file in the folder of tool results,
    and no link may lead out of it. At most `limit` bytes are read.
    """
    path = find_output_file(session_folder, persisted.name)
    if path is None:
        return None
    try:
        return read_slice(path, 0, most).decode("utf-8", "replace")
    except SourceError:
        return None


def find_output_file(session_folder: Path, name: str) -> Path | None:
    """Return the path of an output; None if its name leads anywhere else."""
    if name in FORBIDDEN or any(mark in name for mark in "/\\\0:"):
        return None
    try:
        path = Path(os.path.realpath(session_folder / OUTPUTS / name))
        home = Path(os.path.realpath(session_folder))
        return path if path.parent == home / OUTPUTS and path.is_file() else None
    except (OSError, ValueError):  # not a possible file name
        return None


SourceOf: TypeAlias = Callable[[str], str | None]
"""The record whose call a result says it answers."""
IsKnown: TypeAlias = Callable[[str], bool]
"""Returns whether a call is in another conversation."""

WORDS = (AssistantText, AssistantThinking)


class Placed(NamedTuple):
    """An item at its place in the reading order."""

    item: Item
    has_result: bool = False
    """Whether it is a call whose result is shown with it."""


def pair_results(items: Sequence[Item], source_of: SourceOf, is_known: IsKnown) -> list[Item]:
    """Return the items, calls with their results, results with the names of their tools."""
    found = _mark_intermediate(items)
    answers: dict[int, LateResult] = {}
    calls: dict[str, list[tuple[int, ToolCall]]] = {}
    for place, item in enumerate(found):
        if isinstance(item, ToolCall) and not item.is_intermediate:
            calls.setdefault(item.call, []).append((place, item))
        elif isinstance(item, LateResult):
            asked = calls.get(item.call, [])
            if len(asked) > 1:
                # An id that was used twice: the record that the result names is meant, else the
                # newest call without a result.
                source = source_of(item.uuid) if item.uuid else None
                named = [call for call in asked if source and call[1].uuid == source]
                asked = named or [call for call in asked if call[0] not in answers] or asked
            if not asked:
                origin: ResultOrigin = "foreign" if is_known(item.call) else "orphan"
                found[place] = replace(item, origin=origin)
                continue
            first, call = asked[-1]
            origin = "repeat" if first in answers else "own"
            found[place] = answer = replace(item, name=call.name, origin=origin)
            answers.setdefault(first, answer)
    for place, call in chain.from_iterable(calls.values()):
        if place in answers:
            answer = answers[place]
            found[place] = replace(
                call,
                outcome=answer.result.outcome,
                result=answer.result,
                answered_by=answer.uuid,
                answered_at=answer.time,
                answered_in=(answer.file, answer.line),
            )
    return found


def _mark_intermediate(items: Iterable[Item]) -> list[Item]:
    found = list(items)
    last: dict[tuple[int, str], int] = {}
    for place, item in enumerate(found):
        if isinstance(item, ToolCall):
            key = (item.response, item.call)
        elif isinstance(item, WORDS) and item.text:
            key = (item.response, type(item).__name__)
        else:
            continue
        before = last.get(key)
        if before is not None and _repeats_in_full(found[before], item):
            found[before] = replace(found[before], is_intermediate=True)
        last[key] = place
    return found


def _repeats_in_full(earlier: Item, later: Item) -> bool:
    match earlier, later:
        case (AssistantText(text=begun), AssistantText(text=text)) | (
            AssistantThinking(text=begun),
            AssistantThinking(text=text),
        ):
            return text.startswith(begun) and earlier.uuid != later.uuid
        case _:
            return isinstance(earlier, ToolCall) and isinstance(later, ToolCall)


def iter_story(items: Iterable[Item]) -> Iterator[Placed]:
    """Yield the items that a reader sees, each result with its call or in its own place."""
    seen = list(items)
    # Calls whose result comes without other words of the model in between
    spoken = 0
    heard: dict[tuple[str, str | None], int] = {}
    found: set[tuple[str, str | None]] = set()
    for item in seen:
        if isinstance(item, WORDS) and item.text.strip():
            spoken += 1
        elif isinstance(item, ToolCall) and item.answered_by is not None:
            heard[get_call_key(item)] = spoken
        elif isinstance(item, LateResult) and (
            item.origin == "own" and heard.get(get_call_key(item)) == spoken
        ):
            found.add(get_call_key(item))
    together = found
    for item in seen:
        if isinstance(item, ToolCall):
            yield Placed(item, item.answered_by is not None and get_call_key(item) in together)
        elif not (isinstance(item, LateResult) and get_call_key(item) in together):
            yield Placed(item)


def get_call_key(item: ToolCall | LateResult) -> tuple[str, str | None]:
    """Return the key that a call and its own result share."""
    if isinstance(item, ToolCall):
        return item.call, item.answered_by
    return item.call, item.uuid
