"""Proof that a session resumes: the client resumes it offline and is compared with Plait."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from plait.graph.client.entries import Context
from plait.line import make_project_slug
from plait.sessions.model import Session
from plait.sessions.resume import CLIENT, context

__all__ = ["Proof", "prove_session"]


Block: TypeAlias = dict[str, Any]
Message: TypeAlias = tuple[str, list[Block]]
REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>", re.DOTALL)
VARYING = ("cache_control", "signature")
LOADED = ("Tool loaded.", "[Tool references removed - tools no longer available]")
"""The client's messages about tools, which depend on the tools it has itself."""


def normalize_messages(messages: Iterable[tuple[str, object]], probe: str = "") -> list[Message]:
    """Return messages without what varies between runs, and without the probe."""
    found: list[Message] = []
    for role, content in messages:
        blocks: list[Block] = []
        for block in map(_normalize_block, _iter_blocks(content)):
            words = block["text"] if block.get("type") == "text" else None
            if words is None or (words and not (probe and probe in words)):
                blocks.append(block)
        if role != "system" and blocks:
            found.append((role, blocks))
    return found


def _iter_blocks(content: object) -> Iterator[Block]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and (
            block.get("type") != "text" or isinstance(block.get("text"), str)
        ):
            yield block


def _normalize_block(block: Block) -> Block:
    kept = {key: value for key, value in block.items() if key not in VARYING}
    if kept.get("type") == "text":
        words = REMINDER.sub("", kept["text"]).strip()
        kept["text"] = "" if words in LOADED else words
    if kept.get("type") == "tool_result":
        content = kept.get("content")
        parts = [
            _normalize_block(part)
            for part in _iter_blocks(content)
            if part.get("type") != "tool_reference"
        ]
        kept["content"] = [part for part in parts if part.get("type") != "text" or part["text"]]
    return kept


def first_difference(ours: list[Message], theirs: list[Message]) -> tuple[int, str] | None:
    """Return the number of the first different message, and the difference; None if there is none."""
    for number, (mine, other) in enumerate(zip_longest(ours, theirs), 1):
        if mine is None:
            return number, "Claude Code sends one more message"
        if other is None:
            return number, "Claude Code does not send it"
        if json.dumps(mine, sort_keys=True) == json.dumps(other, sort_keys=True):
            continue
        if mine[0] != other[0]:
            return number, f"it is from the {other[0]}, not the {mine[0]}"
        types = [
            ", ".join(str(block.get("type")) for block in blocks) for _, blocks in (mine, other)
        ]
        is_same = types[0] == types[1]
        return number, "its text differs" if is_same else f"it has {types[1]}, not {types[0]}"
    return None


# A stand-in for the API on loopback: gives one short answer and keeps what the client sent.
#
# It implements as much of the Messages API as a client needs to send a conversation.


Json: TypeAlias = dict[str, Any]
ANSWER = "ok"
USAGE = {
    "input_tokens": 1,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 1,
}
PATIENCE = 5.0


class StandIn:
    """A server for one client, for use in a `with` block."""

    def __init__(self) -> None:
        self.requests: list[Json] = []
        self.client: str | None = None
        """The client's user agent."""
        self._lock = Lock()
        self._server = _Server(self)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def note(self, body: Json, client: str | None) -> None:
        """Store a request."""
        with self._lock:
            self.requests.append(body)
            self.client = self.client or client

    def __enter__(self) -> "StandIn":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=PATIENCE)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, owner: StandIn) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors: a client may disconnect."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""

    def do_HEAD(self) -> None:
        self._send(200, b"", "text/plain")

    def do_GET(self) -> None:
        self._send(200, b'{"data":[],"has_more":false}', "application/json")

    def do_POST(self) -> None:
        body = self._read_body()
        place = self.path.split("?")[0]
        if place == "/v1/messages/count_tokens":
            self._send(200, b'{"input_tokens":1}', "application/json")
        elif place != "/v1/messages":
            self._send(404, b"{}", "application/json")
        else:
            self.server.owner.note(body, self.headers.get("user-agent"))
            self._answer(body)

    def _answer(self, body: Json) -> None:
        if body.get("stream"):
            self._send(200, b"".join(_iter_events(body)), "text/event-stream")
        else:
            self._send(200, json.dumps(_make_message(body)).encode(), "application/json")

    def _read_body(self) -> Json:
        try:
            found = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _make_message(body: Json) -> Json:
    return {
        "id": "msg_proof",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "made-up"),
        "content": [{"type": "text", "text": ANSWER}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
    }


def _iter_events(body: Json) -> Iterator[bytes]:
    begun = {**_make_message(body), "content": [], "stop_reason": None}
    block = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": ANSWER}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    for event in (
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


# Runs the user's own client on a session, in an empty home, on loopback alone.
#
# The client gets a copy of the session and resumes it as a fork: nothing of the user's is read, and
# nothing that is written remains.


PROBE = "Plait is checking whether this session resumes."
SUMMARIZE = "Your task is to create a detailed summary"
LONGEST = 120.0
NOWHERE = "http://127.0.0.1:9"
"""An address where nothing listens, for everything that is not meant for the stand-in."""
NAMELESS = "c0ffee00-0000-4000-8000-000000000001"
QUIET_VARIABLES = (
    "DISABLE_TELEMETRY",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
)
State = Literal["resumed", "not resumed", "not installed"]


class Proof(Struct, frozen=True, kw_only=True):
    """The result of resuming a session with the client."""

    state: State
    client: str | None = None
    """The client's user agent."""
    messages: int = 0
    """The number of messages it sent."""
    is_equal: bool | None = None
    """Whether it sent what Plait predicts; None if that cannot be compared."""
    difference: str | None = None
    output: str | None = field(default=None, name="said")
    """The output of a client that did not resume, or why it could not be started."""

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong with the session."""
        return self.state == "not installed" or self.is_equal is not False


def prove_session(session: Session, executable: str | None = None) -> Proof:
    """Resume a session with the installed client and return the result."""
    client = executable or shutil.which(CLIENT)
    if client is None or not os.access(client, os.X_OK):
        return Proof(state="not installed")
    expected = context(session)
    with TemporaryDirectory(prefix="plait-prove-", ignore_cleanup_errors=True) as name:
        room = Path(name).resolve()
        called = _copy_session(room, session)
        with StandIn() as standin:
            try:
                output = _run(client, room, called, standin.url)
            except OSError as error:  # what was done before stays done, and is reported
                return Proof(state="not installed", output=(error.strerror or str(error)).lower())
        return _judge(standin, expected, output)


def _copy_session(room: Path, session: Session) -> str:
    """Copy a session to where the client looks for it; return its id there."""
    name = (
        session.path.stem
        if len(session.path.stem) == 36 and session.path.stem.count("-") == 4
        else NAMELESS
    )
    project = room / "config" / "projects" / make_project_slug(str(room / "work"))
    for folder in (project, room / "home", room / "work"):
        folder.mkdir(parents=True)
    shutil.copyfile(session.path, project / f"{name}.jsonl")
    folder = session.path.with_suffix("")
    if folder.is_dir():
        shutil.copytree(folder, project / name, symlinks=True)
    return name


def _run(client: str, room: Path, session: str, url: str) -> str:
    asked = ("-p", PROBE, "--output-format", "json", "--resume", session, "--fork-session")
    environment = {  # which contains nothing of the user's
        "PATH": os.defpath,
        "HOME": str(room / "home"),
        "LANG": "C.UTF-8",
        "CLAUDE_CONFIG_DIR": str(room / "config"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "made-up-key-for-the-stand-in",
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1",
        **dict.fromkeys(QUIET_VARIABLES, "1"),
    }
    process = subprocess.Popen(  # noqa: S603  the user's own client
        [client, *asked],
        cwd=room / "work",
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
    result = ""
    with suppress(ValueError, KeyError, TypeError):
        result = str(json.loads(out)["result"])
    return result or err.strip() or out.strip()


def _judge(standin: StandIn, expected: Context, output: str) -> Proof:
    for request in standin.requests:
        messages = request.get("messages")
        if not isinstance(messages, list):
            continue
        last = json.dumps(messages[-3:])
        if SUMMARIZE in last:
            return Proof(state="resumed", client=standin.client, messages=len(messages))
        if PROBE in last:
            sent = ((str(message.get("role")), message.get("content")) for message in messages)
            theirs = normalize_messages(sent, PROBE)
            found = first_difference(normalize_messages(expected.messages), theirs)
            return Proof(
                state="resumed",
                client=standin.client,
                messages=len(theirs),
                is_equal=found is None,
                difference=f"message {found[0]}: {found[1]}" if found else None,
            )
    is_agreed = not expected.resumes
    return Proof(
        state="not resumed", client=standin.client, is_equal=is_agreed, output=output[:300]
    )
