"""A small OTLP collector on loopback for tests."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass
class Received:
    """What came, as it was sent."""

    url: str = ""
    headers: list[dict[str, str]] = field(default_factory=list)
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)

    @property
    def spans(self) -> dict[str, dict[str, Any]]:
        """All spans by their ids, with plain attributes."""
        return {span["id"]: span for request in self.requests for span in spans_in(request)}


def spans_in(request: ExportTraceServiceRequest) -> Iterator[dict[str, Any]]:
    """Yield the spans of a request as plain values."""
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield {
                    "trace": span.trace_id.hex(),
                    "id": span.span_id.hex(),
                    "parent": span.parent_span_id.hex() or None,
                    "name": span.name,
                    "kind": span.kind,
                    "start": span.start_time_unix_nano,
                    "end": span.end_time_unix_nano,
                    "status": (span.status.code, span.status.message),
                    "service": resource.resource.attributes[0].value.string_value,
                    "scope": scope.scope.name,
                    "attributes": {one.key: plain(one.value) for one in span.attributes},
                }


def plain(value: Any) -> Any:
    """Return a value of an attribute."""
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [plain(one) for one in value.array_value.values]
    return getattr(value, kind)


@contextmanager
def receiving(status: int = 200) -> Iterator[Received]:
    """Run a collector while it is needed; one that fails answers with another status."""
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                data = gzip.decompress(data)
            received.headers.append({name.lower(): text for name, text in self.headers.items()})
            if status == 200:
                received.requests.append(ExportTraceServiceRequest.FromString(data))
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    received.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield received
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
