"""HTTP requests on loopback to the answers of a script; each request is kept."""

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from types import TracebackType
from uuid import uuid4

from tests.standin.answers import error_of, message_of, tokens
from tests.standin.model import Answer, Asked, Choose, Json
from tests.standin.stream import encoded, events

MODELS = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5")


class StandIn:
    """A server that answers as the Messages API does, while it is entered."""

    def __init__(self, choose: Choose, *, log: Path | None = None, port: int = 0) -> None:
        self.choose = choose
        self.requests: list[Asked] = []
        self._log = log
        self._lock = Lock()
        self._server = Server(("127.0.0.1", port), self)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def note(self, asked: Asked) -> None:
        """Keep a request, in memory and in the log."""
        with self._lock:
            self.requests.append(asked)
            if self._log:
                with self._log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(asked.as_object()) + "\n")

    def taken(self) -> list[Asked]:
        """Return the requests since the last time, and forgets them."""
        with self._lock:
            found, self.requests = self.requests, []
        return found

    def serve(self) -> None:
        """Serve until the process ends."""
        self._thread.start()
        self._thread.join()

    def __enter__(self) -> "StandIn":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)


class Server(ThreadingHTTPServer):
    """The server behind a stand-in."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], owner: StandIn) -> None:
        super().__init__(address, Handler)
        self.owner = owner

    def handle_error(self, request: object, client_address: object) -> None:
        """Stays silent: clients hang up in the middle of a stream, and may."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""

    def do_HEAD(self) -> None:
        """Say that somebody is there."""
        self._note({})
        self._head(200, {"content-length": "0"})

    def do_GET(self) -> None:
        """List the models."""
        self._note({})
        if self.path.split("?")[0] != "/v1/models":
            self._json(404, error_of({"error": 404}))
            return
        models = [{"type": "model", "id": name, "display_name": name} for name in MODELS]
        self._json(200, {"data": models, "has_more": False})

    def do_POST(self) -> None:
        """Answer a message, or counts its tokens."""
        body = self._body()
        self._note(body)
        place = self.path.split("?")[0]
        if place == "/v1/messages/count_tokens":
            self._json(200, {"input_tokens": tokens(body)})
        elif place == "/v1/messages":
            self._answer(body)
        else:
            self._json(404, error_of({"error": 404}))

    def _answer(self, body: Json) -> None:
        answer = self.server.owner.choose(body)
        time.sleep(answer.get("hold", 0))
        if "error" in answer and "error_after" not in answer:
            again = {"retry-after": str(answer["retry_after"])} if "retry_after" in answer else {}
            self._json(answer["error"], error_of(answer), again)
        elif body.get("stream"):
            self._stream(message_of(answer, body), answer)
        else:
            self._json(200, message_of(answer, body))

    def _stream(self, message: Json, answer: Answer) -> None:
        self._head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        for piece in encoded(events(message, answer), answer.get("chunk")):
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
            time.sleep(answer.get("pause", 0))
        if "drop_after" in answer:
            self.close_connection = True  # without the last chunk: the line went dead
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _body(self) -> Json:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            found = json.loads(raw)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def _note(self, body: Json) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.owner.note(Asked(self.command, self.path, headers, body))

    def _json(self, status: int, value: Json, more: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        length = {"content-type": "application/json", "content-length": str(len(data))}
        self._head(status, {**length, **(more or {})})
        self.wfile.write(data)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"request-id": f"req_{uuid4().hex[:24]}", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
