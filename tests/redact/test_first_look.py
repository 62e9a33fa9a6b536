"""The fast pre-check: it skips text without changing the result."""

import json
import re
from random import Random
from typing import Any

import pytest

from plait.record import Record, parse_record
from plait.redact import Redactor
from plait.redact.command_lines import COMMANDS
from plait.redact.expression import Expression, Search
from plait.redact.model import Island, TextSpan
from plait.redact.redactor import Scanner, iter_touched_texts
from plait.redact.texts import collect_texts, unwrap
from tests.redact.letters import ALNUM, drawn

UUID = "7f1c2d3e-0000-4000-8000-000000000001"
PICTURE = "iVBORw0KGgo" * 20
PASSWORD = drawn(Random(5), ALNUM, 18)
SET = f"export DB_PASSWORD={PASSWORD}"


def line(ensure_ascii: bool = False, **fields: Any) -> Record:
    data = json.dumps(fields, separators=(",", ":"), ensure_ascii=ensure_ascii)
    return parse_record(data.encode(), 7)


# Fields to the texts that are read.
READ: dict[str, tuple[Any, list[str]]] = {
    "an id": ({"uuid": UUID, "cwd": "/x"}, ["/x"]),
    "a text in the place of an id": ({"uuid": "my own words"}, ["my own words"]),
    "an id that a tool was given": ({"input": {"id": UUID}}, [UUID]),
    "deep in what a tool was given": ({"input": {"edits": [{"id": UUID}]}}, [UUID]),
    "beside what a tool was given": ({"id": UUID, "input": {}}, []),
    "a signature": ({"signature": PICTURE}, []),
    "a signature with a word": ({"signature": "not: packed"}, ["not: packed"]),
    "a picture": ({"source": {"type": "image", "data": PICTURE}}, []),
    "a picture by its media type": ({"media_type": "image/png", "data": PICTURE}, []),
    "what only could be a picture": ({"type": "text", "data": PICTURE}, [PICTURE]),
    "a text in the place of a picture": ({"type": "image", "data": "a, b"}, ["a, b"]),
    "a text that stands twice": ({"content": "a b", "stdout": "a b"}, ["a b"]),
    "a text that is also the lines of a list": (
        {"content": "a\nb", "lines": ["a", "b"]},
        ["a\nb", "a\nb"],
    ),
}


@pytest.mark.parametrize("why", READ)
def test_skipped_parts_are_not_read(why: str) -> None:
    fields, expected = READ[why]
    found = collect_texts(fields)
    assert found is not None
    assert found.texts == expected


def test_lines_stay_separate_without_copies() -> None:
    found = collect_texts({"content": "x", "stdout": "x", "text": "y", "lines": ["a", "bc"]})
    assert found is not None
    assert found.data == b"x\0y\0a\nbc"
    assert [island.span for island in found.islands] == [(0, 1), (2, 3), (4, 8)]
    assert [island.parts for island in found.islands] == [(), (), ((4, 5), (6, 8))]


@pytest.mark.parametrize("others", [(), ("x",), (SET, "x", SET)])
def test_repeated_value_is_replaced_twice(others: tuple[str, ...]) -> None:
    beside = {"stdout": SET, "lines": [*others]}
    record = line(message={"content": SET}, toolUseResult=beside)
    redactor = Redactor()
    redactor.learn(record)
    assert PASSWORD.encode() not in redactor.record(record).raw


BEHIND: dict[str, str] = {
    "a word begins": f"mysql -p{PASSWORD}",
    "a sign": f"(mysql -p{PASSWORD}",
    "a line": f"x\nmysql -p{PASSWORD}",
    "the code of a line": f"x\\nmysql -p{PASSWORD}",
    "the code of a tab": f"x\\tmysql -p{PASSWORD}",
    "a code of JSON": f"x\\u0022mysql -p{PASSWORD}",
    "a code of an address": f"x%22mysql -p{PASSWORD}",
    "a code of a byte": f"x\\x22mysql -p{PASSWORD}",
    "a colour": f"\x1b[1;32mmysql -p{PASSWORD}",
    "the code of a colour": f"\\u001b[32mmysql -p{PASSWORD}",
}


@pytest.mark.parametrize("why", BEHIND)
def test_program_is_recognised_at_any_word_start(why: str) -> None:
    assert PASSWORD not in Redactor().text(BEHIND[why])


@pytest.mark.parametrize(
    "text", ["a package is", "I already had", "mymysql -pabcdefgh", "_mysql -p"]
)
def test_program_name_inside_a_word_is_ignored(text: str) -> None:
    assert [one.search(text.encode()) for one in Expression(COMMANDS).finders] == [None]


class Counted:
    """An expression that counts how often it is asked."""

    def __init__(self, expression: bytes) -> None:
        self.expression = re.compile(expression)
        self.asked = 0

    def search(self, text: bytes, place: int) -> re.Match[bytes] | None:
        self.asked += 1
        return self.expression.search(text, place)


def test_patterns_are_searched_together_once() -> None:
    rare, often, never = Counted(rb"zz"), Counted(rb"a."), Counted(rb"q")
    search = Search([rare, often, never], b"ab ac ad zz")
    found = [search.next(place) for place in (0, 2, 5, 8, 10)]
    assert found == [(0, 2), (3, 5), (6, 8), (9, 11), None]
    assert (rare.asked, often.asked, never.asked) == (2, 4, 1)


@pytest.mark.parametrize("first", [rb"ab", rb"abc"])
def test_first_of_patterns_starting_together_wins(first: bytes) -> None:
    search = Search([re.compile(first), re.compile(rb"ab?c?d")], b"-abcd")
    assert search.next(0) == (1, 1 + len(first))


# Lines of one list to which of them are read alone, behind the first that may hold something.
LINES: dict[str, tuple[list[str], list[str]]] = {
    "none": (["a", "b"], []),
    "one": (["a", SET, "b"], [SET]),
    "the first and the last": ([SET, "b", SET], [SET, SET]),
    "one in which several begin": (["a", f"{SET} {SET}", "b"], [f"{SET} {SET}"]),
    "one that begins at its beginning": (["a", "10.11.12.13 hal", "b"], ["10.11.12.13 hal"]),
}


@pytest.mark.parametrize("why", LINES)
def test_lines_are_checked_separately_where_a_pattern_starts(why: str) -> None:
    lines, expected = LINES[why]
    texts = collect_texts({"lines": lines})
    assert texts is not None
    (island,) = texts.islands
    finders = [finder for one in Scanner().expressions for finder in one.finders]
    spans = iter_touched_texts(island, 0, texts.data, finders)
    assert [texts.data[start:end].decode() for start, end in spans] == expected


def test_texts_without_line_breaks_are_checked_separately() -> None:
    island = Island(TextSpan(0, 3), (TextSpan(0, 1), TextSpan(2, 3)))
    assert list(iter_touched_texts(island, 0, b"a\x1fb", [])) == list(island.parts)
    assert list(iter_touched_texts(island, 0, b"a\nb", [])) == []


def test_only_patterns_starting_at_a_position_are_tried() -> None:
    search = Search([re.compile(b"b"), re.compile(b"a"), re.compile(b"ab")], b"-ab")
    assert search.next(0) == (1, 2)
    assert search.matches_at(1) == [1, 2]


def quiet_then_known(record: Record, told: str) -> str:
    """Return a line that told nothing when it was learnt, after another one told a value."""
    redactor = Redactor()
    redactor.learn([record, line(content=told)])
    return redactor.record(record).raw.decode()


QUIET: dict[str, Record] = {
    "as it is": line(content=f"see {PASSWORD} there"),
    "in codes of JSON": line(ensure_ascii=True, content=f"é {PASSWORD} é"),
    "by its codes alone": parse_record(
        b'{"content":"see \\u00%02x%s there"}' % (ord(PASSWORD[0]), PASSWORD[1:].encode()), 7
    ),
    "in base64": line(content="x VXNlOiA" + json.dumps(PASSWORD)[1:-1]),
}


@pytest.mark.parametrize("why", QUIET)
def test_quiet_line_is_searched_for_known_values(why: str) -> None:
    assert PASSWORD not in json.dumps(json.loads(quiet_then_known(QUIET[why], SET)))


def test_escaped_value_is_found_in_quiet_lines() -> None:
    value = 'Kx"9pQ2v7LmT4'
    found = quiet_then_known(line(content=f"see {value} there"), f"sshpass -p '{value}' ssh x")
    assert value not in json.loads(found)["content"]


def test_line_without_findings_keeps_its_record() -> None:
    record = line(content="nothing to see")
    redactor = Redactor()
    redactor.learn([record, line(content=SET)])
    assert redactor.record(record) is record


# The owner is "mkremer": lines to what is left of them, and how often he was found.
OWNERS: dict[str, tuple[str, str, int]] = {
    "a step": ("/Users/mkremer/x", "/Users/‹user 1›/x", 1),
    "the last step": ("/Users/mkremer", "/Users/‹user 1›", 1),
    "two steps": ("/mkremer/mkremer/x", "/‹user 1›/‹user 1›/x", 2),
    "a folder of logs": ("-Users-mkremer-x", "-Users-‹user 1›-x", 1),
    "part of a step": ("/srv/mkremers/x", "/srv/mkremers/x", 0),
    "another part of a step": ("/srv/amkremer/x", "/srv/amkremer/x", 0),
    "two kinds of signs": ("-mkremer/x", "-‹user 1›/x", 1),
}


@pytest.mark.parametrize("why", OWNERS)
def test_owner_is_found_in_paths(why: str) -> None:
    before, expected, count = OWNERS[why]
    redactor = Redactor()
    redactor.learn(line(cwd="/Users/mkremer"))
    assert json.loads(redactor.record(line(slug=before)).raw)["slug"] == expected
    assert redactor.report.count == count


def test_repeated_escapes_are_decoded_alike() -> None:
    seen = unwrap(b"a%20b%20c\\u0020d&amp;%41")
    assert seen.text == b"a b c d&A"
    spans = [seen.source(TextSpan(place, place + 1)) for place in (1, 3, 7)]
    assert spans == [(1, 4), (5, 8), (16, 21)]
