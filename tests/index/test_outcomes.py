"""Calls by outcome: index and conversations agree."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings

from examples.drawing import draw
from plait import Archive
from plait.conversation.model import LateResult, NotableOutcome, ToolCall, UserMessage
from plait.conversation.walk import iter_items
from plait.errors import UserError
from plait.index.model import OUTCOMES, SORTS, Hit
from plait.index.query import Field
from plait.index.search import IndexReader
from plait.indexing import update_index
from tests.index import oracle
from tests.index.held import append_to, list_expected, list_indexed, write_file
from tests.index.test_incremental import ended, file_lines, talks

EXAMPLES = Path(__file__).parents[2] / "examples"
LOGS = """
file shop cwd=/home/dev/shop start=2026-09-30T23:00:00Z
U1 "run the tests"
T1< Bash(command="pytest -q") as tests
T2< Bash(command="ruff check") as lint
R1< of tests error "Exit code 1: one test fails"
R2< of lint "all fine"
A1< "One fails."
U2< "plan it"
T3< ExitPlanMode(plan="Rewrite the parser")
R3< error "The user doesn't want to proceed with this tool use. The user said: too much"
U3< "look at the file"
T4< Read(file_path="/home/dev/shop/gone.py")
R4< error "File does not exist."
T5< Bash(command="make serve", run_in_background=true)
R5< {"toolUseResult": {"backgroundTaskId": "b1"}} "Command running in background with ID: b1"
A2< "It is served."
file blog cwd=/home/dev/blog start=2026-10-02T09:00:00Z
U1 "build"
T1< Bash(command="make pages")
R1< error "Exit code 2"
T2< Bash(command="sleep 100")
R2< {"toolUseResult": {"interrupted": true}} "stopped"
T3< Bash(command="make again")
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    place = tmp_path_factory.mktemp("outcomes")
    draw(LOGS).write(place / "logs")
    update_index(Archive([place / "logs"]), place / "index")
    with closing(IndexReader(place / "index")) as found:
        yield found


def told(hit: Hit) -> str:
    return f"{hit.kind} {hit.tool} {hit.outcome}: {hit.snippet}"


def asked(reader: IndexReader, **fields: str) -> list[str]:
    filters = [Field(name, value) for name, value in fields.items()]
    return [told(hit) for hit in reader.search("", filters).hits]


def test_index_and_conversations_use_the_same_outcomes() -> None:
    assert get_args(NotableOutcome) == OUTCOMES
    assert len(set(SORTS)) == len(SORTS)


def test_failed_commands_are_listed_once_newest_first(reader: IndexReader) -> None:
    assert asked(reader, tool="Bash", outcome="failed") == [
        "input Bash failed: make pages",
        "input Bash failed: pytest -q",
    ]
    found = reader.search("", [Field("outcome", "failed")], has_facets=True)
    assert (found.total, found.listed, found.is_whole, found.is_each) == (3, 3, True, True)
    assert (found.sort, found.facets["tool"]) == ("time", {"Bash": 2, "Read": 1})
    assert found.facets["outcome"] == {"failed": 3}


def test_rejected_plan(reader: IndexReader) -> None:
    assert asked(reader, tool="ExitPlanMode", outcome="rejected") == [
        "input ExitPlanMode rejected: Rewrite the parser"
    ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("outcome:launched", ["input Bash launched: make serve"]),
        ("outcome:interrupted", ["input Bash interrupted: sleep 100"]),
        ("outcome:failed project:blog", ["input Bash failed: make pages"]),
        ("outcome:failed in:output", ["output None failed: Exit code 2"]),
        ("pytest outcome:failed", ["input Bash failed: pytest -q"]),
        ("exit outcome:failed", ["output None failed: Exit code 2"]),
        ("test fails outcome:failed", ["output None failed: Exit code 1: one test fails"]),
        ("ruff outcome:failed", []),
        ("again outcome:failed", []),
    ],
)
def test_outcomes_with_words_and_fields(reader: IndexReader, query: str, found: list[str]) -> None:
    assert [told(hit) for hit in reader.search(query, limit=len(found) or 1).hits] == found


def test_facet_counts_match_their_lists(reader: IndexReader) -> None:
    everything = reader.search("tool:Bash", has_facets=True).facets["outcome"]
    assert everything == {"failed": 2, "launched": 1, "interrupted": 1}
    for outcome, count in everything.items():
        assert reader.search(f"tool:Bash outcome:{outcome}").total == count
    words = reader.search("exit OR pytest", has_facets=True)
    assert words.facets["outcome"] == {"failed": 3}
    assert reader.search("(exit OR pytest) outcome:failed").total == 3


def test_unknown_outcome(reader: IndexReader) -> None:
    with pytest.raises(UserError) as caught:
        reader.search("outcome:ok")
    assert caught.value.message == "no outcome named 'ok'"
    assert caught.value.hints == ("outcomes are failed, rejected, interrupted, launched",)


def test_words_by_time_and_fields_by_relevance(reader: IndexReader) -> None:
    newest = reader.search("make", sort="time")
    assert [hit.time for hit in newest.hits] == sorted(
        (hit.time or "" for hit in newest.hits), reverse=True
    )
    assert (newest.sort, reader.search("make").sort) == ("time", "relevance")
    assert reader.search("tool:Bash").sort == "time"
    assert reader.search("tool:Bash", sort="relevance").sort == "relevance"


def test_limited_list_says_there_is_more(reader: IndexReader) -> None:
    first = reader.search("outcome:failed", limit=2)
    assert (len(first.hits), first.listed, first.total, first.is_whole) == (2, 2, 3, False)
    exact = reader.search("outcome:failed", limit=3)
    assert (len(exact.hits), exact.is_whole) == (3, True)


def test_passages_are_counted_individually(reader: IndexReader) -> None:
    by_turn = reader.search("make")
    each = reader.search("make", is_each=True)
    assert len(each.hits) == each.total == each.listed == by_turn.total
    assert by_turn.listed == by_turn.total > len(by_turn.hits)


@pytest.mark.parametrize("looked", [0, 2, 40])
def test_ties_in_time_are_cut_consistently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looked: int
) -> None:
    monkeypatch.setattr("plait.index.search.MAX_EQUAL_TIMES", looked)
    monkeypatch.setattr("plait.index.search.PASSAGES_PER_HIT", 1)
    same = [f'T{n}< Bash(command="make {n}")\nR{n}< error "Exit code 1"' for n in range(2, 9)]
    text = "\n".join(("file one cwd=/x start=2026-09-30T23:00:00Z", 'U1 "go"', *same))
    draw(text).write(tmp_path / "logs")
    path = next(tmp_path.rglob("*.jsonl"))
    at_once = re.sub(
        rb'"timestamp":"[^"]*"', b'"timestamp":"2026-09-30T23:00:00.000Z"', path.read_bytes()
    )
    path.write_bytes(at_once)
    update_index(Archive([tmp_path / "logs"]), tmp_path / "index")
    with closing(IndexReader(tmp_path / "index")) as reader:
        every = [told(hit) for hit in reader.search("outcome:failed", limit=20).hits]
        assert every == [f"input Bash failed: make {n}" for n in range(8, 1, -1)]
        for limit in range(1, len(every) + 1):
            some = reader.search("outcome:failed", limit=limit).hits
            assert [told(hit) for hit in some] == every[:limit]


def calls_read(root: Path) -> Counter[str]:
    """Count what became of calls as a reader has them, with results whose call is elsewhere."""
    counts = Counter[str]()
    for session in Archive([root]).sessions:
        for conversation in oracle.told(session):
            for _, item in iter_items(conversation):
                match item:
                    case ToolCall(line=line) if line:
                        counts[item.outcome] += 1
                    case LateResult(origin="foreign" | "orphan", line=line) if line:
                        counts[item.result.outcome] += 1
                    case UserMessage(kind="interruption", line=line) if line:
                        counts["interrupted"] += 1
    return Counter({name: counts[name] for name in OUTCOMES if counts[name]})


def calls_found(root: Path, folder: Path) -> Counter[str]:
    """Count what became of calls as the index has them, by facets and by lists alike."""
    update_index(Archive([root]), folder)
    with closing(IndexReader(folder)) as reader:
        lists = {name: reader.search(f"outcome:{name}").total for name in OUTCOMES}
        every = reader.search("branch:active,abandoned,agent,service,recovered", has_facets=True)
        found = Counter[str]({name: count for name, count in lists.items() if count})
        assert found == every.facets.get("outcome", {})
    return found


def test_gallery_counts_match_conversations(tmp_path: Path) -> None:
    found = calls_found(EXAMPLES, tmp_path / "index")
    assert found == calls_read(EXAMPLES)
    assert set(found) == set(OUTCOMES)


@settings(max_examples=12, suppress_health_check=list(HealthCheck), deadline=None)
@given(talks())
def test_random_sessions_match_conversations(lines: list[bytes]) -> None:
    with TemporaryDirectory() as place:
        root = Path(place) / "logs"
        write_file(root / "p" / "talk.jsonl", b"".join(ended(line) for line in lines))
        assert calls_found(root, Path(place) / "index") == calls_read(root)


@pytest.mark.long
def test_real_session_counts_match_conversations(shared: Path, tmp_path: Path) -> None:
    found = calls_found(shared / "corpus", tmp_path / "index")
    assert found == calls_read(shared / "corpus")


GROWING = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "go"
T1< Bash(command="false") as one
T2< Bash(command="make") as two
R1< of one error "Exit code 1"
R2< of two error "Exit code 2"
R3< of one error "The user doesn't want to proceed with this tool use"
A1< "Both fail."
"""


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_later_result_belongs_to_its_call(tmp_path: Path, step: int) -> None:
    [(name, lines)] = file_lines(GROWING, "").items()
    root, folder = tmp_path / "root", tmp_path / "index"
    grown = 0
    for place in range(0, len(lines), step):
        append_to(root / name, b"".join(lines[place : place + step]))
        grown += update_index(Archive([root]), folder).grown
        assert list_indexed(folder) == list_expected(root)
    assert grown >= len(lines) // step - 2
    with closing(IndexReader(folder)) as reader:
        assert asked(reader, outcome="failed") == [
            "input Bash failed: make",
            "input Bash failed: false",
        ]
        assert asked(reader, outcome="rejected") == []
