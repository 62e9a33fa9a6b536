"""Gemini CLI: a list of messages, told by lines that add to it, change it and cut it.

    ~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl     before 0.38 one .json document
    ~/.gemini/tmp/<project>/chats/<session>/<id>.jsonl          sub-agents

A message is written again whole whenever it grows: its last line counts, at the place of its first.
No line names a parent; the list is replayed instead. `$rewindTo` cuts it, and what follows begins a
branch. `$set.messages` replaces it: what is missing there has left the context by a compaction, and
what reads differently there (an output that was shortened) is shown a second time.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from plait.line import iter_lines
from plait.record.codec import NotAnObject, decode_object
from plait.sources.base import (
    SentMessage,
    Source,
    SourceLog,
    iter_objects,
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
    to_count,
    to_text,
)

SESSION_ID = re.compile(rb'"sessionId"\s*:\s*"([^"]+)"')
WORKSPACE = re.compile(r"\*\*Workspace Directories:\*\*(?:\\n|\n)\s*- (.+?)(?:\\n|\n)")
INJECTED = ("<session_context>", "<state_snapshot>")
IGNORED = ("/", "?", "<session_context>", "<hook_context>")
"""Beginnings of messages that are not sent when a session is resumed."""


class Gemini(Source):
    """The logs of Gemini CLI."""

    name = "gemini"
    title = "Gemini CLI"
    suffixes = (".jsonl", ".json")
    roots = ROOTS["gemini"]
    verified = "0.61.0"

    def find(self, path: Path, head: bytes) -> Iterable[SourceLog]:
        """Return the session of a file with Gemini's header."""
        if path.suffix == ".json":
            match = SESSION_ID.search(head)
            if match is None or b'"projectHash"' not in head:
                return []
            header: Fields = {"sessionId": match[1].decode("utf-8", "replace")}
        else:
            header = parse_first_object(head)
            if not _is_header(header):
                header = _find_header(path, head)
            if not header:
                return []
        is_agent = header.get("kind") == "subagent" and path.parent.parent.name == "chats"
        parent = path.parent.name if is_agent else None
        return [
            SourceLog(
                "gemini",
                to_text(header["sessionId"]),
                str(path),
                cwd=find_directory(path, head, header),
                parent=parent,
            )
        ]

    def is_side_file(self, path: Path) -> bool:
        """Return whether a file holds prompts, settings or checkpoints."""
        return ".gemini" in path.parts

    def translate(self, log: SourceLog, out: Translation) -> None:
        """Write the messages of a session."""
        if log.path.endswith(".json"):
            _translate_document(log, out)
            return
        reading = _Reading(out, find_last_versions(Path(log.path)))
        for line in out.lines():
            reading.read(line)

    def resume_command(self, log: SourceLog) -> list[str]:
        """Return the command that resumes a session in Gemini CLI."""
        return ["gemini", "--resume", log.id]

    def count_rows(self, log: SourceLog) -> int:
        """Return the number of messages of a document, and its header."""
        messages = parse_object(Path(log.path).read_bytes()).get("messages")
        return 1 + len([*iter_dicts(messages)])

    def read_context(self, log: SourceLog) -> list[SentMessage]:
        """Return what Gemini CLI sends of the present list of messages."""
        sent: list[SentMessage] = []
        for line, message in _replay(Path(log.path)):
            kind, content = message.get("type"), message.get("content")
            if kind == "user" and not _is_ignored(content):
                parts = [content] if isinstance(content, str) else content
                sent.append(SentMessage("user", [*render_sent_parts(parts)], (line,)))
            elif kind == "gemini":
                sent += _render_sent_answer(message, line)
        return sent


def _is_header(fields: Fields) -> bool:
    return isinstance(fields.get("sessionId"), str) and isinstance(fields.get("projectHash"), str)


def _find_header(path: Path, head: bytes) -> Fields:
    """Return the header of a session's file whose first line is damaged, or what stands for it."""
    if path.parent.name != "chats" or not path.name.startswith("session-"):
        return {}
    lines = [*iter_objects(head)]
    changes = [line["$set"] for line in lines if isinstance(line.get("$set"), dict)]
    for fields in (*lines, *changes):
        if isinstance(fields.get("sessionId"), str):
            return dict(fields)
    is_session = any({"id", "type", "timestamp"} <= line.keys() for line in lines)
    return {"sessionId": path.stem} if is_session else {}


def find_directory(path: Path, head: bytes, header: Fields) -> str | None:
    """Return the directory of a session: from the file, else of the folder of its project."""
    directories = header.get("directories")
    if isinstance(directories, list) and directories and isinstance(directories[0], str):
        return directories[0]
    for project in path.parents[:4]:
        try:
            return (project / ".project_root").read_text(encoding="utf-8").strip() or None
        except (OSError, UnicodeDecodeError):
            pass
        try:
            listed = parse_object((project.parent.parent / "projects.json").read_bytes())
        except OSError:
            continue
        projects = listed.get("projects", listed)
        for directory, name in projects.items() if isinstance(projects, dict) else ():
            digest = sha256(directory.encode("utf-8", "surrogatepass")).hexdigest()
            if project.name in (name, digest):
                return str(directory)
    match = WORKSPACE.search(head.decode("utf-8", "replace"))
    return match[1] if match else None


def find_last_versions(path: Path) -> dict[str, tuple[int, Fields]]:
    """Return the last version of each message with its line number."""
    versions: dict[str, tuple[int, Fields]] = {}
    for line in iter_lines(path):
        fields = parse_object(line.data)
        if isinstance(fields.get("id"), str) and "$set" not in fields:
            versions[fields["id"]] = line.number, fields
    return versions


def _translate_document(log: SourceLog, out: Translation) -> None:
    data = Path(log.path).read_bytes()
    try:
        document = decode_object(data)
    except NotAnObject:
        out.start(SourceLine(1, 0, {"text": data.decode("utf-8", "replace")}, data))
        out.finish_line()
        return
    messages = document.pop("messages", None)
    reading = _Reading(out, {})
    for number, fields in enumerate([document, *iter_dicts(messages)], 1):
        out.start(SourceLine(number, 0, fields, repr((log.id, number)).encode()))
        reading.read(out.line or SourceLine(number, 0, fields))
        out.finish_line()


def _replay(path: Path) -> list[tuple[int, Fields]]:
    """Return the present list of messages, each with its line."""
    messages: dict[str, tuple[int, Fields]] = {}
    if path.suffix == ".json":
        document = parse_object(path.read_bytes())
        for number, message in enumerate(iter_dicts(document.get("messages")), 2):
            messages[to_text(message.get("id"))] = number, message
        return [*messages.values()]
    for line in iter_lines(path):
        fields = parse_object(line.data)
        if isinstance(rewind := fields.get("$rewindTo"), str):
            names = [*messages]
            for name in names[names.index(rewind) if rewind in messages else 0 :]:
                del messages[name]
        elif isinstance(id_ := fields.get("id"), str):
            first = messages[id_][0] if id_ in messages else line.number
            messages[id_] = first, fields
        else:
            changes = fields.get("$set")
            place = changes if isinstance(changes, dict) else fields if _is_header(fields) else {}
            if isinstance(listed := place.get("messages"), list):
                known = messages
                messages = {}
                for message in iter_dicts(listed):
                    id_ = to_text(message.get("id"))
                    messages[id_] = known[id_][0] if id_ in known else line.number, message
    return [*messages.values()]


def _render_sent_answer(message: Fields, line: int) -> Iterator[SentMessage]:
    """Yield an answer as it is sent, and the results of its calls."""
    content = message.get("content")
    parts = [make_text_block(content)] if isinstance(content, str) and content else []
    if isinstance(content, list):
        parts = [*render_answer_parts(content)]
    calls = [*iter_dicts(message.get("toolCalls"))]
    if not any(part["type"] in ("tool_use", "thinking") for part in parts):
        thoughts = [_render_sent_thought(part) for part in iter_dicts(message.get("thoughts"))]
        parts = [make_thinking_block(text) for text in thoughts] + parts
        for call in calls:
            id_, name = to_text(call.get("id")), to_text(call.get("name"))
            parts.append(make_call_block(id_, name, call.get("args")))
    if not parts:
        return
    yield SentMessage("assistant", parts, (line,))
    results: list[Fields] = []
    for call in calls:
        given = call.get("result")
        if isinstance(given, str):
            given = [{"functionResponse": {"id": call.get("id"), "response": {"output": given}}}]
        results += render_sent_parts([given] if isinstance(given, dict) else given)
    if results:
        yield SentMessage("user", results, (line,))


def _is_ignored(content: object) -> bool:
    """Return whether a message of the user is not sent when a session is resumed."""
    if any(_is_response(part) for part in iter_dicts(content)):
        return False
    text = render_text(content).strip()
    return not text or text.startswith(IGNORED)


def render_sent_parts(parts: object) -> Iterator[Fields]:
    """Yield the blocks of a message as it is sent: results, images, calls and text."""
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, str):
            yield make_text_block(part)
        elif isinstance(part, dict) and _is_response(part):
            response = part["functionResponse"]
            call, text = to_text(response.get("id")), _render_value(response.get("response"))
            yield {"type": "tool_result", "tool_use_id": call, "content": text}
        elif isinstance(part, dict) and "inlineData" in part:
            blocks = render_parts([part])
            yield from blocks if isinstance(blocks, list) else ()
        else:
            yield from render_answer_parts([part])


def _render_sent_thought(thought: Fields) -> str:
    subject, text = to_text(thought.get("subject")), to_text(thought.get("description"))
    return f"**{subject}** {text}" if subject else text


class _Reading:
    """Replays the list of messages of one session."""

    def __init__(self, out: Translation, versions: dict[str, tuple[int, Fields]]) -> None:
        self.out = out
        self.versions = versions
        self.messages: list[tuple[str, str | None]] = []
        """The present list: the ids of messages, and the uuid of the last line of each."""
        self.times: Counter[str] = Counter()
        """How often each message was added to the list."""
        self.texts: set[str] = set()
        """The texts that were written."""
        self.injected: set[str] = set()
        """Messages that the client added in the user role."""
        self.results: set[str] = set()
        """The calls whose results have been written."""

    def read(self, line: SourceLine) -> None:
        """Translate one line."""
        out, fields = self.out, line.fields
        if isinstance(rewind := fields.get("$rewindTo"), str):
            self._rewind(rewind)
            out.note("$rewindTo")
        elif isinstance(id_ := fields.get("id"), str):
            if any(id_ == known for known, _ in self.messages):
                out.note("message written again")
            else:
                number, last = self.versions.get(id_, (line.number, fields))
                self._add(last)
                if number != line.number:
                    out.note("earlier version")
            self._write_changes(fields)
        elif isinstance(changes := fields.get("$set"), dict):
            if isinstance(changes.get("messages"), list):
                self._replace([*iter_dicts(changes["messages"])])
            out.note("$set")
            if isinstance(changes.get("summary"), str) and changes["summary"]:
                out.title(changes["summary"])
        elif _is_header(fields):
            out.note("header")
            if fields["sessionId"] != self.out.log.id:  # another session in the same file
                self.messages, out.parent = [], None
            if isinstance(fields.get("summary"), str) and fields["summary"]:
                out.title(fields["summary"])
            for message in iter_dicts(fields.get("messages")):
                self._add(message)

    def _add(self, message: Fields) -> None:
        id_ = to_text(message.get("id"))
        self._message(message)
        self.times[id_] += 1
        self.messages.append((id_, self.out.parent))

    def _rewind(self, to: str) -> None:
        """Go back to before a message; an unknown one clears everything."""
        number = next((at for at, (id_, _) in enumerate(self.messages) if id_ == to), 0)
        if self.messages[number:]:
            del self.messages[number:]
            self.out.rewind(self.messages[-1][1] if self.messages else None)

    def _replace(self, messages: list[Fields]) -> None:
        """Take a new list: add what is new, and write a compaction if something is missing."""
        known = dict(self.messages)
        ids = {to_text(message.get("id")) for message in messages}
        new = [message for message in messages if to_text(message.get("id")) not in known]
        left = [id_ for id_ in known if id_ not in ids and id_ not in self.injected]
        kept = [id_ for id_ in known if id_ in ids]
        if left and new:
            summary = next((message for message in new if message.get("type") == "user"), None)
            text = render_text(summary.get("content")) if summary else None
            uuids = [uuid for id_ in kept if (uuid := known[id_])]
            self.out.compaction(text, kept=uuids)
            if summary is not None and text is not None:
                self.texts.add(text)
                known[to_text(summary.get("id"))] = self.out.parent
                new.remove(summary)
        elif left and kept == [*known][: len(kept)]:
            self.out.rewind(known[kept[-1]] if kept else None)
        elif left:
            self.out.system(f"{len(left)} messages removed from the context")
        self.messages = []
        for message in messages:
            id_ = to_text(message.get("id"))
            if id_ in known:
                self.messages.append((id_, known[id_]))
            else:
                self._add(message)
            self._write_changes(message)

    def _write_changes(self, message: Fields) -> None:
        """Write what a message says now, where it was written with other words."""
        for text in iter_texts(message):
            if text.strip() and text not in self.texts:
                self.texts.add(text)
                self.out.user([make_text_block(text)], isMeta=True)

    def _message(self, message: Fields) -> None:
        out, kind = self.out, message.get("type")
        id_ = to_text(message.get("id"))
        # The message with the session's context has the same id in all sessions.
        times = (self.times[id_],) if self.times[id_] else ()
        uuid = out.make_uuid(id_, message.get("timestamp"), kind, *times)
        out.timestamp = to_text(message.get("timestamp")) or out.timestamp
        match kind:
            case "user":
                self._user(message, uuid)
            case "gemini":
                self._answer(message, id_, uuid)
            case "info" | "warning" | "error":
                level = "error" if kind == "error" else "info"
                text = render_text(message.get("content"))
                self.texts.add(text)
                out.system(text, uuid=uuid, level=level)
            case _:
                pass  # kept as an unknown line

    def _user(self, message: Fields, uuid: str) -> None:
        out, content = self.out, message.get("content")
        self.texts.update(iter_texts({"content": content}, has_results=False))
        answered = [part["functionResponse"] for part in iter_dicts(content) if _is_response(part)]
        rest = [part for part in iter_dicts(content) if not _is_response(part)]
        for response in answered:
            if to_text(response.get("id")) not in self.results:
                self._result(to_text(response.get("id")), response.get("response"), is_error=False)
        if answered and not rest:
            out.note("results")
            return
        shown = message.get("displayContent")
        text = render_text(content)
        if shown is not None and render_text(shown) != text:
            self.texts.update(iter_texts({"content": shown}))
            out.user(render_parts(shown), uuid=uuid)
            out.user(render_parts(rest or content), isMeta=True)
        else:
            is_meta = text.startswith(INJECTED) or None
            if is_meta:
                self.injected.add(to_text(message.get("id")))
            out.user(render_parts(rest or content), uuid=uuid, isMeta=is_meta)

    def _answer(self, message: Fields, id_: str, uuid: str) -> None:
        out = self.out
        self.texts.update(iter_texts({**message, "toolCalls": None}, has_results=False))
        blocks = [
            make_thinking_block(
                "\n".join(
                    filter(None, map(to_text, (part.get("subject"), part.get("description"))))
                )
            )
            for part in iter_dicts(message.get("thoughts"))
        ]
        content = message.get("content")
        calls = [*iter_dicts(message.get("toolCalls"))]
        if isinstance(content, str):
            blocks += [make_text_block(content)] * bool(content)
        else:
            called = {to_text(call.get("id")) for call in calls}
            blocks += [
                block
                for block in render_answer_parts(content)
                if block["type"] != "tool_use" or block["id"] not in called
            ]
        for call in calls:
            arguments = call.get("args")
            blocks.append(
                make_call_block(to_text(call.get("id")), to_text(call.get("name")), arguments)
            )
        out.assistant(
            blocks,
            id=id_,
            uuid=uuid,
            model=to_text(message.get("model")) or None,
            usage=_usage(message.get("tokens")),
            stop_reason="tool_use" if calls else "end_turn",
        )
        for call in calls:
            self._call_result(call, out.make_uuid(uuid, call.get("id"), "result"))

    def _call_result(self, call: Fields, uuid: str) -> None:
        status, shown = call.get("status"), call.get("resultDisplay")
        parts = [*iter_dicts(call.get("result"))]
        detail: Fields = {"agentId": call["agentId"]} if call.get("agentId") else {}
        if isinstance(shown, dict):
            detail["display"] = shown
        if not parts and status not in ("error", "cancelled", "success"):
            return
        responses = [part["functionResponse"] for part in parts if _is_response(part)]
        rest = [part for part in parts if not _is_response(part)]
        if responses or not parts:
            fallback = to_text(shown) if isinstance(shown, str) else status
            values = [response.get("response") for response in responses] or [fallback]
            value = values[0] if not values[1:] else "\n".join(map(_render_value, values))
        else:
            value = ""
        blocks = render_parts(rest) if rest else []
        self._result(
            to_text(call.get("id")),
            value,
            is_error=status in ("error", "cancelled"),
            more=blocks if isinstance(blocks, list) else (),
            detail=detail | {"status": status} if detail else None,
            uuid=uuid,
        )

    def _result(
        self,
        call: str,
        value: object,
        *,
        is_error: bool,
        more: Sequence[Fields] = (),
        detail: object = None,
        uuid: str | None = None,
    ) -> None:
        is_error = is_error or (isinstance(value, dict) and isinstance(value.get("error"), str))
        text = _render_value(value)
        self.results.add(call)
        self.texts.update((text, *iter_texts({"content": [*more]})))
        content = [*([make_text_block(text)] if text else []), *more] if more else text
        self.out.result(call, content, is_error=is_error, detail=detail, uuid=uuid)


def _render_value(value: object) -> str:
    """Return the words of a function's response: its output or error, else all of it."""
    for name in ("error", "output"):
        if isinstance(value, dict) and isinstance(value.get(name), str):
            return str(value[name])
    return to_text(value)


def iter_texts(message: Fields, *, has_results: bool = True) -> Iterator[str]:
    """Yield the words of a message: its text, its thoughts, and what its calls returned."""
    contents = [message.get("content")]
    if has_results:
        contents += [call.get("result") for call in iter_dicts(message.get("toolCalls"))]
    for content in contents:
        if isinstance(content, str):
            yield content
        for part in content if isinstance(content, list) else ():
            if isinstance(part, str):
                yield part
            elif not isinstance(part, dict):
                continue
            elif isinstance(part.get("text"), str):
                yield part["text"]
            elif _is_response(part) and has_results:
                yield _render_value(part["functionResponse"].get("response"))
    for thought in iter_dicts(message.get("thoughts")):
        if isinstance(thought.get("description"), str):
            yield thought["description"]


def _is_response(part: Fields) -> bool:
    return isinstance(part.get("functionResponse"), dict)


def render_text(content: object) -> str:
    """Return the text of a message."""
    if not isinstance(content, list):
        return to_text(content)
    return "\n".join(
        part if isinstance(part, str) else to_text(part.get("text", ""))
        for part in content
        if isinstance(part, str | dict)
    )


def render_parts(content: object) -> str | list[Fields]:
    """Return the content of a prompt as blocks."""
    if not isinstance(content, list):
        return to_text(content)
    blocks = []
    for part in content:
        data = part.get("inlineData") if isinstance(part, dict) else None
        if isinstance(data, dict):
            blocks.append(
                make_image_block(to_text(data.get("data")), to_text(data.get("mimeType")))
            )
        else:
            text = part.get("text", part) if isinstance(part, dict) else part
            blocks.append(make_text_block(to_text(text)))
    return blocks


def render_answer_parts(content: object) -> Iterable[Fields]:
    """Yield the blocks of an answer: thinking, calls and text."""
    for part in iter_dicts(content):
        if part.get("thought") is True:
            yield make_thinking_block(to_text(part.get("text")))
        elif isinstance(call := part.get("functionCall"), dict):
            yield make_call_block(
                to_text(call.get("id")), to_text(call.get("name")), call.get("args")
            )
        else:
            yield make_text_block(to_text(part.get("text", part)))


def _usage(tokens: object) -> dict[str, int] | None:
    """Return the usage of a request: thinking is billed as output, tools' prompts as input."""
    if not isinstance(tokens, dict):
        return None
    cached = to_count(tokens.get("cached"))
    sent = to_count(tokens.get("input")) + to_count(tokens.get("tool"))
    return {
        "input_tokens": max(sent - cached, 0),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": to_count(tokens.get("output")) + to_count(tokens.get("thoughts")),
    }
