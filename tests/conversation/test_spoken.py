"""Start and end times of responses, and which lines are one response."""

from textwrap import dedent

from plait.conversation.walk import TurnResponse, TurnResponses
from plait.record.time import format_timestamp
from tests.conversation.sketched import talk
from tests.graph.odd_drawings import ODD


def spoken(text: str, number: int = 1) -> list[TurnResponse]:
    told = talk(dedent(text)).main
    turn = next(one for one in told.turns if one.number == number)
    return TurnResponses(told).starting_in(turn)


def seconds(one: TurnResponse) -> tuple[str, ...]:
    return tuple(format_timestamp(at)[17:19] for at in one.interval)


def test_a_response_lasts_until_the_next_and_the_last_until_its_results() -> None:
    found = spoken(
        """\
        U1 "go"
        A1<@+5s "I will." + Bash(command="ls") as ls
        R1<@+4s of ls
        A2<@+3s Bash(command="pwd") as pwd
        R2<@+9s of pwd
        """
    )
    assert [seconds(one) for one in found] == [("05", "13"), ("13", "22")]
    assert [format_timestamp(one.spoken_until)[17:19] for one in found] == ["06", "13"]


def test_clock_going_back_gives_no_negative_duration() -> None:
    first, second = spoken(
        """\
        U1@2026-11-02T09:00:00Z "go"
        A1<@2026-11-02T09:00:20Z "one"
        A2<@2026-11-02T09:00:10Z "two"
        """
    )
    assert (seconds(first), seconds(second)) == (("20", "20"), ("10", "10"))


def test_missing_time_uses_the_duration_line() -> None:
    (one,) = spoken(
        """\
        U1 "go"
        A1< "done" -timestamp
        S1<@+6s turn_duration {"durationMs": 5500}
        """
    )
    assert seconds(one)[0] == ""
    assert seconds(one)[1] != ""


BARE = '{"message": {"role": "assistant", "content": [{"type": "text", "text": "%s"}]}}'


def test_lines_without_an_id_join_the_open_response() -> None:
    bare = [f"A{n}<@+1s {BARE % n} -requestId" for n in (2, 3)]
    found = spoken("\n".join(['U1 "go"', 'A1< "one"', *bare, 'A4< "four"']))
    assert [one.text for one in found] == ["one\n2\n3", "four"]
    assert [len(one.numbers) for one in found] == [3, 1]


def test_separate_requests_and_errors_are_not_joined() -> None:
    other = f"A2<@+1s {BARE % 2}"
    error = f'A2<@+1s {BARE % 2} -requestId {{"isApiErrorMessage": true}}'
    for line in (other, error):
        assert len(spoken("\n".join(['U1 "go"', 'A1< "one"', line]))) == 2


def test_retracted_response_says_so() -> None:
    told = talk(ODD["errors-between"]).main
    found = [one for turn in told.turns for one in TurnResponses(told).starting_in(turn)]
    assert [one.folded for one in found].count("retracted") == 1
    assert [one.folded for one in found].count(None) == len(found) - 1


def test_synthetic_message_is_not_a_response() -> None:
    text = 'U1 "go"\nA1< "one"\nA2< "two" {"isMeta": true}\n'
    assert [one.text for one in spoken(text)] == ["one"]
    told = talk('U1 "go"\nA2< "two" {"isMeta": true}\n').main
    assert not TurnResponses(told).has(told.turns[-1])
