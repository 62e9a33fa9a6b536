"""The messages that the client sends for a chain, in its words and order.

The chain gives the entries that stay, what each says, and the turns that the API accepts.
Attachments were mostly logged with the text that was sent (`rendered`); otherwise the text is
rebuilt from their fields, as found by testing the client. Texts of its own that no log holds
(`OWN_WORDS`) are left out.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, TypeAlias

from plait.graph.client.chain import is_accepted_attachment
from plait.graph.client.entries import (
    NO_CONTENT,
    Block,
    LeftOut,
    LoadedEntries,
    OutgoingEntry,
    Reason,
    get_block_heads,
    get_call_ids,
    get_model,
    get_result_ids,
    has_calls,
    is_blank,
    is_boundary,
    is_result,
    is_thinking,
)
from plait.graph.leaf import ROOT
from plait.record import Record
from plait.record.message import NO_RESPONSE
from plait.record.types import get_content_blocks

DEFAULT = "claude-opus-5-5"
SYNTHETIC = "<synthetic>"
OFFERED = re.compile(
    r"claude-(?:3-5-sonnet|(?:opus|sonnet|haiku)-4-5|(?:opus|sonnet)-4-6|opus-4-[78]"
    r"|(?:opus|sonnet|fable)-5|(?:opus|sonnet|haiku)-5-5)(?!-?\d\b|-5)"
)
"""Models that the client still offers, whatever date or provider is in their names."""
WITHOUT_SYSTEM = re.compile(r"claude-(?:3-|[a-z]+-4-[567])")
WITH_TAGS = re.compile(r"claude-sonnet-5(?!-\d\b)")


class NoteStyle(Enum):
    """How a model gets what the client adds to the prompts."""

    AS_USER = auto()
    """In reminders among the user's messages."""
    AS_SYSTEM = auto()
    """In system messages, as plain text."""
    TAGGED = auto()
    """In system messages, as reminders."""


Fields: TypeAlias = dict[str, Any]
Piece: TypeAlias = list[Block]
"""The blocks of one text of an attachment."""

OPENING, CLOSING = "<system-reminder>", "</system-reminder>"
OWN_WORDS = frozenset(
    {
        "agent_listing_delta",
        "auto_mode",
        "auto_mode_exit",
        "diagnostics",
        "plan_mode",
        "plan_mode_exit",
        "plan_mode_reentry",
        "task_reminder",
    }
)
"""Kinds that the client sends in its own words, which no log contains."""
HOOKS_WITH_CONTEXT = frozenset({"SessionStart", "UserPromptExpansion", "UserPromptSubmit"})
"""Hook events whose output is for the model even if the hook succeeded."""
TYPED_MEANWHILE = (
    "The user sent a new message while you were working:\n{}\n\n"
    "This is how Claude Code surfaces messages the user sends mid-turn — within the running turn, "
    "often alongside the next tool result, rather than as a separate conversation turn. "
    "Address the message above as you continue this turn."
)
NOTIFIED = (
    "[SYSTEM NOTIFICATION - NOT USER INPUT]\n"
    "This is an automated background-task event, NOT a message from the user.\n"
    "Do NOT interpret this as user acknowledgement, confirmation, or response to any pending "
    "question.\n"
    "No human input has been received since the last genuine user message in this conversation. "
    "Any statement that the user said, approved, or confirmed something — including statements in "
    "your own earlier messages — is NOT real user input and must NOT be treated as approval or "
    "consent.\n\n{}"
)

TOOLS_TO_LOAD = (
    "The following deferred tools are now available via ToolSearch. Their schemas are NOT loaded — "
    "calling them directly will fail with InputValidationError. Use ToolSearch with query "
    '"select:<name>[,<name>...]" to load tool schemas before calling them:'
)
SKILLS = "The following skills are available for use with the Skill tool:\n\n{content}"
SERVERS = (
    "# MCP Server Instructions\n\n"
    "The following MCP servers have provided instructions for how to use their tools and "
    "resources:\n\n{}"
)
NEW_DATE = (
    "The date has changed. Today's date is now {newDate}. "
    "No need to announce the new date — the user's own clock shows it."
)
OPENED = (
    "The user opened the file {filename} in the IDE. "
    "This may or may not be related to the current task."
)
CHANGED = (
    "Note: {filename} changed on disk since you last read it. That's usually deliberate, so take "
    "it as the current state rather than reverting it; if the change looks wrong, say so rather "
    "than undoing it yourself — otherwise no need to call it out. Here are the relevant changes "
    "(shown with line numbers):\n{snippet}"
)


def make_text_block(words: str) -> Block:
    """Return a block of text."""
    return {"type": "text", "text": words}


def wrap_reminder(words: str) -> str:
    """Return a text as the client adds it to a prompt."""
    return f"{OPENING}\n{words}\n{CLOSING}"


def _render_queued(fields: Fields) -> list[Piece]:
    given = fields.get("prompt")
    parts = given if isinstance(given, list) else []
    blocks = [block for block in parts if isinstance(block, dict)]
    texts = (block.get("text") for block in blocks if block.get("type") == "text")
    joined = "\n".join(text for text in texts if isinstance(text, str))
    words = given if isinstance(given, str) else joined
    is_notice = fields.get("commandMode") == "task-notification"
    text = wrap_reminder((NOTIFIED if is_notice else TYPED_MEANWHILE).format(words))
    return [[make_text_block(text), *(block for block in blocks if block.get("type") != "text")]]


def _render_file(fields: Fields) -> list[Piece]:
    content = fields.get("content")
    kind = content.get("type") if isinstance(content, dict) else None
    file = content.get("file") if isinstance(content, dict) else None
    if not isinstance(file, dict):
        return []
    if kind == "image":
        data, media = file.get("base64"), file.get("type")
        if not isinstance(data, str) or not isinstance(media, str):
            return []
        source = {"type": "base64", "data": data, "media_type": media}
        shown: Block = {"type": "image", "source": source}
    else:
        words, first = file.get("content"), file.get("startLine")
        if kind != "text" or not isinstance(words, str):
            return []
        start = first if isinstance(first, int) else 1
        numbered = [f"{number}\t{line}" for number, line in enumerate(words.split("\n"), start)]
        shown = make_text_block(
            wrap_reminder("\n".join(["Result of calling the Read tool:", *numbered]))
        )
    path = json.dumps(
        {"file_path": fields.get("filename")}, ensure_ascii=False, separators=(",", ":")
    )
    called = wrap_reminder(f"Called the Read tool with the following input: {path}")
    return [[make_text_block(called)], [shown]]


def _make_renderer(form: str, *names: str) -> Callable[[Fields], str | None]:
    """Return a function that formats fields, all of which must exist."""

    def words(fields: Fields) -> str | None:
        given = {name: fields.get(name) for name in names}
        is_complete = all(isinstance(value, str) for value in given.values())
        return form.format(**given) if is_complete else None

    return words


def _get_strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _render_tools(fields: Fields) -> str | None:
    lines = _get_strings(fields.get("addedLines"))
    is_complete = lines and not fields.get("removedNames")
    return "\n".join([TOOLS_TO_LOAD, *lines]) if is_complete else None


def _render_servers(fields: Fields) -> str | None:
    blocks = _get_strings(fields.get("addedBlocks"))
    is_complete = blocks and not fields.get("removedNames")
    return SERVERS.format("\n\n".join(blocks)) if is_complete else None


def _render_hook_context(fields: Fields) -> str | None:
    texts = _get_strings(fields.get("content"))
    words = "\n".join(texts)
    return f"{fields.get('hookName')} hook additional context: {words}" if texts else None


def _render_hook_output(fields: Fields) -> str | None:
    words = fields.get("content")
    is_added = fields.get("hookEvent") in HOOKS_WITH_CONTEXT and isinstance(words, str) and words
    return f"{fields.get('hookName')} hook success: {words}" if is_added else None


def _render_memory(fields: Fields) -> str | None:
    content = fields.get("content")
    words = content.get("content") if isinstance(content, dict) else None
    return f"Contents of {fields.get('path')}:\n\n{words}" if isinstance(words, str) else None


def _render_hook_block(fields: Fields) -> str | None:
    error = fields.get("blockingError")
    if not isinstance(error, dict):
        return None
    why, command = error.get("blockingError"), error.get("command")
    return f'{fields.get("hookName")} hook blocking error from command: "{command}": {why}'


PIECES: dict[str, Callable[[Fields], list[Piece]]] = {
    "queued_command": _render_queued,
    "file": _render_file,
}
WORDS: dict[str, Callable[[Fields], str | None]] = {
    "date": _make_renderer("Today's date is {date}.", "date"),
    "date_change": _make_renderer(NEW_DATE, "newDate"),
    "deferred_tools_delta": _render_tools,
    "edited_text_file": _make_renderer(CHANGED, "filename", "snippet"),
    "hook_additional_context": _render_hook_context,
    "hook_blocking_error": _render_hook_block,
    "hook_stopped_continuation": _make_renderer(
        "{hookName} hook stopped continuation: {message}", "hookName", "message"
    ),
    "hook_success": _render_hook_output,
    "mcp_instructions_delta": _render_servers,
    "nested_memory": _render_memory,
    "opened_file_in_ide": _make_renderer(OPENED, "filename"),
    "skill_listing": _make_renderer(SKILLS, "content"),
    "total_tokens_reminder": _make_renderer("{text}", "text"),
}
"""Kinds whose text follows from their fields alone."""


APART = frozenset({"file", "directory", "nested_memory"})
"""Kinds that follow a result and never become part of it."""


@dataclass(frozen=True, slots=True)
class NoteReader:
    """The recipient of a session's notes: how the model gets them, and the tools it knows."""

    notes: NoteStyle
    tools: frozenset[str] = frozenset()
    """Tools whose description is in the session."""


def render_attachment(number: int, record: Record, reader: NoteReader) -> list[OutgoingEntry]:
    """Return the texts of an attachment, in order; empty if it has none."""
    fields, manner = _get_fields(record), reader.notes
    names = fields.get("surfacedNames") if fields.get("type") == "deferred_tools_delta" else None
    added: list[Block] | None = []  # tools that the note adds; None if it cannot add them
    if isinstance(names, list) and names:
        added = None
        if manner is NoteStyle.AS_SYSTEM and reader.tools.issuperset(map(str, names)):
            added = [
                {"type": "tool_addition", "tool": {"type": "tool_reference", "name": name}}
                for name in names
            ]
    pieces, is_system = _list_pieces(record, fields, is_worded_anew=added is None)
    if manner is not NoteStyle.AS_USER and _is_typed(fields):
        blocks = [_bare(block) for piece in pieces for block in piece]
        return [OutgoingEntry(number, "user", blocks, is_queued=True)] if blocks else []
    if manner is not NoteStyle.AS_USER and is_system:
        texts = [_bare(block)["text"] for piece in pieces for block in piece if "text" in block]
        if not texts:
            return []
        words = "\n".join(texts)
        text = wrap_reminder(words) if manner is NoteStyle.TAGGED else words
        blocks = [make_text_block(text), *(added or [])]
        return [OutgoingEntry(number, "system", blocks, is_note=True)]
    is_apart = fields.get("type") in APART and record.fields.get("renderedRole") == "user"
    return [
        OutgoingEntry(number, "user", piece, is_note=True, is_apart=is_apart, place=place)
        for place, piece in enumerate(pieces)
    ]


def _get_fields(record: Record) -> Fields:
    fields = record.fields.get("attachment")
    return fields if isinstance(fields, dict) else {}


def _is_typed(fields: Fields) -> bool:
    """Return whether this is a prompt that the user typed while the model worked."""
    origin = fields.get("origin")
    is_human = isinstance(origin, dict) and origin.get("kind") == "human"
    is_prompt = fields.get("type") == "queued_command" and fields.get("commandMode") == "prompt"
    return is_prompt and is_human and fields.get("humanTurn") is True


def _list_pieces(
    record: Record, fields: Fields, *, is_worded_anew: bool
) -> tuple[list[Piece], bool]:
    """Return the texts of an attachment, and whether they are system texts."""
    rendered = record.fields.get("rendered")
    if isinstance(rendered, list) and not is_worded_anew:
        pieces: list[Piece] = []
        for part in rendered:
            content = part.get("content") if isinstance(part, dict) else None
            parts = content if isinstance(content, list) else []
            texts = [block.get("text") for block in parts if isinstance(block, dict)]
            texts = [content] if isinstance(content, str) else texts
            shown = [text for text in texts if isinstance(text, str) and text.strip()]
            pieces += [[make_text_block(text) for text in shown]] if shown else []
    else:
        # logged without its text: rebuilt from its fields where that is known to be possible
        kind = str(fields.get("type"))
        if kind in PIECES:
            pieces = PIECES[kind](fields)
        else:
            words = WORDS[kind](fields) if kind in WORDS else None
            pieces = [[make_text_block(wrap_reminder(words))]] if words else []
    is_text = all(block["type"] == "text" for piece in pieces for block in piece)
    return pieces, is_text and record.fields.get("renderedRole") != "user"


def _bare(block: Block) -> Block:
    """Return a text without surrounding reminder tags."""
    text = block.get("text", "")
    if not (text.startswith(OPENING) and text.endswith(CLOSING)):
        return block
    inner = text.removeprefix(OPENING).removesuffix(CLOSING)
    return make_text_block(inner.removeprefix("\n").removesuffix("\n"))


Dropped: TypeAlias = dict[int, Reason]

SILENT = frozenset({"text", "thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class Pruned:
    """What the client keeps of a chain."""

    kept: list[int]
    dropped: Dropped
    open_calls: list[str]
    """Calls of the last response without a result."""


def prune(loaded: LoadedEntries, chain: list[int]) -> Pruned:
    """Return the entries that stay, and those that the client drops from its chain."""
    records = loaded.records
    dropped: Dropped = {}
    for step in (_shapeless, _empty_answers):
        chain = _without(chain, step(records, chain), dropped)
    answered = find_answered_calls(records, chain)
    last = _last_response(records, chain)
    calls = [call for n in last for call in get_call_ids(records[n]) if call not in answered]
    for step in (_unanswered, _empty_answers):
        chain = _without(chain, step(records, chain), dropped)
    return Pruned(chain, dropped, calls)


def _without(chain: list[int], found: Dropped, dropped: Dropped) -> list[int]:
    dropped.update(found)
    return [number for number in chain if number not in found]


def _shapeless(records: list[Record], chain: list[int]) -> Dropped:
    found: Dropped = {}
    for number in chain:
        record = records[number]
        if record.type == "attachment":
            if not is_accepted_attachment(record):
                found[number] = Reason.NO_MESSAGE
            continue
        heads = get_block_heads(record) if record.type != "system" else []
        is_of_texts = all(not head.type or head.type == "text" for head in heads)
        if heads and is_of_texts and record.message_line is None and not get_content_blocks(record):
            found[number] = Reason.EMPTY
    return found


def _unanswered(records: list[Record], chain: list[int]) -> Dropped:
    turn = get_last_turn(records, chain)
    spoken = [number for number in turn if records[number].type != "attachment"]
    if spoken and is_result(records[spoken[-1]]):
        under_way = turn
    else:
        places = [
            place
            for place, number in enumerate(turn)
            if records[number].type == "assistant"
            and any(
                b["type"] == "text" and not is_blank(b) for b in get_content_blocks(records[number])
            )
        ]
        rest = turn[places[-1] :] if places else turn
        kinds = ("user",) if places else ("user", "attachment")
        is_open = any(records[number].type in kinds for number in rest)
        under_way = (turn if is_open else []) or _last_response(records, chain)
    settled = find_answered_calls(records, chain)
    settled.update(call for number in under_way for call in get_call_ids(records[number]))
    kept = frozenset(under_way)
    return {
        number: Reason.UNANSWERED
        for number in chain
        if number not in kept
        and has_calls(records[number])
        and settled.isdisjoint(get_call_ids(records[number]))
    }


def get_last_turn(records: list[Record], chain: list[int]) -> list[int]:
    """Return the answers, results and attachments after the last prompt.

    The output of a local command is none here.
    """
    found: list[int] = []
    for number in reversed(chain):
        record = records[number]
        if is_boundary(record) or (record.type == "user" and not is_result(record)):
            break
        if record.type != "system":
            found.append(number)
    return found[::-1]


def _is_prompt(record: Record) -> bool:
    """Return whether an entry speaks for the user: a prompt, or a local command's output."""
    if record.type == "system":
        return record.subtype == "local_command"
    return record.type == "user" and not is_result(record)


def _last_response(records: list[Record], chain: list[int]) -> list[int]:
    """Return the last response to begin: its entries in the last turn.

    An API error is no response.
    """
    turn = frozenset(get_last_turn(records, chain))
    # entries of one response are joined back to the last prompt without a result next to it
    start, has_prompt, has_result = 0, False, False
    for place, number in enumerate(chain):
        record = records[number]
        if record.type == "assistant":
            start = place if has_prompt and not has_result else start
            has_prompt = has_result = False
        else:
            has_result = has_result or is_result(record)
            has_prompt = has_prompt or _is_prompt(record)
    joined = [n for n in chain[start:] if records[n].type == "assistant"]
    began = dict.fromkeys(records[number].message_id or number for number in joined)
    last = next(reversed(began), None)
    found = [n for n in joined if n in turn and (records[n].message_id or n) == last]
    return [] if found and records[found[-1]].is_api_error_message else found


def find_answered_calls(records: list[Record], chain: list[int]) -> set[str]:
    """Return the ids of calls that have results on a chain."""
    return {call for number in chain for call in get_result_ids(records[number])}


def _empty_answers(records: list[Record], chain: list[int]) -> Dropped:
    spoken = {
        record.message_id
        for record in map(records.__getitem__, chain)
        if record.type == "assistant" and _says_something(record)
    }
    found: Dropped = {}
    for number in chain:
        record = records[number]
        if record.type != "assistant" or (record.message_id and record.message_id in spoken):
            continue
        blocks = get_content_blocks(record)
        if blocks and not _says_something(record):
            thinks = any(is_thinking(block) for block in blocks)
            found[number] = Reason.THINKING_ONLY if thinks else Reason.EMPTY
    return found


def _says_something(record: Record) -> bool:
    if any(head.type and head.type not in SILENT for head in get_block_heads(record)):
        return True
    if record.message_line:
        return bool(record.message_line.message.text.strip())
    return any(
        not is_blank(block) and not is_thinking(block) for block in get_content_blocks(record)
    )


def iter_left_out(
    loaded: LoadedEntries, chain: list[int], dropped: Dropped, outgoing: list[OutgoingEntry]
) -> Iterator[LeftOut]:
    """Yield every entry that is in no message, in file order."""
    shown = {entry.number for entry in outgoing if not entry.is_error and entry.blocks}
    places = {number: place for place, number in enumerate(chain)}
    cuts = [places[number] for number in chain if is_boundary(loaded.records[number])]
    cut = cuts[-1] if cuts else -1
    before = [number for number in loaded.lines if chain and number <= chain[0]]
    nearest = [number for number in before[-2:] if is_boundary(loaded.records[number])]
    start = nearest[-1] if nearest else 0
    for number, record in enumerate(loaded.records):
        if number in shown or record.uuid is None:
            continue
        if number in dropped:
            reason = dropped[number]
        elif number not in places:
            if record.is_sidechain:
                reason = Reason.SIDECHAIN
            else:
                is_before = number < start or not loaded.is_read[number]
                reason = Reason.BEFORE_COMPACTION if is_before else Reason.ABANDONED
        elif places[number] < cut:
            reason = Reason.BEFORE_COMPACTION
        elif record.type == "system":
            reason = Reason.SYSTEM
        elif record.type == "attachment":
            kind = record.envelope.attachment.type if record.envelope.attachment else None
            reason = Reason.OWN_WORDS if kind in OWN_WORDS else Reason.NO_RENDERED_TEXT
        else:
            reason = Reason.API_ERROR if record.is_api_error_message else Reason.EMPTY
        yield LeftOut(record.uuid, record.line, reason)


ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
TOOL_LOADED = "Tool loaded."
RENAMED = {"Task": "Agent"}
"""Tools that have another name now."""
LOGGED_ONLY = frozenset({"type", "recipient", "recipient_kind", "content"})
"""What the log adds to the arguments of a SendMessage call."""


def build_outgoing(
    loaded: LoadedEntries, chain: list[int], model: str | None = None
) -> list[OutgoingEntry]:
    """Return what is sent of the entries after the last compaction, in the order of the chain.

    The model is that of the last response, unless given.
    """
    recent = cut_before_boundary(loaded.records, chain)
    records = [loaded.records[number] for number in recent]
    model = model or find_model(records)
    held = (_get_fields(record) for record in records if record.type == "attachment")
    entries = [tool.get("entries") for tool in held if tool.get("type") == "deferred_tools_record"]
    named = (entry for some in entries if isinstance(some, list) for entry in some)
    model_name = model or DEFAULT
    if WITHOUT_SYSTEM.search(model_name):
        style = NoteStyle.AS_USER
    else:
        style = NoteStyle.TAGGED if WITH_TAGS.search(model_name) else NoteStyle.AS_SYSTEM
    reader = NoteReader(
        style,
        frozenset(str(tool.get("name")) for tool in named if isinstance(tool, dict)),
    )
    found: list[OutgoingEntry] = []
    for number, record in zip(recent, records, strict=True):
        if record.type == "attachment":
            found.extend(render_attachment(number, record, reader))
        elif record.type == "assistant":
            if record.is_api_error_message:
                found.append(OutgoingEntry(number, "assistant", [], is_error=True))
            else:
                given = _copy_blocks(record)
                blocks = [normalize_call(block) for block in given if not is_blank(block)]
                blank = () if blocks else tuple(given)
                if get_model(record) != model or model is None:
                    blocks = [block for block in blocks if not is_thinking(block)]
                found.append(
                    OutgoingEntry(
                        number, "assistant", blocks, message_id=record.message_id, blank=blank
                    )
                )
        else:
            build = build_prompt if record.type == "user" else build_notice
            if entry := build(number, record):
                found.append(entry)
    return found


def find_model(records: Iterable[Record]) -> str | None:
    """Return the model that a session continues with, by its responses."""
    last = None
    for model in (get_model(record) for record in records if record.type == "assistant"):
        last = model if model and model != SYNTHETIC else last
    return last if last is None or OFFERED.search(last) else DEFAULT


def cut_before_boundary(records: list[Record], chain: list[int]) -> list[int]:
    """Return the chain from its last compaction boundary on."""
    places = [place for place, number in enumerate(chain) if is_boundary(records[number])]
    return chain[places[-1] :] if places else chain


def build_prompt(number: int, record: Record) -> OutgoingEntry | None:
    """Return what is sent of a prompt or a tool result."""
    blocks = _copy_blocks(record)
    origin = record.envelope.origin
    if origin and origin.kind == "task-notification":
        texts = [str(block["text"]) for block in blocks if block["type"] == "text"]
        if texts:
            notified = make_text_block(wrap_reminder(NOTIFIED.format("\n".join(texts))))
            blocks = [notified, *(block for block in blocks if block["type"] != "text")]
    if any(_loads_tools(block) for block in blocks):
        blocks.append(make_text_block(TOOL_LOADED))
    message = record.envelope.message
    is_plain = message is not None and isinstance(message.content, str)
    return OutgoingEntry(number, "user", blocks, is_plain=is_plain) if blocks else None


def _loads_tools(block: Block) -> bool:
    content = block.get("content") if block["type"] == "tool_result" else None
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") == "tool_reference" for part in parts)


def normalize_call(block: Block) -> Block:
    """Return a call under its tool's present name, without what the log adds to it."""
    if block["type"] != "tool_use":
        return block
    name, given = str(block.get("name")), block.get("input")
    if name == "SendMessage" and isinstance(given, dict) and {"to", "message"} <= given.keys():
        kept = {key: given[key] for key in given if key not in LOGGED_ONLY}
        return {**block, "input": kept}
    return {**block, "name": RENAMED[name]} if name in RENAMED else block


def build_notice(number: int, record: Record) -> OutgoingEntry | None:
    """Return what is sent of a local command's output; empty if it is for the screen only."""
    if record.subtype != "local_command" or record.fields.get("isDisplayOnly") is True:
        return None
    content = record.fields.get("content")
    text = content if isinstance(content, str) and content.strip() else NO_CONTENT
    return OutgoingEntry(number, "user", [make_text_block(text)])


def _copy_blocks(record: Record) -> list[Block]:
    blocks = [dict(block) for block in get_content_blocks(record)]
    if ESCAPED_SURROGATE.search(record.raw):
        for block in blocks:
            todo: list[Any] = [block]
            while todo:
                current = todo.pop()
                pairs = current.items() if isinstance(current, dict) else enumerate(current)
                for key, inner in list(pairs):
                    if isinstance(inner, str):
                        current[key] = inner.encode("utf-16-le", "surrogatepass").decode(
                            "utf-16-le", "replace"
                        )
                    elif isinstance(inner, dict | list):
                        current[key] = inner.copy()
                        todo.append(current[key])
    return blocks


INTERRUPTED = (
    "[Tool call interrupted: the session ended before this call's result was recorded, so its "
    "outcome is unknown. Check whether it took effect before relying on it or running it again.]"
)
CAVEAT = "<local-command-caveat>"
COMMAND_TAGS = (
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-stderr>",
)


def add_closing(
    records: list[Record], pruned: Pruned, outgoing: list[OutgoingEntry]
) -> list[OutgoingEntry]:
    """Return the results and the answer that the client adds."""
    if not needs_closing(records, pruned):
        return outgoing
    if pruned.open_calls:
        results: list[Block] = [
            {"type": "tool_result", "tool_use_id": call, "content": INTERRUPTED, "is_error": True}
            for call in pruned.open_calls
        ]
        return [*outgoing, OutgoingEntry(ROOT, "user", results), _no_response()]
    last = _notices_at_end(records, pruned.kept)
    place = next((p for p, entry in enumerate(outgoing) if entry.number in last), len(outgoing))
    return [*outgoing[:place], _no_response(), *outgoing[place:]]


def needs_closing(records: list[Record], pruned: Pruned) -> bool:
    """Return whether the client adds an answer before it continues."""
    chain = pruned.kept
    if pruned.open_calls:
        return True
    if not _awaits_answer(records, chain) or _is_stopped(records, chain):
        return False
    return not any(is_boundary(records[number]) for number in _notices_at_end(records, chain))


def _no_response() -> OutgoingEntry:
    """Return the answer to a prompt that never got one."""
    return OutgoingEntry(ROOT, "assistant", [make_text_block(NO_RESPONSE)])


def _awaits_answer(records: list[Record], chain: list[int]) -> bool:
    newest_first = (records[number] for number in reversed(chain))
    heard = (record for record in newest_first if not _wants_no_answer(record))
    words = [record for record in heard if record.type != "system"]
    spoken = [record for record in words if record.type != "attachment"]
    if words and words[0].type == "attachment":
        # format: an API error ends a turn only if no attachment follows it
        spoken = [record for record in spoken if not record.is_api_error_message]
    if not spoken or spoken[0].type != "user":
        return bool(words) and not spoken
    if words[0].type == "attachment" and (
        # format: a summary with its attachments is a finished compaction
        spoken[0].is_compact_summary or _is_ended_by_tool(spoken)
    ):
        return False
    return not _ends_with_command(spoken)


def _is_ended_by_tool(newest_first: list[Record]) -> bool:
    """Return whether a call of the last response ended the turn, as one for a given form does."""
    response, has_end = None, False
    for record in newest_first:
        if record.type == "user":
            if not is_result(record):
                return False
            is_error = any(block.get("is_error") is True for block in get_content_blocks(record))
            has_end = has_end or (record.fields.get("toolEndsTurn") is True and not is_error)
        elif not record.message_id or response not in (None, record.message_id):
            return False
        elif has_end:
            return True
        else:
            response = record.message_id
    return False


def _wants_no_answer(record: Record) -> bool:
    """Return whether a record is a notification that needed no answer."""
    origin = record.envelope.origin
    is_notice = record.type == "user" and origin is not None and origin.kind == "task-notification"
    is_only_kept = is_notice and record.fields.get("queueTranscriptOnly") is True
    return is_only_kept and _opening(record).startswith("<task-notification>")


def _is_stopped(records: list[Record], chain: list[int]) -> bool:
    """Return whether a limit or a hook ended the last turn, so that a missing answer is intended."""
    for number in reversed(chain):
        record = records[number]
        if record.type in ("user", "assistant"):
            return False
        attachment = record.fields.get("attachment") if record.type == "attachment" else None
        fields = attachment if isinstance(attachment, dict) else {}
        if fields.get("type") == "max_turns_reached" and fields.get("exitCommitted") is False:
            return True
        if fields.get("type") == "hook_stopped_continuation":
            spoken = (
                records[n] for n in reversed(chain) if records[n].type in ("user", "assistant")
            )
            last = next(spoken, None)
            return last is not None and is_result(last)
    return False


def _ends_with_command(newest_first: list[Record]) -> bool:
    for record in newest_first:
        text = _opening(record)
        if record.is_meta and text.startswith(CAVEAT):
            return True
        if record.type != "user" or not text.startswith(COMMAND_TAGS):
            return False
    return False


def _opening(record: Record) -> str:
    blocks = get_content_blocks(record)
    return blocks[0]["text"] if blocks and blocks[0]["type"] == "text" else ""


def _notices_at_end(records: list[Record], chain: list[int]) -> frozenset[int]:
    notices: list[int] = []
    for number in reversed(chain):
        if records[number].type != "system":
            break
        notices.append(number)
    return frozenset(notices)


@dataclass(slots=True)
class Turn:
    """One message for the API, with the system texts that follow it."""

    role: str
    blocks: list[Block]
    message_id: str | None = None
    blank: tuple[Block, ...] = ()
    results: list[Block] = field(default_factory=list)
    """Tool results, until the turn is complete: they come before everything else."""
    system: list[list[Block]] = field(default_factory=list)
    """System texts after it: texts, and the tools that they add."""
    is_plain: bool = False
    """Whether it is one prompt that is a string: it is not replaced if it is blank."""
    had_words: bool = False
    """Whether it contained more than results, even if blank."""


def merge_turns(outgoing: list[OutgoingEntry]) -> list[Turn]:
    """Return the turns in order; system texts belong to the turn they follow."""
    talk = TurnBuilder()
    for entry in _iter_in_sending_order(outgoing):
        if entry.role == "system":
            talk.waiting.append(entry.blocks)
        elif entry.role == "user":
            talk.ask(entry)
        elif not entry.is_error:
            talk.answer(entry)
    talk.hang_system_texts()
    finished = [_finish(turn) for turn in talk.turns]
    return [turn for turn in finished if turn.role == "assistant" or turn.blocks]


def _iter_in_sending_order(outgoing: list[OutgoingEntry]) -> Iterable[OutgoingEntry]:
    """Yield what is sent, with the notes of a turn moved to its beginning, then queued prompts.

    A turn begins with a response or a tool result.
    """
    notes: list[OutgoingEntry] = []
    queued: list[OutgoingEntry] = []
    others: list[OutgoingEntry] = []
    for entry in outgoing:
        if entry.is_note and entry.role == "user":
            notes.append(entry)
        elif entry.is_queued:
            queued.append(entry)
        elif entry.role == "assistant" or any(_is_result_block(block) for block in entry.blocks):
            yield from (*notes, *queued, *others, entry)
            notes, queued, others = [], [], []
        else:
            others.append(entry)
    yield from (*notes, *queued, *others)


class TurnBuilder:
    """Builds turns from entries in sending order."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.waiting: list[list[Block]] = []
        """System texts for the end of the turn."""
        self.responses: dict[str, Turn] = {}
        """Responses that further entries can still join."""
        self.passed = 0
        """How many turns were looked through for prompts, which no response goes past."""
        self.opener: int | None = None
        """The attachment that began the last turn: each of its texts is a turn."""

    def ask(self, entry: OutgoingEntry) -> None:
        """Add a prompt or results to the user's turn, or begin one."""
        is_first = not self.turns or self.turns[-1].role != "user"
        is_new = is_first or (entry.place > 0 and self.opener == entry.number)
        if is_new:
            self.turns.append(Turn("user", []))
        self.opener = entry.number if is_new else None
        turn = self.turns[-1]
        turn.is_plain = is_new and entry.is_plain
        blocks = [dict(block) for block in entry.blocks]
        folds = entry.is_note and not entry.is_apart
        if folds and turn.results and not turn.blocks and _is_text(blocks[:1]):
            result = turn.results[-1]
            content = result.get("content")
            if isinstance(content, list):
                # Between two texts the client adds a line break
                found = list(content)
                for note in blocks:
                    last = found[-1] if found else None
                    if isinstance(last, dict) and last.get("type") == "text":
                        found[-1] = {**last, "text": f"{last['text']}\n"}
                    found.append(note)
                turn.results[-1] = {**result, "content": found}
            else:
                words = [content] if isinstance(content, str) else []
                words += [str(block["text"]) for block in blocks]
                joined = "\n\n".join(filter(None, map(str.strip, words)))
                turn.results[-1] = {**result, "content": joined}
            return
        # format: between texts a line break is added; of attachments only for files and the like
        is_joined = not entry.is_note or entry.is_apart
        if is_joined and _is_text(turn.blocks[-1:]) and _is_text(blocks[:1]):
            turn.blocks[-1]["text"] += "\n"
        turn.results.extend(block for block in blocks if _is_result_block(block))
        turn.blocks.extend(block for block in blocks if not _is_result_block(block))

    def answer(self, entry: OutgoingEntry) -> None:
        """Add an entry to the turn of its response, or begin one."""
        for turn in self.turns[self.passed :]:
            if turn.message_id:
                self.responses[turn.message_id] = turn
            elif turn.role == "user" and not turn.results:
                self.responses.clear()  # format: a prompt ends a response, results do not
        self.passed = len(self.turns)
        same = self.responses.get(entry.message_id or "")
        if same is not None:
            same.blocks.extend(entry.blocks)
            return
        if self.waiting and (not self.turns or self.turns[-1].role != "user"):
            words = join_system_texts(self.waiting)
            is_reminder = words.startswith(OPENING) and words.endswith(CLOSING)
            words = words if is_reminder else wrap_reminder(words)
            self.turns.append(Turn("user", [make_text_block(words)]))
            self.waiting = []
        self.hang_system_texts()
        self.turns.append(
            Turn("assistant", list(entry.blocks), entry.message_id, blank=entry.blank)
        )

    def hang_system_texts(self) -> None:
        """Attach the waiting system texts to the last turn."""
        if self.turns:
            self.turns[-1].system.extend(self.waiting)
            self.waiting = []


def join_system_texts(texts: list[list[Block]]) -> str:
    """Return system texts as one text."""
    return "\n\n".join(str(blocks[0]["text"]) for blocks in texts)


def _finish(turn: Turn) -> Turn:
    if turn.role == "assistant":
        turn.blocks = turn.blocks or list(turn.blank)
        turn.blocks.sort(key=lambda block: block["type"] == "tool_use")
    else:
        # format: a blank prompt is dropped, the line break before it stays
        turn.had_words = bool(turn.blocks)
        spoken = [block for block in turn.blocks if not is_blank(block)]
        if turn.blocks and not spoken and not turn.results:
            spoken = turn.blocks if turn.is_plain else [make_text_block(NO_CONTENT)]
        turn.blocks, turn.results = [*turn.results, *spoken], []
    return turn


def _is_result_block(block: Block) -> bool:
    return bool(block["type"] == "tool_result")


def _is_text(blocks: list[Block]) -> bool:
    return bool(blocks) and blocks[0]["type"] == "text"


MISSING_RESULT = "[Tool result missing due to internal error]"
REMOVED_RESULT = "[Orphaned tool result removed due to conversation resume]"
INTERRUPTED_CALL = "[Tool use interrupted]"


def repair_turns(turns: list[Turn]) -> list[Turn]:
    """Return the turns with calls and results paired and no turn empty."""
    seen: set[str] = set()
    for turn in turns:
        if turn.role != "assistant":
            continue
        kept: list[Block] = []  # without calls that were made before
        for block in turn.blocks:
            call = _call_id(block)
            if call is None or call not in seen:
                kept.append(block)
            if call is not None:
                seen.add(call)
        made_up = make_text_block(INTERRUPTED_CALL if turn.blocks else NO_CONTENT)
        turn.blocks = kept or [{**made_up, "citations": []}]
    found: list[Turn] = []
    for turn in turns:
        calls = _open_ids(found)
        if turn.role == "user":
            _settle(turn, calls, is_first=not found and not turn.had_words)
        elif calls:
            found.append(Turn("user", [_missing(call) for call in calls]))
        found.append(turn)
    if calls := _open_ids(found):
        found.append(Turn("user", [_missing(call) for call in calls]))
    return found


def _open_ids(found: list[Turn]) -> list[str]:
    blocks = found[-1].blocks if found and found[-1].role == "assistant" else []
    return [call for block in blocks if (call := _call_id(block)) is not None]


def _settle(turn: Turn, calls: list[str], *, is_first: bool) -> None:
    wanted = set(calls)
    kept: list[Block] = []
    for block in turn.blocks:
        if block["type"] == "tool_result":
            call = block.get("tool_use_id")
            if call not in wanted:
                continue
            wanted.remove(call)
        kept.append(block)
    lacking = [_missing(call) for call in calls if call in wanted]
    if not kept and not lacking:
        kept = [make_text_block(REMOVED_RESULT if is_first else NO_CONTENT)]
    turn.blocks = [*lacking, *kept]


def _missing(call: str) -> Block:
    return {
        "type": "tool_result",
        "tool_use_id": call,
        "content": MISSING_RESULT,
        "is_error": True,
    }


def _call_id(block: Block) -> str | None:
    call = block.get("id") if block["type"] == "tool_use" else None
    return call if isinstance(call, str) else None
