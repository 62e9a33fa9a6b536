"""Turns to how long they took, and who waited for whom."""

from textwrap import dedent

from plait.conversation.model import Turn
from tests.conversation.sketched import talk


def turns(text: str) -> list[Turn]:
    return [turn for turn in talk(dedent(text)).main.turns if turn.number]


def test_the_clients_own_figure_is_believed() -> None:
    (turn,) = turns(
        """\
        U1 "go"
        A1<@+5s "done"
        S1<@+1s turn_duration {"durationMs": 5500}
        """
    )
    assert (turn.duration_ms, turn.duration_by) == (5500, "client")


def test_without_it_the_times_of_what_was_said_and_done_count() -> None:
    (turn,) = turns(
        """\
        U1 "go"
        A1<@+5s "done"
        S1<@+3600s away_summary "You were away"
        """
    )
    assert (turn.duration_ms, turn.duration_by) == (5000, "times")


def test_waiting_for_a_prompt_is_no_work() -> None:
    first, second = turns(
        """\
        U1 "go"
        A1<@+5s "done"
        U2<@+60s "more"
        A2<@+2s "done"
        """
    )
    assert (first.waited_ms, second.waited_ms) == (None, 60_000)
    assert second.duration_ms == 2000


def test_waiting_for_an_answer_of_the_person_is_no_work_either() -> None:
    (turn,) = turns(
        """\
        U1 "go"
        A1<@+5s AskUserQuestion(questions=[]) as ask
        R1<@+40s of ask
        A2<@+5s "done"
        """
    )
    assert (turn.duration_ms, turn.asking_ms, turn.working_ms) == (50_000, 40_000, 10_000)


def test_times_that_are_missing_or_step_back_give_no_nonsense() -> None:
    (turn,) = turns('U1 "go" -timestamp\nA1< "done" -timestamp\n')
    assert (turn.started, turn.duration_ms, turn.duration_by) == (None, None, None)
    (turn,) = turns('U1@2026-11-02T09:00:10Z "go"\nA1<@2026-11-02T09:00:00Z "done"\n')
    assert turn.duration_ms == 0


def test_what_a_compaction_wrote_anew_does_not_stretch_an_old_turn() -> None:
    first, _ = turns(
        """\
        U1@2026-11-02T09:00:00Z "go"
        A1<@2026-11-02T14:00:00Z "done"
        U2<@2026-11-02T09:05:00Z "more"
        A2<@2026-11-02T09:05:10Z "done"
        """
    )
    assert first.duration_ms == 0
