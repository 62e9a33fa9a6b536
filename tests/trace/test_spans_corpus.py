"""Real sessions as spans: every response and call exactly once."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.archive import Archive
from plait.conversation.costs import sum_conversations
from plait.trace.otlp import build_request
from plait.trace.spans import build_traces
from plait.trace.traces import batch_traces, traces
from tests.trace.promises import check_times, check_traces


def test_every_response_and_every_call_of_real_sessions_is_a_span_once(shared: Path) -> None:
    archive = Archive([shared / "corpus", shared / "produced"])
    for session in archive.sessions:
        by_line = archive.conversations(session).by_line
        spans = [span for spans in build_traces(by_line) for span in spans]
        total = sum_conversations(by_line.values())
        tokens = sum(span.tokens.total for span in spans if span.tokens)
        assert tokens == total.tokens.total, session.path
        assert sum(span.kind == "tool" for span in spans) == total.calls, session.path


@pytest.mark.parametrize("part", ["corpus", "produced"])
def test_no_duplicate_spans_over_all_real_sessions(shared: Path, part: str) -> None:
    found = list(traces(Archive([shared / part]).sessions))
    assert len(found) > 10
    check_traces(found)
    check_times(found)


def test_real_sessions_can_be_exported(shared: Path) -> None:
    archive = Archive([shared / "produced"])
    for batch in batch_traces(traces(archive.sessions)):
        assert build_request(batch).SerializeToString()
