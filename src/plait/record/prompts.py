"""Prompts typed by the user, and the title of a session.

The title is the one that the user gave, else the model's, else the newest prompt, else a summary
whose leaf is in the same file, else the first prompt. If nobody typed a prompt: what waited in the
queue, a command with its arguments, the first line of a brief from another session, the first
answer, the first call; finally what the file contains instead of a conversation.
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from plait.record.codec import Envelope
from plait.record.message import ToolUse
from plait.record.reader import read_if_exists
from plait.record.text import MESSAGES, is_machine_notice, is_machine_text, parse_tagged_text
from plait.record.types import Record, User

EDITORS = "<ide_"
EDITOR_NOTES = re.compile(r"\A(?:\s*<(ide_\w+)>.*?</\1>)+", re.DOTALL)


def is_human_prompt(record: Record) -> bool:
    """Return whether a user record is a prompt that was typed.

    Tool results, meta records, compaction summaries, commands, notices and other machine-written
    messages are not.
    """
    if not isinstance(record, User) or is_marked_as_client_text(record.envelope):
        return False
    types = [head.type for head in record.block_heads]
    if "tool_result" in types:
        return False
    if b'"toolUseResult"' in record.raw and "toolUseResult" in record.fields:
        return False
    if types and "text" not in types:
        return True  # only an image or a document
    text = get_prompt_text(record)
    return bool(text) and not is_machine_text(text)


def get_prompt_text(record: Record) -> str:
    """Return the typed text, without what the editor added before it."""
    return strip_editor_notes(record.text)


def strip_editor_notes(text: str) -> str:
    """Return a text without the editor's notes at its beginning."""
    if EDITORS not in text:  # the expression would be tried at every character
        return text.strip()
    return EDITOR_NOTES.sub("", text).strip()


def is_marked_as_client_text(envelope: Envelope) -> bool:
    """Return whether the client marks a record as not typed."""
    kind, waiting = get_origin(envelope), envelope.attachment
    return bool(
        envelope.is_meta
        or (waiting and waiting.is_meta)
        or envelope.is_compact_summary
        or envelope.is_visible_in_transcript_only
        or envelope.source_tool_use_id
        or kind not in (None, "human")
    )


def get_origin(envelope: Envelope) -> str | None:
    """Return who wrote a record, or what waited in it, if the client says so."""
    waiting = envelope.attachment
    head = envelope.origin or (waiting.origin if waiting else None)
    return head.kind if head else None


def is_typed_in_queue(envelope: Envelope, text: str) -> bool:
    """Return whether a queued prompt was typed."""
    mode = envelope.attachment.command_mode if envelope.attachment else None
    if mode == "task-notification" or is_marked_as_client_text(envelope):
        return False
    return get_origin(envelope) == "human" or not is_machine_notice(strip_editor_notes(text))


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
class FallbackTitles:
    """Titles for sessions without a typed prompt."""

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
        """Add one record."""
        kind = record.envelope.type
        if kind == "user" or kind == "system":
            self._add_user_text(record)
        elif kind == "assistant":
            self._settle()
            if self.answer is None and not record.is_api_error_message:
                self.answer = _first_line(record.text)
            if self.call is None:
                self.call = _first_call(record)
        elif kind in WAITING and self.queued is None:
            text = get_queued_text(record)
            if text and not text.startswith("/") and is_typed_in_queue(record.envelope, text):
                self.queued = collapse_whitespace(strip_editor_notes(text)) or None

    def _add_user_text(self, record: Record) -> None:
        text = record.text.strip()
        if text.startswith(PRINTED):
            self.waiting = None
        elif text.startswith(COMMANDS):
            self._settle()
            name = COMMAND.search(text) or MESSAGE.search(text)
            given = ARGUMENTS.search(text)
            if name is None or not name[1]:
                self.waiting = None
            else:
                self.waiting = collapse_whitespace(f"/{name[1]} {given[1] if given else ''}")
            self.local = self.local or self.waiting
        elif record.envelope.type == "user":
            self._settle()
            if self.brief is None and (
                text.startswith(BRIEFS) or (get_origin(record.envelope) in ("peer", "coordinator"))
            ):
                start = text.find("<") if text.startswith(MESSAGES) else 0
                found = parse_tagged_text(text[max(start, 0) :])
                self.brief = _first_line(found.text if found else text)

    def _settle(self) -> None:
        self.command, self.waiting = self.command or self.waiting, None

    def title(self) -> tuple[str, TitleKind] | None:
        """Return the best of them."""
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


def get_queued_text(record: Record) -> str | None:
    """Return the text that was queued; None for any other record."""
    head = record.envelope.attachment
    if head is not None:
        value = record.fields.get("attachment") if head.type == "queued_command" else None
        content = value.get("prompt") if isinstance(value, dict) else None
    else:
        fields = record.fields
        content = fields.get("content") if fields.get("operation") == "enqueue" else None
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        content = "\n".join(part for part in parts if isinstance(part, str))
    return content.strip() if isinstance(content, str) else None


def _first_line(text: str) -> str | None:
    line = text.strip().partition("\n")[0]
    return collapse_whitespace(line[:LONGEST]) or None


def _first_call(record: Record) -> str | None:
    if all(head.type != "tool_use" for head in record.block_heads):
        return None
    for block in record.message.content if record.message else ():
        if isinstance(block, ToolUse):
            given = block.input if isinstance(block.input, dict) else {}
            texts = (given.get("description"), *given.values())
            words = next((text for text in texts if isinstance(text, str) and text.strip()), "")
            return _first_line(f"{block.name}: {words.strip()}" if words else block.name)
    return None


@dataclass(slots=True)
class TitleSearch:
    """Takes records one by one and knows the title so far."""

    custom: str | None = None
    ai: str | None = None
    last_prompt: str | None = None
    first_prompt: str | None = None
    summaries: dict[str, str] = field(default_factory=dict)
    """Summaries by their leaf: most belong to other sessions."""
    uuids: set[str] = field(default_factory=set)
    standins: FallbackTitles = field(default_factory=FallbackTitles)
    others: dict[str, None] = field(default_factory=dict)
    """The kinds of records, if there is no conversation."""

    def add(self, record: Record) -> None:
        """Add one record; of repeated lines the last counts."""
        if record.envelope.uuid is not None:
            self.uuids.add(record.envelope.uuid)
        self.add_words(record)

    def add_words(self, record: Record) -> None:
        """Add one record, for callers who know the uuids of the file."""
        envelope = record.envelope
        if envelope.type in TITLE_TYPES:
            self.custom = envelope.custom_title or self.custom
            self.ai = envelope.ai_title or self.ai
            if envelope.last_prompt and not is_machine_notice(envelope.last_prompt):
                self.last_prompt = envelope.last_prompt
            if envelope.summary:
                self.summaries[envelope.leaf_uuid or ""] = envelope.summary
        elif self.first_prompt is None or BARE_COMMAND.fullmatch(self.first_prompt):
            if is_human_prompt(record):
                text = collapse_whitespace(get_prompt_text(record)) or "(an image)"
                if self.first_prompt is None or not BARE_COMMAND.fullmatch(text):
                    self.first_prompt = text
            elif self.first_prompt is None:
                self.standins.add(record)
                self.others[envelope.type or ""] = None

    def title(self, uuids: Container[str] | None = None) -> tuple[str, TitleKind] | None:
        """Return the title and its source; `uuids` are those of the file if not collected here."""
        if self.custom:
            return collapse_whitespace(self.custom), "custom"
        if self.ai:
            return collapse_whitespace(self.ai), "ai"
        if self.last_prompt:
            return collapse_whitespace(self.last_prompt), "last prompt"
        for leaf, summary in reversed(self.summaries.items()):
            if leaf in (self.uuids if uuids is None else uuids):
                return collapse_whitespace(summary), "summary"
        if self.first_prompt:
            return self.first_prompt, "first prompt"
        return self.standins.title() or self._contents()

    def _contents(self) -> tuple[str, TitleKind] | None:
        """Return a description of a file without a conversation."""
        if not self.others.keys().isdisjoint(SPEAKING):
            return None
        if self.summaries:
            words = collapse_whitespace(next(reversed(self.summaries.values())))
            return f"summaries only: {words}", "contents"
        has_snapshots = not self.others.keys().isdisjoint(SNAPSHOTS)
        return ("snapshots only", "contents") if has_snapshots else None


BARE_COMMAND = re.compile(r"/[a-z][\w-]*")
"""A prompt that names a command of the client and says nothing of the session."""
SPEAKING = frozenset({"user", "assistant", "system", "attachment"})
SNAPSHOTS = frozenset({"file-history-snapshot", "file-history-delta"})


def merge_title_searches(searches: Iterable[TitleSearch]) -> TitleSearch:
    """Return the combination of several searches, in order."""
    found = TitleSearch()
    for search in searches:
        found.custom = search.custom or found.custom
        found.ai = search.ai or found.ai
        found.last_prompt = search.last_prompt or found.last_prompt
        if found.first_prompt is None or (
            search.first_prompt and BARE_COMMAND.fullmatch(found.first_prompt)
        ):
            found.first_prompt = search.first_prompt
        found.summaries.update(search.summaries)
        found.others.update(search.others)
        if found.standins.title() is None:
            found.standins = search.standins
    return found


def format_agents_only_title(words: str | None) -> str:
    """Return the title of a session of which only agents are left."""
    return f"agents only: {words}" if words else "agents only"


def collapse_whitespace(text: str) -> str:
    """Return the words of a text with single spaces between them."""
    return " ".join(text.split())


WARMUP = "Warmup"
RECORDS_TO_CHECK = 16


def is_warmup_agent(path: Path) -> bool:
    """Return whether an agent only warmed up the cache, by its first prompt."""
    for record in islice(read_if_exists(path), RECORDS_TO_CHECK):
        if record.kind == "user" and all(head.type == "text" for head in record.block_heads):
            return record.text.strip() == WARMUP
    return False
