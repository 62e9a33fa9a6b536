"""Codex: two logs in one file, the model's items and what the screen showed of them.

    ~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl      also .jsonl.zst
    ~/.codex/archived_sessions/rollout-<time>-<thread>.jsonl
    rollout-<time>-<thread>_<rollout>.jsonl                         a reverted thread, in a new file

Text is taken from the model's items (`response_item`) alone. What the screen showed distinguishes
prompts from messages that Codex added, and has usage, rollbacks and interruptions.

A fork copies its parent's lines with new times, or names the part of another file that it continues
(`history_base`). In both cases a line is recognised by its payload, gets the uuid that it has in
the parent, and so is counted once.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from plait.errors import SourceError
from plait.line import iter_lines
from plait.sources.base import (
    SentMessage,
    Source,
    SourceLog,
    iter_objects,
    open_database,
    open_zstd,
    parse_first_object,
    parse_object,
)
from plait.sources.places import ROOTS
from plait.sources.translation import (
    Fields,
    SourceLine,
    Translation,
    iter_dicts,
    make_call_block,
    make_image_block,
    make_text_block,
    make_thinking_block,
    parse_json,
    to_count,
    to_text,
)

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
ROLLOUT = re.compile(rf"rollout-.*?-({UUID})(?:_({UUID}))?\.jsonl(?:\.zst)?")
MODEL_LINES = frozenset({"response_item", "compacted"})
"""The lines that the model is sent; the others are only shown or describe the session."""
TYPES = frozenset(
    """
    session_meta response_item event_msg turn_context compacted world_state
    inter_agent_communication inter_agent_communication_metadata security_risk_score
    token_usage_record
    """.split()
)
ITEMS = frozenset(
    """
    message agent_message reasoning local_shell_call function_call function_call_output
    tool_search_call tool_search_output custom_tool_call custom_tool_call_output web_search_call
    image_generation_call compaction context_compaction
    """.split()
)
CALL_ITEMS = frozenset(
    ("function_call", "custom_tool_call", "tool_search_call", "local_shell_call")
)
OUTPUT_ITEMS = frozenset(("function_call_output", "custom_tool_call_output", "tool_search_output"))
KEPT_BYTES = 80_000
"""Of prompts, what a compaction without a list of items keeps: 20,000 tokens as Codex counts."""
INJECTED = ("<", "# AGENTS.md instructions")
"""Beginnings of messages that Codex added, in logs without the screen's view."""
NEWS = (
    b'"user_message"',
    b'"UserMessage"',
    b"sub_agent_activity",
    b'"collab_',
    b'"SubAgent',
    b'"CollabAgent',
)
"""What marks events that show prompts, or tell which thread a call has started."""
CALLS = ("call_id", "event_id", "id")
THREADS = ("new_thread_id", "agent_thread_id", "receiver_thread_ids")
MOST_BASES = 50
TRIES = 3
"""A rollout can be packed or unpacked while it is opened."""
MOST_UNPACKED = 8 << 30
DATA_URL = re.compile(r"data:([\w/+.-]+);base64,(.*)", re.DOTALL)
EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)


class Codex(Source):
    """The logs of Codex."""

    name = "codex"
    title = "Codex"
    suffixes = (".jsonl", ".jsonl.zst")
    roots = ROOTS["codex"]
    verified = "0.169.0"

    def find(self, path: Path, head: bytes) -> Iterable[SourceLog]:
        """Return the thread of a rollout file."""
        meta = read_meta(head)
        if not isinstance(meta.get("id"), str):
            return []
        name = ROLLOUT.fullmatch(path.name)
        parent = find_parent(meta)
        return [
            SourceLog(
                "codex",
                name[2] if name and name[2] else meta["id"],
                str(path),
                cwd=meta["cwd"] if isinstance(meta.get("cwd"), str) else None,
                parent=parent,
            )
        ]

    def is_side_file(self, path: Path) -> bool:
        """Return whether a file is one of Codex's lists of prompts and titles."""
        return path.name in ("history.jsonl", "session_index.jsonl") and (
            path.parent.name == ".codex" or (path.parent / "sessions").is_dir()
        )

    def translate(self, log: SourceLog, out: Translation) -> None:
        """Write the items of a thread, those of the threads it continues first."""
        reading = _Reading(out)
        with unpack(Path(log.path)) as path:
            header = next(_iter_payloads(path), {})
            for base, end in _find_bases(Path(log.path), header):
                with unpack(base) as plain:
                    reading.read(plain, end, inherited_from=base)
            reading.expect(_read_origin(Path(log.path), header))
            reading.read(path)
        name = ROLLOUT.fullmatch(Path(log.path).name)
        if title := find_title(Path(log.path), name[1] if name else log.id):
            out.title(title)

    def resume_command(self, log: SourceLog) -> list[str]:
        """Return the command that resumes a thread in Codex."""
        name = ROLLOUT.fullmatch(Path(log.path).name)
        return ["codex", "resume", name[1] if name else log.id]

    def read_context(self, log: SourceLog) -> list[SentMessage]:
        """Return the history that Codex rebuilds from a rollout and those that it continues."""
        history = _History()
        with unpack(Path(log.path)) as path:
            header = next(_iter_payloads(path), {})
            for base, end in _find_bases(Path(log.path), header):
                with unpack(base) as plain:
                    history.read(plain, end, str(base))
            history.read(path)
        return history.render()


def read_meta(head: bytes) -> Fields:
    """Return the metadata of a rollout, in the first lines or, before 0.40, on the first."""
    first = parse_first_object(head)
    if {"id", "timestamp"} <= first.keys() and "type" not in first and "instructions" in first:
        return first
    if first.get("type") not in TYPES or not isinstance(first.get("payload"), dict):
        return {}
    for line in iter_objects(head):
        if line.get("type") == "session_meta" and isinstance(line.get("payload"), dict):
            meta: Fields = line["payload"]
            return meta
    return {}


def find_parent(meta: Fields) -> str | None:
    """Return the thread that a sub-agent's thread belongs to."""
    source = meta.get("source")
    kind = source.get("subagent") if isinstance(source, dict) else None
    spawn = kind.get("thread_spawn") if isinstance(kind, dict) else None
    parent = spawn.get("parent_thread_id") if isinstance(spawn, dict) else None
    if parent is None and (kind is not None or meta.get("thread_source") == "subagent"):
        parent = meta.get("parent_thread_id")
    return parent if isinstance(parent, str) else None


@contextmanager
def unpack(path: Path) -> Iterator[Path]:
    """Yield a file with the plain lines of a rollout, which may be packed or have just been."""
    with ExitStack() as stack:
        for left in range(TRIES)[::-1]:
            try:
                plain = stack.enter_context(_unpack(path))
                break
            except FileNotFoundError:
                if not left:
                    raise
                path = path.with_suffix("") if path.suffix == ".zst" else Path(f"{path}.zst")
        yield plain


@contextmanager
def _unpack(path: Path) -> Iterator[Path]:
    with path.open("rb") as file:
        if path.suffix != ".zst":
            yield path
            return
        with TemporaryDirectory(prefix="plait-") as folder:
            plain = Path(folder, path.stem)
            size = 0
            with open_zstd(file) as unpacked, plain.open("wb") as out:
                while data := unpacked.read(1 << 20):
                    size += len(data)
                    if size > MOST_UNPACKED:
                        raise SourceError(f"'{path}' is larger than 8 GB when unpacked")
                    out.write(data)
            yield plain


class Item(NamedTuple):
    """A line of a rollout of which copies may stand in others."""

    kind: str
    payload: Fields
    data: bytes
    """The bytes that it had where it was first written; they make its uuid."""


def _read_items(path: Path, end: int | None = None, depth: int = 0) -> list[Item]:
    """Return the lines of a rollout up to an offset, and before them those that it continues."""
    with unpack(path) as plain:
        header = next(_iter_payloads(plain), {})
        items = []
        for base, stop in _find_bases(path, header) if not depth else ():
            items += _read_items(base, stop, depth + 1)
        copies = Copies(_read_origin(path, header, depth + 1))
        for line in iter_lines(plain, end=end):
            fields = parse_object(line.data)
            payload = fields.get("payload")
            if not isinstance(payload, dict) or fields.get("type") == "session_meta":
                continue
            kind = to_text(fields.get("type"))
            copy = copies.match(kind, payload)
            items.append(Item(kind, payload, copy.data if copy else line.data))
    return items


def _read_origin(path: Path, header: Fields, depth: int = 0) -> list[Item]:
    """Return the lines that a fork can have copied; none where its origin cannot be found."""
    origin = header.get("forked_from_id")
    if not isinstance(origin, str) or header.get("history_base") or depth > MOST_BASES:
        return []
    found = find_rollout(path, origin)
    return [] if found is None or found == path else _read_items(found, depth=depth)


class Copies:
    """The lines that a fork begins with, in the order of their originals.

    Copies may lack lines that only the screen needed; the first item that differs ends them.
    """

    def __init__(self, items: Sequence[Item] = ()) -> None:
        self._items = items
        self._at = 0

    def match(self, kind: str, payload: Fields) -> Item | None:
        """Return the original of a line, None for one of the fork's own."""
        for at in range(self._at, len(self._items)):
            item = self._items[at]
            if item.kind == kind and item.payload == payload:
                self._at = at + 1
                return item
            if item.kind in MODEL_LINES:
                break
        if kind in MODEL_LINES:
            self._at = len(self._items)
        return None


def _iter_payloads(path: Path) -> Iterator[Fields]:
    for line in iter_lines(path):
        payload = parse_object(line.data).get("payload")
        if isinstance(payload, dict):
            yield payload


def _find_bases(path: Path, header: Fields) -> list[tuple[Path, int | None]]:
    """Return the parts of other files that a rollout continues, earliest first."""
    bases: list[tuple[Path, int | None]] = []
    seen = {path.resolve()}
    while isinstance(base := header.get("history_base"), dict) and len(bases) < MOST_BASES:
        found = find_rollout(path, to_text(base.get("thread_id")))
        if found is None or found.resolve() in seen:
            break
        seen.add(found.resolve())
        path = found
        with unpack(found) as plain:
            bases.insert(0, (found, _find_end(plain, base)))
            header = next(_iter_payloads(plain), {})
    return bases


def _find_end(plain: Path, base: Fields) -> int | None:
    """Return where the continued stretch of a file ends, None for all of it."""
    if isinstance(offset := base.get("end_byte_offset"), int):
        return offset
    if isinstance(end := base.get("end_ordinal_exclusive"), int):
        for line in iter_lines(plain):
            ordinal = parse_object(line.data).get("ordinal")
            if isinstance(ordinal, int) and ordinal >= end:
                return line.offset
    return None


def find_rollout(near: Path, rollout: str) -> Path | None:
    """Return the file of another rollout of the same Codex folder."""
    if not re.fullmatch(UUID, rollout):
        return None
    home = next(
        (above for above in near.parents if (above / "sessions").is_dir()),
        near.parent,
    )
    found = [
        path
        for path in sorted(home.rglob(f"*{rollout}.jsonl*"))
        if (name := ROLLOUT.fullmatch(path.name)) and rollout == (name[2] or name[1])
    ]
    return found[0] if found else None


def find_title(path: Path, thread: str) -> str | None:
    """Return the last title that Codex's list or its database has for a thread."""
    index = next(
        (
            above / "session_index.jsonl"
            for above in path.parents
            if (above / "session_index.jsonl").is_file()
        ),
        None,
    )
    title = None
    if index is not None:
        for line in iter_lines(index):
            entry = parse_object(line.data)
            if entry.get("id") == thread and isinstance(entry.get("thread_name"), str):
                title = entry["thread_name"]
    return title or _find_name(path, thread)


def _find_name(path: Path, thread: str) -> str | None:
    for above in path.parents:
        for state in sorted(above.glob("state_*.sqlite"), reverse=True)[:1]:
            try:
                with closing(open_database(state)) as base:
                    row = base.execute(
                        "SELECT name FROM threads WHERE id = ?", (thread,)
                    ).fetchone()
            except sqlite3.Error:
                return None
            return row[0] if row and isinstance(row[0], str) else None
        if (above / "sessions").is_dir():
            break
    return None


class _Reading:
    """Translates the lines of a thread, over all files that it continues."""

    def __init__(self, out: Translation) -> None:
        self.out = out
        self.model: str | None = None
        self.response: str | None = None
        """The id of the response being received; None if the next item begins one."""
        self.totals: Fields = {}
        """The tokens of the thread so far, from the last line with usage."""
        self.prompts: tuple[str | None, ...] = ()
        """For each prompt of the conversation, the uuid before it."""
        self.typed: set[str] = set()
        """Texts that the screen showed as prompts."""
        self.written: dict[str, str] = {}
        """The texts of messages, with their uuids."""
        self.is_compacted = False
        """The last item was a compaction without a summary, which may follow."""
        self.agents: dict[str, str] = {}
        """The threads that calls have started."""
        self.seen: list[tuple[Item, str | None, tuple[str | None, ...]]] = []
        """The lines of this file, with the last uuid and the prompts after each."""
        self.copies = Copies()
        """The lines of which copies are expected next."""
        self.again: dict[int, tuple[str | None, tuple[str | None, ...]]] = {}
        """What stood after lines of this file that are expected to come again in it."""
        self.first: str | None = None
        """The thread's own id."""
        self.own_from = 0
        """The ordinal of the first line of a sub-agent that it did not inherit."""

    def expect(self, items: Sequence[Item]) -> None:
        """Expect copies of the lines of another thread."""
        self.copies, self.again = Copies(items), {}

    def read(self, path: Path, end: int | None = None, inherited_from: Path | None = None) -> None:
        """Translate the lines of one file, up to an offset."""
        self.typed, self.agents = _find_news(path, end)
        self.seen = []
        for line in self.out.lines(path, end, inherited_from):
            self._read_line(line)

    def _read_line(self, line: SourceLine) -> None:
        out, entry = self.out, line.fields
        payload = entry.get("payload")
        if not isinstance(payload, dict):
            self._read_legacy(entry)
            return
        out.timestamp = to_text(entry.get("timestamp")) or out.timestamp
        kind = to_text(entry.get("type"))
        if kind == "session_meta":
            self._meta(payload)
            return
        ordinal = entry.get("ordinal")
        if isinstance(ordinal, int) and ordinal < self.own_from:
            out.note("inherited")
            return
        assert out.line is not None
        item = Item(kind, payload, line.data)
        if copy := self.copies.match(kind, payload):
            if again := self.again.get(id(copy)):
                out.parent, self.prompts = again
                out.note("copied line")
                return
            out.start(line._replace(data=copy.data))
        self._item(kind, payload)
        self.seen.append((item, out.parent, self.prompts))

    def _meta(self, meta: Fields) -> None:
        out, thread = self.out, to_text(meta.get("id"))
        out.version = to_text(meta.get("cli_version")) or out.version
        git = meta.get("git")
        out.git_branch = (to_text(git.get("branch")) if isinstance(git, dict) else "") or None
        out.note("session_meta")
        if self.first is None:
            self.first = thread
            self.own_from = to_count(meta.get("subagent_history_start_ordinal"))
        elif self.seen and meta.get("forked_from_id"):  # a fork in the same file
            self.expect([item for item, _, _ in self.seen])
            self.again = {id(item): (uuid, prompts) for item, uuid, prompts in self.seen}
            out.parent, self.response, self.prompts = None, None, ()
        elif self.seen and thread not in (self.first, self.out.log.id):  # another thread altogether
            out.parent, self.response, self.totals, self.prompts = None, None, {}, ()

    def _item(self, kind: str, payload: Fields) -> None:
        out, what = self.out, to_text(payload.get("type"))
        match kind, what:
            case "response_item", _:
                self._response_item(what, payload)
            case "turn_context", _:
                self.model = to_text(payload.get("model")) or self.model
                out.cwd = to_text(payload.get("cwd")) or out.cwd
                out.note(kind)
            case "event_msg", "token_count":
                out.note(what)
                self._usage(payload.get("info"))
            case "event_msg", "thread_rolled_back":
                self._roll_back(to_count(payload.get("num_turns")))
                out.note(what)
            case "event_msg", "thread_name_updated":
                out.note(what)
                if title := to_text(payload.get("thread_name") or payload.get("name")):
                    out.title(title)
            case "event_msg", "turn_aborted":
                out.note(what)
                if payload.get("reason") in (None, "interrupted"):
                    out.user([make_text_block("[Request interrupted by user]")])
                self.response = None
            case "event_msg", "error" | "stream_error":
                out.system(to_text(payload.get("message")), level="error")
            case "compacted", _:
                self._compaction(payload)
            case "inter_agent_communication", _:
                self._message_of_agent(payload)
            case _ if kind in TYPES:
                out.note(what if kind == "event_msg" else kind)

    def _read_legacy(self, entry: Fields) -> None:
        """Read a line as versions up to 0.4x wrote it: an item without an envelope."""
        out = self.out
        if "instructions" in entry and "id" in entry:
            out.timestamp = to_text(entry.get("timestamp")) or out.timestamp
            git = entry.get("git")
            out.git_branch = (to_text(git.get("branch")) if isinstance(git, dict) else "") or None
            out.note("session_meta")
        elif "record_type" in entry:
            out.note("state")
        elif to_text(entry.get("type")) in ITEMS:
            out.timestamp = out.timestamp or ""
            self._response_item(to_text(entry["type"]), entry)

    def _response_item(self, what: str, item: Fields) -> None:
        out = self.out
        match what:
            case "message":
                self._message(item)
            case "agent_message":
                self._message_of_agent(item)
            case "reasoning":
                self._answer(_render_reasoning(item))
            case _ if what in CALL_ITEMS:
                self._answer(_render_call(what, item))
            case "web_search_call" | "image_generation_call":
                call = to_text(item.get("id")) or out.make_uuid(item)
                hidden = {"type", "id"}
                inputs = {name: value for name, value in item.items() if name not in hidden}
                image = to_text(inputs.pop("result", None)) if "image" in what else ""
                self._answer(make_call_block(call, what.removesuffix("_call"), inputs))
                status = to_text(item.get("status")) or "completed"
                content = [make_image_block(image, "image/png")] if image else status
                out.result(call, content, is_error=status == "failed")
            case _ if what in OUTPUT_ITEMS:
                self._output(item)
            case "compaction" | "context_compaction":
                out.compaction(sourceItem=what)
                self.response, self.is_compacted = None, True
            case _:
                return  # kept as an unknown line

    def _message(self, item: Fields) -> None:
        out, role = self.out, item.get("role")
        content = _content_blocks(item.get("content"))
        texts = [to_text(block.get("text")) for block in content]
        if role == "assistant":
            for block in content:
                self._answer(block)
            if not content:
                out.note("message")
            return
        self.response, self.is_compacted = None, False
        if role != "user":  # developer, system
            out.system("\n".join(texts))
            return
        is_typed = (
            any(text in self.typed for text in (*texts, "\n".join(texts)) if text)
            if self.typed
            else not texts or not texts[0].startswith(INJECTED)
        )
        before = out.parent
        uuid = out.user(content, isMeta=None if is_typed else True)
        self.written["\n".join(texts)] = uuid
        if is_typed:
            self.prompts = (*self.prompts, before)

    def _message_of_agent(self, message: Fields) -> None:
        """Write what one agent of a thread says to another."""
        people = [name for name in (message.get("author"), message.get("recipient")) if name]
        content = message.get("content")
        blocks = _content_blocks(content) or [make_text_block("(encrypted)")]
        names = [make_text_block(" → ".join(map(to_text, people)))] if people else []
        self.response = None
        self.out.user([*names, *blocks], isMeta=True)

    def _answer(self, block: Fields) -> None:
        out = self.out
        if self.response is None:
            line = out.line
            assert line is not None
            self.response = out.make_uuid(line.data, "response")
        self.is_compacted = False
        out.assistant([block], id=self.response, model=self.model)

    def _output(self, item: Fields) -> None:
        content, detail, is_error = _read_output(item)
        call = to_text(item.get("call_id"))
        if detail is None and call in self.agents:
            detail = {"agentId": self.agents[call], "status": "async_launched"}
        self.is_compacted = False
        self.out.result(call, content, is_error=is_error, detail=detail)

    def _usage(self, info: object) -> None:
        """Write the usage of one request, as one more line of its response.

        The same total is repeated with new rate limits; a total may jump without a request.
        """
        out = self.out
        if not isinstance(info, dict) or not isinstance(info.get("total_token_usage"), dict):
            return
        last, total = info.get("last_token_usage"), info["total_token_usage"]
        if total == self.totals or not isinstance(last, dict):
            return
        self.totals = total
        read = to_count(last.get("cached_input_tokens"))
        written = to_count(last.get("cache_write_input_tokens"))
        usage = {
            "input_tokens": max(to_count(last.get("input_tokens")) - read - written, 0),
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "output_tokens": to_count(last.get("output_tokens")),
        }
        if any(usage.values()):
            line = out.line
            assert line is not None
            id_ = self.response or out.make_uuid(line.data, "response")
            out.assistant([], id=id_, model=self.model, usage=usage)
        self.response = None

    def _roll_back(self, turns: int) -> None:
        """Go back to before the last prompts."""
        if not turns or not self.prompts:
            return
        before = self.prompts[-turns:][0]
        self.prompts = self.prompts[:-turns]
        self.response = None
        self.out.rewind(before)

    def _compaction(self, payload: Fields) -> None:
        """Write the history that replaces the one so far: messages that stay, and what is new."""
        out, history = self.out, payload.get("replacement_history")
        message = to_text(payload.get("message"))
        new, kept = [message] if message else [], []
        for item in iter_dicts(history):
            blocks = _content_blocks(item.get("content"))
            text = "\n".join(to_text(block.get("text")) for block in blocks)
            if text in self.written:
                kept.append(self.written[text])
            elif text and text not in new:
                new.append(text)
        summary = "\n\n".join(new) or None
        if not self.is_compacted:
            out.compaction(summary, kept=kept, replacementHistory=history)
        elif summary:
            out.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        self.response, self.is_compacted = None, False


class _Item(NamedTuple):
    """An item of the history that Codex sends, with its place."""

    fields: Fields
    line: int | None = None
    path: str | None = None

    @property
    def kind(self) -> str:
        return to_text(self.fields.get("type"))

    @property
    def text(self) -> str:
        blocks = _content_blocks(self.fields.get("content"))
        return "\n".join(to_text(block.get("text")) for block in blocks)

    @property
    def is_context(self) -> bool:
        """Whether Codex itself wrote it about its surroundings."""
        role = self.fields.get("role")
        is_given = role == "developer" or (role == "user" and self.text.startswith(INJECTED))
        return self.kind == "message" and is_given

    @property
    def is_prompt(self) -> bool:
        is_user = self.kind == "message" and self.fields.get("role") == "user"
        return is_user and not self.is_context


@dataclass(slots=True)
class _Turn:
    """A turn of the history; going back before it undoes its compaction, too."""

    start: int
    before: list[_Item] | None = None
    """The items before the turn, where a compaction has replaced them since."""
    has_prompt: bool = False


class _History:
    """The items that Codex sends, rebuilt line by line."""

    def __init__(self) -> None:
        self.items: list[_Item] = []
        self.first: str | None = None
        self.turns: list[_Turn] = []

    def read(self, path: Path, end: int | None = None, base: str | None = None) -> None:
        """Replay the lines of a rollout, up to an offset."""
        for line in iter_lines(path, end=end):
            fields = parse_object(line.data)
            payload = fields.get("payload")
            kind = to_text(fields.get("type"))
            if not isinstance(payload, dict):  # before 0.4x an item without an envelope
                self._append(fields, line.number, base)
            elif kind == "session_meta":
                self._start(payload)
            elif kind == "response_item":
                self._append(payload, line.number, base)
            elif kind == "inter_agent_communication":
                self._append(payload | {"type": "agent_message"}, line.number, base)
            elif kind == "compacted":
                self._compact(payload, line.number, base)
            elif payload.get("type") == "task_started":
                self.turns.append(_Turn(len(self.items)))
            elif payload.get("type") == "thread_rolled_back":
                self._roll_back(to_count(payload.get("num_turns")))

    def _start(self, meta: Fields) -> None:
        """Begin another thread in the same file, which copies what it keeps."""
        thread = to_text(meta.get("id"))
        if self.first is not None and thread != self.first:
            self.items, self.turns = [], []
        self.first = self.first or thread

    def _append(self, item: Fields, line: int, base: str | None) -> None:
        if to_text(item.get("type")) in ITEMS and item.get("role") != "system":
            self.items.append(_Item(item, line, base))
            if self.turns and self.items[-1].is_prompt:
                self.turns[-1].has_prompt = True

    def _compact(self, payload: Fields, line: int, base: str | None) -> None:
        history = payload.get("replacement_history")
        if self.turns and self.turns[-1].before is None:
            self.turns[-1].before = self.items[: self.turns[-1].start]
        if isinstance(history, list):
            known = {(item.kind, item.text): item for item in self.items if item.text}
            new = [_Item(fields, line, base) for fields in iter_dicts(history)]
            self.items = [known.get((item.kind, item.text), item) for item in new]
            return
        # Up to 0.4x nothing but prompts stays, the newest 20,000 tokens of them.
        room, kept = KEPT_BYTES, list[_Item]()
        for item in [item for item in self.items if item.is_prompt][::-1]:
            room -= len(item.text.encode("utf-8", "replace"))
            if room < 0:
                break
            kept.insert(0, item)
        text = to_text(payload.get("message")) or "(no summary available)"
        content = [{"type": "input_text", "text": text}]
        summary = {"type": "message", "role": "user", "content": content}
        self.items = [*kept, _Item(summary, line, base)]

    def _roll_back(self, turns: int) -> None:
        """Drop the last turns; before Codex noted turns, the last prompts and what it added."""
        while self.turns and turns:
            turn = self.turns.pop()
            turns -= turn.has_prompt
            self.items = self.items[: turn.start] if turn.before is None else turn.before
        prompts = [at for at, item in enumerate(self.items) if item.is_prompt]
        if not turns or not prompts:
            return
        cut = prompts[-turns:][0]
        while cut > prompts[0] and self.items[cut - 1].is_context:
            cut -= 1
        del self.items[cut:]

    def render(self) -> list[SentMessage]:
        """Return the items as messages, with results for calls without one."""
        answered = {
            to_text(item.fields.get("call_id")) for item in self.items if item.kind in OUTPUT_ITEMS
        }
        sent: list[SentMessage] = []
        for item in self.items:
            lines = (item.line,) if item.line is not None else ()
            role, block = to_text(item.fields.get("role")), None
            match item.kind:
                case "message":
                    blocks = _content_blocks(item.fields.get("content"))
                    sent.append(SentMessage(role or "user", blocks, lines, item.path))
                case "agent_message":
                    blocks = _content_blocks(item.fields.get("content"))
                    blocks = blocks or [make_text_block("(encrypted)")]
                    sent.append(SentMessage("user", blocks, lines, item.path))
                case "reasoning":
                    block = _render_reasoning(item.fields)
                case "compaction" | "context_compaction":
                    block = make_text_block("(encrypted summary)")
                case kind if kind in OUTPUT_ITEMS:
                    call = to_text(item.fields.get("call_id"))
                    content = _read_output(item.fields)[0]
                    result = {"type": "tool_result", "tool_use_id": call, "content": content}
                    sent.append(SentMessage("user", [result], lines, item.path))
                case kind:
                    block = _render_call(kind, item.fields)
            if block is not None:
                sent.append(SentMessage("assistant", [block], lines, item.path))
            if item.kind in CALL_ITEMS and block is not None and block["id"] not in answered:
                result = {"type": "tool_result", "tool_use_id": block["id"], "content": "aborted"}
                sent.append(SentMessage("user", [result]))
        return sent


def _render_reasoning(item: Fields) -> Fields:
    parts = [*iter_dicts(item.get("summary")), *iter_dicts(item.get("content"))]
    text = "\n\n".join(to_text(part.get("text")) for part in parts)
    return make_thinking_block(text, to_text(item.get("encrypted_content")) or None)


def _render_call(what: str, item: Fields) -> Fields:
    """Return the block of a call."""
    call = to_text(item.get("call_id")) or to_text(item.get("id"))
    if what == "local_shell_call":
        return make_call_block(call, "local_shell", item.get("action"))
    name = to_text(item.get("name")) or what.removesuffix("_call")
    if what in CALL_ITEMS:
        return make_call_block(call, name, parse_json(item.get("arguments", item.get("input"))))
    inputs = {name: value for name, value in item.items() if name not in ("type", "id", "result")}
    return make_call_block(call, name, inputs)


def _read_output(item: Fields) -> tuple[str | list[Fields], Any, bool]:
    """Return the content of a call's result, what else is known of it, and whether it failed."""
    output = parse_json(item.get("output", item.get("tools")))
    detail: Any = None
    is_error = item.get("success") is False
    if isinstance(output, dict) and "output" in output:  # the form up to 0.4x
        detail = output.get("metadata")
        code = detail.get("exit_code") if isinstance(detail, dict) else None
        output = output["output"]
        is_error = is_error or bool(code)
    elif isinstance(output, dict) and "content" in output:
        is_error = is_error or output.get("success") is False
        output = output["content"]
    if isinstance(output, list):
        return _content_blocks(output), detail, is_error
    content = to_text(output)
    code = EXIT_CODE.search(content)
    is_error = is_error or (code is not None and code[1] != "0")
    started = parse_json(content)
    if isinstance(started, dict) and isinstance(started.get("agent_id"), str):
        detail = {"agentId": started["agent_id"], "status": "async_launched"}
    return content, detail, is_error


def _find_news(path: Path, end: int | None) -> tuple[set[str], dict[str, str]]:
    """Return the texts that the screen showed as prompts, and the threads that calls started."""
    texts: set[str] = set()
    agents: dict[str, str] = {}
    for line in iter_lines(path, end=end):
        if not any(name in line.data for name in NEWS):
            continue
        payload = parse_object(line.data).get("payload")
        if not isinstance(payload, dict):
            continue
        item = payload.get("item")
        item = item if isinstance(item, dict) else {}
        if payload.get("type") == "user_message":
            texts.add(to_text(payload.get("message")))
        elif item.get("type") == "UserMessage":
            texts.add(
                "\n".join(to_text(part.get("text")) for part in iter_dicts(item.get("content")))
            )
        call = next(
            (to_text(row[name]) for row in (payload, item) for name in CALLS if row.get(name)), ""
        )
        thread = next(
            (row[name] for row in (payload, item) for name in THREADS if row.get(name)), ""
        )
        thread = thread[0] if isinstance(thread, list) else thread
        if call and isinstance(thread, str) and thread:
            agents[call] = thread
    return texts, agents


def _content_blocks(content: object) -> list[Fields]:
    if isinstance(content, str):
        return [make_text_block(content)] if content else []
    return [_content_block(part) for part in iter_dicts(content)]


def _content_block(part: Fields) -> Fields:
    match = DATA_URL.fullmatch(to_text(part.get("image_url")))
    if match:
        return make_image_block(match[2], match[1])
    return make_text_block(to_text(part.get("text", part)))
