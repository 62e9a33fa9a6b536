"""Records to what a person typed, and to the title of their session.

The title that the user gave, else the model's, else the newest prompt, else a summary
whose leaf lies in the same file, else the first prompt. Where nobody typed one: what waited in
the queue, a command with its arguments, the first line of a brief that another session sent,
the first answer, the first call; at last what the file holds instead of a conversation.
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from plait.record.machine_text import (
    MESSAGES,
    is_machine_notice,
    is_machine_text,
    wrapped_in,
)
from plait.record.message import ToolUse
from plait.record.model import Envelope
from plait.record.read import read_if_there
from plait.record.record import Record
from plait.record.types.kinds import User

EDITORS = "<ide_"
EDITOR_NOTES = re.compile(r"\A(?:\s*<(ide_\w+)>.*?</\1>)+", re.DOTALL)


def is_human_prompt(record: Record) -> bool:
    """Tells whether a user record is a prompt that a person typed.

    Tool results, meta records, compaction summaries, commands, notices and whatever a
    machine wrote in the user's place are not.
    """
    if not isinstance(record, User) or is_marked(record.envelope):
        return False
    types = [head.type for head in record.block_heads]
    if "tool_result" in types:
        return False
    if b'"toolUseResult"' in record.raw and "toolUseResult" in record.fields:
        return False
    if types and "text" not in types:
        return True  # a picture or a document alone
    text = prompt_text(record)
    return bool(text) and not is_machine_text(text)


def prompt_text(record: Record) -> str:
    """Returns what was typed, without what the editor added before it."""
    return without_notes(record.text)


def without_notes(text: str) -> str:
    """Returns a text without the notes of the editor that it begins with."""
    if EDITORS not in text:  # the expression would be tried at every letter
        return text.strip()
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


TitleKind = Literal[
    "custom",
    "ai",
    "last prompt",
    "summary",
    "first prompt",
    "queued prompt",
    "command",
    "brief",
    "first answer",
    "first call",
    "contents",
]
SURE: tuple[TitleKind, ...] = ("custom", "ai", "last prompt")
"""What counts more than a summary."""

TITLE_TYPES = frozenset({"custom-title", "ai-title", "last-prompt", "summary"})
COMMANDS = ("<command-name>", "<command-message>")
COMMAND = re.compile(r"<command-name>\s*/?(.*?)\s*</command-name>", re.DOTALL)
MESSAGE = re.compile(r"<command-message>\s*/?(.*?)\s*</command-message>", re.DOTALL)
ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
PRINTED = ("<local-command-stdout>", "<local-command-stderr>")
BRIEFS = ("<teammate-message", *MESSAGES)
LONGEST = 400


@dataclass(slots=True)
class Standins:
    """What a session is called by that nobody prompted."""

    queued: str | None = None
    command: str | None = None
    """The first that the client did not answer itself."""
    local: str | None = None
    """The first of all."""
    waiting: str | None = None
    """The last, as long as nothing followed it."""
    brief: str | None = None
    answer: str | None = None
    call: str | None = None

    def add(self, record: Record) -> None:
        """Takes one record into account."""
        kind = record.envelope.type
        if kind == "user" or kind == "system":
            self._add_told(record)
        elif kind == "assistant":
            self._settle()
            if self.answer is None and not record.is_api_error_message:
                self.answer = _first_line(record.text)
            if self.call is None:
                self.call = _first_call(record)
        elif kind in WAITING and self.queued is None:
            text = queued_text(record)
            if text and not text.startswith("/") and is_typed_in_queue(record.envelope, text):
                self.queued = one_line(without_notes(text)) or None

    def _add_told(self, record: Record) -> None:
        text = record.text.strip()
        if text.startswith(PRINTED):
            self.waiting = None
        elif text.startswith(COMMANDS):
            self._settle()
            self.waiting = command_words(text)
            self.local = self.local or self.waiting
        elif record.envelope.type == "user":
            self._settle()
            if self.brief is None and (text.startswith(BRIEFS) or _is_sent(record)):
                self.brief = _first_line(message_in(text))

    def _settle(self) -> None:
        self.command, self.waiting = self.command or self.waiting, None

    def title(self) -> tuple[str, TitleKind] | None:
        """Returns the best of them."""
        if self.queued:
            return self.queued, "queued prompt"
        if command := self.command or self.waiting or self.local:
            return command, "command"
        if self.brief:
            return self.brief, "brief"
        if self.answer:
            return self.answer, "first answer"
        return (self.call, "first call") if self.call else None


WAITING = frozenset({"queue-operation", "attachment"})


def queued_text(record: Record) -> str | None:
    """Returns what began to wait in the queue of prompts, None for any other record."""
    head = record.envelope.attachment
    if head is not None:
        value = record.fields.get("attachment") if head.type == "queued_command" else None
        content = value.get("prompt") if isinstance(value, dict) else None
    else:
        fields = record.fields
        content = fields.get("content") if fields.get("operation") == "enqueue" else None
    if isinstance(content, list):
        parts = (one.get("text") for one in content if isinstance(one, dict))
        content = "\n".join(one for one in parts if isinstance(one, str))
    return content.strip() if isinstance(content, str) else None


def command_words(text: str) -> str | None:
    """Returns a slash command with its arguments, from the tags that the client sets."""
    name = COMMAND.search(text) or MESSAGE.search(text)
    given = ARGUMENTS.search(text)
    if name is None or not name[1]:
        return None
    return one_line(f"/{name[1]} {given[1] if given else ''}")


def message_in(text: str) -> str:
    """Returns the words of a message of another session, without what stands around them."""
    start = text.find("<") if text.startswith(MESSAGES) else 0
    found = wrapped_in(text[max(start, 0) :])
    return found.text if found else text


def _is_sent(record: Record) -> bool:
    return origin_of(record.envelope) in ("peer", "coordinator")


def _first_line(text: str) -> str | None:
    line = text.strip().partition("\n")[0]
    return one_line(line[:LONGEST]) or None


def _first_call(record: Record) -> str | None:
    if all(head.type != "tool_use" for head in record.block_heads):
        return None
    for one in record.message.content if record.message else ():
        if isinstance(one, ToolUse):
            given = one.input if isinstance(one.input, dict) else {}
            texts = (given.get("description"), *given.values())
            words = next((text for text in texts if isinstance(text, str) and text.strip()), "")
            return _first_line(f"{one.name}: {words.strip()}" if words else one.name)
    return None


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
    standins: Standins = field(default_factory=Standins)
    others: dict[str, None] = field(default_factory=dict)
    """The kinds of records where there is no conversation."""

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
        elif self.first_prompt is None:
            if is_human_prompt(record):
                self.first_prompt = one_line(prompt_text(record)) or "(an image)"
            else:
                self.standins.add(record)
                self.others[envelope.type or ""] = None

    def _add_title(self, envelope: Envelope) -> None:
        self.custom = envelope.custom_title or self.custom
        self.ai = envelope.ai_title or self.ai
        if envelope.last_prompt and not is_machine_notice(envelope.last_prompt):
            self.last_prompt = envelope.last_prompt
        if envelope.summary:
            self.summaries[envelope.leaf_uuid or ""] = envelope.summary

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
        if self.first_prompt:
            return self.first_prompt, "first prompt"
        return self.standins.title() or self._contents()

    def _contents(self) -> tuple[str, TitleKind] | None:
        """Returns what a file without a conversation holds."""
        if not self.others.keys().isdisjoint(SPEAKING):
            return None
        if self.summaries:
            words = one_line(next(reversed(self.summaries.values())))
            return f"summaries only: {words}", "contents"
        has_snapshots = not self.others.keys().isdisjoint(SNAPSHOTS)
        return ("snapshots only", "contents") if has_snapshots else None


SPEAKING = frozenset({"user", "assistant", "system", "attachment"})
SNAPSHOTS = frozenset({"file-history-snapshot", "file-history-delta"})


def one_after_another(searches: Iterable[TitleSearch]) -> TitleSearch:
    """Returns the search that has seen what several have, one after the other."""
    found = TitleSearch()
    for one in searches:
        found.custom = one.custom or found.custom
        found.ai = one.ai or found.ai
        found.last_prompt = one.last_prompt or found.last_prompt
        found.first_prompt = found.first_prompt or one.first_prompt
        found.summaries.update(one.summaries)
        found.others.update(one.others)
        if found.standins.title() is None:
            found.standins = one.standins
    return found


def agents_only(words: str | None) -> str:
    """Returns the title of a session of which nothing but agents is left."""
    return f"agents only: {words}" if words else "agents only"


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
