"""A small OTLP receiver on loopback: it decodes what comes and, like Phoenix, takes each span id
once. It can be told to fail in all the ways that servers fail.
"""

import gzip
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan


@dataclass
class Answer:
    """How the receiver answers a request."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    is_dying: bool = False
    """Takes the request and hangs up."""
    body: bytes = b""


Choose = Callable[[list[WireSpan]], Answer | None]


class Receiver:
    """Listens while it is entered."""

    def __init__(self, choose: Choose | None = None, port: int = 0) -> None:
        self.choose = choose
        self.spans: dict[str, WireSpan] = {}
        self.arrivals: Counter[str] = Counter()
        """How often each span id came, repeats too."""
        self.requests: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._server = Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def take(self, path: str, headers: dict[str, str], data: bytes) -> Answer:
        """Decode a request and chooses its answer; what is answered well is kept."""
        request = ExportTraceServiceRequest.FromString(data)
        spans = [
            span
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]
        answer = (self.choose(spans) if self.choose else None) or Answer()
        with self._lock:
            self.requests.append({"path": path, "headers": headers, "spans": len(spans)})
            if answer.status < 300:
                for span in spans:
                    name = span.span_id.hex()
                    self.arrivals[name] += 1
                    self.spans.setdefault(name, span)
        return answer

    def names(self) -> list[str]:
        """Return the names of the traces that arrived, in the order of their times."""
        roots = [span for span in self.spans.values() if not span.parent_span_id]
        return [span.name for span in sorted(roots, key=lambda one: one.start_time_unix_nano)]

    def __enter__(self) -> "Receiver":
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
    """The server behind a receiver."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], owner: Receiver) -> None:
        super().__init__(address, Handler)
        self.owner = owner

    def handle_error(self, request: object, client_address: object) -> None:
        """Stays silent: clients are killed in the middle of a request."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""

    def do_POST(self) -> None:
        """Take a request."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        assert self.headers.get("content-encoding") == "gzip"
        assert self.headers.get("content-type") == "application/x-protobuf"
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.owner.take(self.path, headers, gzip.decompress(raw))
        self.server.owner.requests[-1]["peer"] = self.client_address
        if answer.is_dying:
            self.close_connection = True
            return
        time.sleep(answer.delay)
        body = answer.body or ExportTraceServiceResponse().SerializeToString()
        kind = {"content-type": "application/x-protobuf", "content-length": str(len(body))}
        self.send_response(answer.status)
        for name, value in {**kind, **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
