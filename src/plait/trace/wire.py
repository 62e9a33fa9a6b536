"""Spans to the OpenTelemetry SDK's spans, and to the bytes of an OTLP request.

The SDK is imported here and nowhere above, when the first span goes out.
"""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from plait.errors import MissingExtra
from plait.trace.attributes import attributes_of
from plait.trace.content import as_text, prepared
from plait.trace.model import Content, Convention, Span

if TYPE_CHECKING:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.sdk.trace import ReadableSpan

SERVICE, SCOPE = "claude-code", "plait"
HEX = 16


def readable(
    spans: Iterable[Span], *, convention: Convention = "both", options: Content | None = None
) -> "list[ReadableSpan]":
    """Returns spans as the SDK's exporters take them.

    With no options they go out as they are: whoever prepared them has cut them already.
    """
    chosen = list(spans if options is None else prepared(spans, options))
    times = times_of(chosen)
    return [readable_span(span, times[span.id], convention) for span in chosen]


def request_of(
    spans: Iterable[Span], *, convention: Convention = "both", options: Content | None = None
) -> "ExportTraceServiceRequest":
    """Returns spans as an OTLP request."""
    chosen = readable(spans, convention=convention, options=options)
    return sdk().encode_spans(chosen)


def encoded(
    spans: Iterable[Span], *, convention: Convention = "both", options: Content | None = None
) -> bytes:
    """Returns the bytes of an ExportTraceServiceRequest."""
    request = request_of(spans, convention=convention, options=options)
    return bytes(request.SerializeToString())


def times_of(spans: list[Span]) -> dict[str, tuple[int, int]]:
    """Returns the times of spans; one that has none begins with the span that it is within."""
    firsts: dict[str, int] = {}
    for span in spans:
        if span.start is not None:
            firsts[span.trace] = min(span.start, firsts.get(span.trace, span.start))
    found: dict[str, tuple[int, int]] = {}
    for span in spans:
        start = span.start if span.start is not None else span.end
        if start is None:
            above = found.get(span.parent or "")
            start = above[0] if above else firsts.get(span.trace, 0)
        found[span.id] = (start, max(start, span.end if span.end is not None else start))
    return found


def readable_span(span: Span, times: tuple[int, int], convention: Convention) -> "ReadableSpan":
    """Returns one span as the SDK has it."""
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
        self.scope = InstrumentationScope(SCOPE, own_version())
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


def own_version() -> str | None:
    """Returns Plait's version, None where it runs without having been installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(SCOPE)
    except PackageNotFoundError:
        return None
