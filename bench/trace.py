"""Traces from sessions: spans per CPU-second, step by step, and a whole archive."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from bench.archives import archive
from bench.measure import SHARED, best_of, cpu_seconds, plait, python, row
from plait import Archive
from plait.conversation.prices import Prices
from plait.redact import Redactor
from plait.sessions.open_session import open_session
from plait.trace.model import Convention, Span
from plait.trace.otlp import build_request, request_to_json, sdk_spans
from plait.trace.spans import build_traces, build_waterfall
from plait.trace.traces import batch_traces, traces

IMPORT = "import plait.trace.spans, plait.trace.otlp"


def main() -> None:
    """Print the figures of generated logs, and of real ones where there are any."""
    row("traces", "spans", "spans/CPU-s", "MB/CPU-s")
    measure("generated, 20 MB", archive("20MB"))
    if SHARED.is_dir():
        measure("real logs", SHARED / "corpus")
    print()
    row(
        "back-fill over loopback",
        "spans",
        "CPU seconds",
        "wall",
        "peak MB",
        widths=(40, 14, 14, 14, 14),
    )
    backfill("generated, 100 MB", archive("100MB"))
    if SHARED.is_dir():
        backfill("real logs", SHARED / "corpus")
    print()
    loaded = python(IMPORT).cpu - python("pass").cpu
    sending = python(f"{IMPORT}; plait.trace.otlp.sdk_spans([])").cpu - python(IMPORT).cpu
    print(f"import: spans and wire {loaded:.2f} s, the SDK when sending {sending:.2f} s more")


def measure(name: str, root: Path) -> None:
    """Print the figures of one archive."""
    sessions = Archive([root]).sessions
    size = sum(file.size for session in sessions for file in session.files) / 1e6
    result = [open_session(item).conversations.by_line for item in sessions]
    sdk_spans([])
    found = [spans for by_line in result for spans in build_traces(by_line, Prices())]
    count = sum(map(len, found))
    for what, work in (
        (
            "spans from conversations",
            lambda: [list(build_traces(item, Prices())) for item in result],
        ),
        ("from the files, redacted", lambda: list(traces(sessions, redactor=Redactor()))),
        ("to OTLP, both conventions", lambda: encode_spans(found, "both")),
        ("to OTLP, Langfuse's alone", lambda: encode_spans(found, "langfuse")),
        (
            "to OTLP's JSON",
            lambda: [request_to_json(build_request(trace)) for trace in batch_traces(found)],
        ),
        ("to rows of a waterfall", lambda: [build_waterfall(spans) for spans in found]),
    ):
        took = best_of(2, work)
        row(f"{name}: {what}", count, f"{count / took:,.0f}", f"{size / took:.0f}")


def encode_spans(found: list[list[Span]], convention: Convention) -> None:
    """Encode spans as requests of the usual size."""
    for batch in batch_traces(found):
        build_request(batch, convention=convention).SerializeToString()


def backfill(name: str, root: Path) -> None:
    """Print what the whole command takes, to a collector that only reads."""
    with receiving() as (url, counts):
        took = plait("trace", "send", "--all", "--root", root, "--to", url)
    sent = int(took.output.split(" with ")[1].split(" spans")[0].replace(" ", ""))
    figures = (sent, f"{took.cpu:.1f}", f"{took.wall:.1f}", f"{took.peak / 1e6:.0f}")
    row(f"{name}: {counts['requests']} requests, {counts['bytes'] / 1e6:.0f} MB", *figures,
        widths=(40, 14, 14, 14, 14))  # fmt: skip


@contextmanager
def receiving() -> Iterator[tuple[str, dict[str, int]]]:
    """Run a collector that unpacks what it gets and throws it away."""
    counts = {"requests": 0, "bytes": 0}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = gzip.decompress(self.rfile.read(int(self.headers["Content-Length"])))
            counts["requests"] += 1
            counts["bytes"] += len(data)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", counts
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    print(f"warming up: {cpu_seconds(lambda: sdk_spans([])):.2f} s")
    main()
