"""Codex: two logs in one file, the model's items and what the screen showed of them.

    ~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl      also .jsonl.zst
    ~/.codex/archived_sessions/rollout-<time>-<thread>.jsonl
    rollout-<time>-<thread>_<rollout>.jsonl                         a reverted thread, in a new file

Text is taken from the model's items (`response_item`) alone. What the screen showed tells prompts
from what Codex put in the user's place, and holds usage, rollbacks and interruptions.

A fork copies its parent's lines with new times, or names the stretch of another file that it
continues (`history_base`). In both cases a line is recognised by its payload, gets the uuid that it
has in the parent, and so is counted once.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from plait.errors import SourceError
from plait.line import iter_lines
from plait.sources.base import (
    Source,
    SourceLog,
    iter_objects,
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
TYPES = frozenset(
    """
    session_meta response_item event_msg turn_context compacted world_state
    inter_agent_communication inter_agent_communication_metadata security_risk_score
    """.split()
)
LEGACY_ITEMS = frozenset(
    "message reasoning function_call function_call_output local_shell_call".split()
)
INJECTED = ("<", "# AGENTS.md instructions")
"""How messages begin that Codex put in the user's place, in logs without the screen's view."""
MOST_BASES = 50
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
        source = meta.get("source")
        sub_agent = source.get("subagent") if isinstance(source, dict) else None
        spawn = sub_agent.get("thread_spawn") if isinstance(sub_agent, dict) else None
        parent = spawn.get("parent_thread_id") if isinstance(spawn, dict) else None
        return [
            SourceLog(
                "codex",
                name[2] if name and name[2] else meta["id"],
                str(path),
                cwd=meta["cwd"] if isinstance(meta.get("cwd"), str) else None,
                parent=parent if isinstance(parent, str) else None,
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
            copied = header.get("forked_from_id")
            if isinstance(copied, str) and not header.get("history_base"):
                reading.expect_copy_of(Path(log.path), copied)
            reading.read(path)
        if title := find_title(Path(log.path), log.id):
            out.title(title)

    def resume_command(self, log: SourceLog) -> list[str]:
        """Return the command that resumes a thread in Codex."""
        name = ROLLOUT.fullmatch(Path(log.path).name)
        return ["codex", "resume", name[1] if name else log.id]


def read_meta(head: bytes) -> Fields:
    """Return what a rollout says of itself, in the first lines or, before 0.40, on the first."""
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


@contextmanager
def unpack(path: Path) -> Iterator[Path]:
    """Yield a file with the plain lines of a rollout, which may be packed or have just been."""
    if not path.exists():
        other = path.with_suffix("") if path.suffix == ".zst" else Path(f"{path}.zst")
        path = other if other.exists() else path
    if path.suffix != ".zst":
        yield path
        return
    with TemporaryDirectory(prefix="plait-") as folder:
        plain = Path(folder, path.stem)
        size = 0
        with path.open("rb") as file, open_zstd(file) as unpacked, plain.open("wb") as out:
            while data := unpacked.read(1 << 20):
                size += len(data)
                if size > MOST_UNPACKED:
                    raise SourceError(f"'{path}' is larger than 8 GB when unpacked")
                out.write(data)
        yield plain


def _iter_payloads(path: Path) -> Iterator[Fields]:
    for line in iter_lines(path):
        payload = parse_object(line.data).get("payload")
        if isinstance(payload, dict):
            yield payload


def _find_bases(path: Path, header: Fields) -> list[tuple[Path, int | None]]:
    """Return the stretches of other files that a rollout continues, the earliest first."""
    bases: list[tuple[Path, int | None]] = []
    seen = {path.resolve()}
    while isinstance(base := header.get("history_base"), dict) and len(bases) < MOST_BASES:
        found = find_rollout(path, to_text(base.get("thread_id")))
        if found is None or found.resolve() in seen:
            break
        seen.add(found.resolve())
        end = base.get("end_byte_offset")
        bases.insert(0, (found, end if isinstance(end, int) else None))
        path = found
        with unpack(found) as plain:
            header = next(_iter_payloads(plain), {})
    return bases


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
    """Return the last title that Codex's list has for a thread."""
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
    return title


class _Reading:
    """Translates the lines of a thread, over all files that it continues."""

    def __init__(self, out: Translation) -> None:
        self.out = out
        self.model: str | None = None
        self.response: str | None = None
        """The id of the response that is being received; None where the next item begins one."""
        self.totals: Fields = {}
        """The tokens of the thread so far, as the last line with usage gives them."""
        self.prompts: list[str | None] = []
        """For each prompt of the conversation, the uuid of what stands before it."""
        self.typed: set[str] = set()
        """Texts that the screen showed as prompts."""
        self.seen: list[tuple[Fields, str | None]] = []
        """The payloads of this file, with the uuid that was last written then."""
        self.copy: Iterator[tuple[Fields, str | None, bytes]] = iter(())
        """The lines of which copies are expected next."""
        self.expected: tuple[Fields, str | None, bytes] | None = None
        self.first: str | None = None
        """The thread's own id."""
        self.own_from = 0
        """The ordinal of the first line of a sub-agent that it did not inherit."""

    def expect_copy_of(self, path: Path, parent: str) -> None:
        """Expect the lines of the thread that this one was forked from, if it can be found."""
        found = find_rollout(path, parent)
        lines: list[tuple[Fields, str | None, bytes]] = []
        if found is not None:
            with unpack(found) as plain:
                for line in iter_lines(plain):
                    fields = parse_object(line.data)
                    payload = fields.get("payload")
                    if isinstance(payload, dict) and fields.get("type") != "session_meta":
                        lines.append((payload, None, line.data))
        self._expect(lines)

    def _expect(self, lines: Iterable[tuple[Fields, str | None, bytes]]) -> None:
        self.copy = iter(lines)
        self.expected = next(self.copy, None)

    def read(self, path: Path, end: int | None = None, inherited_from: Path | None = None) -> None:
        """Translate the lines of one file, up to an offset."""
        self.typed = _find_typed(path, end)
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
        if self.expected is not None and self._is_copy(payload):
            return
        self._item(kind, payload)
        self.seen.append((payload, out.parent))

    def _is_copy(self, payload: Fields) -> bool:
        """Return whether a line is a copy that needs no translation; stop at the first that is not.

        One of another file is translated under the identity that it has there.
        """
        assert self.expected is not None
        known, uuid, data = self.expected
        if known != payload:
            self.expected = None
            return False
        self.expected = next(self.copy, None)
        if data:
            line = self.out.line
            assert line is not None
            self.out.start(line._replace(data=data))
            return False
        self.out.parent = uuid
        self.out.note("copied line")
        return True

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
            self._expect([(payload, uuid, b"") for payload, uuid in self.seen])
            out.parent, self.response = None, None
        elif thread not in (self.first, self.out.log.id) and self.expected is None:
            out.parent, self.response, self.totals = None, None, {}  # another thread altogether

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
            case "event_msg", "turn_aborted":
                out.note(what)
                out.user([make_text_block("[Request interrupted by user]")])
                self.response = None
            case "event_msg", "error" | "stream_error":
                out.system(to_text(payload.get("message")), level="error")
            case "compacted", _:
                self._compaction(payload)
            case "inter_agent_communication", _:
                out.user(to_text(payload.get("content")), isMeta=True)
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
        elif to_text(entry.get("type")) in LEGACY_ITEMS:
            out.timestamp = out.timestamp or ""
            self._response_item(to_text(entry["type"]), entry)

    def _response_item(self, what: str, item: Fields) -> None:
        out = self.out
        match what:
            case "message" | "agent_message":
                self._message(item)
            case "reasoning":
                parts = [*iter_dicts(item.get("summary")), *iter_dicts(item.get("content"))]
                text = "\n\n".join(to_text(part.get("text")) for part in parts)
                self._answer(
                    make_thinking_block(text, to_text(item.get("encrypted_content")) or None)
                )
            case "function_call" | "custom_tool_call" | "tool_search_call":
                arguments = item.get("arguments", item.get("input"))
                name = to_text(item.get("name")) or what.removesuffix("_call")
                block = make_call_block(to_text(item.get("call_id")), name, parse_json(arguments))
                self._answer(block)
            case "local_shell_call":
                call = to_text(item.get("call_id")) or to_text(item.get("id"))
                self._answer(make_call_block(call, "local_shell", item.get("action")))
            case "web_search_call" | "image_generation_call":
                call = to_text(item.get("id")) or out.make_uuid(item)
                hidden = {"type", "id"}
                inputs = {name: value for name, value in item.items() if name not in hidden}
                self._answer(make_call_block(call, what.removesuffix("_call"), inputs))
            case "function_call_output" | "custom_tool_call_output" | "tool_search_output":
                self._output(item)
            case "compaction" | "context_compaction":
                out.compaction(sourceItem=what)
                self.response = None
            case _:
                return  # kept as an unknown line

    def _message(self, item: Fields) -> None:
        out, role = self.out, item.get("role")
        content = [_content_block(part) for part in iter_dicts(item.get("content"))]
        text = "\n".join(to_text(block.get("text")) for block in content)
        if role == "assistant":
            for block in content:
                self._answer(block)
            return
        self.response = None
        is_typed = text in self.typed if self.typed else not text.startswith(INJECTED)
        if role == "user" and is_typed:
            self.prompts.append(out.parent)
            out.user(content)
        elif role == "user":
            out.user(content, isMeta=True)
        else:  # developer, system
            out.system(text)

    def _answer(self, block: Fields) -> None:
        out = self.out
        if self.response is None:
            line = out.line
            assert line is not None
            self.response = out.make_uuid(line.data, "response")
        out.assistant([block], id=self.response, model=self.model)

    def _output(self, item: Fields) -> None:
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
            content: str | list[Fields] = [_content_block(part) for part in iter_dicts(output)]
        else:
            content = to_text(output)
            code = EXIT_CODE.search(content)
            is_error = is_error or (code is not None and code[1] != "0")
            started = parse_json(content)
            if isinstance(started, dict) and isinstance(started.get("agent_id"), str):
                detail = {"agentId": started["agent_id"], "status": "async_launched"}
        self.out.result(to_text(item.get("call_id")), content, is_error=is_error, detail=detail)

    def _usage(self, info: object) -> None:
        """Write the usage of one request, as one more line of its response.

        The same total comes again with news of rate limits; a total may jump without a request.
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
        """Stand where the conversation stood before its last prompts."""
        if not turns or not self.prompts:
            return
        turns = min(turns, len(self.prompts))
        before = self.prompts[-turns]
        del self.prompts[-turns:]
        self.response = None
        if before is not None:
            self.out.leaf(before)
        self.out.parent = before

    def _compaction(self, payload: Fields) -> None:
        summary = to_text(payload.get("message")) or None
        self.out.compaction(summary, replacementHistory=payload.get("replacement_history"))
        self.response = None
        self.prompts = []


def _find_typed(path: Path, end: int | None) -> set[str]:
    """Return the texts that the screen showed as prompts."""
    texts: set[str] = set()
    for line in iter_lines(path, end=end):
        if b'"user_message"' not in line.data and b'"UserMessage"' not in line.data:
            continue
        payload = parse_object(line.data).get("payload")
        if not isinstance(payload, dict):
            continue
        if payload.get("type") == "user_message":
            texts.add(to_text(payload.get("message")))
        elif isinstance(item := payload.get("item"), dict) and item.get("type") == "UserMessage":
            texts.add(
                "\n".join(to_text(part.get("text")) for part in iter_dicts(item.get("content")))
            )
    return texts


def _content_block(part: Fields) -> Fields:
    match = DATA_URL.fullmatch(to_text(part.get("image_url")))
    if match:
        return make_image_block(match[2], match[1])
    return make_text_block(to_text(part.get("text", part)))
