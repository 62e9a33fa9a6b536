"""Statistics: each record once, within the period, in local days."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from msgspec.structs import replace

from plait.conversation.session_counts import ArchiveFigures
from plait.conversation.statistics import LONGEST, SessionCounter, Statistics, settle_counts
from tests.conversation.sketched import talk

TALK = """
file one start=2026-11-02T09:00:00Z
U1 "one two three"
A1< "four five" + Bash(command="ls") as ls
R1< of ls error "Exit code 1"
A2< "six"
U2< "seven"
A3< Edit(file_path="/x/a.py", old_string="a", new_string="b") as fix
R3< of fix
I1<
"""
START = datetime(2026, 11, 2, 9, tzinfo=UTC)


def at(second: int) -> datetime:
    return START + timedelta(seconds=second)


def figures(*drawings: str, **options: Any) -> ArchiveFigures:
    found = Statistics(**{"zone": UTC, **options})
    for drawing in drawings:
        found.add(talk(drawing).all)
    return found.figures()


def counts(found: ArchiveFigures) -> tuple[int, ...]:
    return (found.sessions, found.turns, found.prompts, found.responses, found.calls)


def test_copied_session_counts_once() -> None:
    once = figures(TALK)
    assert counts(once) == (1, 2, 2, 3, 2)
    assert figures(TALK, TALK) == replace(once, all_sessions=2, copied_sessions=1)
    longer = TALK + 'U3< "eight"\nA4< "nine"\n'
    assert counts(figures(TALK, longer)) == (2, 3, 3, 4, 2)
    assert counts(figures(longer, TALK)) == (1, 3, 3, 4, 2)


SPANS = {
    "all of it": (None, None, (1, 2, 2, 3, 2)),
    "from its start on": (0, None, (1, 2, 2, 3, 2)),
    "from the first answer on": (1, None, (1, 1, 1, 3, 2)),
    "from after the first answer on": (2, None, (1, 1, 1, 2, 2)),
    "up to its start": (None, 0, (0, 0, 0, 0, 0)),
    "up to the first answer": (None, 1, (1, 1, 1, 0, 0)),
    "up to the second prompt": (None, 5, (1, 1, 1, 2, 1)),
    "with the second prompt": (None, 6, (1, 2, 2, 2, 1)),
    "the second prompt alone": (5, 6, (1, 1, 1, 0, 0)),
    "nothing of it": (99, None, (0, 0, 0, 0, 0)),
}


@pytest.mark.parametrize("why", SPANS)
def test_only_the_period_is_counted(why: str) -> None:
    start, end, expected = SPANS[why]
    found = figures(
        TALK,
        since=None if start is None else at(start),
        until=None if end is None else at(end),
    )
    assert counts(found) == expected


def test_session_counts() -> None:
    found = figures(TALK)
    assert (found.words_typed, found.words_said, found.interruptions) == (4, 3, 1)
    assert (found.first, found.last) == ("2026-11-02T09:00:00.000Z", "2026-11-02T09:00:08.000Z")
    assert [(tool.name, tool.calls, tool.failed) for tool in found.tools] == [
        ("Bash", 1, 1),
        ("Edit", 1, 0),
    ]
    assert [(file.path, file.changes, file.reads) for file in found.files] == [("/x/a.py", 1, 0)]
    assert (found.working_ms, found.waiting_ms, found.asking_ms) == (6000, 1000, 0)


def test_times_are_local() -> None:
    late = TALK.replace("09:00:00", "23:30:00")
    here, there = figures(late), figures(late, zone=timezone(timedelta(hours=1)))
    assert [(day.day, day.prompts, day.responses, day.calls) for day in here.days] == [
        ("2026-11-02", 2, 3, 2)
    ]
    assert [day.day for day in there.days] == ["2026-11-03"]
    assert (here.hours[23], there.hours[0]) == (2, 2)
    assert (here.weekdays[0], there.weekdays[1]) == (2, 2)
    assert (sum(here.hours), sum(there.weekdays)) == (2, 2)


def session(number: int, seconds: int) -> str:
    return (
        f"file s{number} start=2026-11-{number + 1:02}T09:00:00Z\n"
        f'U{number}1 "p{number}"\nA{number}1< "a" @+{seconds}s\n'
    )


def test_longest_turns_come_first() -> None:
    found = figures(*(session(number, number) for number in range(1, LONGEST + 2)))
    assert found.sessions == LONGEST + 1
    working = [one.working_ms for one in found.longest_turns]
    assert len(working) == LONGEST
    assert working == sorted(working, reverse=True)
    assert [one.working_ms for one in found.longest_sessions] == working
    assert found.longest_turns[0].words == f"p{LONGEST + 1}"
    assert found.projects == 1


def test_cached_counts_agree() -> None:
    counted = SessionCounter().count_session(talk(TALK).all)
    plain, settled = Statistics(UTC), Statistics(UTC)
    plain.add_counts(counted)
    settled.add_counts(settle_counts(counted))
    assert plain.figures() == settled.figures()
    assert len(settle_counts(counted).answers) == 1
