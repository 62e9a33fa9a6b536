"""Content that only the client's view of a result has."""

from typing import Any

import pytest

from plait.record.text import extract_extra_text

NUMBERED = "\n".join(f"{number}\tline {number}" for number in range(1, 9))
LINES = "\n".join(f"line {number}" for number in range(1, 9))


@pytest.mark.parametrize(
    ("view", "told", "beside"),
    [
        (None, "", {}),
        ("as told", "as told", {}),
        ("Error: as told", "as told", {}),
        ("Error: Exit code 1\nwhy", "Exit code 1", {"": "why"}),
        ({"stdout": "out", "stderr": ""}, "out", {}),
        ({"stdout": "out", "stderr": "warned"}, "out", {"stderr": "warned"}),
        ({"stdout": "a\nb", "stderr": "c\na"}, "a\nb", {"stderr": "c"}),
        ({"file": {"content": LINES}}, NUMBERED, {}),
        ({"file": {"content": "line 1\nline 2"}}, NUMBERED, {}),
        ({"file": {"content": "line 1\nother"}}, NUMBERED, {"file.content": "other"}),
        ({"file": {"content": f"{LINES}\nmore"}}, NUMBERED, {"file.content": "more"}),
        ({"lists": [{"a": "x"}, {"a": "y"}]}, "", {"lists.a": "x\ny"}),
        ({"a": "same", "b": "same"}, "", {"a": "same"}),
        ({"a": 5, "b": True, "c": None, "d": " "}, "", {}),
        ({"type": "x", "uuid": "y", "filePath": "/z", "status": "completed"}, "", {}),
        ({"oldString": "x", "newString": "y"}, "", {}),
        ({"originalFile": "x"}, "", {"originalFile": "x"}),
        (
            {"originalFile": "x", "structuredPatch": [{"lines": ["-x", " y"]}]},
            "",
            {"structuredPatch.lines": "-x\n y"},
        ),
        ({"type": "update", "content": "x"}, "", {}),
        ({"type": "text", "content": "x"}, "", {"content": "x"}),
        ({"image": "A" * 400}, "", {}),
    ],
)
def test_only_new_text_counts_as_extra(view: Any, told: str, beside: dict[str, str]) -> None:
    assert extract_extra_text(view, told) == beside
