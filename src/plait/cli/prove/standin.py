"""Requests of a client on loopback to one short answer; what it sent is kept.

It speaks as much of the Messages API as a client needs to send a conversation and be content.
"""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, TypeAlias

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
    """A server for one client, while it is entered."""

    def __init__(self) -> None:
        self.requests: list[Json] = []
        self.client: str | None = None
        """What the client calls itself."""
        self._lock = Lock()
        self._server = _Server(self)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def note(self, body: Json, client: str | None) -> None:
        """Keeps a request."""
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
        """Stays silent: a client may hang up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Prints nothing."""

    def do_HEAD(self) -> None:
        self._send(200, b"", "text/plain")

    def do_GET(self) -> None:
        self._send(200, b'{"data":[],"has_more":false}', "application/json")

    def do_POST(self) -> None:
        body = self._body()
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
            self._send(200, b"".join(_events(body)), "text/event-stream")
        else:
            self._send(200, json.dumps(_message(body)).encode(), "application/json")

    def _body(self) -> Json:
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


def _message(body: Json) -> Json:
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


def _events(body: Json) -> Iterator[bytes]:
    begun = {**_message(body), "content": [], "stop_reason": None}
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
