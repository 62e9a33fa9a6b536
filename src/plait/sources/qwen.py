"""Qwen Code: records that name their parents, with messages in Gemini's parts.

    ~/.qwen/projects/<project>/chats/<session>.jsonl                    archived ones in archive/
    ~/.qwen/projects/<project>/subagents/<session>/agent-<id>.jsonl     and .meta.json, with the call

A rewind writes a record with an earlier parent. A fork is a new file whose records name the ones
they were copied from (`forkedFrom`); they get the uuids of these, and so are counted once.
"""

from collections.abc import Iterable
from pathlib import Path

from plait.line import iter_lines
from plait.line.output import make_file_name
from plait.sources.base import (
    SentMessage,
    Source,
    SourceLog,
    parse_first_object,
    parse_object,
)
from plait.sources.gemini import (
    render_answer_parts,
    render_parts,
    render_sent_parts,
    render_text,
)
from plait.sources.places import ROOTS
from plait.sources.translation import (
    Fields,
    SourceLine,
    Translation,
    iter_dicts,
    to_count,
    to_text,
)

TYPED = frozenset({None, "mid_turn_user_message", "realtime_message"})
"""Subtypes of a user's record that was typed."""


class Qwen(Source):
    """The logs of Qwen Code."""

    name = "qwen"
    title = "Qwen Code"
    roots = ROOTS["qwen"]
    verified = "0.24.4"

    def find(self, path: Path, head: bytes) -> Iterable[SourceLog]:
        """Return the session of a file of records with Gemini's parts, or of Qwen's own kinds."""
        first = parse_first_object(head)
        if not {"uuid", "sessionId", "type"} <= first.keys() or "provenance" not in first:
            message = first.get("message")
            has_parts = isinstance(message, dict) and "parts" in message
            if not has_parts and "systemPayload" not in first:
                return []
        session, agent = to_text(first.get("sessionId")), to_text(first.get("agentId"))
        is_agent = first.get("isSidechain") is True and agent != ""
        cwd = first.get("cwd")
        return [
            SourceLog(
                "qwen",
                agent if is_agent else session,
                str(path),
                cwd=cwd if isinstance(cwd, str) else None,
                parent=session if is_agent else None,
            )
        ]

    def is_side_file(self, path: Path) -> bool:
        """Return whether a file holds prompts or settings."""
        return ".qwen" in path.parts

    def translate(self, log: SourceLog, out: Translation) -> None:
        """Write the records of a session."""
        reading = _Reading(out, find_agents(Path(log.path), log.id))
        for line in out.lines():
            reading.read(line)

    def resume_command(self, log: SourceLog) -> list[str]:
        """Return the command that resumes a session in Qwen Code."""
        return ["qwen", "--resume", log.id]

    def read_context(self, log: SourceLog) -> list[SentMessage]:
        """Return what Qwen Code sends of the branch that ends with the last record."""
        history: list[tuple[tuple[int, ...], Fields]] = []
        last: Fields = {}
        for lines, record in _find_chain(Path(log.path)):
            payload, subtype = record.get("systemPayload"), record.get("subtype")
            payload = payload if isinstance(payload, dict) else {}
            if record.get("type") == "system":
                if subtype == "chat_compression" and payload.get("compressedHistory"):
                    listed = iter_dicts(payload["compressedHistory"])
                    history = [(lines, message) for message in listed]
                elif subtype == "slash_command":
                    if _was_only_shown(payload, last):
                        history.pop()
                    last = {} if last.get("type") == "user" else last
                continue
            message = record.get("message")
            if not isinstance(message, dict) or subtype == "realtime_message":
                continue
            last = record
            if subtype == "mid_turn_user_message" and history and history[-1][1]["role"] == "user":
                known, before = history[-1]
                joined = [*(before.get("parts") or ()), *(message.get("parts") or ())]
                history[-1] = (*known, *lines), before | {"parts": joined}
            else:
                history.append((lines, {"role": "user"} | message))
        return [
            SentMessage(
                "assistant" if message.get("role") == "model" else "user",
                [*render_sent_parts(message.get("parts"))],
                lines,
            )
            for lines, message in history
        ]


def find_agents(path: Path, session: str) -> dict[str, str]:
    """Return the sub-agents of a session by the calls that sent them."""
    chats = path.parent if path.parent.name == "chats" else path.parent.parent
    agents = {}
    for meta in sorted((chats.parent / "subagents" / make_file_name(session)).glob("*.meta.json")):
        try:
            fields = parse_object(meta.read_bytes())
        except OSError:
            continue
        if isinstance(fields.get("toolUseId"), str):
            agents[fields["toolUseId"]] = to_text(fields.get("agentId"))
    return agents


def _find_chain(path: Path) -> list[tuple[tuple[int, ...], Fields]]:
    """Return the records from the first to the last one, those with one uuid joined."""
    records: dict[str, tuple[tuple[int, ...], Fields]] = {}
    leaf: object = None
    for line in iter_lines(path):
        record = parse_object(line.data)
        own = record.get("uuid")
        if not isinstance(own, str):
            continue
        leaf = own
        if own not in records:
            records[own] = (line.number,), record
            continue
        lines, known = records[own]
        more = record.get("message")
        message = known.get("message")
        if isinstance(more, dict) and isinstance(message, dict):
            parts = [*(message.get("parts") or ()), *(more.get("parts") or ())]
            more = message | {"parts": parts}
        records[own] = (*lines, line.number), known | ({"message": more} if more else {})
    chain: list[tuple[tuple[int, ...], Fields]] = []
    seen: set[str] = set()
    while isinstance(leaf, str) and leaf in records and leaf not in seen:
        seen.add(leaf)
        chain.insert(0, records[leaf])
        leaf = records[leaf][1].get("parentUuid")
    return chain


def _was_only_shown(payload: Fields, last: Fields) -> bool:
    """Return whether a command answered the last prompt itself, which then was never sent."""
    items = payload.get("outputHistoryItems")
    message = last.get("message")
    parts = message.get("parts") if isinstance(message, dict) else None
    return (
        payload.get("phase") == "result"
        and payload.get("sentToModel") is not True
        and isinstance(items, list)
        and bool(items)
        and all(isinstance(item, dict) and item.get("type") == "assistant" for item in items)
        and last.get("type") == "user"
        and last.get("subtype") is None
        and parts == [{"text": payload.get("rawCommand")}]
    )


class _Reading:
    """Translates the records of one session."""

    def __init__(self, out: Translation, agents: dict[str, str]) -> None:
        self.out = out
        self.agents = agents
        self.written: dict[str, str] = {}
        """The texts of messages, with their uuids."""
        self.uuids: dict[str, str | None] = {}
        """The uuid for each record; for a note that of its parent."""

    def read(self, line: SourceLine) -> None:
        """Translate one record."""
        out, record = self.out, line.fields
        own = to_text(record.get("uuid"))
        before = out.parent
        copied = record.get("forkedFrom")
        first = to_text(copied.get("messageUuid")) if isinstance(copied, dict) else ""
        first = first or own
        if own in self.uuids:  # more of the same record
            out.parent, uuid = self.uuids[own], None
        else:
            uuid = first or None
            if "parentUuid" in record:
                parent = record["parentUuid"]
                out.parent = self.uuids.get(parent, before) if isinstance(parent, str) else None
        out.timestamp = to_text(record.get("timestamp")) or out.timestamp
        out.cwd = to_text(record.get("cwd")) or out.cwd
        out.version = to_text(record.get("version")) or out.version
        out.git_branch = to_text(record.get("gitBranch")) or out.git_branch
        self._record(record, uuid, first)
        if own:
            self.uuids[own] = out.parent

    def _record(self, record: Fields, uuid: str | None, first: str) -> None:
        out, message, subtype = self.out, record.get("message"), record.get("subtype")
        payload = record.get("systemPayload")
        parts = message.get("parts") if isinstance(message, dict) else None
        match record.get("type"):
            case "user":
                is_meta = subtype not in TYPED or None
                made = out.user(render_parts(parts), uuid=uuid, isMeta=is_meta)
                self.written[render_text(parts)] = made
            case "assistant":
                self.written[render_text(parts)] = out.assistant(
                    [*render_answer_parts(parts)],
                    id=first or out.make_uuid(record),
                    uuid=uuid,
                    model=to_text(record.get("model")) or None,
                    usage=_usage(record.get("usageMetadata")),
                )
            case "tool_result":
                self._results(record, parts, uuid)
            case "system" if subtype == "custom_title" and isinstance(payload, dict):
                out.note("custom_title")
                if title := to_text(payload.get("customTitle")):
                    out.title(title)
            case "system" if subtype == "chat_compression" and isinstance(payload, dict):
                new: list[str] = []
                kept: list[str] = []
                for message in iter_dicts(payload.get("compressedHistory")):
                    text = render_text(message.get("parts"))
                    if text in self.written:
                        kept.append(self.written[text])
                    elif text:
                        new.append(text)
                info = payload.get("info")
                tokens = info.get("originalTokenCount") if isinstance(info, dict) else None
                out.compaction("\n\n".join(new) or None, kept=kept, preTokens=tokens)
                out.note("chat_compression")
            case "system" if subtype == "rewind":
                out.rewind(out.parent)
                out.note("rewind")
            case "system" if subtype == "slash_command" and isinstance(payload, dict):
                items = payload.get("outputHistoryItems")
                texts = [to_text(item.get("text")) for item in iter_dicts(items)]
                words = texts if payload.get("phase") == "result" else [payload.get("rawCommand")]
                if text := "\n".join(filter(None, map(to_text, words))):
                    out.system(text, "local_command", uuid=uuid)
                out.note("slash_command")
            case "system":
                out.note(to_text(subtype) or "system")
            case _:
                pass  # kept as an unknown line

    def _results(self, record: Fields, parts: object, uuid: str | None) -> None:
        out, detail = self.out, record.get("toolCallResult")
        status = detail.get("status") if isinstance(detail, dict) else None
        display = detail.get("resultDisplay") if isinstance(detail, dict) else None
        answered = False
        for part in iter_dicts(parts):
            response = part.get("functionResponse")
            if not isinstance(response, dict):
                continue
            value = response.get("response")
            is_error = status in ("error", "cancelled")
            if isinstance(value, dict) and isinstance(value.get("error"), str):
                is_error, value = True, value["error"]
            elif isinstance(value, dict) and isinstance(value.get("output"), str):
                value = value["output"]
            call = to_text(response.get("id"))
            shown = {"display": display} if display is not None and not answered else None
            if call in self.agents:
                shown = {"agentId": self.agents[call], "status": "completed"}
            out.result(
                call,
                to_text(value),
                is_error=is_error,
                detail=shown,
                uuid=None if answered else uuid,
            )
            answered = True
        if not answered:
            out.user(render_parts(parts), uuid=uuid, isMeta=True)


def _usage(metadata: object) -> dict[str, int] | None:
    """Return the usage of a request; what is neither prompt nor cached is output."""
    if not isinstance(metadata, dict):
        return None
    sent = to_count(metadata.get("promptTokenCount"))
    cached = min(to_count(metadata.get("cachedContentTokenCount")), sent)
    received = to_count(metadata.get("candidatesTokenCount"))
    total = to_count(metadata.get("totalTokenCount"))
    thoughts = to_count(metadata.get("thoughtsTokenCount"))
    return {
        "input_tokens": sent - cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": total - sent if total > sent else received + thoughts,
    }
