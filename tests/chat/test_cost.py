"""Total cost of a session: counted live, saved on exit, continued on resume."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from plait.chat.client import Client
from plait.chat.events import Compacted, Event, ResponseLogged, ToolFinished, ToolStarted
from plait.chat.tools.base import Outcome, Proposal
from plait.chat.usage import SessionCost, format_usage_lines
from plait.conversation.prices import Prices
from plait.write import SessionWriter
from plait.write.lines import VERSIONS, Version
from tests.chat.scripted_client import ScriptedClient

MODEL = "claude-sonnet-4-5"
USAGE = {
    "input_tokens": 100,
    "output_tokens": 20,
    "cache_read_input_tokens": 3000,
    "cache_creation_input_tokens": 500,
    "cache_creation": {"ephemeral_5m_input_tokens": 400, "ephemeral_1h_input_tokens": 100},
    "output_tokens_details": {"thinking_tokens": 7},
}
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def cost(**before: Any) -> SessionCost:
    return SessionCost(Prices(), before, lambda: NOON)


def make_response(model: str = MODEL) -> ResponseLogged:
    return ResponseLogged("msg_1", None, model, (), "end_turn", USAGE)


def make_result(output: Any) -> list[Event]:
    proposal = Proposal("Edit", {}, "write", "Edit")
    return [ToolStarted("c", proposal), ToolFinished("c", "Edit", Outcome("done", output))]


def test_responses_and_summaries_are_counted_by_model() -> None:
    result = cost()
    events: list[Event] = [make_response(), Compacted("auto", 5, "They spoke.", MODEL, USAGE)]
    for event in (*events, make_response("somebody-else")):
        result.record(event)
    assert result.has_grown
    noted = result.fields
    assert noted["modelUsage"][MODEL] == {
        "inputTokens": 200,
        "outputTokens": 40,
        "thinkingTokens": 14,
        "cacheReadInputTokens": 6000,
        "cacheCreationInputTokens": 1000,
        "cacheCreationEphemeral5mInputTokens": 800,
        "cacheCreationEphemeral1hInputTokens": 200,
        "webSearchRequests": 0,
        "costUSD": pytest.approx(2 * (300 + 300 + 900 + 1500 + 600) / 1e6),
    }
    assert noted["modelUsage"]["somebody-else"]["costUSD"] == 0
    assert noted["totalCostUSD"] == noted["modelUsage"][MODEL]["costUSD"]
    assert noted["hasUnknownModelCost"] is True


def test_changed_lines_are_counted() -> None:
    result = cost()
    patch = [{"lines": [" a", "-b", "+c", "+d"]}]
    created = {"type": "create", "content": "x\ny\n", "structuredPatch": []}
    for event in (
        *make_result({"structuredPatch": patch}),
        *make_result(created),
        *make_result("Error: x"),
    ):
        result.record(event)
    assert (result.fields["totalLinesAdded"], result.fields["totalLinesRemoved"]) == (4, 1)
    assert not result.has_grown, "nothing was paid for"


def test_the_cost_before_a_resume_is_added() -> None:
    result = cost(
        totalCostUSD=1.5,
        totalLinesAdded=10,
        totalDuration=5000,
        startTime=7,
        hasUnknownModelCost=False,
        modelUsage={"older": {"inputTokens": 5, "costUSD": 1.5}, MODEL: {"outputTokens": 1}},
    )
    result.record(make_response())
    noted = result.fields
    assert list(noted["modelUsage"]) == ["older", MODEL]
    assert noted["modelUsage"]["older"]["inputTokens"] == 5
    assert noted["modelUsage"][MODEL]["outputTokens"] == 21
    assert noted["totalCostUSD"] > 1.5
    assert noted["totalLinesAdded"] == 10
    assert noted["totalDuration"] >= 5000
    assert noted["startTime"] == 7
    assert noted["hasUnknownModelCost"] is False


def test_invalid_earlier_figures_are_ignored() -> None:
    result = cost(totalDuration="x", modelUsage={"older": 7}, startTime=None)
    noted = result.fields
    assert noted["modelUsage"]["older"]["inputTokens"] == 0
    assert noted["startTime"] <= NOON.timestamp() * 1000
    assert list(noted) == [
        "totalCostUSD",
        "totalAPIDuration",
        "totalAPIDurationWithoutRetries",
        "totalToolDuration",
        "totalLinesAdded",
        "totalLinesRemoved",
        "totalDuration",
        "startTime",
        "modelUsage",
        "hasUnknownModelCost",
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_exit_shows_the_cost(tmp_path: Path, version: Version) -> None:
    script = {"otherwise": {"text": "Yes.", "model": MODEL, "usage": USAGE}}
    session = ScriptedClient(tmp_path, script, version=version)
    session.ask("One?", "Two?")
    noted = [line for line in session.all_lines if line["type"] == "cost-state"]
    assert bool(noted) == (version == "2.1.325")
    if noted:
        assert session.all_lines[-1] == noted[0]
        assert list(noted[0])[:3] == ["type", "sessionId", "totalCostUSD"]
        assert noted[0]["modelUsage"][MODEL]["inputTokens"] == 200
        again = SessionWriter.resume(session.parts.writer.path)
        assert again.cost_before == noted[0]
        fork = SessionWriter.fork(session.parts.writer.path, tmp_path / "config")
        assert fork.cost_before == {}


def test_empty_session_leaves_no_cost(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {})

    async def run() -> None:
        async with Client(session.parts):
            pass

    asyncio.run(run())
    assert not session.parts.writer.path.exists()


def test_cost_text_matches_the_client() -> None:
    """As 2.1.325 told it of a session with these sums."""
    used = {"inputTokens": 23003, "outputTokens": 564, "costUSD": 0.103292}
    sums = {"totalCostUSD": 0.103292, "totalAPIDuration": 310, "totalDuration": 2900}
    lines = {"totalLinesAdded": 6, "totalLinesRemoved": 9}
    result = format_usage_lines({**sums, **lines, "modelUsage": {"claude-opus-5-5": used}})
    assert "\n".join(result) == USAGE_TOLD
    more = {"totalCostUSD": 1.239, "totalDuration": 3_725_000, "totalLinesAdded": 1}
    assert format_usage_lines({**more, "hasUnknownModelCost": True}) == [
        "Total cost:            $1.24 (costs may be inaccurate due to usage of unknown models)",
        "Total duration (API):  0s",
        "Total duration (wall): 1h 2m 5s",
        "Total code changes:    1 line added, 0 lines removed",
        "Usage:                 0 input, 0 output, 0 cache read, 0 cache write",
    ]


USAGE_TOLD = """\
Total cost:            $0.1033
Total duration (API):  0s
Total duration (wall): 2s
Total code changes:    6 lines added, 9 lines removed
Usage by model:
     claude-opus-5-5:  23.0k input, 564 output, 0 cache read, 0 cache write ($0.1033)"""
