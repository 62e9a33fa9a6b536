"""Avoidable spending in constructed sessions."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from plait.insights.cache_misses import list_requests
from plait.insights.losses import (
    GIANT,
    HIGHEST,
    LOWEST,
    MOST_ADDED,
    SMALL,
    USUAL,
    CallNotes,
    Loss,
    estimate_tokens_per_character,
    iter_growths,
    read_paid_file,
)
from plait.record.billing import iter_sent_lines
from tests.insights.cached_session import (
    ANSWER,
    HOUR,
    MINUTES,
    OTHERS,
    SYSTEM,
    WORDS,
    CachedSession,
)

CHARACTERS = 4
"""To a token, in these sessions."""


class Working(CachedSession):
    """A session whose answers call tools."""

    def call(
        self, name: str, given: dict[str, Any], result: str, *, is_error: bool = False
    ) -> None:
        """Has the last answer call a tool, and the model answer its result."""
        id_ = f"t{len(self.lines)}"
        block = {"type": "tool_use", "id": id_, "name": name, "input": given}
        self.lines[-1]["message"].setdefault("content", []).append(block)
        answer = {"type": "tool_result", "tool_use_id": id_, "content": result}
        content = [{**answer, "is_error": is_error}]
        message = {"role": "user", "content": content}
        parent = self.add(type="user", parentUuid=self.last, message=message)
        self.answer(parent, words=len(result) // CHARACTERS)

    def say(self, words: str) -> None:
        """Has the last answer say something."""
        block = {"type": "text", "text": words}
        self.lines[-1]["message"].setdefault("content", []).append(block)


def losses_of(talk: CachedSession, folder: Path, *, is_agent: bool = False) -> list[Loss]:
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in talk.lines), encoding="utf-8")
    return read_paid_file(iter_sent_lines(path), is_agent=is_agent).losses


def kinds(talk: CachedSession, folder: Path, *, is_agent: bool = False) -> list[str]:
    return [item.kind for item in losses_of(talk, folder, is_agent=is_agent)]


def reading(path: str, size: int = 4000, **more: Any) -> tuple[str, dict[str, Any], str]:
    return "Read", {"file_path": path, **more}, "x" * size


@pytest.fixture
def talk() -> Working:
    """A session with enough results to learn its measure from."""
    found = Working()
    found.ask()
    for number in range(4):
        found.call("Bash", {"command": f"echo {number}"}, "y" * 4000)
    return found


def test_rewrite_costs_its_price_minus_a_read(talk: Working, tmp_path: Path) -> None:
    talk.ask(MINUTES * 2)
    (item,) = losses_of(talk, tmp_path)
    assert item.kind == "pause"
    assert item.write_5m == -item.read > 4000
    assert (item.write_1h, item.certain) == (0, 1.0)


def test_unexplained_rewrite_may_not_be_waste(talk: Working, tmp_path: Path) -> None:
    talk.system += 1
    talk.ask()
    assert [(item.kind, item.certain) for item in losses_of(talk, tmp_path)] == [
        ("unexplained", 0.0)
    ]


def test_repeated_file_read(talk: Working, tmp_path: Path) -> None:
    talk.call(*reading("/a/shop.py"))
    talk.say("shop.py has it")
    assert kinds(talk, tmp_path) == []
    talk.call(*reading("/a/shop.py"))
    talk.call("Bash", {"command": "true"}, "")
    (item,) = losses_of(talk, tmp_path)
    assert (item.kind, item.subject) == ("reread", "Read /a/shop.py")
    assert item.write_5m == pytest.approx(1000, rel=0.2)
    assert item.read == pytest.approx(item.write_5m)  # by the one request since


@pytest.mark.parametrize(
    ("between", "again"),
    [
        (("Edit", {"file_path": "/a/shop.py"}, "done"), reading("/a/shop.py")),
        (("Write", {"file_path": "/a/shop.py"}, "done"), reading("/a/shop.py")),
        (("Bash", {"command": "true"}, ""), reading("/a/shop.py", offset=9)),
        (("Bash", {"command": "true"}, ""), reading("/a/other.py")),
    ],
)
def test_read_of_a_changed_file_or_another_part_is_no_waste(
    talk: Working, tmp_path: Path, between: Any, again: Any
) -> None:
    talk.call(*reading("/a/shop.py"))
    talk.call(*between)
    talk.call(*again)
    talk.say("shop.py and other.py")
    assert kinds(talk, tmp_path) == []


def test_failed_read_does_not_count(talk: Working, tmp_path: Path) -> None:
    talk.call(*reading("/a/shop.py", size=90), is_error=True)
    talk.call(*reading("/a/shop.py"))
    talk.say("shop.py")
    assert kinds(talk, tmp_path) == []


@pytest.mark.parametrize(
    ("shares", "found"),
    [([0.4] * 3, 0.4), ([0.4] * 2, USUAL), ([0.01] * 3, LOWEST), ([9.0] * 3, HIGHEST)],
)
def test_calibration_needs_three_results_and_is_bounded(shares: list[float], found: float) -> None:
    assert estimate_tokens_per_character(shares) == found


def test_small_results_do_not_calibrate() -> None:
    talk = Working()
    talk.ask()
    talk.call("Bash", {"command": "true"}, "z" * 20)
    talk.call("Bash", {"command": "cat"}, "z" * 4000)
    notes = CallNotes()
    requested = list_requests(notes.watch(talk.told))
    assert [item.key for item, _ in iter_growths(requested, notes)] == [requested[-1].key]


def test_large_output_costs_while_it_is_carried(talk: Working, tmp_path: Path) -> None:
    talk.call("Bash", {"command": "cat log"}, "z" * (GIANT * CHARACTERS + 9000))
    (once,) = losses_of(talk, tmp_path)
    assert (once.kind, once.read, once.certain) == ("giant", 0, 0.0)
    talk.call("Bash", {"command": "true"}, "")
    talk.call("Bash", {"command": "true"}, "")
    (item,) = losses_of(talk, tmp_path)
    assert item.read == pytest.approx(2 * GIANT, rel=0.5)
    assert item.write_5m == 0


def test_abandoned_branch_carries_nothing(talk: Working, tmp_path: Path) -> None:
    """Its answers are a finding of their own, as a whole."""
    talk.call("Bash", {"command": "cat log"}, "z" * (GIANT * CHARACTERS + 9000))
    talk.ask()
    (once,) = losses_of(talk, tmp_path)
    talk.go_back(1)
    talk.ask()
    talk.ask()
    (twice,) = losses_of(talk, tmp_path)
    assert twice.read == pytest.approx(2 * once.read, rel=0.1)


def test_rewrite_that_shrinks_the_context_is_no_waste(talk: Working, tmp_path: Path) -> None:
    talk.compact(preserved=2)
    talk.ask()
    talk.pieces = talk.pieces[2:]
    talk.system += 1
    talk.ask()
    assert kinds(talk, tmp_path) == []


@pytest.mark.parametrize(("pause", "again"), [(MINUTES / 2, 0), (MINUTES * 2, SYSTEM)])
def test_instructions_lost_at_a_compaction_are_waste(
    talk: Working, tmp_path: Path, pause: timedelta, again: int
) -> None:
    talk.compact()
    talk.ask()
    talk.compact(preserved=2)
    talk.ask(pause)
    found = {item.kind: item.write_5m for item in losses_of(talk, tmp_path)}
    assert found == ({"pause": again} if again else {})


def test_compaction_ends_carrying(talk: Working, tmp_path: Path) -> None:
    talk.call("Bash", {"command": "cat log"}, "z" * (GIANT * CHARACTERS + 9000))
    talk.compact()
    talk.ask()
    (item,) = losses_of(talk, tmp_path)
    assert item.read == 0


@pytest.mark.parametrize(("words", "found"), [("shop.py is it", []), ("nothing", ["unused"])])
def test_unmentioned_read_is_unused(
    talk: Working, tmp_path: Path, words: str, found: list[str]
) -> None:
    talk.call(*reading("/a/shop.py", size=12_000))
    talk.say(words)
    assert kinds(talk, tmp_path) == found


def test_identical_failing_retry(talk: Working, tmp_path: Path) -> None:
    for _ in range(3):
        talk.call("Bash", {"command": "make"}, "no", is_error=True)
    talk.call("Bash", {"command": "make"}, "done")
    assert kinds(talk, tmp_path) == ["retry", "retry"]
    assert all(
        0 < item.output < ANSWER for item in losses_of(talk, tmp_path)
    )  # what it wrote for that


def test_agent_with_expensive_startup(tmp_path: Path) -> None:
    talk = CachedSession()
    talk.ask(words=5000)
    (item,) = losses_of(talk, tmp_path, is_agent=True)
    assert (item.kind, item.write_5m, item.certain) == ("startup", 6000, 0.0)
    assert kinds(talk, tmp_path) == []
    talk.lines[-1]["message"]["usage"]["output_tokens"] = 1200
    assert kinds(talk, tmp_path, is_agent=True) == []


def test_model_change_is_priced_at_its_request(talk: Working, tmp_path: Path) -> None:
    talk.model = OTHERS[1]
    name = talk.ask()
    (item,) = losses_of(talk, tmp_path)
    assert (item.kind, item.response, item.model) == ("model", name, OTHERS[1])


def test_odd_content_is_skipped(tmp_path: Path) -> None:
    talk = Working()
    talk.ask()
    talk.lines[0]["message"] = {"role": "user", "content": "words"}
    talk.lines[1]["message"]["content"] = [{"type": "tool_use", "id": 7}, "odd"]
    assert kinds(talk, tmp_path) == []
    assert losses_of(CachedSession(), tmp_path, is_agent=True) == []


def prompted(talk: Working, words: str = "is it done?", **more: Any) -> None:
    """Has the model answer words that somebody typed."""
    talk.ask(**more)
    report = [line for line in talk.lines if line["type"] == "user"][-1]
    report["message"] = {"role": "user", "content": words}


def small(talk: Working, folder: Path) -> list[Loss]:
    return [item for item in losses_of(talk, folder) if item.kind == "oversized"]


def test_short_answer_to_a_short_prompt_is_oversized(talk: Working, tmp_path: Path) -> None:
    assert small(talk, tmp_path) == []  # nobody typed a word
    prompted(talk)
    (item,) = small(talk, tmp_path)
    used = talk.lines[-1]["message"]["usage"]
    assert (item.output, item.certain) == (used["output_tokens"], 0.0)
    assert item.read == used["cache_read_input_tokens"]
    assert item.write_5m == used["cache_creation_input_tokens"]


def long_answer(talk: Working) -> None:
    talk.lines[-1]["message"]["usage"]["output_tokens"] = SMALL


def long_prompt(talk: Working) -> None:
    talk.lines[-2]["message"]["content"] = "word " * SMALL


def large_file(talk: Working) -> None:
    talk.lines[-1]["message"]["usage"]["cache_read_input_tokens"] += MOST_ADDED


def agent(talk: Working) -> None:
    talk.lines[-1]["agentId"] = "a1"


def sidechain(talk: Working) -> None:
    talk.lines[-1]["isSidechain"] = True


def call(talk: Working) -> None:
    talk.call("Bash", {"command": "true"}, "")


def result(talk: Working) -> None:
    block = {"type": "tool_result", "tool_use_id": "t0", "content": "x"}
    talk.lines[-2]["message"]["content"] = [block, {"type": "text", "text": "done"}]


@pytest.mark.parametrize(
    "otherwise", [long_answer, long_prompt, large_file, agent, sidechain, call, result]
)
def test_larger_questions_are_not_oversized(
    talk: Working, tmp_path: Path, otherwise: Callable[[Working], None]
) -> None:
    prompted(talk)
    assert len(small(talk, tmp_path)) == 1
    otherwise(talk)
    assert small(talk, tmp_path) == []


@pytest.mark.parametrize(("came", "is_small"), [(MOST_ADDED - 1, True), (MOST_ADDED, False)])
def test_small_question_may_have_little_other_input(
    talk: Working, tmp_path: Path, came: int, is_small: bool
) -> None:
    prompted(talk)
    talk.lines[-1]["message"]["usage"]["cache_read_input_tokens"] += came - WORDS
    assert bool(small(talk, tmp_path)) == is_small


def test_cold_small_question_is_priced_as_warm(talk: Working, tmp_path: Path) -> None:
    talk.lasts = HOUR
    prompted(talk)
    prompted(talk, pause=HOUR * 2)
    pause = next(first for first in losses_of(talk, tmp_path) if first.kind == "pause")
    first = small(talk, tmp_path)[-1]
    written = talk.lines[-1]["message"]["usage"]["cache_creation_input_tokens"]
    assert (pause.write_5m, first.write_5m) == (0, 0)
    assert first.write_1h + pause.write_1h == written
    assert first.write_1h == WORDS + ANSWER


def test_same_tokens_are_not_counted_twice(talk: Working, tmp_path: Path) -> None:
    talk.call("Bash", {"command": "cat log"}, "z" * (GIANT * CHARACTERS + 9000))
    prompted(talk)
    giant, item = losses_of(talk, tmp_path)
    used = talk.lines[-1]["message"]["usage"]
    assert (giant.kind, item.kind) == ("giant", "oversized")
    assert giant.read > GIANT
    assert item.read + giant.read == pytest.approx(used["cache_read_input_tokens"])
    prompted(talk, pause=MINUTES * 2)
    pause = next(item for item in losses_of(talk, tmp_path) if item.kind == "pause")
    later = small(talk, tmp_path)[-1]
    written = talk.lines[-1]["message"]["usage"]["cache_creation_input_tokens"]
    assert later.write_5m + pause.write_5m == written
    assert later.read == pytest.approx(pause.write_5m - giant.read, rel=0.1)


def test_compaction_ends_waste(talk: Working, tmp_path: Path) -> None:
    talk.call("Bash", {"command": "cat log"}, "z" * (GIANT * CHARACTERS + 9000))
    talk.compact()
    prompted(talk)
    (item,) = small(talk, tmp_path)
    assert item.read == talk.lines[-1]["message"]["usage"]["cache_read_input_tokens"]
