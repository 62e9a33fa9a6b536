"""The guide's example reader is short and works when installed."""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

from plait.sources import base, places
from tests.sources.builders import branches, open_archive, prompts, write_lines

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "agents.md"
CODE = re.findall(
    r"^```python\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)[0]
AT = "2026-10-01T10:00:0{}.000Z"


@pytest.fixture
def sparrow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = ModuleType("plait_sparrow")
    exec(compile(CODE, str(GUIDE), "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "plait_sparrow", module)
    point = EntryPoint("sparrow", "plait_sparrow:Sparrow", places.GROUP)
    known = (places.list_source_names, base.load_source)
    for function in known:
        function.cache_clear()
    for holder in (places, base):
        monkeypatch.setattr(holder, "find_plugins", lambda: {"sparrow": point})
    yield
    for function in known:
        function.cache_clear()


def test_example_reader_is_short() -> None:
    assert len(CODE.splitlines()) < 150


@pytest.mark.usefixtures("sparrow")
def test_example_reader_reads_branches_and_usage(tmp_path: Path) -> None:
    lines: list[dict[str, object]] = [
        {
            "kind": "hatched",
            "nest": "n1",
            "dir": "/home/me/wood",
            "version": "2.1",
            "at": AT.format(0),
        },
        {"kind": "ask", "text": "one", "at": AT.format(1)},
        {"kind": "sing", "text": "1", "tokens": {"in": 10, "out": 2}, "at": AT.format(2)},
        {"kind": "ask", "text": "two", "at": AT.format(3)},
        {"kind": "sing", "text": "2", "tokens": {"in": 20, "out": 3}, "at": AT.format(4)},
        {"kind": "back", "at": AT.format(5)},
        {"kind": "ask", "text": "three", "at": AT.format(6)},
        {"kind": "sing", "text": "3", "tokens": {"in": 30, "out": 4}, "at": AT.format(7)},
        {"kind": "preen", "at": AT.format(8)},
    ]
    write_lines(tmp_path / "logs" / "n1.jsonl", lines)
    archive = open_archive(tmp_path / "logs", tmp_path / "cache")
    (session,) = archive.sessions
    assert (session.agent, session.id) == ("sparrow", "n1")
    assert prompts(session) == ["one", "three"]
    assert branches(session) == [["two"]]
    assert archive.usage("agent").totals.total.tokens.total == 69
    (account,) = archive.accounts()
    assert account.types["sparrow:preen"] == 1
