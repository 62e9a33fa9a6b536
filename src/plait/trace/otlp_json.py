"""OTLP requests to the JSON that OTLP has for them, and to files of it.

The JSON is protobuf's, but for two things: ids are hexadecimal instead of base64, and kinds are
numbers instead of names. A `.json` file holds one request, a `.jsonl` file one a line.
"""

from base64 import b64decode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec

from plait.errors import SourceError, UserError
from plait.trace.model import Convention, Span
from plait.trace.wire import request_of

if TYPE_CHECKING:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = ("traceId", "spanId", "parentSpanId")
LINES = ".jsonl"


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
    with new_file(path) as file:
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


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file that was not there before; what fails half-way leaves none."""
    try:
        file = path.open("xb")
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
