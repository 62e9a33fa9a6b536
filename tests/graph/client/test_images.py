"""Images too large for the API: the client sends nothing."""

import json

import pytest

from examples.resume.drawing import calls, out, says, text, user
from plait.graph.client import build_context
from plait.record import parse_record

LIMIT = 5_242_880


@pytest.mark.parametrize(("length", "resumes"), [(LIMIT, True), (LIMIT + 4, False)])
@pytest.mark.parametrize("is_of_a_tool", [False, True])
def test_session_with_a_too_large_image_does_not_resume(
    length: int, resumes: bool, is_of_a_tool: bool
) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "A" * length}
    image = {"type": "image", "source": source}
    lines = (
        [user("U1"), calls("C1<U1", "x"), user("R1<C1", [{**out("x"), "content": [image]}])]
        if is_of_a_tool
        else [user("U1", [text("look"), image]), says("A1<U1")]
    )
    times = [f"2026-11-02T10:00:{second:02}.000Z" for second in range(len(lines))]
    records = [
        parse_record(json.dumps({**line, "timestamp": time}).encode())
        for line, time in zip(lines, times, strict=True)
    ]
    found = build_context(records, size=0)
    assert found.resumes is resumes
    assert bool(found.messages) is resumes
    assert resumes or "5.0 MB as base64" in (found.why_not or "")
