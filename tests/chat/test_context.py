"""Requests while a session grows equal a fresh reading of its log."""

import shutil
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import plait
from plait.chat.context import LiveContext
from plait.graph.client import build_context
from plait.line import iter_lines
from plait.record import iter_client_records
from plait.write.lines import VERSIONS, Block, Content, Version
from tests.write.stories import PICTURE, USAGE, writer

CASES = sorted((Path(__file__).resolve().parents[2] / "examples" / "resume").glob("*/*.jsonl"))
MODELS = ("claude-opus-5-5", "claude-sonnet-4-5", "claude-sonnet-5")
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmF0dXJl"}
PROMPTS: tuple[Content, ...] = ("Go.", "Once\nmore.", [{"type": "text", "text": "x"}, PICTURE])
ANSWERS: tuple[tuple[Block | str, ...], ...] = (
    ("Done.",),
    ("",),
    ("A", "B"),
    (THOUGHT,),
    (THOUGHT, "C"),
)


def read_again(path: Path) -> list[Any]:
    """Return what resuming the log would send, without the answer that is made up for it."""
    request = build_context(iter_client_records(iter_lines(path)), size=path.stat().st_size).request
    is_made_up = request[-1][1][-1].get("text") == "No response requested."
    sent = request[:-1] if is_made_up else request
    return [{"role": role, "content": blocks} for role, blocks in sent]


class Played:
    """A session that is played step by step, with what each step is drawn from."""

    def __init__(self, folder: Path, version: Version, chance: Random) -> None:
        self.chance = chance
        self.session = writer(folder, version)
        self.live = LiveContext(self.session)

    def turn(self) -> None:
        """A prompt, some steps with tools, an end."""
        self.session.prompt(self.chance.choice(PROMPTS))
        self.check()
        for _ in range(self.chance.randrange(3)):
            self.step()
        self.chance.choice(ENDINGS)(self)

    def step(self) -> None:
        """A response with calls, answered in any order, with what may come between."""
        with self.session.response(usage=USAGE, model=self.chance.choice(MODELS)) as response:
            if self.chance.random() < 0.5:
                response.thinking("Hm.", "c2lnbmF0dXJl")
            if self.chance.random() < 0.5:
                response.text("Look.")
            count = self.chance.randrange(1, 4)
            calls = [response.call("Bash", {"command": str(n)}) for n in range(count)]
        for call in self.chance.sample(calls, len(calls)):
            self.session.progress({"type": "bash_progress"}, call=call)
            self.session.result(call, f"of {call}", is_error=self.chance.choice([None, True]))
        if self.chance.random() < 0.3:
            self.session.queued_prompt("And this.")
        if self.chance.random() < 0.2:
            self.session.system(
                "api_error", error={}, retry_in_ms=1, retry_attempt=1, max_retries=2
            )
        self.check()

    def answer(self) -> None:
        """Words that end the turn."""
        self.session.answer(
            *self.chance.choice(ANSWERS), usage=USAGE, model=self.chance.choice(MODELS)
        )
        self.session.turn_ended(5)

    def fail(self) -> None:
        """An error in place of an answer."""
        self.session.api_error("API Error: 529", error="overloaded")

    def stop(self) -> None:
        """An interruption: before any word, within words, or among calls."""
        if self.chance.random() < 0.7:
            response = self.session.response(usage=USAGE)
            response.text("Half an")
            if self.chance.random() < 0.5:
                response.call("Bash", {"command": "sleep"})
        self.session.interrupt()

    def command(self) -> None:
        """A local command and what it printed."""
        self.session.answer("Fine.", usage=USAGE)
        self.session.system("local_command", content="<command-name>/cost</command-name>")
        self.session.system(
            "local_command", content="<local-command-stdout>1</local-command-stdout>"
        )

    def compact(self) -> None:
        """A summary, with the last answer preserved where the version does."""
        kept = self.session.answer("Last words.", usage=USAGE).messages
        older = self.session.setting.is_older
        is_kept = not older and self.chance.random() < 0.7
        self.session.compact("They spoke.", preserved=kept if is_kept else ())

    def resume(self) -> None:
        """The session is left and gone on with."""
        self.session.close()
        version = self.session.setting.version
        self.session = plait.SessionWriter.resume(self.session.path, version=version)
        self.live = LiveContext(self.session)

    def rewind(self) -> None:
        """Go back to before a prompt, or to the beginning."""
        self.session.answer("Too far.", usage=USAGE)
        asked = [record.parent_uuid for record in self.live.records if record.type == "user"]
        self.session.rewind(self.chance.choice([None, self.session.tip, *asked]))

    def check(self) -> None:
        """What is sent now is what the log says."""
        assert self.live.messages() == read_again(self.session.path)


ENDINGS = (Played.answer,) * 4 + (
    Played.fail,
    Played.stop,
    Played.command,
    Played.compact,
    Played.resume,
    Played.rewind,
)


def play(version: Version, chance: Random, turns: int) -> None:
    """Play a session and looks at every request."""
    with tempfile.TemporaryDirectory() as folder:
        played = Played(Path(folder), version, chance)
        for _ in range(turns):
            played.turn()


@given(chance=st.randoms(use_true_random=False), turns=st.integers(1, 6))
@pytest.mark.parametrize("version", VERSIONS)
def test_request_equals_a_fresh_reading(version: Version, chance: Random, turns: int) -> None:
    play(version, chance, turns)


@pytest.mark.long
@given(chance=st.randoms(use_true_random=False), turns=st.integers(1, 20))
@pytest.mark.parametrize("version", VERSIONS)
def test_many_requests_equal_a_fresh_reading(version: Version, chance: Random, turns: int) -> None:
    play(version, chance, turns)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.parent.name)
def test_session_of_any_shape_continues(case: Path, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    shutil.copyfile(case, path)
    session = plait.SessionWriter.resume(path, cwd="/tmp/app")
    live = LiveContext(session)
    live.messages()
    session.prompt("What next?")
    assert live.messages() == read_again(path)
    session.answer("That.")
    session.prompt("And then?")
    assert live.messages() == read_again(path)


def twice(session: plait.SessionWriter, live: LiveContext, *, is_answered: bool) -> None:
    """Two turns whose calls have the same id, the first perhaps without a result."""
    for number in range(2):
        session.prompt(f"Turn {number}.")
        live.messages()
        with session.response(usage=USAGE) as response:
            response.text("Look.")
            call = response.call("Bash", {"command": "ls"}, call="toolu_same")
        if is_answered or number:
            session.result(call, "a")
        session.answer("Done.", usage=USAGE)


@pytest.mark.parametrize("is_answered", [True, False])
def test_finished_turn_may_depend_on_what_follows(tmp_path: Path, is_answered: bool) -> None:
    session = writer(tmp_path)
    live = LiveContext(session)
    twice(session, live, is_answered=is_answered)
    for number in range(3):
        session.prompt(f"Next {number}.")
        assert live.messages() == read_again(session.path)
        session.answer("Yes.", usage=USAGE)


def test_entries_between_results_are_read_from_the_file(tmp_path: Path) -> None:
    session = writer(tmp_path)
    live = LiveContext(session)
    session.prompt("Go.")
    live.messages()
    with session.response(usage=USAGE) as response:
        first, second = (response.call("Bash", {"command": item}) for item in "ab")
    session.result(second, "b")
    session.attachment({"type": "hook_success"}, "<system-reminder>b</system-reminder>")
    session.result(first, "a")
    assert live.messages() == read_again(session.path)


def test_after_a_rewind_only_earlier_messages_are_sent(tmp_path: Path) -> None:
    session = writer(tmp_path)
    live = LiveContext(session)
    session.prompt("One.")
    end = session.answer("Yes.", usage=USAGE).messages[-1]
    session.prompt("Taken back.")
    live.messages()
    session.rewind(end)
    assert [message["role"] for message in live.messages()] == ["user", "assistant"]
    session.rewind(None)
    assert live.messages() == []


def test_finished_turns_are_built_once(tmp_path: Path) -> None:
    session = writer(tmp_path)
    live = LiveContext(session)
    for number in range(3):
        session.prompt(f"Turn {number}.")
        live.messages()
        session.answer("Yes.", usage=USAGE, model=MODELS[0])
    session.prompt("Last.")
    first, again = live.messages(), live.messages()
    assert first == again
    assert all(result is other for result, other in zip(first[:-1], again[:-1], strict=True))
    session.answer("Another model.", usage=USAGE, model=MODELS[1])
    session.prompt("Go on.")
    assert live.messages()[0] is not first[0]


def test_tokens_count_the_last_response_and_what_follows(tmp_path: Path) -> None:
    session = writer(tmp_path)
    live = LiveContext(session)
    assert live.tokens() == 0
    session.prompt("x" * 390)
    assert live.tokens() == 100
    kept = session.answer("Yes.", usage=USAGE).messages
    used = sum(USAGE.values())
    assert live.tokens() == used
    session.prompt("x" * 390)
    assert live.tokens() == used + 100
    session.compact("They spoke.", preserved=kept)
    assert 0 < live.tokens() < 200, "what a preserved answer read is no longer sent"
