"""The duration of a turn is the same in every output."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw
from plait.archive import Archive, Session
from plait.cli.app import run
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    Conversation,
    LateResult,
    OtherBlock,
    ToolCall,
    Turn,
)
from plait.graph.layout import iter_rows
from plait.graph.paths import SPOKEN
from plait.record.time import compute_elapsed_ms
from plait.trace.spans import build_traces, resolve_times
from plait.view.formats import format_turn_duration
from plait.view.timeline import build_timeline, list_turn_bars
from tests.sampling import EACH_AND_ALL, one_of

CAVEAT = """
file late cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "Is the shop open?"
A1<@+5s "It is."
M1<@+15d "<local-command-caveat>Caveat: the messages below …</local-command-caveat>"
K1< "/model"
L1< "Set model to opus"
"""
LEAVE = """
file leave cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "Close the shop."
A1<@+5s Bash(command="close") as close
R1<@+3600s of close "closed"
A2<@+5s AskUserQuestion(questions=[]) as ask
R2<@+600s of ask
A3<@+5s "It is closed."
S1<@+2s turn_duration {"durationMs": 15000}
U2< "Thanks."
A4<@+3s "You are welcome."
N1<@+9d of close
"""
SECTION = re.compile(
    r'<section class="turn" data-n="(\d+)"><header class="head">(.*?)</header>', re.DOTALL
)
SPENT = re.compile(r'<span class="spent">([^<]*)</span>')
NANOSECONDS = 1e6


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    for text in (CAVEAT, LEAVE):
        draw(text).write(folder)
    return folder


def test_caveat_days_later_is_not_work(drawn: Path) -> None:
    archive = Archive([drawn])
    late = next(session for session in archive.sessions if len(archive.open(session).turns) == 1)
    (turn,) = archive.open(late).turns
    assert (turn.duration_ms, turn.working_ms, turn.asking_ms) == (5000, 5000, 0)
    assert archive.stats([late]).working_ms == 5000


def test_waiting_for_permission_or_an_answer_is_not_work(drawn: Path) -> None:
    archive = Archive([drawn])
    leave = next(session for session in archive.sessions if len(archive.open(session).turns) == 2)
    first, second = archive.open(leave).turns
    assert (first.duration_ms, first.working_ms, first.asking_ms) == (4_215_000, 15_000, 4_200_000)
    assert (second.duration_ms, second.working_ms) == (3000, 3000)
    assert format_turn_duration(first.duration_ms, first.asking_ms) == (
        "1 h 10 min, 1 h 10 min waiting for you"
    )


@pytest.mark.parametrize("examples", ["gallery", "drawn"])
def test_every_output_shows_the_same_duration(
    examples: str, request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root = request.getfixturevalue(examples)
    archive = Archive([root])
    for session in archive.sessions:
        report = archive.open(session).conversations
        durations = {turn.number: turn.duration_ms for turn in report.active.turns}
        shown = printed(capfd, "show", str(session.path), "--json", "--depth", "all")
        assert {turn["number"]: turn["duration_ms"] for turn in shown["turns"]} == durations
        drawn_rows = printed(capfd, "log", str(session.path), "--json")
        openers = {turn.opener.uuid: turn for turn in report.active.turns if turn.opener}
        logged = {row["head"]: row.get("duration_ms") for row in drawn_rows}
        for uuid, turn in openers.items():
            assert uuid not in logged or logged[uuid] == turn.duration_ms
        check_times(archive, session)
        check_page(tmp_path, session, report.active)


def printed(capfd: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capfd.readouterr()
    assert run(list(arguments)) == 0
    return json.loads(capfd.readouterr().out)


def check_page(tmp_path: Path, session: Session, report: Conversation) -> None:
    """Hold the words in the margin of a page against the turns."""
    folder = tmp_path / session.id
    named = ["export", str(session.path), "--format", "html", "--no-redact", "-o", str(folder)]
    assert run(named) == 0
    heads: list[str] = []
    for page in sorted(folder.rglob("*.html")):
        for _, head in SECTION.findall(page.read_text(encoding="utf-8")):
            heads.append("".join(SPENT.findall(head)))
    for turn in report.turns:
        words = format_turn_duration(turn.duration_ms, turn.asking_ms)
        assert any(head == words or head.startswith(f"{words} ·") for head in heads), turn.number


@pytest.mark.parametrize("share", EACH_AND_ALL)
def test_real_sessions_have_the_same_duration_everywhere(shared: Path, share: int) -> None:
    archive = Archive([shared / "corpus"])
    counts: Counter[str] = Counter()
    for session in one_of(share, archive.sessions):
        counts["turns"] += check_times(archive, session)
        counts["bars"] += check_bars(archive, session)
        counts["working"] += check_work(archive, session)
    # sessions differ in size: a sample may be of the small ones
    least = 1 if share == 1 else 4 * share
    assert counts["turns"] > 500 / least
    assert counts["bars"] > 5000 / least
    assert counts["working"] > 500 / least


def check_times(archive: Archive, session: Session) -> int:
    """Compare timeline, spans, rows and statistics of a session with its turns; count them."""
    opened = archive.open(session)
    report = opened.conversations
    roots = {
        (spans[0].conversation, spans[0].record): resolve_times(spans)[spans[0].id]
        for spans in build_traces(opened.by_line)
        if spans[0].kind == "turn" and spans[0].start is not None
    }
    for line in report.by_line.values():
        bars = {bar.number: bar for bar in build_timeline(report, line.id).turns}
        for turn in line.turns:
            if turn.number in bars:
                assert bars[turn.number].length == pytest.approx(turn.duration_ms, abs=0.01)
                assert bars[turn.number].asking_ms == turn.asking_ms
            root = roots.get((line.id, turn.opener.uuid if turn.opener else None))
            if root:
                assert (root[1] - root[0]) / NANOSECONDS == pytest.approx(turn.duration_ms)
    check_log(archive, session)
    return sum(1 for _ in people_turns(archive, session))


def check_log(archive: Archive, session: Session) -> None:
    """Hold the rows of a graph against the turns that begin on them."""
    graph = archive.graph(session)
    lines = [name for name, line in graph.lines.items() if line.kind in SPOKEN]
    turns = archive.find_turns_on_lines(graph, lines)
    report = {turn.opener.uuid: turn for turn in people_turns(archive, session) if turn.opener}
    for row in iter_rows(graph, "turn"):
        if row.head in turns and row.head in report:
            assert turns[row.head].duration_ms == report[row.head].duration_ms


def people_turns(archive: Archive, session: Session) -> Iterator[Turn]:
    for line in archive.open(session).conversations.by_line.values():
        if line.kind in SPOKEN:
            yield from line.turns


def test_timeline_bars_match_the_spans(gallery: Path) -> None:
    archive = Archive([gallery])
    assert sum(check_bars(archive, session) for session in archive.sessions) > 100


def check_bars(archive: Archive, session: Session) -> int:
    """Compare the bars of a session's timeline with its spans; count them."""
    by_line = archive.open(session).by_line
    spans = sorted(
        (span.start, span.end or span.start)
        for trace in build_traces(by_line)
        for span in trace
        if span.kind in ("generation", "tool") and span.start is not None
    )
    bars = sorted(stretches_of(by_line.values()))
    assert len(spans) == len(bars), session.path
    for span, bar in zip(spans, bars, strict=True):
        assert span == pytest.approx(bar, abs=1e6), session.path
    return len(spans)


def stretches_of(lines: Any) -> Iterator[tuple[float, float]]:
    from plait.view.timeline import find_start_ms

    for line in lines:
        zero = find_start_ms(line)
        for turn in line.turns:
            for bar in list_turn_bars(line, turn.number):
                yield (zero + bar.start) * NANOSECONDS, (zero + bar.end) * NANOSECONDS


WORKED = (AssistantText, AssistantThinking, ToolCall, OtherBlock, LateResult)


def check_work(archive: Archive, session: Session) -> int:
    """Check that the work of a session's turns is within the span of their answers; count them."""
    checked = 0
    for line in archive.open(session).conversations.by_line.values():
        for turn in line.turns:
            answers = [item.time for item in turn.items if isinstance(item, WORKED) and item.time]
            began = turn.opener.time if turn.opener else min(answers, default=None)
            if began is None:
                continue
            span = compute_elapsed_ms(began, max([began, *answers])) or 0
            assert (turn.working_ms or 0) <= (turn.duration_ms or 0) <= span, session.path
            checked += 1
    return checked
