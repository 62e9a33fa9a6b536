"""The neutral form: lines of a session as Claude Code writes them, made from another agent's.

Every line of the source becomes at least one line here, so that nothing is lost and every line can
be accounted for: what is not a message is kept completely as a note, what cannot be decoded is
passed on unchanged. `sourceLine` and `sourceOffset` name the place in the source; `sourcePart`
counts further lines made from the same one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from msgspec import json

from plait.line import Line, iter_lines
from plait.record.codec import NotAnObject, decode_object, encode_value
from plait.sources.base import SourceLog

NOTE = "source-note"
"""The type of a line whose kind is known to a reader and has no message."""
Fields = dict[str, Any]


class SourceLine(NamedTuple):
    """A line, or a database row, of the source."""

    number: int
    offset: int
    fields: Fields
    """Its content; an empty object if it has none."""
    data: bytes = b""


class Translation:
    """Writes the lines of one session; a reader calls it in the order of the source.

    A line without a given parent follows the last one that was written.
    """

    def __init__(self, log: SourceLog, file: BinaryIO, session: str | None = None) -> None:
        self.log = log
        self.session = session or log.id
        """The session of the lines; for a sub-agent, the one that started it."""
        self.cwd = log.cwd
        self.version: str | None = None
        self.git_branch: str | None = None
        self.timestamp: str | None = None
        """For lines without their own."""
        self.parent: str | None = None
        """The uuid that the next line follows."""
        self.agent: str | None = log.id if session else None
        """The sub-agent of the next lines, if its lines are in the same file."""
        self._file = file
        self.line: SourceLine | None = None
        """The line of the source that is being translated."""
        self.made: list[str] = []
        """The uuids of the lines that were written; a reader may put another list in its place."""
        self._parts = 0
        self._inherited_from: Path | None = None
        self._is_torn = False
        """The last line was passed on without a newline."""

    # ------------------------------------------------------------------ reading the source

    def lines(
        self,
        path: Path | str | None = None,
        end: int | None = None,
        inherited_from: Path | None = None,
    ) -> Iterator[SourceLine]:
        """Yield the lines of the source; blank and broken ones are passed on unchanged.

        A line for which nothing was written until the next one is requested is kept as a note.
        Lines of another file that the session continues name that file.
        """
        self._inherited_from = inherited_from
        for line in iter_lines(Path(path or self.log.path), end=end):
            if (fields := self._decode(line)) is not None:
                self.start(SourceLine(line.number, line.offset, fields, line.data))
                assert self.line is not None
                yield self.line
                self.finish_line()

    def _decode(self, line: Line) -> Fields | None:
        try:
            return decode_object(line.data)
        except NotAnObject:
            # A reader of the neutral form accounts for it as for a broken line of its own.
            self._file.write(line.data + b"\n" * line.is_ended)
            self._is_torn = not line.is_ended
            return None

    def start(self, line: SourceLine) -> None:
        """Begin a line of the source: what is written from now on belongs to it."""
        self.line, self._parts = line, 0

    def finish_line(self) -> None:
        """Keep the line of the source as a note if nothing was written for it."""
        if self.line is not None and not self._parts:
            self.unknown(
                str(self.line.fields.get("type") or self.line.fields.get("kind") or "untyped")
            )

    # ------------------------------------------------------------------ messages

    def user(self, content: str | Sequence[Fields], **fields: Any) -> str:
        """Write a user message: a prompt, or what the agent added in the user role.

        Pass `isMeta=True` for what nobody typed.
        """
        return self.write("user", message={"role": "user", "content": content}, **fields)

    def assistant(
        self,
        content: Sequence[Fields],
        *,
        id: str,  # noqa: A002
        model: str | None = None,
        usage: Mapping[str, int] | None = None,
        stop_reason: str | None = None,
        **fields: Any,
    ) -> str:
        """Write blocks of a response; all lines of one response share its id.

        `usage` has the names of the Messages API: `input_tokens` without those read from the
        cache, `cache_read_input_tokens`, `cache_creation_input_tokens`, `output_tokens`.
        """
        message: Fields = {"id": id, "type": "message", "role": "assistant", "model": model}
        message |= {"content": content, "stop_reason": stop_reason}
        if usage is not None:
            message["usage"] = usage
        return self.write("assistant", message=message, **fields)

    def result(
        self,
        call: str,
        content: str | Sequence[Fields],
        *,
        is_error: bool = False,
        detail: object = None,
        **fields: Any,
    ) -> str:
        """Write the result of a tool call; `detail` is the agent's own view of it."""
        block: Fields = {"type": "tool_result", "tool_use_id": call, "content": content}
        if is_error:
            block["is_error"] = True
        if detail is not None:
            fields["toolUseResult"] = detail
        return self.user([block], **fields)

    def system(self, content: str, subtype: str = "informational", **fields: Any) -> str:
        """Write a message of the agent itself: a system prompt, an error, a notice."""
        return self.write("system", subtype=subtype, content=content, **fields)

    def compaction(
        self, summary: str | None = None, *, kept: Sequence[str] = (), **metadata: Any
    ) -> str:
        """Write that the conversation was compacted, and the summary that replaces it.

        `kept` are the uuids of the lines that stay in the context behind the summary, in their
        order. `metadata` has Claude Code's names, such as `trigger` and `preTokens`.
        """
        last, self.parent = self.parent, None
        metadata = {"trigger": "auto"} | metadata
        if kept and summary is not None:
            line = self.line
            anchor = self.make_uuid(line.data if line else b"", self._parts + 1)
            metadata["preservedMessages"] = {"anchorUuid": anchor, "uuids": list(kept)}
        uuid = self.write(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            logicalParentUuid=last,
            compactMetadata=metadata,
        )
        if summary is not None:
            uuid = self.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        return uuid

    # ------------------------------------------------------------------ everything else

    def title(self, title: str) -> None:
        """Write the session's title."""
        self._emit({"type": "custom-title", "customTitle": title, "sessionId": self.session})

    def rewind(self, to: str | None, content: str = "Rewound the conversation") -> None:
        """Write that the agent went back to an earlier line, or to before the first one.

        What followed that line was left, and is a branch even where nothing comes after.
        """
        self.system(content, "rewind", parentUuid=to)
        if to is None:  # a pointer to nothing: the session starts anew
            pointer = {"type": "last-prompt", "leafUuid": None, "explicit": True}
            self._emit(pointer | {"sessionId": self.session})

    def note(self, kind: str) -> None:
        """Keep a line of the source that has no message."""
        assert self.line is not None
        self._emit(
            {"type": NOTE, "kind": kind, "sessionId": self.session, "record": self.line.fields}
        )

    def unknown(self, kind: str) -> None:
        """Keep a line of the source of an unknown kind; it is counted as such."""
        assert self.line is not None
        self._emit(
            {
                "type": f"{self.log.source}:{kind}",
                "sessionId": self.session,
                "record": self.line.fields,
            }
        )

    def write(self, type: str, *, uuid: str | None = None, **fields: Any) -> str:  # noqa: A002
        """Write a line that others can follow, and return its uuid.

        Without `parentUuid` and `timestamp`, those of the last line are used.
        """
        line = self.line
        uuid = uuid or self.make_uuid(line.data if line else b"", self._parts)
        parent = fields.pop("parentUuid", self.parent)
        self.timestamp = fields.pop("timestamp", None) or self.timestamp
        record: Fields = {"parentUuid": parent, "isSidechain": self.agent is not None}
        record["agentId"] = self.agent
        record |= {"type": type, "uuid": uuid, "timestamp": self.timestamp, "userType": "external"}
        record |= {"cwd": self.cwd, "sessionId": self.session, "version": self.version}
        record |= {"gitBranch": self.git_branch} | fields
        self._emit({name: value for name, value in record.items() if value is not None})
        self.made.append(uuid)
        self.parent = uuid
        return uuid

    def make_uuid(self, *parts: object) -> str:
        """Return the same uuid for the same parts in any session, so that copied lines are
        recognised.
        """
        text = repr((self.log.source, *parts)).encode("utf-8", "surrogatepass")
        digest = blake2b(text, digest_size=16).hexdigest()
        return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:]))

    def _emit(self, fields: Fields) -> None:
        if "parentUuid" not in fields and "uuid" in fields:
            fields = {"parentUuid": None} | fields
        if self.line is not None:
            fields |= {"sourceLine": self.line.number, "sourceOffset": self.line.offset}
            if self._parts:
                fields["sourcePart"] = self._parts
            if self._inherited_from:
                fields["sourceFile"] = str(self._inherited_from)
        self._parts += 1
        self._file.write(b"\n" * self._is_torn + encode_value(fields) + b"\n")
        self._is_torn = False


def make_text_block(text: str) -> Fields:
    """Return a text block."""
    return {"type": "text", "text": text}


def make_thinking_block(text: str, signature: str | None = None) -> Fields:
    """Return a thinking block."""
    block: Fields = {"type": "thinking", "thinking": text}
    return block | {"signature": signature} if signature else block


def make_call_block(id: str, name: str, arguments: object) -> Fields:  # noqa: A002
    """Return a tool call; arguments that are no object become its only argument."""
    inputs = arguments if isinstance(arguments, dict) else {"input": arguments}
    return {"type": "tool_use", "id": id, "name": name, "input": inputs}


def make_image_block(data: str, media_type: str) -> Fields:
    """Return an image block."""
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": media_type, "data": data},
    }


def parse_json(text: object) -> Any:
    """Return the value of a JSON text; the text itself if it is invalid."""
    if not isinstance(text, str):
        return text
    try:
        return json.decode(text)
    except (ValueError, RecursionError):
        return text


def to_count(value: object) -> int:
    """Return a count of tokens, 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def number_of(value: object) -> float | None:
    """Return an amount of money, None for anything else."""
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return None


def format_ms(milliseconds: int) -> str | None:
    """Return a time in milliseconds since 1970 in the form of logs, None for none."""
    try:
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return (
        moment.isoformat(timespec="milliseconds").replace("+00:00", "Z") if milliseconds else None
    )


def iter_dicts(values: object) -> Iterable[Fields]:
    """Yield the objects of a list; nothing if it is no list."""
    return (
        (value for value in values if isinstance(value, dict)) if isinstance(values, list) else ()
    )


def to_text(value: object) -> str:
    """Return a value as text: a string unchanged, nothing for None, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else encode_value(value).decode()
