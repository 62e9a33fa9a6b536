"""Examples of causes: each shows its cause, with figures that match usage."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest

from examples.drawing import draw
from examples.drawing.cache import INSTRUCTIONS, SURROUNDINGS, UNCACHED, Cache
from plait.cli.app import run
from plait.insights.cache_misses import MissCause

CAUSES = Path(__file__).resolve().parents[2] / "examples" / "causes"
FOLDERS = sorted(CAUSES.glob("*/"))
SEVERAL = {
    "agent": ["pause"],
    "mixture": ["pause", "model", "compaction", "pause"],
    "model": ["model", "model"],
}
"""What is paid again where it is not the one thing that the name says."""
START = datetime(2026, 11, 2, 9, tzinfo=UTC)
MINUTES, SECOND = timedelta(minutes=5), timedelta(seconds=1)
BEFORE = INSTRUCTIONS + SURROUNDINGS

each = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def answer(capfd: pytest.CaptureFixture[str], *words: str) -> Any:
    """Return what a command answers as JSON."""
    assert run([*words, "--json", "--no-index"]) == 0
    return json.loads(capfd.readouterr().out)


def why(capfd: pytest.CaptureFixture[str], folder: Path) -> dict[str, Any]:
    """Return the account of an example's session, as its command asks for it."""
    title = (folder / "command").read_text(encoding="utf-8").split('"')[1]
    found: dict[str, Any] = answer(capfd, "why", title, "--root", str(folder))
    return found


@each
def test_example_shows_its_cause(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    told = why(capfd, folder)
    expected = SEVERAL.get(folder.name) or [folder.name.partition("-")[0]]
    assert [one["cause"] for one in told["requests"] if one["cause"]] == expected
    assert {*expected} == {*told["totals"]["causes"]}


def test_every_cause_has_an_example() -> None:
    assert {folder.name.partition("-")[0] for folder in FOLDERS} >= {*get_args(MissCause)}


@each
def test_parts_add_up_to_usage_to_the_token_and_the_cent(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    told = why(capfd, folder)
    totals = told["totals"]
    rows = answer(capfd, "usage", "session", "--root", str(folder))["rows"]
    [row] = [row for row in rows if row["session"] == told["session"]]
    assert totals["read"] == row["cache_read_tokens"]
    assert totals["new"] + totals["again"] == row["cache_creation_tokens"]
    assert (totals["uncached"], totals["output"]) == (row["input_tokens"], row["output_tokens"])
    assert totals["cost_usd"] == row["cost_usd"]
    assert totals["requests"] == row["responses"]
    for name in ("read", "new", "again", "uncached", "output"):
        assert totals[name] == sum(one[name] for one in told["requests"])


def test_agent_rewrites_do_not_count_for_its_session(capfd: pytest.CaptureFixture[str]) -> None:
    requests = why(capfd, CAUSES / "agent")["requests"]
    assert [one["cause"] for one in requests if one["agent"]] == [None, None, "pause"]
    own = [one for one in requests if not one["agent"]]
    assert own[1]["read"] == own[0]["read"] + own[0]["new"]


@pytest.mark.parametrize(("name", "tier"), [("pause-five-minutes", "5m"), ("pause-an-hour", "1h")])
def test_cache_tier_is_known_from_writes(name: str, tier: str) -> None:
    [log] = (CAUSES / name).rglob("*.jsonl")
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    for usage in (line["message"]["usage"] for line in lines if line["type"] == "assistant"):
        written = usage["cache_creation"][f"ephemeral_{tier}_input_tokens"]
        assert written == usage["cache_creation_input_tokens"] > 0


# ── the cache that they are drawn with ──────────────────────────────────────────────────────────


def asked(cache: Cache, messages: str, after: timedelta, model: str = "opus") -> int:
    """Return what is read of a request, ten tokens a message."""
    system = [("instructions", INSTRUCTIONS), ("surroundings", SURROUNDINGS)]
    pieces = [*system, *((letter, 10) for letter in messages)]
    read, written = cache.answer(model, pieces, START + after, MINUTES)
    assert read + written == BEFORE + 10 * len(messages) - UNCACHED
    return read


@pytest.mark.parametrize(
    ("after", "read"), [(MINUTES - SECOND, BEFORE + 10 - UNCACHED), (MINUTES, 0)]
)
def test_cached_prefix_lives_until_expiry(after: timedelta, read: int) -> None:
    cache = Cache()
    assert asked(cache, "a", timedelta()) == 0
    assert asked(cache, "abc", after) == read


def test_reading_extends_only_the_read_prefix() -> None:
    cache, step = Cache(), MINUTES - SECOND
    asked(cache, "a", timedelta())
    asked(cache, "abc", step)
    assert asked(cache, "abcde", 2 * step) == BEFORE + 30 - UNCACHED
    assert asked(cache, "ax", 2 * step) == BEFORE


def test_caches_are_per_model_and_may_be_lost() -> None:
    cache = Cache()
    asked(cache, "a", timedelta())
    assert asked(cache, "a", SECOND, "sonnet") == 0
    assert asked(cache, "a", SECOND) == BEFORE + 10 - UNCACHED
    cache.forget()
    assert asked(cache, "a", SECOND) == 0


def read_by(text: str) -> list[int]:
    """Return what the responses of a drawing read from the cache."""
    lines = draw(f"file main cache=5m\n{text}").files[0].lines
    spoken = [line.record for line in lines if line.record and line.record["type"] == "assistant"]
    return [one["message"]["usage"]["cache_read_input_tokens"] for one in spoken]


@pytest.mark.parametrize(
    ("between", "read"),
    [
        ('line {"type": "cost-state"}', INSTRUCTIONS),
        ("set effort=high", INSTRUCTIONS),
        ('H1<A1 hook_success hookName="SessionStart:resume"', INSTRUCTIONS),
        ("set version=2.1.326", 0),
        ('H1<A1 prompt_snapshot systemPrompt=["be brief"]', 0),
        ("set model=claude-haiku-4-5", 0),
        ("forget", 0),
    ],
)
def test_changed_instructions_invalidate_the_cache(between: str, read: int) -> None:
    first, second = "U1\nA1<", "U2<A1\nA2<"
    [_, warm] = read_by(f"{first}\n{second}")
    assert warm > BEFORE
    assert read_by(f"{first}\n{between}\n{second}") == [0, read]


def test_response_on_several_lines_is_one_request() -> None:
    said, later = 'U1\nA1< think "why" + "so"', "\nU2<A1\nA2<\nU3<\nA3<"
    [one, other, *rest] = read_by(said + later)
    assert one == other == 0
    assert [0, *rest] == read_by(f"{said} together{later}")


def test_removed_results_reduce_later_requests() -> None:
    text = "U1\nT1<\nR1< times=90\n  | a long line of words\nA1<\n"
    gone = text + 'S1< microcompact_boundary clear=["T1"]\nU2<\nA2<\nU3<\nA3<'
    drawn = draw(f"file main cache=5m\n{gone}").files[0].lines
    [told] = [line.record for line in drawn if line.record and line.name == "S1"]
    saved = told["microcompactMetadata"]["tokensSaved"]
    kept = read_by(text + "S1< turn_duration\nU2<\nA2<\nU3<\nA3<")
    assert saved > 400
    assert read_by(gone)[-1] == kept[-1] - saved
