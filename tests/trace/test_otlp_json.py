"""OTLP requests as JSON: ids in hexadecimal, kinds as numbers, files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import Parse  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from plait.errors import SourceError, UserError
from plait.trace.model import Span
from plait.trace.otlp import build_request, iter_request_spans, request_to_json, write_spans
from tests.trace.pictured import traced
from tests.trace.test_wire import SESSION


def test_ids_are_hexadecimal_and_kinds_are_numbers() -> None:
    spans = [span for spans in traced(SESSION) for span in spans]
    found = list(iter_request_spans(request_to_json(build_request(spans))))
    assert [one["spanId"] for one in found] == [span.id for span in spans]
    assert [one["traceId"] for one in found] == [span.trace for span in spans]
    assert [one.get("parentSpanId") for one in found] == [span.parent for span in spans]
    assert {one["kind"] for one in found} == {1, 3}
    assert {one["status"].get("code") for one in found} == {None, 2}
    assert found[0]["startTimeUnixNano"] == str(spans[0].start), "large numbers are texts"


def test_json_equals_the_request() -> None:
    request = build_request(traced(SESSION)[0])
    found = request_to_json(request)
    for one in iter_request_spans(found):  # protobuf's own JSON has ids in base64
        for name in ("traceId", "spanId", "parentSpanId"):
            if name in one:
                one[name] = base64_of(one[name])
    assert Parse(json.dumps(found), ExportTraceServiceRequest()) == request


def base64_of(text: str) -> str:
    from base64 import b64encode

    return b64encode(bytes.fromhex(text)).decode()


@pytest.mark.parametrize("name", ["traces.json", "traces.jsonl"])
def test_a_file_holds_all_spans(tmp_path: Path, name: str) -> None:
    found = traced(SESSION)
    path = tmp_path / name
    assert write_spans(path, found, convention="both") == sum(map(len, found))
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == (len(found) if name.endswith("l") else 1)
    ids = [one["spanId"] for line in lines for one in iter_request_spans(json.loads(line))]
    assert ids == [span.id for spans in found for span in spans]
    with pytest.raises(UserError, match="already exists"):
        write_spans(path, found, convention="both")


def test_a_file_without_spans_is_valid(tmp_path: Path) -> None:
    write_spans(tmp_path / "none.json", [], convention="both")
    assert json.loads((tmp_path / "none.json").read_bytes()) == {"resourceSpans": []}


def test_a_failed_write_leaves_no_file(tmp_path: Path) -> None:
    def failing() -> Iterator[list[Span]]:
        yield traced(SESSION)[0]
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        write_spans(tmp_path / "half.json", failing(), convention="both")
    assert not list(tmp_path.iterdir())
    with pytest.raises(SourceError, match="cannot write"):
        write_spans(tmp_path / "no" / "folder.json", [], convention="both")


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: one["value"] for one in span["attributes"]}


def test_values_keep_their_type() -> None:
    (root, *_) = iter_request_spans(request_to_json(build_request(traced(SESSION)[0])))
    found = attributes(root)
    assert found["plait.turn"] == {"intValue": "1"}
    assert found["plait.kind"] == {"stringValue": "turn"}
