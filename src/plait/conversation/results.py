"""Blocks of tools to results: words, outcome, enclosures, and where the rest of them lies."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, get_args

from msgspec import to_builtins
from msgspec.structs import replace

from plait.conversation.model import (
    Answered,
    Called,
    Enclosure,
    Item,
    Notable,
    Outcome,
    Persisted,
    Result,
    Said,
    Standing,
    Thought,
    Told,
)
from plait.errors import SourceError
from plait.line import read_slice
from plait.record import Record, User
from plait.record.beside import words_beside
from plait.record.codec import strings_in
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
    blocks_of,
)

BASE64_BYTES = 3 / 4
BLOCK_NAMES = {kind: name for name, kind in BLOCKS.items()}


def enclosures_of(blocks: Iterable[Block]) -> tuple[Enclosure, ...]:
    """Returns each block as an enclosure, its value as the log has it."""
    return tuple(enclosure_of(block) for block in blocks)


def enclosure_of(block: Block) -> Enclosure:
    """Returns one block as an enclosure."""
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


def result_of(record: Record, block: ToolResult | AdvisorToolResult, detail: Any = None) -> Result:
    """Returns the answer that a block gives, with the client's own view of it."""
    if isinstance(block.content, str):
        blocks: tuple[Block, ...] = ()
        text = block.content
    else:
        blocks = blocks_of(block.content)
        text = "\n".join(one.text for one in blocks if isinstance(one, Text))
    is_error = isinstance(block, ToolResult) and block.is_error is True
    return Result(
        text,
        outcome_said(text, detail, is_error=is_error, denial=_denial_of(record)),
        enclosures_of(one for one in blocks if not isinstance(one, Text)) if blocks else (),
        detail,
        _persisted_of(text, detail),
        _feedback_of(record, text) if is_error else None,
        _exit_code_of(text, detail),
    )


def _denial_of(record: Record) -> str | None:
    return (record.spoken or record).tool_denial_kind if isinstance(record, User) else None


def outcome_said(text: str, detail: Any, *, is_error: bool, denial: str | None = None) -> Outcome:
    """Returns what became of a call by its result, the client's view of it, and who said no."""
    view = detail if isinstance(detail, Mapping) else {}
    if denial == "interrupted":
        return "interrupted"
    if is_error and (text.startswith(REJECTED) or (denial and "user" in denial)):
        return "rejected"
    if view.get("interrupted") is True or _is_cut_short(text, is_error=is_error):
        return "interrupted"
    if is_error or (isinstance(detail, str) and detail.startswith("Error: ")):
        return "failed"
    status = view.get("status")
    if (isinstance(status, str) and status in RUNNING) or view.get("isAsync") is True:
        return "launched"
    return "launched" if view.get("backgroundTaskId") else "ok"


NOTABLE: dict[Outcome, Notable] = {name: name for name in get_args(Notable)}


def notable_outcome(item: Item) -> Notable | None:
    """Returns the outcome by which a reader asks for an item, None for one that is as usual."""
    match item:
        case Called(outcome=outcome) | Answered(result=Result(outcome=outcome)):
            return NOTABLE.get(outcome)
        case Told(kind="interruption"):
            return "interrupted"
        case _:
            return None


def _is_cut_short(text: str, *, is_error: bool) -> bool:
    return text.startswith(CUT_SHORT) or (is_error and text.rstrip().endswith(CUT_SHORT_AT_LAST))


def _feedback_of(record: Record, text: str) -> str | None:
    said = record.user_feedback if isinstance(record, User) else None
    if said or not text.startswith(REJECTED):
        return said
    found = FEEDBACK.search(text)
    return found[1].strip() if found else None


def _exit_code_of(text: str, detail: Any) -> int | None:
    found = EXIT_CODE.match(text) or (EXIT_CODE.match(detail) if isinstance(detail, str) else None)
    if found:
        return int(found[1])
    code = detail.get("exitCode") if isinstance(detail, Mapping) else None
    return code if isinstance(code, int) else None


def _persisted_of(text: str, detail: Any) -> Persisted | None:
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
    return Persisted(name, int(size) if isinstance(size, int | float) else None)


def beside(called: Called) -> dict[str, str]:
    """Returns what only the client's view of a result says, by the names of its fields."""
    if called.result is None or called.result.detail is None:
        return {}
    result = called.result
    return words_beside(result.detail, result.text, *strings_in(called.input, ()))


def as_called(answer: Answered, called: Called | None) -> Called:
    """Returns a result that stands apart with what its call was given, where that is known."""
    given = called.input if called else None
    name = answer.name or ""
    return Called(response=0, call=answer.call, name=name, input=given, result=answer.result)


OUTPUTS = "tool-results"
MOST_OUTPUT = 32 << 20
FORBIDDEN = frozenset({"", ".", ".."})


def whole_result(session_folder: Path, called: Called, most: int = MOST_OUTPUT) -> str | None:
    """Returns all that a tool answered, the part in the log where the rest is gone."""
    result = called.result
    if result is None:
        return None
    found = persisted_text(session_folder, result.persisted, most) if result.persisted else None
    return result.text if found is None else found


def persisted_text(
    session_folder: Path, persisted: Persisted, most: int = MOST_OUTPUT
) -> str | None:
    """Returns the words of an output that lies beside the log, None where it cannot be read.

    A name of the log is not trusted: it must be that of a plain file in the folder of tool
    results, and no link may lead out of it. Not more than so many bytes are read.
    """
    path = output_path(session_folder, persisted.name)
    if path is None:
        return None
    try:
        return read_slice(path, 0, most).decode("utf-8", "replace")
    except SourceError:
        return None


def output_path(session_folder: Path, name: str) -> Path | None:
    """Returns where an output lies, None where its name leads anywhere else."""
    if name in FORBIDDEN or any(mark in name for mark in "/\\\0:"):
        return None
    try:
        path = Path(os.path.realpath(session_folder / OUTPUTS / name))
        home = Path(os.path.realpath(session_folder))
        return path if path.parent == home / OUTPUTS and path.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


SourceOf: TypeAlias = Callable[[str], str | None]
"""The record whose call a result says that it answers."""
IsKnown: TypeAlias = Callable[[str], bool]
"""Whether a call stands in another conversation."""

WORDS = (Said, Thought)


class Placed(NamedTuple):
    """An item at its place in the story."""

    item: Item
    has_result: bool = False
    """True for a call whose result is read together with it."""


def paired(items: Sequence[Item], source_of: SourceOf, is_known: IsKnown) -> list[Item]:
    """Returns the items, calls with their results, results with the names of their tools."""
    marked = _superseded(items)
    answers: dict[int, Answered] = {}
    calls: dict[str, list[int]] = {}
    found: list[Item] = []
    for place, item in enumerate(marked):
        if isinstance(item, Called) and not item.is_intermediate:
            calls.setdefault(item.call, []).append(place)
        elif isinstance(item, Answered):
            asked = _call_of(item, calls.get(item.call, ()), marked, answers, source_of)
            item = _answered(item, asked, marked, answers, is_known)
        found.append(item)
    for place, answer in answers.items():
        found[place] = _with_result(found[place], answer)
    return found


def _call_of(
    answer: Answered,
    places: Sequence[int],
    items: Sequence[Item],
    answers: dict[int, Answered],
    source_of: SourceOf,
) -> int | None:
    """Returns the place of the call that a result answers.

    Where an id was used twice, the record that the result names is meant, else the newest
    call that waits for an answer.
    """
    if len(places) < 2:
        return places[0] if places else None
    source = source_of(answer.uuid) if answer.uuid else None
    named = [place for place in places if source and items[place].uuid == source]
    waiting = [place for place in places if place not in answers]
    return (named or waiting or list(places))[-1]


def _answered(
    answer: Answered,
    asked: int | None,
    items: Sequence[Item],
    answers: dict[int, Answered],
    is_known: IsKnown,
) -> Answered:
    if asked is None:
        standing: Standing = "foreign" if is_known(answer.call) else "orphan"
        return replace(answer, standing=standing)
    call = items[asked]
    name = call.name if isinstance(call, Called) else None
    if asked in answers:
        return replace(answer, name=name, standing="repeat")
    answers[asked] = replace(answer, name=name)
    return answers[asked]


def _with_result(item: Item, answer: Answered) -> Item:
    if not isinstance(item, Called):
        return item
    return replace(
        item,
        outcome=answer.result.outcome,
        result=answer.result,
        answered_by=answer.uuid,
        answered_at=answer.time,
        answered_in=(answer.file, answer.line),
    )


def _superseded(items: Iterable[Item]) -> list[Item]:
    found = list(items)
    last: dict[tuple[int, str], int] = {}
    for place, item in enumerate(found):
        if isinstance(item, Called):
            key = (item.response, item.call)
        elif isinstance(item, WORDS) and item.text:
            key = (item.response, type(item).__name__)
        else:
            continue
        before = last.get(key)
        if before is not None and _is_in_full(found[before], item):
            found[before] = replace(found[before], is_intermediate=True)
        last[key] = place
    return found


def _is_in_full(earlier: Item, later: Item) -> bool:
    match earlier, later:
        case (Said(text=begun), Said(text=text)) | (Thought(text=begun), Thought(text=text)):
            return text.startswith(begun) and earlier.uuid != later.uuid
        case _:
            return isinstance(earlier, Called) and isinstance(later, Called)


def story(items: Iterable[Item]) -> Iterator[Placed]:
    """Yields the items that a reader sees, each result with its call or in its own place."""
    seen = list(items)
    together = _joined(seen)
    for item in seen:
        if isinstance(item, Called):
            yield Placed(item, item.answered_by is not None and key_of(item) in together)
        elif not (isinstance(item, Answered) and key_of(item) in together):
            yield Placed(item)


def _joined(items: Iterable[Item]) -> set[tuple[str, str | None]]:
    spoken = 0
    heard: dict[tuple[str, str | None], int] = {}
    found: set[tuple[str, str | None]] = set()
    for item in items:
        if _is_continuation(item):
            spoken += 1
        elif isinstance(item, Called) and item.answered_by is not None:
            heard[key_of(item)] = spoken
        elif isinstance(item, Answered) and _is_at_hand(item, heard, spoken):
            found.add(key_of(item))
    return found


def _is_at_hand(answer: Answered, heard: dict[tuple[str, str | None], int], spoken: int) -> bool:
    return answer.standing == "own" and heard.get(key_of(answer)) == spoken


def key_of(item: Called | Answered) -> tuple[str, str | None]:
    """Returns what a call and its own result share."""
    if isinstance(item, Called):
        return item.call, item.answered_by
    return item.call, item.uuid


def _is_continuation(item: Item) -> bool:
    return isinstance(item, WORDS) and bool(item.text.strip())
