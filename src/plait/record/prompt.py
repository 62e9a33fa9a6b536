"""Records to what a person typed, and to the title of their session.

The title that the user gave, else the model's, else the newest prompt, else a summary
whose leaf lies in the same file, else the first prompt.
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from plait.record.machine_text import is_machine_notice, is_machine_text
from plait.record.model import Envelope
from plait.record.read import read_if_there
from plait.record.record import Record
from plait.record.types.kinds import User

EDITOR_NOTES = re.compile(r"\A(?:\s*<(ide_\w+)>.*?</\1>)+", re.DOTALL)


def is_human_prompt(record: Record) -> bool:
    """Tells whether a user record is a prompt that a person typed.

    Tool results, meta records, compaction summaries, commands, notices and whatever a
    machine wrote in the user's place are not.
    """
    if not isinstance(record, User) or is_marked(record.envelope):
        return False
    if any(head.type == "tool_result" for head in record.block_heads):
        return False
    if b'"toolUseResult"' in record.raw and "toolUseResult" in record.fields:
        return False
    if record.block_heads and all(head.type != "text" for head in record.block_heads):
        return True  # a picture or a document alone
    text = prompt_text(record)
    return bool(text) and not is_machine_text(text)


def prompt_text(record: Record) -> str:
    """Returns what was typed, without what the editor added before it."""
    return without_notes(record.text)


def without_notes(text: str) -> str:
    """Returns a text without the notes of the editor that it begins with."""
    return EDITOR_NOTES.sub("", text).strip()


def is_marked(envelope: Envelope) -> bool:
    """Tells whether the client says that no person typed this."""
    kind, waiting = origin_of(envelope), envelope.attachment
    return bool(
        envelope.is_meta
        or (waiting and waiting.is_meta)
        or envelope.is_compact_summary
        or envelope.is_visible_in_transcript_only
        or envelope.source_tool_use_id
        or kind not in (None, "human")
    )


def origin_of(envelope: Envelope) -> str | None:
    """Returns who wrote a record, or what waited in it, where the client says so."""
    waiting = envelope.attachment
    head = envelope.origin or (waiting.origin if waiting else None)
    return head.kind if head else None


def is_typed_in_queue(envelope: Envelope, text: str) -> bool:
    """Tells whether a person typed what waited in the queue of prompts."""
    mode = envelope.attachment.command_mode if envelope.attachment else None
    if mode == "task-notification" or is_marked(envelope):
        return False
    return origin_of(envelope) == "human" or not is_machine_notice(without_notes(text))


TitleKind = Literal["custom", "ai", "last prompt", "summary", "first prompt"]

TITLE_TYPES = frozenset({"custom-title", "ai-title", "last-prompt", "summary"})


@dataclass(slots=True)
class TitleSearch:
    """Takes records one by one and knows the title so far."""

    custom: str | None = None
    ai: str | None = None
    last_prompt: str | None = None
    first_prompt: str | None = None
    summaries: dict[str, str] = field(default_factory=dict)
    """Summaries by the leaf they describe: most are strays of other sessions."""
    uuids: set[str] = field(default_factory=set)

    def add(self, record: Record) -> None:
        """Takes one record into account; of lines that repeat, the last counts."""
        if record.envelope.uuid is not None:
            self.uuids.add(record.envelope.uuid)
        self.add_words(record)

    def add_words(self, record: Record) -> None:
        """Takes one record into account, for somebody who knows the uuids of the file."""
        envelope = record.envelope
        if envelope.type in TITLE_TYPES:
            self._add_title(envelope)
        elif self.first_prompt is None and is_human_prompt(record):
            self.first_prompt = one_line(prompt_text(record)) or "(an image)"

    def _add_title(self, envelope: Envelope) -> None:
        self.custom = envelope.custom_title or self.custom
        self.ai = envelope.ai_title or self.ai
        self.last_prompt = envelope.last_prompt or self.last_prompt
        if envelope.summary and envelope.leaf_uuid:
            self.summaries[envelope.leaf_uuid] = envelope.summary

    def title(self, uuids: Container[str] | None = None) -> tuple[str, TitleKind] | None:
        """Returns the title and where it came from; the uuids of the file, where not taken."""
        if self.custom:
            return one_line(self.custom), "custom"
        if self.ai:
            return one_line(self.ai), "ai"
        if self.last_prompt:
            return one_line(self.last_prompt), "last prompt"
        for leaf, summary in reversed(self.summaries.items()):
            if leaf in (self.uuids if uuids is None else uuids):
                return one_line(summary), "summary"
        return (self.first_prompt, "first prompt") if self.first_prompt else None


def one_after_another(searches: Iterable[TitleSearch]) -> TitleSearch:
    """Returns the search that has seen what several have, one after the other."""
    found = TitleSearch()
    for one in searches:
        found.custom = one.custom or found.custom
        found.ai = one.ai or found.ai
        found.last_prompt = one.last_prompt or found.last_prompt
        found.first_prompt = found.first_prompt or one.first_prompt
        found.summaries.update(one.summaries)
    return found


def one_line(text: str) -> str:
    """Returns the words of a text with single spaces between them."""
    return " ".join(text.split())


WARMUP = "Warmup"
LOOK_AHEAD = 16


def is_warmup(path: Path) -> bool:
    """Tells such an agent by its first prompt."""
    for record in islice(read_if_there(path), LOOK_AHEAD):
        if record.kind == "user" and all(head.type == "text" for head in record.block_heads):
            return record.text.strip() == WARMUP
    return False
