"""Statistics: what counts, once, for which session and hour."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from examples.drawing import draw
from plait import Archive
from plait.conversation.session_counts import ArchiveFigures
from plait.sessions.families import sort_by_start
from plait.sessions.statistics import compute_statistics

WORK = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
set model=claude-opus-4-6
U1 "What would a first version look like?"
T1< Read(file_path="/home/dev/shop/models.py")
R1< @+2s "class Product"
A1< "Two ways."
U2< "Take LIKE"
A2< "Done."
U3<A1 "Use FTS5 afetr all"
U4<A1 "Use FTS5 after all"
T4< Agent(description="Find the callers", prompt="Who calls search?", subagent_type="Explore")
R4< @+60s "Nobody."
T5< Edit(file_path="/home/dev/shop/models.py", old_string="Product", new_string="Item\\nPart")
R5< @+4s
T6< Bash(command="false")
R6< error "Exit code 1"
T7< Bash(command="rm -r /")
R7< rejected
A7< "Nobody calls it."
B1 boundary after A7 trigger=manual
C1< "The story so far"
I1<
U5< "Great"
E5<
A5< "Thanks."
agent callers of T4
U11 "Who calls search?"
T11< Grep(pattern="search")
R11< "nothing"
A11< "Nobody."
"""


def counted(folder: Path, **options: object) -> ArchiveFigures:
    found = compute_statistics(Archive([folder]).sessions, **options)  # type: ignore[arg-type]
    return found.figures


def write_drawing(folder: Path, text: str) -> Path:
    draw(text).write(folder)
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return write_drawing(tmp_path, WORK)


def test_all_events_are_counted(work: Path) -> None:
    found = counted(work, zone=UTC)
    assert (found.sessions, found.projects) == (1, 1)
    assert (found.prompts, found.turns) == (5, 4)
    assert (found.retracted, found.rewinds, found.compactions) == (1, 1, 1)
    assert (found.interruptions, found.api_errors) == (1, 1)
    assert (found.calls, found.failed, found.rejected) == (6, 1, 1)
    assert (found.agents, found.service_agents) == (1, 0)
    assert found.words_typed == 7 + 2 + 4 + 4 + 1
    assert found.words_said == 2 + 1 + 3 + 1 + 1
    assert found.hours[9] == 5
    assert found.weekdays == (5, 0, 0, 0, 0, 0, 0)
    (day,) = found.days
    assert (day.day, day.prompts, day.calls) == ("2026-11-02", 5, 6)
    assert found.first is not None
    assert found.first.startswith("2026-11-02T09:00:00")


def test_tools_have_outcomes_and_durations(work: Path) -> None:
    tools = {tool.name: tool for tool in counted(work).tools}
    assert next(iter(tools)) == "Bash"
    assert (tools["Bash"].calls, tools["Bash"].failed, tools["Bash"].rejected) == (2, 1, 1)
    assert (tools["Agent"].total_ms, tools["Agent"].median_ms) == (60_000, 60_000)
    assert tools["Read"].median_ms == 2_000


def test_models_agents_and_files_are_counted_separately(work: Path) -> None:
    found = counted(work)
    assert sum(model.responses for model in found.models) == found.responses == 11
    assert sum(model.tokens.output for model in found.models) == found.tokens.output > 0
    assert [(model.type, model.agents, model.calls) for model in found.agent_types] == [
        ("Explore", 1, 1)
    ]
    (file,) = found.files
    assert (file.path, file.changes, file.reads) == ("/home/dev/shop/models.py", 1, 1)
    assert (file.added, file.removed) == (2, 1)
    assert found.longest_turns[0].words == "Use FTS5 after all"
    assert found.longest_turns[0].working_ms >= 64_000
    assert found.longest_sessions[0].turns == 4


def test_hours_are_local(work: Path) -> None:
    assert counted(work, zone=ZoneInfo("Asia/Tokyo")).hours[18] == 5


def test_only_the_period_counts(tmp_path: Path) -> None:
    folder = write_drawing(
        tmp_path,
        """
file one start=2026-11-02T09:00:00Z
U1 "early"
A1< "ok"
U2< @2026-11-05T09:00:00Z "later"
A2< "ok"
""",
    )
    noon = datetime(2026, 11, 3, tzinfo=UTC)
    later, early = counted(folder, since=noon), counted(folder, until=noon)
    assert (later.prompts, later.turns, later.responses, later.words_typed) == (1, 1, 1, 1)
    assert (early.prompts, early.turns, early.responses) == (1, 1, 1)
    assert early.last is not None
    assert early.last < "2026-11-03"
    nothing = counted(folder, until=datetime(2020, 1, 1, tzinfo=UTC))
    assert nothing == ArchiveFigures(all_sessions=1, copied_sessions=1)


def test_empty_input_gives_zero(tmp_path: Path) -> None:
    assert compute_statistics([]) == (ArchiveFigures(), ())
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "broken.jsonl").write_text("no json\n")
    assert counted(tmp_path).prompts == 0


def test_earliest_session_comes_first(tmp_path: Path) -> None:
    later = 'file a start=2026-11-03T09:00:00Z\nU2 "y"'
    write_drawing(tmp_path, f'file b start=2026-11-02T09:00:00Z\nU1 "x"\n{later}')
    starts = [session.id for session in sort_by_start(reversed(Archive([tmp_path]).sessions))]
    assert starts == [item.id for item in sort_by_start(Archive([tmp_path]).sessions)]
    first = Archive([tmp_path]).session(starts[0])
    assert "2026-11-02" in first.path.read_text()


# checklist: S18
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(turns=st.integers(1, 4), kept=st.integers(0, 4), more=st.integers(1, 3))
def test_copy_counts_for_the_first_session(
    tmp_path_factory: pytest.TempPathFactory, turns: int, kept: int, more: int
) -> None:
    kept = min(kept, turns)
    first = ["file one start=2026-11-02T09:00:00Z"]
    for n in range(1, turns + 1):
        first += [f'U{n}{"<" if n > 1 else ""} "say {n}"', f'T{n}< Bash(command="x")', f"R{n}<"]
        first += [f'A{n}< "done {n}"']
    names = [f"one:{kind}{n}" for n in range(1, kept + 1) for kind in "UTRA"]
    second = ["file two start=2026-11-03T09:00:00Z"]
    copy = [f"copy {' '.join(names)}"] if kept else []
    parent = f"<one:A{kept}" if kept else ""
    for n in range(11, 11 + more):
        second += [f'U{n}{parent if n == 11 else "<"} "say {n}"', f'A{n}< "done {n}"']
    both = tmp_path_factory.mktemp("both")
    bare = tmp_path_factory.mktemp("bare")
    write_drawing(both, "\n".join([*first, second[0], *copy, *second[1:]]))
    write_drawing(bare, "\n".join([*first, *second]))
    assert plain(counted(both, zone=UTC)) == plain(counted(bare, zone=UTC))


def plain(figures: ArchiveFigures) -> dict[str, object]:
    """Return the figures without what a resumed session takes over from the one before it.

    Its title, and how long it waited for the first prompt of its own.
    """
    found: dict[str, object] = msgspec.to_builtins(figures)
    worked = [(item.session, item.turns, item.working_ms) for item in figures.longest_sessions]
    return {**found, "waiting_ms": 0, "longest_sessions": worked}


def test_tokens_of_real_logs_match_a_plain_count(shared: Path) -> None:
    found = counted(shared / "corpus").tokens
    best: dict[str, dict[str, int]] = {}
    for path in sorted((shared / "corpus").rglob("*.jsonl")):
        for name, usage in billed(path):
            if usage.get("output_tokens", 0) >= best.get(name, {}).get("output_tokens", 0):
                best[name] = usage
    for key, figure in (
        ("input_tokens", found.input),
        ("output_tokens", found.output),
        ("cache_read_input_tokens", found.cache_read),
    ):
        assert figure == sum(usage.get(key) or 0 for usage in best.values()), key


def billed(path: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the name of each response and what a line says that it took."""
    for line in path.read_bytes().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        message = entry.get("message") if isinstance(entry, dict) else None
        if isinstance(message, dict) and isinstance(message.get("usage"), dict):
            name = message.get("id") or entry.get("requestId") or entry.get("uuid")
            if entry.get("type") == "assistant" and message.get("model") != "<synthetic>":
                yield name, message["usage"]
