"""Durations of turns and waiting times."""

from textwrap import dedent

import pytest

from plait.conversation.model import Turn
from tests.conversation.sketched import talk


def turns(text: str) -> list[Turn]:
    return [turn for turn in talk(dedent(text)).main.turns if turn.number]


def figures(turn: Turn) -> tuple[float | None, float | None, float]:
    return turn.duration_ms, turn.working_ms, turn.asking_ms


def test_turn_ends_with_its_last_answer_or_result() -> None:
    (turn,) = turns(
        """\
        U1 "go"
        A1<@+5s "done"
        S1<@+3600s away_summary "You were away"
        """
    )
    assert (turn.ended, figures(turn)) == ("2026-11-02T09:00:05.000Z", (5000, 5000, 0))
    (turn,) = turns('U1 "go"\nA1<@+5s Bash(command="ls") as ls\nR1<@+2s of ls\nI1<@+9s\n')
    assert (turn.ended, figures(turn)) == ("2026-11-02T09:00:07.000Z", (7000, 7000, 0))


LATER = {
    "a caveat": 'M1<@+15d "<local-command-caveat>Caveat: …</local-command-caveat>"',
    "a command that nobody answered": "K1<@+15d",
    "a shell line": 'B1<@+15d "ls"',
    "a notice": "N1<@+15d of sent",
    "an interruption": "I1<@+15d",
    "a note of the client": 'S1<@+15d local_command "x"',
    "words in the place of an answer": 'A3<@+15d "No response requested." model=<synthetic>',
    "words that the client put in": 'A3<@+15d "well" {"isMeta": true}',
}


@pytest.mark.parametrize("why", LATER)
def test_time_after_the_last_answer_is_not_work(why: str) -> None:
    sent = 'Task(prompt="look") as sent\nR1<A1@+1s of sent\nA2<@+1s "done"'
    first, *_ = turns(f'U1 "go"\nA1<@+3s {sent}\n{LATER[why]}\n')
    assert (first.ended, figures(first)) == ("2026-11-02T09:00:05.000Z", (5000, 5000, 0))


def test_api_errors_and_client_messages_are_answers() -> None:
    for words in ('"No response requested."', '"I stopped." model=<synthetic>'):
        (turn,) = turns(f'U1 "go"\nA1<@+5s {words}\n')
        assert turn.duration_ms == 5000
    (turn,) = turns('U1 "go"\nE1<@+5s "API Error"\n')
    assert turn.duration_ms == 5000


def test_unanswered_turn_has_no_duration() -> None:
    (turn,) = turns('U1 "go"\nS1<@+9s turn_duration {"durationMs": 9000}\n')
    assert (turn.started, turn.ended, figures(turn)) == (turn.started, turn.started, (0, 0, 0))


CLIENT = {
    "it goes on while hooks run": (5500, (5000, 5000, 0)),
    "it leaves out the time in which a person was asked for leave": (3000, (5000, 3000, 2000)),
    "it says nothing": (0, (5000, 5000, 0)),
    "it is no number": ('"long"', (5000, 5000, 0)),
    "it is less than nothing": (-1, (5000, 5000, 0)),
}


@pytest.mark.parametrize("why", CLIENT)
def test_duration_line_can_only_shorten(why: str) -> None:
    said, expected = CLIENT[why]
    (turn,) = turns(
        f"""\
        U1 "go"
        A1<@+5s "done"
        S1<@+1s turn_duration {{"durationMs": {said}}}
        """
    )
    assert figures(turn) == expected


def test_duration_lines_of_a_turn_are_added() -> None:
    (turn,) = turns(
        """\
        U1 "go"
        A1<@+5s Bash(command="ls") as ls
        S1<@+1s turn_duration {"durationMs": 3000}
        R1<@+2s of ls
        A2<@+2s "done"
        S2<@+1s turn_duration {"durationMs": 4000}
        """
    )
    assert figures(turn) == (10_000, 7000, 3000)


def test_answers_without_a_time_use_the_duration_line() -> None:
    (turn,) = turns(
        """\
        U1 "go"
        A1<@= "done" -timestamp
        S1<@+6s turn_duration {"durationMs": 5500}
        """
    )
    assert figures(turn) == (6000, 5500, 500)
    (turn,) = turns(
        """\
        U1 "go" -timestamp
        A1< "done" -timestamp
        S1< turn_duration {"durationMs": 5500} -timestamp
        """
    )
    assert (turn.started, figures(turn)) == (None, (5500, 5500, 0))


def test_duration_line_after_the_next_prompt_is_ignored() -> None:
    first, _ = turns(
        """\
        U1@2026-11-02T09:00:00Z "go"
        A1< "done" -timestamp
        S1<@2026-11-02T14:00:00Z turn_duration {"durationMs": 5500}
        U2<@2026-11-02T09:05:00Z "more"
        A2<@2026-11-02T09:05:10Z "done"
        """
    )
    assert figures(first) == (0, 0, 0)


def test_waiting_after_the_turn_counts_only_within_it() -> None:
    first, _ = turns(
        """\
        U1@2026-11-02T09:00:00Z "go"
        A1<@2026-11-02T09:00:05Z AskUserQuestion(questions=[]) as ask
        A2<@2026-11-02T09:00:08Z "well"
        U2<@2026-11-02T09:05:00Z "more"
        A3<@2026-11-02T09:05:10Z "done"
        R1<A1@2026-11-02T14:00:00Z of ask
        """
    )
    assert figures(first) == (8000, 5000, 3000)


def test_an_answer_at_the_time_of_the_next_prompt_counts() -> None:
    first, _ = turns('U1 "go"\nA1<@+5s "done"\nU2<@= "more"\nA2< "done"\n')
    assert first.duration_ms == 5000


def test_items_before_the_first_prompt_have_their_own_time() -> None:
    before = talk('M1 "hello"\nU1<@+9s "go"\nA1< "done"\n').main.turns[0]
    assert (before.number, before.started, before.duration_ms) == (0, "2026-11-02T09:00:00.000Z", 0)


def test_waiting_for_a_prompt_is_not_work() -> None:
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


def test_waiting_for_the_users_answer_is_not_work() -> None:
    (turn,) = turns(
        """\
        U1 "go"
        A1<@+5s AskUserQuestion(questions=[]) as ask
        R1<@+40s of ask
        A2<@+5s "done"
        """
    )
    assert figures(turn) == (50_000, 10_000, 40_000)


def test_duration_line_already_excludes_questions() -> None:
    asked = """\
        U1 "go"
        A1<@+5s AskUserQuestion(questions=[]) as one + AskUserQuestion(questions=[]) as two
        R1<A1@+30s of one
        R2<A1@+10s of two
        A2<R2@+5s "done"
        """
    (turn,) = turns(asked)
    assert figures(turn) == (51_000, 10_000, 41_000)
    for said, working in ((9000, 9000), (12_000, 10_000)):
        (turn,) = turns(f'{asked}S1<@+1s turn_duration {{"durationMs": {said}}}\n')
        assert (turn.duration_ms, turn.working_ms) == (51_000, working)


def test_missing_or_reversed_times_are_handled() -> None:
    (turn,) = turns('U1 "go" -timestamp\nA1< "done" -timestamp\n')
    assert (turn.started, turn.ended, figures(turn)) == (None, None, (None, None, 0))
    (turn,) = turns('U1@2026-11-02T09:00:10Z "go"\nA1<@2026-11-02T09:00:00Z "done"\n')
    assert turn.duration_ms == 0


def test_compaction_does_not_extend_an_old_turn() -> None:
    first, _ = turns(
        """\
        U1@2026-11-02T09:00:00Z "go"
        A1<@2026-11-02T14:00:00Z "done"
        U2<@2026-11-02T09:05:00Z "more"
        A2<@2026-11-02T09:05:10Z "done"
        """
    )
    assert first.duration_ms == 0
