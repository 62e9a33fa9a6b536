"""Real sessions to spans: every response and every call once, nothing lost and nothing made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.archive import Archive
from plait.archive.traces import batched, traces
from plait.conversation.totals import totals_over
from plait.trace.send.otlp import request_of
from plait.trace.spans.traces import traces_of
from tests.trace.promises import check_times, check_traces


def test_every_response_and_every_call_of_real_sessions_is_a_span_once(shared: Path) -> None:
    archive = Archive([shared / "corpus", shared / "produced"])
    for session in archive.sessions:
        by_line = archive.conversations(session).by_line
        spans = [span for spans in traces_of(by_line) for span in spans]
        total = totals_over(by_line.values())
        tokens = sum(span.tokens.total for span in spans if span.tokens)
        assert tokens == total.tokens.total, session.path
        assert sum(span.kind == "tool" for span in spans) == total.calls, session.path


@pytest.mark.parametrize("part", ["corpus", "produced"])
def test_over_all_real_sessions_no_span_is_there_twice(shared: Path, part: str) -> None:
    found = list(traces(Archive([shared / part]).sessions))
    assert len(found) > 10
    check_traces(found)
    check_times(found)


def test_real_sessions_can_be_written(shared: Path) -> None:
    archive = Archive([shared / "produced"])
    for batch in batched(traces(archive.sessions)):
        assert request_of(batch).SerializeToString()
