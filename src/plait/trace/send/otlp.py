"""Spans to the OpenTelemetry SDK's spans, to the bytes of an OTLP request, to files of JSON.

The SDK is imported here and nowhere above, when the first span goes out. The JSON is protobuf's,
but for two things: ids are hexadecimal instead of base64, and kinds are numbers instead of names.
A `.json` file holds one request, a `.jsonl` file one a line.
"""

import os
import time
from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec

from plait.errors import MissingExtra, SourceError, UserError
from plait.trace.model import Convention, Span
from plait.trace.send.attributes import as_text, attributes_of
from plait.trace.spans.builder import times_of

if TYPE_CHECKING:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.sdk.trace import ReadableSpan


SERVICE, SCOPE = "claude-code", "plait"
HEX = 16
IDS = ("traceId", "spanId", "parentSpanId")
LINES = ".jsonl"


def sdk_spans(spans: Sequence[Span], *, convention: Convention = "both") -> "list[ReadableSpan]":
    """Returns spans as the SDK's exporters take them: whoever prepared them has cut them."""
    times = times_of(spans, otherwise=time.time_ns())
    return [_readable_span(span, times[span.id], convention) for span in spans]


def request_of(
    spans: Sequence[Span], *, convention: Convention = "both"
) -> "ExportTraceServiceRequest":
    """Returns spans as an OTLP request."""
    return sdk().encode_spans(sdk_spans(spans, convention=convention))


def _readable_span(span: Span, times: tuple[int, int], convention: Convention) -> "ReadableSpan":
    made = sdk()
    return made.span(
        as_text(span.name),
        context=made.context(span.trace, span.id),
        parent=made.context(span.trace, span.parent) if span.parent else None,
        resource=made.resource,
        attributes=attributes_of(span, convention),
        kind=made.client if span.kind == "generation" else made.internal,
        instrumentation_scope=made.scope,
        status=made.failed(as_text(span.status)) if span.level == "ERROR" else made.unset,
        start_time=times[0],
        end_time=times[1],
    )


@cache
def sdk() -> "Sdk":
    """Returns the SDK, or says how to install it."""
    try:
        return Sdk()
    except ImportError as error:
        raise MissingExtra(
            "traces need the OpenTelemetry SDK", "type `pip install 'plait[trace]'`"
        ) from error


class Sdk:
    """What is used of the OpenTelemetry SDK."""

    def __init__(self) -> None:
        from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope
        from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

        self.span = ReadableSpan
        self.encode_spans = encode_spans
        self.resource = Resource({"service.name": SERVICE})
        self.scope = InstrumentationScope(SCOPE, _own_version())
        self.client, self.internal = SpanKind.CLIENT, SpanKind.INTERNAL
        self.unset = Status(StatusCode.UNSET)
        self._context, self._flags = SpanContext, TraceFlags(TraceFlags.SAMPLED)
        self._status, self._error = Status, StatusCode.ERROR

    def context(self, trace: str, span: str) -> Any:
        """Returns the two ids of a span."""
        return self._context(int(trace, HEX), int(span, HEX), False, self._flags)

    def failed(self, words: str) -> Any:
        """Returns the status of what failed."""
        return self._status(self._error, words or None)


def _own_version() -> str | None:
    """Returns Plait's version, None where it runs without having been installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(SCOPE)
    except PackageNotFoundError:
        return None


def json_of(request: "ExportTraceServiceRequest") -> dict[str, Any]:
    """Returns a request as the JSON of OTLP."""
    from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]

    found: dict[str, Any] = MessageToDict(request, use_integers_for_enums=True)
    for span in spans_in(found):
        for holder in (span, *span.get("links", ())):
            for name in IDS:
                if name in holder:
                    holder[name] = b64decode(holder[name]).hex()
    return found


def spans_in(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the spans of a request."""
    for resource in request.get("resourceSpans", ()):
        for scope in resource.get("scopeSpans", ()):
            yield from scope.get("spans", ())


def write_spans(path: Path, batches: Iterable[list[Span]], *, convention: Convention) -> int:
    """Writes spans to a new file, one batch after the other; returns how many they were."""
    is_lines = path.suffix == LINES
    count = 0
    with _new_file(path) as file:
        file.write(b"" if is_lines else b'{"resourceSpans":[')
        for place, batch in enumerate(batches):
            request = json_of(request_of(batch, convention=convention))
            if is_lines:
                file.write(msgspec.json.encode(request) + b"\n")
            else:
                parts = map(msgspec.json.encode, request["resourceSpans"])
                file.write((b"," if place else b"") + b",".join(parts))
            count += len(batch)
        file.write(b"" if is_lines else b"]}\n")
    return count


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@contextmanager
def _new_file(path: Path) -> Iterator[IO[bytes]]:
    try:
        file = open(path, "xb", opener=_private)  # noqa: SIM115  closed below
    except FileExistsError:
        raise UserError(f"'{path}' is there already", "name another file") from None
    except OSError as error:
        raise SourceError(f"cannot write '{path}': {(error.strerror or '').lower()}") from error
    try:
        with file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise
