"""Conversations over time: durations, agent lanes, compressed gaps, order."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from examples.drawing import draw
from plait.conversation.model import Conversations
from plait.record.time import sum_covered_time
from plait.sessions.open_session import open_session
from plait.view.timeline import (
    Lane,
    assign_lanes,
    build_timeline,
    list_turn_bars,
)
from plait.web.pages.session_timeline import compressed_scale, linear_scale

SPANS = st.lists(
    st.tuples(st.floats(0, 1e9), st.floats(0, 1e6)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    max_size=30,
)
DRAWING = """
file work cwd=/home/dev/tide pace=lifelike
U1 "Count the waves."
A1< "I will." + Bash(command="count", description="Count") as count
R1< of count
  | 12
A2< "Twelve." + Read(file_path="/home/dev/tide/none.txt") as none
R2< of none error
  | no such file
A3< "There is no list."
U2< "And now?"
A4< "Thirteen."
"""


def conversations_of(text: str, tmp_path_factory: object) -> Conversations:
    """Return the conversations of a drawing."""
    folder = tmp_path_factory.mktemp("drawn")  # type: ignore[attr-defined]
    draw(text).write(folder)
    from plait.archive import Archive

    (session,) = Archive([folder]).sessions
    return open_session(session).conversations


def test_turn_is_described_by_its_longest_parts(tmp_path_factory: object) -> None:
    result = conversations_of(DRAWING, tmp_path_factory)
    found = build_timeline(result, result.main)
    first, second = found.turns
    assert (first.number, first.words, first.responses, first.calls) == (
        1,
        "Count the waves.",
        3,
        2,
    )
    assert first.failed == 1
    assert (second.responses, second.calls, second.failed) == (1, 0, 0)
    assert first.end <= second.start
    assert 0 < first.model_ms + first.tools_ms <= first.length
    bars = list_turn_bars(result.active, result.active.turns[-2].number)
    assert [(bar.kind, bar.name, bar.outcome) for bar in bars] == [
        ("model", bars[0].name, "ok"),
        ("tool", "Bash", "ok"),
        ("model", bars[0].name, "ok"),
        ("tool", "Read", "failed"),
        ("model", bars[0].name, "ok"),
    ]


def test_parallel_work_counts_once() -> None:
    assert sum_covered_time([]) == 0
    assert sum_covered_time([(0, 10), (5, 15), (20, 30)]) == 25
    assert sum_covered_time([(20, 30), (0, 10), (2, 3)]) == 20


ASKED = """
file work cwd=/home/dev/tide
U1 "Count the waves."
A1<@+5s Bash(command="count") as count + AskUserQuestion(questions=[]) as ask
R1<A1@+20s of count
R2<A1@+10s of ask
A2<R2@+4s "Twelve."
S1<@+1s turn_duration {"durationMs": 15000}
"""


def test_turn_splits_into_model_tools_and_waiting(tmp_path_factory: object) -> None:
    result = conversations_of(ASKED, tmp_path_factory)
    (turn,) = build_timeline(result, result.main).turns
    assert (turn.length, turn.asking_ms) == (40_000, 30_000), "the client left out 25 of them"
    assert (turn.model_ms, turn.tools_ms) == (10_000, 21_000)
    first, tool, requested, last = list_turn_bars(result.active, 1)
    assert (first.asked, first.start, first.spoken, first.end) == (0, 5000, 6000, 40_000)
    assert (tool.start, tool.end, requested.start, requested.end) == (5000, 26_000, 6000, 36_000)
    assert (last.asked, last.start, last.spoken, last.end) == (36_000, 40_000, 40_000, 40_000)


LATE = """
file work cwd=/home/dev/tide
U1@2026-11-02T09:00:00Z "go"
A1<@2026-11-02T09:00:05Z Bash(command="count") as count
R1<@2026-11-02T14:00:00Z of count
A2<@2026-11-02T14:00:01Z "done"
U2<@2026-11-02T09:05:00Z "more"
A3<@2026-11-02T09:05:10Z "done"
"""


def test_work_after_the_turn_counts_only_within_it(tmp_path_factory: object) -> None:
    result = conversations_of(LATE, tmp_path_factory)
    first, _ = build_timeline(result, result.main).turns
    assert (first.length, first.tools_ms, first.model_ms) == (5000, 0, 5000)


def test_clock_going_back_gives_no_negative_time(tmp_path_factory: object) -> None:
    rendered = 'U1@2026-11-02T09:00:10Z "go"\nA1<@2026-11-02T09:00:04Z "done"\n'
    result = conversations_of(f"file work cwd=/home/dev/tide\n{rendered}", tmp_path_factory)
    (bar,) = list_turn_bars(result.active, 1)
    assert bar.asked == bar.start == bar.end


def lane(name: str, start: float, end: float) -> Lane:
    """Return an agent."""
    return Lane(line=name, words=name, kind="agent", parent=None, turn=None, start=start, end=end)


def test_agents_share_a_lane_if_they_do_not_overlap() -> None:
    """a ──── c ──
    b   ────────── d."""
    found = assign_lanes([lane("a", 0, 4), lane("b", 2, 10), lane("c", 4, 6), lane("d", 10, 12)])
    assert [(item.line, item.lane) for item in found] == [("a", 1), ("b", 2), ("c", 1), ("d", 1)]


@given(SPANS)
def test_no_two_agents_of_a_lane_overlap(spans: list[tuple[float, float]]) -> None:
    found = list(assign_lanes(lane(str(at), *span) for at, span in enumerate(spans)))
    assert len(found) == len(spans)
    for number in {item.lane for item in found}:
        held = sorted((item.start, item.end) for item in found if item.lane == number)
        assert all(before[1] <= after[0] for before, after in pairwise(held))


def test_long_gap_takes_little_space() -> None:
    minute, night = 60_000.0, 8 * 3_600_000.0
    scale = compressed_scale([(0, minute), (night, night + minute)], night + minute)
    assert scale.get_position(minute) > 0.45
    assert scale.get_position(night) < 0.55
    assert scale.get_position(night + minute) == 1


@given(SPANS, st.lists(st.floats(-10, 2e9), max_size=20))
def test_times_keep_their_order(spans: list[tuple[float, float]], times: list[float]) -> None:
    scale = compressed_scale(spans, max([end for _, end in spans], default=0.0))
    places = [scale.get_position(time) for time in sorted(times)]
    assert places == sorted(places)
    assert all(0 <= place <= 1 for place in places)


def test_uncompressed_scale_is_linear() -> None:
    assert linear_scale(10, 30).get_position(20) == 0.5
    assert linear_scale(5, 5).get_position(5) == 0
