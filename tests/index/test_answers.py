"""Queries on a small archive: words, fields, facets, and empty results."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from examples.drawing import draw
from plait import Archive
from plait.errors import UserError
from plait.index.query import Field
from plait.index.search import IndexReader, format_timestamp, make_excerpt
from plait.index.text_index import EPOCH, HALF_LIFE, compute_recency
from plait.indexing import update_index

LOGS = """
file shop cwd=/home/dev/shop start=2026-09-30T23:00:00Z
set model=claude-opus-4
U1 "the parser fails on getUserName, parse error in line three"
T1< Read(file_path="/home/dev/shop/src/parser.py")
R1< "def parse(text): raise ValueError"
A1< "The parser reads one line, then an error."
file blog cwd=/home/dev/blog start=2026-10-02T09:00:00Z
set model=claude-sonnet-4
U1 "write about unicorns"
T1< Bash(command="make pages")
R1< "unicorn.html written"
A1< "A page about unicorns; 提交代码 is done."
U2< "shorter"
A2< "Done."
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    place = tmp_path_factory.mktemp("answers")
    draw(LOGS).write(place / "logs")
    update_index(Archive([place / "logs"]), place / "index")
    found = IndexReader(place / "index")
    yield found
    found.close()


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ("parser", 4),  # the title, its prompt, the input of the call, the answer
        ("PARSER", 4),
        ("parser error", 3),
        ('"parse error"', 2),
        ('"error parse"', 0),
        ('"parser line"', 0),
        ('"parser line"~2', 1),
        ('"parser line"~1', 0),
        ('"parser rea"*', 1),
        ("pars*", 5),
        ("*arse*", 5),
        ("parcer~", 4),
        ("unicorns OR parser", 7),
        ("unicorn* -written", 3),
        ("NOT parser", 8),
        ("parser NOT error", 1),
        ("提交", 1),
        ("交", 1),
        ("交提", 0),
        ("tool:Bash", 2),
        ("tool:bash", 2),
        ("tool:as", 2),
        ("tool:Bash,Read", 4),
        ("model:opus", 2),
        ("in:prompt", 3),
        ("in:prompts", 3),
        ("in:human", 3),
        ("in:tools", 4),
        ("in:prompt,answer", 6),
        ("branch:active", 12),
        ("branch:abandoned", 0),
        ("project:shop", 5),
        ("project:shop,blog", 12),
        ("file:parser.py", 2),
        ("file:src/parser.py", 2),
        ("file:shop/parser.py", 0),
        ("after:2026-10", 7),
        ("before:2026-10", 5),
        ("after:2026-10-02T09:00:00+00:00 in:prompt", 2),
        ("before:2026-10-02T09:00:00+00:00 in:prompt", 1),
        ("after:1d", 0),
    ],
)
def test_hit_counts(reader: IndexReader, query: str, total: int) -> None:
    assert reader.search(query).total == total


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("tool:Nothing", "no tool named 'Nothing'"),
        ("model:gpt", "no model named 'gpt'"),
        ("in:poetry", "no kind of passage named 'poetry'"),
        ("branch:main", "no branch state named 'main'"),
        ("project:nowhere", "no project named 'nowhere'"),
        ("session:zzz", "no session starts with 'zzz'"),
        ("file:*", "'*' is not a file name"),
        ("after:soon", "'soon' is not a time"),
        ("after:99999999999d", "'99999999999d' is not a time"),
        ("%", "'%' has no searchable word"),
    ],
)
def test_refused_queries(reader: IndexReader, query: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        reader.search(query)
    assert caught.value.message == said


@pytest.mark.parametrize(
    ("query", "note", "near"),
    [
        ("serName", "no whole word matches 'serName'; these contain it", ()),
        ("unikorns", None, ("unicorns", "unicorn")),
        ("qqqqqqqq", None, ()),
        ("unicorns tool:Read", "without the fields, 3 passages would match", ()),
        ('"one line" tool:Bash', "without the fields, 1 passage would match", ()),
        ("unicorns parser", "no passage contains every word: 'unicorns' in 3, 'parser' in 4", ()),
        ("parser", None, ()),
    ],
)
def test_reasons_for_no_hits(
    reader: IndexReader, query: str, note: str | None, near: tuple[str, ...]
) -> None:
    found = reader.search(query)
    assert (found.note, found.near) == (note, near)


def test_hit_is_a_turn_with_its_best_passage(reader: IndexReader) -> None:
    [hit] = reader.search("parser").hits
    assert (hit.kind, hit.turn, hit.more, hit.state, hit.tool) == ("prompt", 1, 3, "active", None)
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["parser"]
    assert hit.time and hit.time.startswith("2026-09-30T23:00")
    [call] = reader.search("make", [Field("kind", "input")]).hits
    assert (call.tool, call.snippet) == ("Bash", "make pages")
    newest = reader.search("model:sonnet in:answer", limit=1)
    assert ([one.turn for one in newest.hits], newest.total) == ([2], 2)


def test_session_by_id_prefix(reader: IndexReader) -> None:
    for name in {hit.session for hit in reader.search("in:prompt").hits}:
        found = reader.search(f"session:{name[:8].upper()}", limit=20)
        assert {hit.session for hit in found.hits} == {name}


def test_facet_counts(reader: IndexReader) -> None:
    facets = reader.search("in:prompt,input", has_facets=True).facets
    assert facets["kind"] == {"prompt": 3, "input": 2}
    assert facets["tool"] == {"Read": 1, "Bash": 1}
    assert facets["month"] == {"2026-09": 2, "2026-10": 3}
    assert sorted(facets["project"].values()) == [2, 3]
    assert reader.search("in:prompt").facets == {}
    assert reader.search("qqqqqqqq", has_facets=True).facets == {}


YEAR = int(EPOCH + HALF_LIFE)


@pytest.mark.parametrize(
    ("when", "weight"),
    [
        (None, 1.0),
        (int(EPOCH), 1.0),
        (0, 1.0),
        (YEAR, 2.0),
        (int(EPOCH + 8 * HALF_LIFE), 256.0),
        (int(EPOCH + 9 * HALF_LIFE), 256.0),
    ],
)
def test_newer_hits_rank_higher(when: int | None, weight: float) -> None:
    assert compute_recency(when) == pytest.approx(weight)


@pytest.mark.parametrize(
    ("seconds", "stamp"),
    [
        (None, None),
        (0, "1970-01-01T00:00:00.000Z"),
        (int(datetime(2026, 11, 2, tzinfo=UTC).timestamp()), "2026-11-02T00:00:00.000Z"),
        (1 << 60, None),
    ],
)
def test_time_format_matches_the_log(seconds: int | None, stamp: str | None) -> None:
    assert format_timestamp(seconds) == stamp


FOUND = [re.compile("needle"), re.compile("thread")]


@pytest.mark.parametrize(
    ("text", "snippet", "marks"),
    [
        ("a needle here", "a needle here", ["needle"]),
        ("nothing", "nothing", []),
        ("x " * 200 + "needle and thread", "…x x ", ["needle", "thread"]),
        ("needle " + "y" * 300, "needle yyy", ["needle"]),
        ("needle " + "z " * 200 + "thread needle", "…z z ", ["thread", "needle"]),
    ],
)
def test_best_snippet(text: str, snippet: str, marks: list[str]) -> None:
    shown = make_excerpt(text, FOUND, 0).snippet
    assert shown.text.startswith(snippet)
    assert [shown.text[start:end] for start, end in shown.marks] == marks
    assert shown.text.endswith("…") == (len(text) > 220 and text.endswith("y"))
    assert len(shown.text) <= 222


def test_context_lines() -> None:
    text = "one\ntwo\nthree\na needle\nfive\nsix\nseven"
    shown = make_excerpt(text, FOUND, 2)
    assert shown.snippet.text == "a needle"
    assert (shown.before, shown.after) == (("two", "three"), ("five", "six"))
    assert make_excerpt("a needle\nlast", FOUND, 1)[1:] == ((), ("last",))
    assert make_excerpt("first\na needle", FOUND, 1)[1:] == (("first",), ())
