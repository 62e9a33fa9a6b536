"""OpenCode: sessions, messages and their parts as rows of a database, or as files before 1.2.

    ~/.local/share/opencode/opencode.db                          tables session, message, part
    ~/.local/share/opencode/storage/session/<project>/<ses>.json
                            storage/message/<ses>/<msg>.json
                            storage/part/<msg>/<prt>.json

The database contains credentials too: only the tables of sessions are read, and it is never copied.
A backup has the rows of each session, in a file of its own that is read like the database.
Rows are numbered like lines: the session, then each message with its parts.

A fork copies messages under new ids and names no origin. Content and times are unchanged, so uuids
are derived from these, and copies are counted once.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from plait.errors import SourceError
from plait.record.codec import encode_value
from plait.sources.base import (
    SentMessage,
    Source,
    SourceLog,
    open_database,
    parse_first_object,
    parse_object,
)
from plait.sources.places import ROOTS
from plait.sources.translation import (
    Fields,
    SourceLine,
    Translation,
    format_ms,
    iter_dicts,
    make_call_block,
    make_image_block,
    make_text_block,
    make_thinking_block,
    number_of,
    parse_json,
    to_count,
    to_text,
)

SQLITE = b"SQLite format 3\0"
MILLION = 1_000_000
QUIET_PARTS = frozenset("step-start snapshot patch agent compaction".split())


TABLES = {
    "message": "id",
    "part": "id",
    "session_message": "seq",
    "session_input": "admitted_seq",
    "todo": "position",
}
"""The tables with a session's rows, and their order."""
EXPORTED = b'{"opencodeRows"'
"""How a file with the rows of a session begins."""
SHARES = "SELECT session_id, COUNT(*) AS rows FROM {} GROUP BY session_id"


class OpenCode(Source):
    """The sessions of OpenCode."""

    name = "opencode"
    title = "OpenCode"
    suffixes = (".db", ".json")
    roots = ROOTS["opencode"]
    verified = "1.18.33"

    def find(self, path: Path, head: bytes) -> Iterable[SourceLog]:
        """Return the sessions of a database, or that of a file."""
        if head.startswith(SQLITE):
            return _find_in_database(path)
        if head.startswith(EXPORTED):
            info = parse_object(head.split(b"\n", 2)[1].removeprefix(b'"session": ').rstrip(b","))
            updated = to_count(info.get("time_updated")) * MILLION
            return [_make_log(path, info, "", updated - 2)] if info.get("id") else []
        if path.suffix != ".json" or path.parent.parent.name != "session":
            return []
        info = parse_object(head) or parse_first_object(head)
        if not to_text(info.get("id")).startswith("ses_"):
            return []
        # After the move to the database the files remain: one nanosecond less, so that the row
        # counts.
        return [_make_log(path, info, "", _updated(info) * MILLION - 1)]

    def is_side_file(self, path: Path) -> bool:
        """Return whether a file holds changes or tasks of a session."""
        return path.parent.name in ("session_diff", "todo") or path.name.startswith("opencode")

    def translate(self, log: SourceLog, out: Translation) -> None:
        """Write the messages of a session."""
        rows = _load_rows(log)
        session = _unpack(rows.session)
        reading = _Reading(out)
        reading.read_session(session)
        for message, parts in rows.join():
            reading.read_message(message, parts)
        reading.read_rest(rows)
        reading.end(session)

    def resume_command(self, log: SourceLog) -> list[str]:
        """Return the command that resumes a session in OpenCode."""
        return ["opencode", "--session", log.id]

    def export(self, log: SourceLog) -> bytes | None:
        """Return the rows of a session for a backup, as JSON with a row on each line."""
        rows = _load_rows(log)
        if not rows.session:
            return None
        tables = [
            f'"{name}": [\n'.encode() + b",\n".join(map(encode_value, found)) + b"\n]"
            for name, found in rows.tables.items()
        ]
        session = b'"session": ' + encode_value(rows.session)
        return EXPORTED + b": 1,\n" + b",\n".join((session, *tables)) + b"}\n"

    def count_rows(self, log: SourceLog) -> int:
        """Return the number of rows of a session: its own, and those of the tables."""
        rows = _load_rows(log)
        return bool(rows.session) + sum(map(len, rows.tables.values()))

    def read_context(self, log: SourceLog) -> list[SentMessage] | None:
        """Return what OpenCode sends after reverts, compactions and pruning.

        What it sends of messages of its version 2 alone is not known.
        """
        loaded = _load_rows(log)
        session = _unpack(loaded.session)
        messages: list[_Message] = []
        number = 1
        for fields, parts in loaded.join():
            if fields.get("role") not in ("user", "assistant"):
                return None
            lines = range(number + 2, number + 2 + len(parts))
            messages.append(_Message(fields, [*zip(lines, parts, strict=True)]))
            number += 1 + len(parts)
        kept = _select_sent(_drop_reverted(messages, session.get("revert")))
        model = next((item.fields for item in kept[::-1] if item.fields["role"] == "user"), {})
        return [sent for item in kept for sent in item.render(model.get("model"))]


CLEARED = "[Old tool result content cleared]"
INTERRUPTED = "[Tool execution was interrupted]"
ATTACHED = "Attached media from tool result:"
SUMMARY_ASKED = "What did we do so far?"
SUBTASK_RUN = "The following tool was executed by the user"
"""What OpenCode says in place of parts."""


class _Message(NamedTuple):
    """A message with its parts, and the number of each."""

    fields: Fields
    parts: list[tuple[int, Fields]]

    @property
    def id(self) -> str:
        return to_text(self.fields.get("id"))

    def find_compaction(self) -> Fields | None:
        """Return the part that asks for a compaction."""
        is_user = self.fields.get("role") == "user"
        parts = (part for _, part in self.parts if part.get("type") == "compaction")
        return next(parts, None) if is_user else None

    @property
    def has_compacted(self) -> bool:
        fields = self.fields
        is_done = bool(fields.get("summary") and fields.get("finish") and not fields.get("error"))
        return fields.get("role") == "assistant" and is_done

    def render(self, model: object) -> Iterator[SentMessage]:
        """Yield what is sent of it to a model."""
        lines = tuple(number for number, _ in self.parts)
        if self.fields.get("role") == "user":
            blocks = [block for _, part in self.parts for block in _render_sent_part(part)]
            if blocks:
                yield SentMessage("user", blocks, lines)
            return
        error = self.fields.get("error")
        if error:
            is_aborted = isinstance(error, dict) and error.get("name") == "MessageAbortedError"
            kinds = {to_text(part.get("type")) for _, part in self.parts}
            if not is_aborted or not kinds - {"step-start", "reasoning"}:
                return
        answering = self.fields.get("providerID"), self.fields.get("modelID")
        asked = model if isinstance(model, dict) else {}
        is_own = answering == (asked.get("providerID"), asked.get("modelID"))
        # Each step of the message is an answer of its own, with the results of its calls.
        steps: list[tuple[list[Fields], list[Fields], list[int]]] = [([], [], [])]
        for number, part in self.parts:
            blocks, results, places = steps[-1]
            match part.get("type"):
                case "step-start" if blocks:
                    steps.append(([], [], []))
                case "text":
                    blocks.append(make_text_block(to_text(part.get("text"))))
                    places.append(number)
                case "reasoning":
                    text = to_text(part.get("text"))
                    signature = _find_signature(part.get("metadata"))
                    if is_own:
                        blocks.append(make_thinking_block(text, signature))
                    elif text.strip():
                        blocks.append(make_text_block(text))
                    places.append(number)
                case "tool":
                    call, result = _render_sent_call(part)
                    blocks.append(call)
                    results.append(result)
                    places.append(number)
        for blocks, results, places in steps:
            if blocks:
                yield SentMessage("assistant", blocks, tuple(places))
            if results:
                yield SentMessage("user", results, tuple(places))


def _render_sent_part(part: Fields) -> Iterator[Fields]:
    """Yield what is sent of a part of a prompt."""
    match part.get("type"):
        case "text" if part.get("text") and not part.get("ignored"):
            yield make_text_block(to_text(part["text"]))
        case "file" if part.get("mime") not in ("text/plain", "application/x-directory"):
            yield _file_block(part)
        case "compaction":
            yield make_text_block(SUMMARY_ASKED)
        case "subtask":
            yield make_text_block(SUBTASK_RUN)


def _render_sent_call(part: Fields) -> tuple[Fields, Fields]:
    """Return a call and its result, of which the output may have been pruned."""
    state, call = part.get("state"), to_text(part.get("callID"))
    state = state if isinstance(state, dict) else {}
    times, metadata = state.get("time"), state.get("metadata")
    if state.get("status") == "completed":
        is_pruned = isinstance(times, dict) and times.get("compacted")
        output = CLEARED if is_pruned else to_text(state.get("output"))
    elif state.get("status") == "error":
        is_cut = isinstance(metadata, dict) and metadata.get("interrupted") is True
        given = metadata.get("output") if is_cut and isinstance(metadata, dict) else None
        output = given if isinstance(given, str) else to_text(state.get("error"))
    else:
        output = INTERRUPTED
    block = make_call_block(call, to_text(part.get("tool")), state.get("input") or {})
    return block, {"type": "tool_result", "tool_use_id": call, "content": output}


def _drop_reverted(messages: list[_Message], revert: object) -> list[_Message]:
    """Return the messages before the point that a session was reverted to."""
    if not isinstance(revert, dict):
        return messages
    ids = [message.id for message in messages]
    at = to_text(revert.get("messageID"))
    if at not in ids:
        return messages
    left, rest = messages[: ids.index(at)], messages[ids.index(at)]
    names = [to_text(part.get("id")) for _, part in rest.parts]
    if (part := to_text(revert.get("partID"))) in names:
        left = [*left, rest._replace(parts=rest.parts[: names.index(part)])]
    return left


def _select_sent(messages: list[_Message]) -> list[_Message]:
    """Return the messages since the last compaction: that one, then what it keeps, then the rest."""
    found: list[_Message] = []
    ended: set[str] = set()
    tail = ""
    for message in messages[::-1]:
        found.insert(0, message)
        if tail:
            if message.id == tail:
                break
            continue
        if message.id in ended and (asked := message.find_compaction()) is not None:
            tail = to_text(asked.get("tail_start_id"))
            if tail in ("", message.id):
                break
        if message.has_compacted:
            ended.add(to_text(message.fields.get("parentID")))
    ids = [message.id for message in found]
    asking = [
        at for at, item in enumerate(found) if (item.find_compaction() or {}).get("tail_start_id")
    ]
    if not asking:
        return found
    at = asking[-1]
    tail = to_text((found[at].find_compaction() or {}).get("tail_start_id"))
    answers = [
        place
        for place, item in enumerate(found)
        if place > at and item.fields.get("summary") and item.fields.get("parentID") == ids[at]
    ]
    if tail not in ids[:at] or not answers:
        return found
    start, end = ids.index(tail), answers[0] + 1
    return [*found[at:end], *found[start:at], *found[end:]]


def _updated(info: Fields) -> int:
    time = info.get("time")
    return to_count(time.get("updated")) if isinstance(time, dict) else 0


def _make_log(path: Path, info: Fields, key: str, modified: int) -> SourceLog:
    parent = info.get("parentID") or info.get("parent_id")
    directory = info.get("directory")
    return SourceLog(
        "opencode",
        to_text(info.get("id")),
        str(path),
        modified=max(modified, 1),
        cwd=directory if isinstance(directory, str) else None,
        parent=parent if isinstance(parent, str) else None,
        key=key,
    )


def _rows(base: sqlite3.Connection, query: str, *values: object) -> list[Fields]:
    """Return rows as objects with JSON columns decoded; a missing table has none."""
    try:
        return [dict(row) for row in base.execute(query, values)]
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return []
        raise


def _find_in_database(path: Path) -> list[SourceLog]:
    try:
        with closing(open_database(path)) as base:
            rows = _rows(base, "SELECT * FROM session ORDER BY time_updated")
            shares: Counter[str] = Counter()
            for table in ("part", "session_message") if rows else ():
                for row in _rows(base, SHARES.format(table)):
                    shares[to_text(row["session_id"])] += row["rows"]
    except sqlite3.OperationalError as error:
        if "no such column" in str(error):
            return []  # another schema: not OpenCode's
        raise OSError(str(error)) from error
    except sqlite3.DatabaseError:
        return []
    # Its bytes are spread over the pages of the database: a session's size is its share of the rows.
    each = path.stat().st_size / max(shares.total(), 1)
    logs = [
        replace(
            _make_log(path, row, row["id"], to_count(row.get("time_updated")) * MILLION),
            size=int(each * shares[row["id"]]) or 1,
        )
        for row in rows
        if isinstance(row.get("id"), str)
    ]
    if logs:
        # A running client writes parts before it touches the session that they belong to.
        times = [file.stat().st_mtime_ns for file in (path, Path(f"{path}-wal")) if file.exists()]
        logs[-1] = replace(logs[-1], modified=max(logs[-1].modified, *times))
    return logs


class _Rows(NamedTuple):
    """What is stored of a session: its own row, and those of the tables."""

    session: Fields
    tables: dict[str, list[Fields]]

    def join(self) -> list[tuple[Fields, list[Fields]]]:
        """Return the messages, each with its parts, in order.

        A session that both versions have written to has rows of each; a message is taken once.
        """
        below: dict[str, list[Fields]] = {}
        for row in self.tables["part"]:
            part = _unpack(row)
            below.setdefault(_message_id(part), []).append(part)
        messages = [_unpack(row) for row in self.tables["message"]]
        known = [(row, below.get(to_text(row.get("id")), [])) for row in messages]
        ids = {to_text(row.get("id")) for row in messages}
        rows = [_unpack(row) for row in self.tables["session_message"]]
        newer: list[tuple[Fields, list[Fields]]] = [
            (row, []) for row in rows if to_text(row.get("id")) not in ids
        ]
        if known and newer:
            return sorted(known + newer, key=lambda item: _created(item[0]))
        return known or newer


def _message_id(part: Fields) -> str:
    return to_text(part.get("message_id") or part.get("messageID"))


def _created(message: Fields) -> int:
    times = message.get("time")
    created = times.get("created") if isinstance(times, dict) else None
    return to_count(created) or to_count(message.get("time_created"))


def _load_rows(log: SourceLog) -> _Rows:
    """Return the rows of a session from the database, from a backup, or from the older files."""
    path = Path(log.path)
    tables: dict[str, list[Fields]] = {name: [] for name in TABLES}
    if log.key:
        try:
            with closing(open_database(path)) as base:
                sessions = _rows(base, "SELECT * FROM session WHERE id = ?", log.key)
                for table, order in TABLES.items():
                    query = f"SELECT * FROM {table} WHERE session_id = ? ORDER BY {order}"  # noqa: S608
                    tables[table] = _rows(base, query, log.key)
        except sqlite3.Error as error:
            raise SourceError(f"cannot read '{path}': {error}") from error
        return _Rows(sessions[0] if sessions else {}, tables)
    session = parse_object(path.read_bytes())
    if "opencodeRows" in session:
        tables = {name: [*iter_dicts(session.get(name))] for name in TABLES}
        own = session.get("session")
        return _Rows(own if isinstance(own, dict) else {}, tables)
    storage = path.parents[2]
    tables["message"] = _read_folder(storage / "message" / log.id)
    for row in tables["message"]:
        id_ = to_text(row.get("id"))
        parts = _read_folder(storage / "part" / id_)
        tables["part"] += [{"message_id": id_} | part for part in parts]
    return _Rows(session, tables)


def _unpack(row: Fields) -> Fields:
    """Return a row with the content of its JSON columns."""
    fields = {name: parse_json(value) for name, value in row.items() if value is not None}
    data = fields.pop("data", None)
    return fields | (data if isinstance(data, dict) else {"data": data} if data else {})


def _read_folder(folder: Path) -> list[Fields]:
    try:
        return [parse_object(path.read_bytes()) for path in sorted(folder.glob("*.json"))]
    except OSError:
        return []


class _Reading:
    """Translates the rows of one session."""

    def __init__(self, out: Translation) -> None:
        self.out = out
        self.number = 0
        self.before: dict[str, str | None] = {}
        """For each message and part, the uuid of what stands before it."""
        self.lines: dict[str, list[str]] = {}
        """For each message, the uuids of what was written of it."""
        self.tail = ""
        """The first message that the compaction under way keeps."""
        self.time = 0

    def _start(self, fields: Fields, *identity: object, again: int = 0) -> None:
        """Begin a row, or what is written last of an earlier one."""
        self.number += not again
        data = repr(identity).encode("utf-8", "surrogatepass")
        self.out.start(SourceLine(again or self.number, 0, fields, data))

    def read_session(self, session: Fields) -> None:
        """Translate the row of the session itself."""
        out = self.out
        self._start(session, session.get("id"))
        out.version = to_text(session.get("version")) or None
        out.note("session")
        if title := to_text(session.get("title")):
            out.title(title)

    def read_message(self, message: Fields, parts: list[Fields]) -> None:
        """Translate a message with its parts."""
        out, id_ = self.out, to_text(message.get("id"))
        self.before[id_] = out.parent
        made = self.lines[id_] = []
        out.made = made
        times = message.get("time")
        created = times.get("created") if isinstance(times, dict) else None
        self.time = to_count(created) or to_count(message.get("time_created"))
        out.timestamp = format_ms(self.time) or out.timestamp
        self._start(message, self.time, message.get("role") or message.get("type"), "message")
        if message.get("role") == "user":
            out.note("message")
            self._user(parts)
        elif message.get("role") == "assistant":
            out.note("message")
            self._answer(message, parts)
        else:
            self._newer(message)
            out.finish_line()

    def read_rest(self, rows: _Rows) -> None:
        """Keep what is no message: waiting prompts, tasks, messages that both versions have."""
        ids = {to_text(row.get("id")) for row in rows.tables["message"]}
        twice = [row for row in rows.tables["session_message"] if to_text(row.get("id")) in ids]
        alone = [row for row in rows.tables["part"] if _message_id(row) not in ids]
        rest = {"session_message": twice, "part": alone}
        rest |= {table: rows.tables[table] for table in ("session_input", "todo")}
        for table, found in rest.items():
            for row in found:
                fields = _unpack(row)
                self._start(fields, table, to_text(fields))
                if table == "session_input" and row.get("promoted_seq") is None:
                    self.out.system(f"Queued prompt: {to_text(row.get('prompt'))}")
                self.out.note(table)

    def _part(self, part: Fields, number: int) -> None:
        hidden = {
            "id",
            "messageID",
            "sessionID",
            "message_id",
            "session_id",
            "time_created",
            "time_updated",
        }
        content = {name: value for name, value in part.items() if name not in hidden}
        self.before[to_text(part.get("id"))] = self.out.parent
        self._start(part, self.time, number, sorted(content), to_text(content))

    def _user(self, parts: list[Fields]) -> None:
        out = self.out
        for number, part in enumerate(parts):
            self._part(part, number)
            match part.get("type"):
                case "text":
                    is_meta = bool(part.get("synthetic") or part.get("ignored")) or None
                    out.user(to_text(part.get("text")), isMeta=is_meta)
                case "file":
                    out.user([_file_block(part)], isMeta=True)
                case "subtask":
                    out.user(to_text(part.get("prompt")), isMeta=True)
                case "compaction":
                    self.tail = to_text(part.get("tail_start_id"))
                    out.note("compaction")
                case str(kind) if kind in QUIET_PARTS:
                    out.note(kind)
            out.finish_line()

    def _answer(self, message: Fields, parts: list[Fields]) -> None:
        out = self.out
        model = to_text(message.get("modelID")) or None
        step, own = 0, self.number
        summary: list[str] = []
        has_usage = any(part.get("type") == "step-finish" for part in parts)
        response = self._response(message, step)
        for number, part in enumerate(parts):
            self._part(part, number)
            match part.get("type"):
                case "step-start":
                    out.note("step-start")
                case "text":
                    summary.append(to_text(part.get("text")))
                    out.assistant([make_text_block(summary[-1])], id=response, model=model)
                case "reasoning":
                    signature = _find_signature(part.get("metadata"))
                    block = make_thinking_block(to_text(part.get("text")), signature)
                    out.assistant([block], id=response, model=model)
                case "retry":
                    error = part.get("error")
                    out.system(_render_error(error), level="error")
                case "tool":
                    self._tool(part, response, model)
                case "step-finish":
                    usage, cost = _usage(part.get("tokens")), _cost(part)
                    out.assistant([], id=response, model=model, usage=usage, costUSD=cost)
                    step += 1
                    response = self._response(message, step)
                case "file":
                    out.assistant([_file_block(part)], id=response, model=model)
                case str(kind) if kind in QUIET_PARTS:
                    out.note(kind)
            out.finish_line()
        self._start(message, self.time, "end", again=own)
        usage = _usage(message.get("tokens"))
        if not has_usage and usage and any(usage.values()):
            out.assistant([], id=response, model=model, usage=usage, costUSD=_cost(message))
        error = message.get("error")
        if isinstance(error, dict):
            out.system(_render_error(error), level="error")
        if message.get("summary") is True and message.get("finish") and not error:
            # What begins the tail stays, up to the message that asked for the compaction.
            asked = to_text(message.get("parentID"))
            kept = [
                uuid
                for id_, uuids in self.lines.items()
                if self.tail and self.tail <= id_ < asked
                for uuid in uuids
            ]
            out.compaction("\n\n".join(summary) or None, kept=kept)
            self.tail = ""

    def _response(self, message: Fields, step: int) -> str:
        # Two agents may answer in one millisecond; a fork keeps all of this.
        marks = [
            message.get(name) for name in ("modelID", "agent", "mode", "time", "tokens", "cost")
        ]
        return self.out.make_uuid(self.time, to_text(marks), step, "response")

    def _tool(self, part: Fields, response: str, model: str | None) -> None:
        out, state = self.out, part.get("state")
        state = state if isinstance(state, dict) else {}
        call = to_text(part.get("callID"))
        block = make_call_block(call, to_text(part.get("tool")), state.get("input") or {})
        out.assistant([block], id=response, model=model)
        metadata = state.get("metadata")
        child = metadata.get("sessionId") if isinstance(metadata, dict) else None
        detail = {"agentId": child, "status": "completed"} if isinstance(child, str) else None
        if state.get("status") == "completed":
            content: list[Fields] = [make_text_block(to_text(state.get("output")))]
            content += [_file_block(file) for file in iter_dicts(state.get("attachments"))]
            times = state.get("time")
            if isinstance(times, dict) and times.get("compacted"):
                detail = (detail or {}) | {"prunedFromContext": times["compacted"]}
            out.result(call, content, detail=detail)
        elif state.get("status") == "error":
            out.result(call, to_text(state.get("error")), is_error=True, detail=detail)

    def _newer(self, message: Fields) -> None:
        """Translate a message as version 2 writes it: one row with all of its content."""
        out, model = self.out, message.get("model")
        name = to_text(model.get("id")) if isinstance(model, dict) else to_text(model)
        match message.get("type"):
            case "user":
                blocks = [make_text_block(to_text(message.get("text")))]
                out.user(
                    [*blocks, *(_file_block(file) for file in iter_dicts(message.get("files")))]
                )
            case "synthetic" | "system":
                out.user(to_text(message.get("text")), isMeta=True)
            case "shell":
                out.user(f"<bash-input>{to_text(message.get('command'))}</bash-input>")
                out.user(f"<bash-stdout>{to_text(message.get('output'))}</bash-stdout>")
            case "assistant":
                response = self._response(message, 0)
                results: list[Fields] = []
                for block in iter_dicts(message.get("content")):
                    match block.get("type"):
                        case "reasoning":
                            made = make_thinking_block(to_text(block.get("text")))
                        case "tool":
                            state = block.get("state")
                            inputs = state.get("input") if isinstance(state, dict) else None
                            call, tool = to_text(block.get("id")), to_text(block.get("name"))
                            made = make_call_block(call, tool, inputs or {})
                            results.append(block)
                        case _:
                            made = make_text_block(to_text(block.get("text", block)))
                    out.assistant([made], id=response, model=name or None)
                usage = _usage(message.get("tokens"))
                if usage and any(usage.values()):
                    cost = _cost(message)
                    out.assistant([], id=response, model=name or None, usage=usage, costUSD=cost)
                for block in results:
                    self._newer_result(block)
                if message.get("error"):
                    out.system(_render_error(message["error"]), level="error")
            case "compaction":
                trigger = to_text(message.get("reason")) or "auto"
                out.compaction(to_text(message.get("summary")) or None, trigger=trigger)
            case "agent-switched" | "model-switched":
                out.note(to_text(message["type"]))

    def _newer_result(self, block: Fields) -> None:
        state = block.get("state")
        state = state if isinstance(state, dict) else {}
        status = state.get("status") or state.get("type")
        if status not in ("completed", "error"):
            return
        texts = [to_text(part.get("text", part)) for part in iter_dicts(state.get("content"))]
        content = "\n".join(texts) or to_text(state.get("result")) or to_text(state.get("error"))
        self.out.result(to_text(block.get("id")), content, is_error=status == "error")

    def end(self, session: Fields) -> None:
        """Go back to where the session was reverted to."""
        revert = session.get("revert")
        if not isinstance(revert, dict):
            return
        for name in (to_text(revert.get("partID")), to_text(revert.get("messageID"))):
            if name in self.before and self.before[name] != self.out.parent:
                self.out.rewind(self.before[name])
                return


def _render_error(error: object) -> str:
    """Return the words of an error: its message, else its name."""
    if not isinstance(error, dict):
        return to_text(error)
    data = error.get("data")
    text = to_text(data.get("message")) if isinstance(data, dict) else ""
    return text or to_text(error.get("message")) or to_text(error.get("name")) or to_text(error)


def _find_signature(metadata: object) -> str | None:
    """Return what the provider signed a thought with."""
    for provider in metadata.values() if isinstance(metadata, dict) else ():
        for name in ("signature", "reasoningEncryptedContent", "itemId"):
            if isinstance(provider, dict) and isinstance(provider.get(name), str):
                return str(provider[name])
    return None


def _file_block(file: Fields) -> Fields:
    url = to_text(file.get("url"))
    kind, _, data = url.partition(";base64,")
    if data and kind.startswith("data:image/"):
        return make_image_block(data, kind.removeprefix("data:"))
    source = file.get("source")
    text = source.get("text") if isinstance(source, dict) else None
    value = text.get("value") if isinstance(text, dict) else None
    return make_text_block(to_text(value) or to_text(file.get("filename")) or url)


def _usage(tokens: object) -> dict[str, int] | None:
    """Return the usage of a request: reasoning is billed as output."""
    if not isinstance(tokens, dict):
        return None
    cache = tokens.get("cache")
    cache = cache if isinstance(cache, dict) else {}
    return {
        "input_tokens": to_count(tokens.get("input")),
        "cache_creation_input_tokens": to_count(cache.get("write")),
        "cache_read_input_tokens": to_count(cache.get("read")),
        "output_tokens": to_count(tokens.get("output")) + to_count(tokens.get("reasoning")),
    }


def _cost(row: Fields) -> float | None:
    return number_of(row.get("cost")) or None
