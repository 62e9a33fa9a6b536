"""Conversations as steps, the common basis of interchange formats, with their enclosures.

A step is a prompt, a response with its calls and their results, or a compaction. What a format
cannot represent is counted and noted.
"""

from base64 import b64decode
from binascii import Error
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from plait.conversation.changes import compactions_of
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    BranchPoint,
    CompactionItem,
    Conversation,
    Enclosure,
    FoldedItems,
    Item,
    LateResult,
    OtherBlock,
    ToolCall,
    UserMessage,
    UserMessageKind,
)
from plait.conversation.results import get_call_key
from plait.conversation.walk import TYPED
from plait.record.codec import as_mapping
from plait.record.time import TIMESTAMP_LENGTH, format_timestamp, parse_time
from plait.view.formats import format_count
from plait.view.passages import RenderOptions, filter_items

PICTURES = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp"}
SOURCED = {"image": "pictures", "document": "documents"}
"""Kinds whose data is in the log, with their names in notes."""


@dataclass
class Pictures:
    """Saves images as files in a folder, each once; without a folder none is saved."""

    folder: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    """By name, including the folder."""
    lost: Counter[str] = field(default_factory=Counter)
    """What is only described."""
    _known: dict[bytes, str] = field(default_factory=dict)

    def place(self, enclosure: Enclosure) -> str | None:
        """Return the path or address of an image; None if it is only described."""
        source = as_mapping(enclosure.value)
        address, data = source.get("url"), source.get("data")
        if enclosure.kind == "image" and enclosure.media_type in PICTURES and isinstance(data, str):
            found = self._keep(data, PICTURES[enclosure.media_type])
            if found:
                return found
        elif (
            enclosure.kind == "image"
            and isinstance(address, str)
            and enclosure.media_type in PICTURES
        ):
            return address
        if enclosure.kind in SOURCED:
            self.lost[SOURCED[enclosure.kind]] += 1
        return None

    def _keep(self, data: str, ending: str) -> str | None:
        if self.folder is None:
            return None
        try:
            content = b64decode(data, validate=True)
        except (Error, ValueError):
            return None
        key = blake2b(content, digest_size=16).digest()
        name = self._known.setdefault(key, f"{self.folder}/{len(self._known) + 1}.{ending}")
        self.files[name] = content
        return name


def describe_enclosures(enclosures: Iterable[Enclosure]) -> list[dict[str, Any]]:
    """Return a description of enclosures; complete if they are neither images nor documents."""
    return [
        {
            **{
                name: getattr(enclosure, name)
                for name in ("kind", "media_type", "title")
                if getattr(enclosure, name)
            },
            **({"bytes": enclosure.size} if enclosure.size else {}),
            **({} if enclosure.kind in SOURCED else {"value": enclosure.value}),
        }
        for enclosure in enclosures
    ]


OF_MODEL = (AssistantText, AssistantThinking, ToolCall, OtherBlock)
AGAIN, FOLDED = "again", "folded"
CLIENT = "claude-code"
BY_PEOPLE: frozenset[UserMessageKind] = TYPED | {"teammate", "peer"}
"""User messages by people; all others are the client's."""
PROMPT_FIELDS = "kind name arguments output errors status context is_only_queued".split()


@dataclass
class Step:
    """Items that belong together, in reading order."""

    turn: int
    items: list[Item]
    fold: FoldedItems | None = None
    """The fold that contains it; None in reading order."""
    summary: UserMessage | None = None
    """The summary of a compaction."""
    answers: list[LateResult] = field(default_factory=list)
    """The results of its calls, if they are separate in the log."""

    @property
    def first(self) -> Item:
        """Its first item."""
        return self.items[0]

    @property
    def response(self) -> int | None:
        """The number of its response; None if it is not one."""
        return self.first.response if isinstance(self.first, OF_MODEL) else None

    @property
    def held(self) -> list[Item]:
        """All its items."""
        return [*self.items, *([self.summary] if self.summary else ()), *self.answers]

    def words(self, kind: type[AssistantText] | type[AssistantThinking]) -> str:
        """Return the model's text or thinking in it."""
        return "\n\n".join(item.text for item in self.items if isinstance(item, kind) and item.text)

    @property
    def calls(self) -> list[ToolCall]:
        """The calls in it, in order."""
        return [item for item in self.items if isinstance(item, ToolCall)]


@dataclass
class Steps:
    """The steps of a conversation."""

    conversation: Conversation
    steps: list[Step] = field(default_factory=list)
    leaving: list[tuple[BranchPoint, Step | None]] = field(default_factory=list)
    """Where other conversations leave, each with the preceding step."""
    at: dict[str, Step] = field(default_factory=dict)
    """By record: the step that contains it, else the one it follows."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Items in no step, by kind; replays separately."""

    @property
    def inline(self) -> list[Step]:
        """The steps in reading order."""
        return [step for step in self.steps if step.fold is None]

    @property
    def held(self) -> int:
        """The number of items in its steps."""
        return sum(len(step.held) for step in self.steps)

    def records(self, step: Step) -> list[str]:
        """Return the records of a step: their uuids, else their positions."""
        return list(dict.fromkeys(self.record(item) for item in step.held))

    def record(self, item: Item) -> str:
        """Return the uuid of the record that an item comes from, else its file and line."""
        files = self.conversation.files
        name = files[item.file] if item.file < len(files) else f"{item.file}"
        return item.uuid or f"{name}:{item.line}"


def build_steps(conversation: Conversation, manner: RenderOptions) -> Steps:
    """Return the steps of a conversation, as far as it is exported."""
    making = _StepBuilder(Steps(conversation), manner)
    making.take_summaries()
    for turn in conversation.turns:
        making.take(turn.number, turn.items)
    return making.made


def iter_items(items: Iterable[Item]) -> Iterator[Item]:
    """Yield all items, folded ones in the place of their fold, except branch points."""
    waiting = [iter(items)]
    while waiting:
        item = next(waiting[-1], None)
        if item is None:
            waiting.pop()
        elif isinstance(item, FoldedItems):
            waiting.append(iter(item.items))
        elif not isinstance(item, BranchPoint):
            yield item


def get_typed_words(message: UserMessage) -> str:
    """Return the text of a user message; a command as it was typed."""
    typed = (
        f"{message.name or ''} {message.arguments or ''}".strip()
        if message.kind == "command"
        else ""
    )
    return typed or message.text


def get_item_kind(item: Item) -> str:
    """Return the kind under which an item without a step is counted."""
    if getattr(item, "is_intermediate", False):
        return AGAIN
    return f"{item.__struct_config__.tag}"


def parse_known_time(stamp: str | None) -> str | None:
    """Return a time in the standard form; None if it is invalid."""
    found = format_timestamp(parse_time(stamp))
    return found if len(found) == TIMESTAMP_LENGTH else None


def drop_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the non-empty values."""
    return {
        name: value
        for name, value in values.items()
        if value or (value == 0 and value is not False)
    }


@dataclass
class _StepBuilder:
    made: Steps
    manner: RenderOptions
    answers: dict[tuple[int, int], Step] = field(default_factory=dict)
    """By response and by fold."""
    calls: dict[tuple[str, str | None], Step] = field(default_factory=dict)
    summaries: dict[str | None, str] = field(default_factory=dict)
    """By compaction: the record of its summary."""
    wanted: dict[str, Step] = field(default_factory=dict)
    last: Step | None = None

    def take_summaries(self) -> None:
        found = compactions_of(self.made.conversation)
        self.summaries = {
            compaction.uuid: compaction.summary_uuid
            for compaction in found
            if compaction.summary_uuid
        }

    def take(self, turn: int, items: Sequence[Item]) -> None:
        stack: list[tuple[Iterator[tuple[Item, bool]], FoldedItems | None]] = [
            (self._mark_shown(items), None)
        ]
        while stack:
            found = next(stack[-1][0], None)
            if found is None:
                stack.pop()
                continue
            item, is_shown = found
            if isinstance(item, FoldedItems) and is_shown:
                stack.append((self._mark_shown(item.items), item))
            else:
                fold = stack[-1][1]
                if isinstance(item, BranchPoint):
                    self.made.leaving.append((item, self.last))
                elif isinstance(item, UserMessage) and item.uuid in self.wanted:
                    self.wanted.pop(item.uuid).summary = item
                elif not is_shown or getattr(item, "is_intermediate", False):
                    self.made.left_out.update(get_item_kind(part) for part in iter_items((item,)))
                else:
                    step = self._step(turn, item, fold)
                    if item.uuid:
                        self.made.at.setdefault(item.uuid, step)
                if item.uuid and self.last:
                    self.made.at.setdefault(item.uuid, self.last)

    def _mark_shown(self, items: Sequence[Item]) -> Iterator[tuple[Item, bool]]:
        shown = {id(item) for item in filter_items(items, self.manner)}
        return ((item, id(item) in shown) for item in items)

    def _step(self, turn: int, item: Item, fold: FoldedItems | None) -> Step:
        if isinstance(item, OF_MODEL):
            key = item.response, id(fold) if fold else 0
            step = self.answers.get(key)
            if step is None:
                step = self.answers[key] = self._new(turn, item, fold)
            else:
                step.items.append(item)
            if isinstance(item, ToolCall):
                self.calls.setdefault(get_call_key(item), step)
            return step
        if (
            isinstance(item, LateResult)
            and item.origin == "own"
            and get_call_key(item) in self.calls
        ):
            step = self.calls[get_call_key(item)]
            step.answers.append(item)
            return step
        step = self._new(turn, item, fold)
        if isinstance(item, CompactionItem) and item.uuid in self.summaries:
            self.wanted[self.summaries[item.uuid]] = step
        return step

    def _new(self, turn: int, item: Item, fold: FoldedItems | None) -> Step:
        step = Step(turn, [item], fold)
        self.made.steps.append(step)
        if fold is None:
            self.last = step
        return step


LEFT_OUT_WORDS: dict[str, tuple[str, str | None]] = {
    "told": ("Claude Code message in user messages", "Claude Code messages in user messages"),
    "said": ("model passage", "model passages"),
    "thought": ("thought", None),
    "called": ("call", None),
    "answered": ("result", None),
    "shown": ("block of another kind", "blocks of another kind"),
    "compacted": ("compaction", None),
    "noted": ("note by Claude Code", "notes by Claude Code"),
    AGAIN: ("block that was written twice", "blocks that were written twice"),
    FOLDED: ("item outside the reading order", "items outside the reading order"),
    "wordless": ("thinking block without text", "thinking blocks without text"),
    "pictures": ("picture", None),
    "documents": ("document", None),
    "branches": ("other branch", "other branches"),
    "agents": ("agent", None),
    "times": ("timestamp missing from the log", "timestamps missing from the log"),
}
"""Singular and plural of what is left out; items first."""


def count_items(steps: Steps) -> dict[str, Any]:
    """Return the number of items of a conversation: those in steps, and the others by kind."""
    held, left = steps.held, steps.left_out.total()
    return {"items": held + left, "held": held, "left_out": dict(sorted(steps.left_out.items()))}


def format_left_out(counts: Mapping[str, int]) -> str:
    """Return what is left out as a line, "" if nothing is."""
    return ", ".join(
        format_count(counts[kind], *words)
        for kind, words in LEFT_OUT_WORDS.items()
        if counts.get(kind)
    )


def format_left_out_note(format_: str, counts: Counter[str]) -> str | None:
    """Return a document's note on what it does not contain; None if it contains everything."""
    found = format_left_out(counts)
    return f"Not included in this {format_} document, only counted: {found}." if found else None
