"""Pi: one JSON line per entry, each naming its parent.

    ~/.pi/agent/sessions/--<directory>--/<time>_<id>.jsonl

Entries of a fork keep ids and times, so that what was copied is counted once. Entries without a
message (a change of model, a label) are notes, and what hangs on one hangs on its parent.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from plait.line import iter_lines
from plait.sources.base import SentMessage, Source, SourceLog, parse_first_object, parse_object
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
    number_of,
    to_count,
    to_text,
)

NOTES = frozenset("session model_change thinking_level_change label session_info custom".split())
COMPACTED = (
    "The conversation history before this point was compacted into the following summary:\n\n"
    "<summary>\n{}\n</summary>"
)
BRANCH_LEFT = (
    "The following is a summary of a branch that this conversation came back from:\n\n"
    "<summary>\n{}</summary>"
)
"""What Pi says around a summary."""
NO_RESULT = "No result provided"
STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "toolUse": "tool_use"}


class Pi(Source):
    """The logs of Pi."""

    name = "pi"
    title = "Pi"
    roots = ROOTS["pi"]
    verified = "1.5.2"

    def find(self, path: Path, head: bytes) -> Iterable[SourceLog]:
        """Return the session of a file whose first line is Pi's header."""
        header = parse_first_object(head)
        is_header = header.get("type") == "session" and {"timestamp", "cwd"} & header.keys()
        if not is_header or not isinstance(header.get("id"), str):
            return []
        return [SourceLog("pi", header["id"], str(path), cwd=to_text(header.get("cwd")) or None)]

    def translate(self, log: SourceLog, out: Translation) -> None:
        """Write the entries of a session."""
        reading = _Reading(out)
        for line in out.lines():
            reading.read(line)
        reading.end()

    def resume_command(self, log: SourceLog) -> list[str]:
        """Return the command that resumes a session in Pi."""
        return ["pi", "--session", log.path]

    def read_context(self, log: SourceLog) -> list[SentMessage]:
        """Return what Pi sends of the branch that the file ends with."""
        return _Context(Path(log.path)).build()


class _Entry(NamedTuple):
    """An entry of a file with its line."""

    line: int
    fields: Fields


class _Context:
    """What Pi sends when it resumes a session: its `buildSessionProjection` and what follows it."""

    def __init__(self, path: Path) -> None:
        entries = [_Entry(line.number, parse_object(line.data)) for line in iter_lines(path)]
        entries = [entry for entry in entries if entry.fields]
        self.path = _find_path(entries)
        self.edits: dict[str, object] = {}
        """What later entries put in place of messages; None for those that were removed."""
        self.model: tuple[object, object] = (None, None)
        for entry in self.path:
            fields, message = entry.fields, _message_of(entry.fields)
            if fields.get("type") == "model_change":
                self.model = fields.get("provider"), fields.get("modelId")
            elif message.get("role") == "assistant":
                self.model = message.get("provider"), message.get("model")

    def build(self) -> list[SentMessage]:
        """Return the messages of the branch since its last compaction, that one first."""
        entries = self._select_entries()
        for entry in entries:
            if entry.fields.get("type") == "context_edit":
                target = to_text(entry.fields.get("targetId"))
                self.edits[target] = entry.fields.get("replacement")
        sent: list[SentMessage] = []
        open_calls: dict[str, int] = {}
        for number, entry in enumerate(entries):
            if entry.fields.get("type") == "compaction" and number:
                continue
            for message in self._render(entry):
                if message.role == "assistant" or not _is_result(message):
                    sent += _close_calls(open_calls)
                calls = [block for block in message.content if block["type"] == "tool_use"]
                open_calls |= {call["id"]: entry.line for call in calls}
                if _is_result(message):
                    open_calls.pop(message.content[0]["tool_use_id"], None)
                sent.append(message)
        return sent + _close_calls(open_calls)

    def _select_entries(self) -> list[_Entry]:
        """Return the last compaction, what it keeps and what follows; all without one."""
        compactions = [
            at for at, entry in enumerate(self.path) if entry.fields.get("type") == "compaction"
        ]
        if not compactions:
            return self.path
        at = compactions[-1]
        first = self.path[at].fields.get("firstKeptEntryId")
        names = [entry.fields.get("id") for entry in self.path[:at]]
        start = names.index(first) if first in names else at
        kept = [
            entry
            for entry in self.path[start:at]
            if _message_of(entry.fields).get("role") != "system"
        ]
        return [self.path[at], *kept, *self.path[at + 1 :]]

    def _render(self, entry: _Entry) -> Iterator[SentMessage]:
        """Yield the messages of an entry, with the edits of later ones."""
        fields, lines = entry.fields, (entry.line,)
        name = to_text(fields.get("id"))
        if name in self.edits and self.edits[name] is None:
            return
        match fields.get("type"):
            case "message":
                message = _message_of(fields)
                edit = self.edits.get(name)
                if isinstance(edit, dict) and message.get("role") in EDITED:
                    message = message | {"content": edit.get("content")}
                yield from self._render_message(message, lines)
            case "custom_message":
                edit = self.edits.get(name)
                content = edit.get("content") if isinstance(edit, dict) else fields.get("content")
                yield SentMessage("user", _block_list(content), lines)
            case "branch_summary" if fields.get("summary"):
                text = BRANCH_LEFT.format(to_text(fields["summary"]))
                yield SentMessage("user", [make_text_block(text)], lines)
            case "compaction":
                system = fields.get("systemMessage")
                if isinstance(system, dict) and (text := _join_sections(system)):
                    yield SentMessage("system", [make_text_block(text)], lines)
                text = COMPACTED.format(to_text(fields.get("summary")))
                yield SentMessage("user", [make_text_block(text)], lines)

    def _render_message(self, message: Fields, lines: tuple[int, ...]) -> Iterator[SentMessage]:
        match message.get("role"):
            case "user" | "custom" | "hookMessage":
                yield SentMessage("user", _block_list(message.get("content")), lines)
            case "assistant" if message.get("stopReason") not in ("error", "aborted"):
                is_own = self.model == (message.get("provider"), message.get("model"))
                blocks = [
                    block
                    for block in _answer_blocks(message.get("content"))
                    if block["type"] != "thinking"
                    or (is_own and (block.get("signature") or block["thinking"].strip()))
                ]
                yield SentMessage("assistant", blocks, lines)
            case "toolResult":
                yield _make_result(
                    to_text(message.get("toolCallId")), _blocks(message.get("content")), lines
                )
            case "bashExecution" if not message.get("excludeFromContext"):
                yield SentMessage("user", [make_text_block(_render_shell(message))], lines)
            case "system" if text := _join_sections(message):
                yield SentMessage("system", [make_text_block(text)], lines)
            case "branchSummary" | "compactionSummary" as role:
                form = COMPACTED if role == "compactionSummary" else BRANCH_LEFT
                text = form.format(to_text(message.get("summary")))
                yield SentMessage("user", [make_text_block(text)], lines)


EDITED = ("user", "assistant", "toolResult", "custom")
"""The roles of messages that an edit of the context changes."""


def _message_of(entry: Fields) -> Fields:
    message = entry.get("message") if entry.get("type") == "message" else None
    return message if isinstance(message, dict) else {}


def _find_path(entries: list[_Entry]) -> list[_Entry]:
    """Return the entries from a root to the last entry; in version 1 they have no ids."""
    header = next((item.fields for item in entries if item.fields.get("type") == "session"), {})
    if to_count(header.get("version")) < 2:
        for number, entry in enumerate(entries):
            if (first := entry.fields.get("firstKeptEntryIndex")) is not None:
                entry.fields["firstKeptEntryId"] = f"#{first}"
            entry.fields.setdefault("id", f"#{number}")
        return [entry for entry in entries if entry.fields.get("type") != "session"]
    entries = [entry for entry in entries if entry.fields.get("type") != "session"]
    by_id = {to_text(entry.fields.get("id")): entry for entry in entries}
    path: list[_Entry] = []
    seen: set[int] = set()
    current = entries[-1] if entries else None
    while current is not None and current.line not in seen:
        seen.add(current.line)
        path.insert(0, current)
        parent = current.fields.get("parentId")
        current = by_id.get(parent) if isinstance(parent, str) else None
    return path


def _is_result(message: SentMessage) -> bool:
    return bool(message.content) and message.content[0]["type"] == "tool_result"


def _make_result(call: str, content: str | list[Fields], lines: tuple[int, ...]) -> SentMessage:
    block = {"type": "tool_result", "tool_use_id": call, "content": content}
    return SentMessage("user", [block], lines)


def _close_calls(calls: dict[str, int]) -> list[SentMessage]:
    """Return the results that Pi makes up for calls without one."""
    closed = [_make_result(call, NO_RESULT, ()) for call in calls]
    calls.clear()
    return closed


def _render_shell(message: Fields) -> str:
    """Return what Pi says of a command that the user ran."""
    output, code = to_text(message.get("output")), message.get("exitCode")
    text = f"Ran `{to_text(message.get('command'))}`\n"
    text += f"```\n{output}\n```" if output else "(no output)"
    if message.get("cancelled"):
        text += "\n\n(command cancelled)"
    elif code:
        text += f"\n\nCommand exited with code {to_text(code)}"
    if message.get("truncated") and message.get("fullOutputPath"):
        text += f"\n\n[Output truncated. Full output: {to_text(message['fullOutputPath'])}]"
    return text


def _block_list(content: object) -> list[Fields]:
    blocks = _blocks(content)
    return blocks if isinstance(blocks, list) else [make_text_block(blocks)]


class _Reading:
    """Translates the entries of one file."""

    def __init__(self, out: Translation) -> None:
        self.out = out
        self.uuids: dict[str, str | None] = {}
        """The uuid for each entry; for a note that of its parent."""
        self.parents: dict[str, str] = {}
        """The parent of each entry."""
        self.lines: dict[str, list[str]] = {}
        """The uuids of what was written of each entry; version 1 names it by its number."""
        self.last: str | None = None
        """What stands for the last entry."""
        self.end_of_messages: str | None = None
        """The last message."""

    def read(self, line: SourceLine) -> None:
        """Translate one entry."""
        out, entry = self.out, line.fields
        kind = to_text(entry.get("type"))
        if "parentId" in entry:
            out.parent = self.uuids.get(to_text(entry["parentId"]))
        before, name = out.parent, to_text(entry.get("id")) or str(len(self.lines))
        out.made = self.lines[name] = []
        out.timestamp = to_text(entry.get("timestamp")) or out.timestamp
        match kind:
            case "session":
                out.version = to_text(entry.get("version")) or None
                out.note("session")
            case "message" if isinstance(entry.get("message"), dict):
                self._message(entry, entry["message"])
            case "compaction":
                self._compaction(entry)
            case "branch_summary":
                if out.parent != self.end_of_messages:
                    out.rewind(out.parent)
                out.user(to_text(entry.get("summary")), uuid=self._uuid(entry), isMeta=True)
                self._service(entry, entry.get("usage"))
            case "custom_message":
                out.user(_blocks(entry.get("content")), uuid=self._uuid(entry), isMeta=True)
            case "context_edit":
                new = entry.get("replacement")
                text = _join_texts(new.get("content")) if isinstance(new, dict) else ""
                what = f"replaced in the context by: {text}" if text else "removed from the context"
                out.system(f"An earlier message was {what}", uuid=self._uuid(entry))
            case "usage":
                out.note("usage")
                self._service(entry, entry.get("usage"))
            case _ if kind in NOTES:
                out.note(kind)
                if kind == "session_info" and isinstance(entry.get("name"), str):
                    out.title(entry["name"])
            case _ if isinstance(entry.get("usage"), dict):
                out.unknown(kind or "untyped")
                self._service(entry, entry["usage"])
        self.last = out.parent
        if out.parent not in (None, before):
            self.end_of_messages = out.parent
        if isinstance(entry.get("id"), str) and kind != "session":
            self.uuids[entry["id"]] = out.parent
            self.parents[entry["id"]] = to_text(entry.get("parentId"))

    def end(self) -> None:
        """Stand where the last entry stands, which may be no message."""
        if self.last != self.end_of_messages:
            self.out.rewind(self.last)

    def _uuid(self, entry: Fields) -> str | None:
        if not isinstance(entry.get("id"), str):
            return None  # version 1 has none: made from the line
        return self.out.make_uuid(entry["id"], entry.get("timestamp"))

    def _message(self, entry: Fields, message: Fields) -> None:
        out, uuid = self.out, self._uuid(entry)
        match message.get("role"):
            case "user":
                out.user(_blocks(message.get("content")), uuid=uuid)
            case "assistant":
                usage = message.get("usage")
                is_error = message.get("stopReason") == "error"
                content = [*_answer_blocks(message.get("content"))]
                if isinstance(message.get("errorMessage"), str):  # aborted ones have it too
                    content.append(make_text_block(message["errorMessage"]))
                out.assistant(
                    content,
                    id=uuid or out.make_uuid(entry),  # not every model's `responseId` is its own
                    uuid=uuid,
                    model=to_text(message.get("model")) or None,
                    usage=_usage(usage),
                    stop_reason=STOP_REASONS.get(to_text(message.get("stopReason"))),
                    costUSD=_cost(usage),
                    isApiErrorMessage=(is_error and len(content) < 2) or None,
                )
            case "toolResult":
                out.result(
                    to_text(message.get("toolCallId")),
                    _blocks(message.get("content")),
                    is_error=message.get("isError") is True,
                    detail=message.get("details"),
                    uuid=uuid,
                )
                self._service(entry, message.get("usage"))
            case "bashExecution":
                out.user(f"<bash-input>{to_text(message.get('command'))}</bash-input>", uuid=uuid)
                output = to_text(message.get("output"))
                code = message.get("exitCode")
                error = f"exit code {code}" if code else ""
                out.user(f"<bash-stdout>{output}</bash-stdout><bash-stderr>{error}</bash-stderr>")
            case "system":
                out.system(_join_sections(message), uuid=uuid)
                out.made.clear()  # a compaction has one of its own
            case "branchSummary" | "compactionSummary":
                out.user(to_text(message.get("summary")), uuid=uuid, isMeta=True)
            case "custom" | "hookMessage":
                out.user(_blocks(message.get("content")), uuid=uuid, isMeta=True)
            case _:
                pass  # kept as an unknown line

    def _compaction(self, entry: Fields) -> None:
        out = self.out
        metadata: dict[str, Any] = {"preTokens": entry.get("tokensBefore")}
        out.compaction(to_text(entry.get("summary")), kept=self._find_kept(entry), **metadata)
        system = entry.get("systemMessage")
        if isinstance(system, dict) and (text := _join_sections(system)):
            out.system(text)
        self._service(entry, entry.get("usage"))

    def _find_kept(self, entry: Fields) -> list[str]:
        """Return the messages before a compaction that stay in the context."""
        index = entry.get("firstKeptEntryIndex")
        if isinstance(index, int) and "firstKeptEntryId" not in entry:  # version 1
            entries = [*self.lines.values()][max(index, 0) : -1]
            return [uuid for uuids in entries for uuid in uuids]
        first, name = to_text(entry.get("firstKeptEntryId")), to_text(entry.get("parentId"))
        kept: list[str] = []
        seen: set[str] = set()
        while name in self.uuids and name not in seen and name != to_text(entry.get("id")):
            seen.add(name)
            kept += self.lines.get(name, [])[::-1]
            if name == first:
                return kept[::-1]
            name = self.parents[name]
        return []

    def _service(self, entry: Fields, usage: object) -> None:
        """Write a request that is billed, but whose response is not part of the conversation."""
        out = self.out
        if (tokens := _usage(usage)) is None:
            return
        made, out.made = out.made, []
        parent, out.parent = out.parent, None
        out.agent = f"aside_question-{to_text(entry.get('id'))}"
        id_ = out.make_uuid(entry.get("id"), entry.get("timestamp"), "usage")
        model = to_text(entry.get("model")) or None
        out.assistant([], id=id_, uuid=id_, model=model, usage=tokens, costUSD=_cost(usage))
        out.agent, out.parent, out.made = None, parent, made


def _blocks(content: object) -> str | list[Fields]:
    """Return the content of a prompt or a result."""
    if not isinstance(content, list):
        return to_text(content)
    return [
        make_image_block(to_text(block.get("data")), to_text(block.get("mimeType")))
        if block.get("type") == "image"
        else make_text_block(to_text(block.get("text", block)))
        for block in iter_dicts(content)
    ]


def _answer_blocks(content: object) -> Iterable[Fields]:
    if isinstance(content, str):
        yield make_text_block(content)
    for block in iter_dicts(content):
        match block.get("type"):
            case "thinking":
                signature = to_text(block.get("thinkingSignature")) or None
                yield make_thinking_block(to_text(block.get("thinking")), signature)
            case "toolCall":
                name = to_text(block.get("name"))
                yield make_call_block(to_text(block.get("id")), name, block.get("arguments"))
            case _:
                yield make_text_block(to_text(block.get("text", block)))


def _join_texts(content: object) -> str:
    blocks = _blocks(content)
    return blocks if isinstance(blocks, str) else "\n".join(to_text(b.get("text")) for b in blocks)


def _join_sections(message: Fields) -> str:
    sections = message.get("sections")
    texts = [_join_texts(message.get("content"))]
    texts += map(to_text, sections.values() if isinstance(sections, dict) else ())
    return "\n\n".join(filter(None, texts))


def _usage(usage: object) -> dict[str, int] | None:
    if not isinstance(usage, dict):
        return None
    names = {
        "input_tokens": "input",
        "cache_creation_input_tokens": "cacheWrite",
        "cache_read_input_tokens": "cacheRead",
        "output_tokens": "output",
    }
    return {name: to_count(usage.get(key)) for name, key in names.items()}


def _cost(usage: object) -> float | None:
    cost = usage.get("cost") if isinstance(usage, dict) else None
    total = cost.get("total") if isinstance(cost, dict) else None
    return number_of(total)
