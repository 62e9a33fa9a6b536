"""The facts of records that graphs are built from: one node per record, one value per file.

The facts of a file that has grown are the old ones and those of its new lines, so a graph can
follow a file without reading it twice. Records and side files also say which call started an agent:

    call      {"name":"Agent","input":{"prompt":…,"name":…}}      the prompt and the name
    result    "toolUseResult":{"agentId":…} or {"runId":…}        the agent or the workflow run
    text      "agentId: a1b2c3 (use SendMessage …)"               if the result says no more
    meta      agent-<id>.meta.json {"toolUseId":…}                the call itself
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path, PurePath
from sys import intern
from typing import Any, TypeAlias

from msgspec import UNSET, Struct
from msgspec.structs import replace

from plait.graph.model import PREVIEW, Call, Node, Place, SourceFile, SpawnFacts, Trait
from plait.line import LogFile
from plait.line.discovery import make_log_file
from plait.record import Attachment, System, ToolUse
from plait.record.codec import BlockHead, encode
from plait.record.message import ToolResult, make_blocks
from plait.record.prompts import (
    EDITORS,
    TitleSearch,
    is_human_prompt,
    is_typed_in_queue,
    strip_editor_notes,
)
from plait.record.reader import EnvelopeWithText, read_if_exists
from plait.record.side_files import AgentMeta, read_agent_meta, read_title_file
from plait.record.types import (
    ForkContextRef,
    Record,
    get_content,
    get_content_blocks,
    get_timestamp,
    has_message,
)

IN_WORDS = re.compile(r"\bagentId: ([\w@-]+)")
HINT = "agentId: "


def _names_any(envelope: EnvelopeWithText) -> bool:
    view = envelope.view_facts
    if view and (view.agent or view.agent_too or view.run or view.teammate is not UNSET):
        return True
    content = envelope.message.content if envelope.message else None
    if not isinstance(content, list):
        return True
    for block in content:
        inner = block.content
        texts = [inner] if isinstance(inner, str) else [part.text or "" for part in inner or ()]
        if any(HINT in text for text in texts):
            return True
    return False


def _get_view_text(view: Mapping[str, Any], key: str) -> str | None:
    value = view.get(key)
    return value if isinstance(value, str) and value else None


ANSWERS = frozenset({"text", "tool_use", "server_tool_use"})
CALLS = frozenset({"tool_use", "server_tool_use"})
SPAWNERS = frozenset({"Task", "Agent", "Workflow"})
INTERRUPTED = "[Request interrupted"
CLEARS = "<command-name>/clear"
OUTPUTS = ("<local-command-stdout>", "<local-command-stderr>", "<bash-stdout>", "<bash-stderr>")
TEAMMATE = re.compile(r"\s*<teammate-message[^>]*>(.*)</teammate-message>\s*", re.DOTALL)
SYNTHETIC = "<synthetic>"


def make_node(record: Record, file: int, line: int, before: str = "") -> Node | None:
    """Return the node for a record at a line of a file; None if it has no uuid.

    The previous uuid is usually its parent: sharing the string saves a tenth of the memory.
    """
    envelope = record.envelope
    uuid = envelope.uuid
    if uuid is None:
        return None
    kind = envelope.type or record.kind
    parent = envelope.parent_uuid
    facts = FACTS.get(kind, _other_facts)(record)
    if envelope.forked_from:
        copied = envelope.forked_from.message_uuid
        facts["forked_from"] = envelope.forked_from.session_id
        facts["copy_of"] = copied if copied != uuid else None
    return Node(
        uuid,
        before if parent == before else parent,
        file,
        line,
        record.offset,
        len(record.raw),
        intern(envelope.session_id or ""),
        intern(kind),
        timestamp=get_timestamp(envelope),
        agent=envelope.agent_id,
        **facts,
    )


def _other_facts(record: Record) -> dict[str, Any]:
    data = record.envelope.data
    return {"subtype": data.type if data else None, "traits": _shared(record, STRUCTURAL)}


STRUCTURAL = Trait.STRUCTURAL


def _shared(record: Record, traits: int) -> int:
    envelope = record.envelope
    if envelope.is_sidechain:
        traits |= Trait.SIDECHAIN
    if envelope.is_meta:
        traits |= Trait.META
    if envelope.team_name:
        traits |= Trait.TEAM
    return traits


def _user_facts(record: Record) -> dict[str, Any]:
    results = _get_results(_get_heads(record))
    if results:
        return {
            "traits": _shared(record, 0),
            "results": results,
            "source": record.source_tool_assistant_uuid,
            "spawned": _make_spawn_facts(record),
        }
    text = _get_text(record).strip()
    envelope = record.envelope
    if envelope.is_compact_summary:
        traits = Trait.SUMMARY
    elif text.startswith(INTERRUPTED):
        traits = Trait.INTERRUPTION
    elif text.startswith(CLEARS):
        traits = Trait.CLEAR | Trait.ASKS
    elif is_human_prompt(record):
        traits = Trait.HUMAN
    elif envelope.is_visible_in_transcript_only or text.startswith(OUTPUTS):
        traits = 0
    else:
        traits = Trait.ASKS
    return {
        "traits": _shared(record, traits | _mute(record)),
        "source": record.source_tool_assistant_uuid,
        "digest": _compute_digest(record, text),
        "preview": _make_preview(text),
    }


def _mute(record: Record) -> int:
    return 0 if has_message(record) else Trait.MUTE


def _get_results(content: str | list[BlockHead] | None) -> tuple[str, ...]:
    if not isinstance(content, list):
        return ()
    found = [head.tool_use_id for head in content if head.type == "tool_result"]
    return tuple([call for call in found if call]) if found else ()


def _get_heads(record: Record) -> str | list[BlockHead] | None:
    content = get_content(record.envelope)
    if content is not None:
        return content
    # one invalid block: the others still count
    return [
        BlockHead(**{key: block[key] for key in HEAD if isinstance(block.get(key), str)})
        for block in get_content_blocks(record)
    ]


HEAD = BlockHead.__struct_fields__


def _get_text(record: Record) -> str:
    content = get_content(record.envelope)
    return content if isinstance(content, str) else record.text


def _assistant_facts(record: Record) -> dict[str, Any]:
    envelope = record.envelope
    message, content = envelope.message, get_content(envelope)
    heads = _get_heads(record) if content is None else content
    is_error = bool(envelope.is_api_error_message)
    traits = Trait.ERROR if is_error else 0
    if not is_error and (not message or message.model != SYNTHETIC) and _says_something(content):
        traits |= Trait.ANSWER
    else:
        traits |= _mute(record)
    name, request = message.id if message else None, record.request_id
    return {
        "traits": _shared(record, traits),
        "message_id": name,
        "request_id": request,
        "calls": _make_calls(record, heads),
        "results": _get_results(heads),  # other providers answer within the response
        "digest": None if name or request else _compute_digest(record, _get_text(record).strip()),
    }


def _says_something(content: str | list[BlockHead] | None) -> bool:
    if isinstance(content, str):
        return bool(content.strip())
    return bool(content) and not ANSWERS.isdisjoint([head.type for head in content or ()])


def _make_calls(record: Record, content: str | list[BlockHead] | None) -> tuple[Call, ...]:
    if not isinstance(content, list):
        return ()
    heads = [head for head in content if head.type in CALLS and head.id]
    if not heads:
        return ()
    # Inputs of calls that start agents; other tools' inputs say nothing about agents.
    inputs: dict[str, dict[str, Any]] = {}
    if any(head.name in SPAWNERS for head in heads):
        blocks = record.message.content if record.message else []
        uses = (block for block in blocks if isinstance(block, ToolUse))
        inputs = {use.id: use.input for use in uses if isinstance(use.input, dict)}
    return tuple(_make_call(head.id or "", intern(head.name or ""), inputs) for head in heads)


def _make_call(call: str, name: str, inputs: dict[str, dict[str, Any]]) -> Call:
    given = inputs.get(call)
    if given is None:
        return Call(call, name)
    prompt = given.get("prompt")
    label = given.get("name") or given.get("description")
    return Call(
        call,
        name,
        _text_digest(prompt) if isinstance(prompt, str) and name in SPAWNERS else None,
        label if isinstance(label, str) else None,
    )


def _make_spawn_facts(record: Record) -> SpawnFacts | None:
    """Return the agent, the workflow run or the teammate that a result names."""
    if isinstance(record.envelope, EnvelopeWithText) and not _names_any(record.envelope):
        return None
    spoken = record.message_line
    view = spoken.tool_use_result if spoken else record.fields.get("toolUseResult")
    if isinstance(view, Mapping):
        agent = _get_view_text(view, "agentId") or _get_view_text(view, "agent_id")
        run = _get_view_text(view, "runId")
        name = _get_view_text(view, "name") if "teammate_id" in view else None
        if agent or run or name:
            return SpawnFacts(agent, run, name, False)
    blocks = record.message.content if record.message else ()
    results = [block for block in blocks if isinstance(block, ToolResult)]
    inner = (block for result in results for block in make_blocks(result.content))
    words = "\n".join(getattr(block, "text", "") for block in inner)
    match = IN_WORDS.search(words) if HINT in words else None
    return SpawnFacts(match[1], None, None, True) if match else None


def _system_facts(record: Record) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "subtype": intern(record.subtype) if record.subtype else None,
        "logical": record.logical_parent_uuid,
    }
    traits = STRUCTURAL
    content = record.envelope.content
    if record.subtype == "compact_boundary":
        traits = Trait.BOUNDARY
        facts["preserved"] = record.preserved if isinstance(record, System) else None
    elif record.subtype == "rewind":
        traits = 0  # written by other agents: the path taken instead begins here
    elif isinstance(content, str) and content.lstrip().startswith(CLEARS):
        traits |= Trait.CLEAR
    return {**facts, "traits": _shared(record, traits)}


def list_preserved(record: Record) -> tuple[str, ...]:
    """Return the records that a compaction preserves, last first."""
    found = record.preserved if isinstance(record, System) else None
    return found.uuids if found else ()


def _attachment_facts(record: Record) -> dict[str, Any]:
    head = record.envelope.attachment
    kind = head.type if head else None
    facts: dict[str, Any] = {"subtype": intern(kind) if kind else None}
    if head and head.tool_use_id:
        facts["attends"] = head.tool_use_id
    if kind != "queued_command" or not head:
        return {**facts, "traits": _shared(record, STRUCTURAL)}
    attachment = record.attachment if isinstance(record, Attachment) else None
    prompt = getattr(attachment, "prompt", None)
    if isinstance(prompt, str):
        text = prompt
    else:
        parts = prompt if isinstance(prompt, list) else []
        text = "\n".join(
            str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part
        )
    if head.command_mode not in (None, "prompt") or not is_typed_in_queue(record.envelope, text):
        return {**facts, "traits": _shared(record, STRUCTURAL)}
    return {
        **facts,
        "traits": _shared(record, Trait.QUEUED),
        "digest": _text_digest(text),
        "preview": _make_preview(text),
    }


def _make_preview(text: str) -> str | None:
    typed = strip_editor_notes(text) if text.startswith(EDITORS) else text
    return " ".join((typed or text)[: PREVIEW * 4].split())[:PREVIEW] or None


def _compute_digest(record: Record, text: str) -> int | None:
    """Return a number that equal contents share; None if there is nothing to compare."""
    if all(head.type == "text" for head in record.block_heads):
        return _text_digest(text)
    message = record.fields.get("message")
    return _hash(encode({"": message.get("content")})) if isinstance(message, dict) else None


def _text_digest(text: str) -> int:
    inner = TEAMMATE.fullmatch(text)
    return _hash(" ".join((inner[1] if inner else text).split()).encode("utf-8", "replace"))


def _hash(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest()) >> 1


FACTS: dict[str, Callable[[Record], dict[str, Any]]] = {
    "user": _user_facts,
    "assistant": _assistant_facts,
    "system": _system_facts,
    "attachment": _attachment_facts,
}


UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """Records with the name of their file."""

    file: SourceFile
    records: Iterable[Record]
    meta: AgentMeta | None = None
    title: str | None = None
    """The title from the file next to a session's log."""


Name: TypeAlias = LogFile | SourceFile | PurePath | str
Readable: TypeAlias = Source | LogFile | Record | tuple[Name, Iterable[Record]]
LOOSE = SourceFile("", "session", None)
"""The file name of records that came without one."""


class LooseLine(Struct, frozen=True, gc=False):
    """A line without uuid, and what it says about the graph."""

    kind: str
    line: int
    offset: int
    length: int
    after: int
    """How many records with a uuid precede it in the file."""
    session: str | None = None
    leaf: str | None = None
    text: str | None = None
    explicit: bool = False
    agent: str | None = None
    timestamp: str | None = None


@dataclass(slots=True)
class FileFacts:
    """What is known of one file; grows with it."""

    file: SourceFile
    meta: AgentMeta | None = None
    nodes: list[Node] = field(default_factory=list)
    """Every record with a uuid, repeats too, in file order."""
    asides: list[LooseLine] = field(default_factory=list)
    lines: int = 0
    titles: TitleSearch = field(default_factory=TitleSearch)
    title_file: str | None = None
    """The title from the file next to the log."""

    def add(self, records: Iterable[Record], number: int) -> None:
        """Add the records that follow."""
        before = ""
        for record in records:
            self.lines = record.line or self.lines + 1
            self.titles.add_words(record)
            node = make_node(record, number, self.lines, before)
            if node is None:
                envelope = record.envelope
                leaf = envelope.leaf_uuid
                if record.kind == "last-prompt" and leaf is None and b'"leafUuid"' in record.raw:
                    leaf = ""  # null, and yet a pointer
                if isinstance(record, ForkContextRef):
                    leaf = record.parent_last_uuid
                self.asides.append(
                    LooseLine(
                        record.kind,
                        self.lines,
                        record.offset,
                        len(record.raw),
                        len(self.nodes),
                        envelope.session_id,
                        leaf,
                        envelope.summary or envelope.custom_title or envelope.ai_title,
                        envelope.explicit is True,
                        envelope.agent_id,
                        record.timestamp,
                    )
                )
            else:
                self.nodes.append(node)
                before = node.uuid

    def renumbered(self, number: int) -> "FileFacts":
        """Return the same under the number of its file among others."""
        if self.nodes and self.nodes[0].file != number:
            self.nodes = [replace(node, file=number) for node in self.nodes]
        return self

    @property
    def session(self) -> str:
        """The session of the file: by its name, else by its first records."""
        own = self.file.session or ""
        if UUID.fullmatch(own):
            return own
        node = next((item for item in self.nodes if item.session), None)
        loose_line = next((item for item in self.asides if item.session), None)
        candidates = sorted((item.line, item.session or "") for item in (node, loose_line) if item)
        first = candidates[0][1] if candidates else own or PurePath(self.file.path).stem
        return first if self.file.kind == "session" else first.partition("#")[0]

    def place(self, loose_line: LooseLine, number: int) -> Place:
        """Return the place of a line without uuid."""
        return Place(number, loose_line.line, loose_line.offset, loose_line.length)


def iter_sources(given: Iterable[Readable]) -> Iterator[Source]:
    """Yield records with the name of their file; bare records form one file."""
    for item in given:
        if isinstance(item, Source):
            yield item
        elif isinstance(item, Record):
            yield Source(LOOSE, (item,))
        elif isinstance(item, LogFile):
            yield make_source(item, read_if_exists(item.path))
        else:
            yield Source(make_source_file(item[0]), item[1])


def make_source(file: LogFile, records: Iterable[Record]) -> Source:
    """Return records with the name of their file, and what its side files say."""
    meta = read_agent_meta(file.path) if file.kind == "agent" else None
    title = read_title_file(file.folder) if file.kind == "session" else None
    return Source(make_source_file(file), records, meta, title)


def make_source_file(name: Name) -> SourceFile:
    """Return the file for a name, placed where it would be."""
    if isinstance(name, SourceFile):
        return name
    file = name if isinstance(name, LogFile) else make_log_file(Path(name))
    return SourceFile(
        str(file.path), file.kind, file.session, file.agent, file.run, file.project, file.size
    )
