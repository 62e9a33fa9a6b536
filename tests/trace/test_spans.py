"""Conversations as spans: cases beyond the published document."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given

from examples.drawing import draw
from plait.archive import Archive
from plait.conversation.costs import sum_conversations
from plait.conversation.model import Conversation, Response, ToolCall, Turn, UserMessage
from plait.conversation.prices import Prices
from plait.graph import build
from plait.graph.model import LineKind
from plait.trace.model import Span
from plait.trace.spans import build_traces
from plait.trace.traces import traces
from tests.conversation.sketched import talk, tell
from tests.graph.generated import archives, sources
from tests.trace.pictured import SECOND, named, picture, seconds, traced
from tests.trace.promises import check_times, check_traces

START = "file main start=2026-11-02T09:00:00Z model=claude-opus-4-5"
AGENTS = f"""
{START}
U1 "go"
A1< Agent(prompt="look", description="Find it", subagent_type="Explore") as sent
R1< of sent @+60s "Found."
A2< "Done."
agent looker of sent
U11 "look"
A11< Agent(prompt="deeper", description="Deeper", subagent_type="Plan") as inner
R11< of inner "There."
A12< "Found."
agent deeper of looker:inner
U21 "deeper"
A21< Bash(command="ls") as ls
R21< of ls "a"
A22< "There."
"""
PICTURES = [
    (
        "sub-agents stand within the call that sent them out, with generations of their own",
        AGENTS,
        """
turn Turn 1
  generation claude-opus-4-5
    tool Agent
      agent Explore
        generation claude-opus-4-5
          tool Agent
            agent Plan
              generation claude-opus-4-5
                tool Bash
              generation claude-opus-4-5
        generation claude-opus-4-5
  generation claude-opus-4-5
""",
    ),
    (
        "an abandoned branch has traces of its own, numbered from where it leaves and marked",
        f"""
{START}
U1 "one"
A1< "first"
U2< "two"
A2< "second"
U3<A1 "other"
A3< "third"
A4< "fourth"
""",
        """
turn Turn 1
  generation claude-opus-4-5
turn Turn 2
  generation claude-opus-4-5
  generation claude-opus-4-5
turn Turn 2 abandoned
  generation claude-opus-4-5 abandoned
""",
    ),
    (
        "a tool that failed is an error, one that the user refused a warning",
        f"""
{START}
U1 "go"
A1< Bash(command="ls") as bad
R1< of bad error
  | Exit code 2
  | no such file
A2< Bash(command="rm") as no
R2< of no rejected
A3< "Well."
""",
        """
turn Turn 1
  generation claude-opus-4-5
    tool Bash ERROR: Exit code 2
  generation claude-opus-4-5
    tool Bash WARNING: rejected by the user
  generation claude-opus-4-5
""",
    ),
    (
        "an error of the API is one, of the turn as well where it is the last word",
        f"""
{START}
U1 "go"
E1< "API Error: Overloaded"
""",
        """
turn Turn 1 ERROR: API Error: Overloaded
  generation <synthetic> ERROR: API Error: Overloaded
""",
    ),
    (
        "an interruption is marked where it happened",
        f"""
{START}
U1 "go"
A1< "I will"
I1<
U2< "no"
A2< "ok"
""",
        """
turn Turn 1 WARNING: interrupted by the user
  generation claude-opus-4-5
  event Interrupted WARNING: interrupted by the user
turn Turn 2
  generation claude-opus-4-5
""",
    ),
    (
        "a queued prompt is a moment in the turn that was at work",
        f"""
{START}
U1 "go"
A1< Bash(command="ls") as ls
R1< of ls
Q1< "hurry"
A2< "Done."
""",
        """
turn Turn 1
  generation claude-opus-4-5
    tool Bash
  generation claude-opus-4-5
  event Queued prompt
""",
    ),
    (
        "a compaction stands in the turn that it interrupted or followed",
        f"""
{START}
U1 "go"
A1< "one"
B1 boundary after A1 trigger=manual
C1< "The story so far"
U2< "on"
A2< "two"
""",
        """
turn Turn 1
  generation claude-opus-4-5
  compaction Compaction
turn Turn 2
  generation claude-opus-4-5
""",
    ),
    (
        "a prompt that nobody answered goes with the next that somebody did",
        f"""
{START}
U1 "one"
A1< "first"
U2< "two"
U3< "three"
A3< "third"
""",
        """
turn Turn 1
  generation claude-opus-4-5
turn Turn 3
  event Unanswered prompt
  generation claude-opus-4-5
""",
    ),
]


@pytest.mark.parametrize(("drawing", "expected"), [case[1:] for case in PICTURES],
                         ids=[case[0] for case in PICTURES])  # fmt: skip
def test_span_cases(drawing: str, expected: str) -> None:
    assert picture(traced(drawing)) == expected.strip("\n")


def test_agent_usage_is_separate() -> None:
    all_ = talk(AGENTS).all.by_line
    spans = [span for spans in traced(AGENTS) for span in spans]
    counted = [span for span in spans if span.tokens]
    assert {span.kind for span in counted} == {"generation"}
    by_conversation = Counter(span.conversation for span in counted)
    assert sorted(by_conversation.values()) == [2, 2, 2]
    total = sum_conversations(all_.values())
    assert sum(span.tokens.total for span in counted if span.tokens) == total.tokens.total > 0


def test_parts_of_a_response_do_not_overwrite_each_other() -> None:
    found = traced(
        f"""
{START}
U1 "go"
A1< think "Hm." + "First." + Bash(command="ls") as one + "Then." + Bash(command="pwd") as two
R1< of one "a"
R2< of two "/"
A2< "Done."
"""
    )
    (spans,) = found
    generation = next(span for span in spans if span.kind == "generation")
    assert generation.output == {"role": "assistant", "content": "First.\nThen."}
    assert generation.thinking == "Hm."
    assert generation.metadata["tool_count"] == 2
    tools = [span for span in spans if span.kind == "tool"]
    assert [(tool.input["command"], tool.output) for tool in tools] == [("ls", "a"), ("pwd", "/")]
    assert {tool.parent for tool in tools} == {generation.id}
    assert len({span.id for span in spans}) == len(spans)


def test_workflow_lasts_from_first_to_last_agent(gallery: Path) -> None:
    found = of_example(gallery, "workflow")
    run, call = named(found, "review-release"), named(found, "Workflow")
    assert (run.kind, run.parent, run.metadata) == ("workflow", call.id, {"agents": 3})
    agents = [span for span in found[0] if span.kind == "agent"]
    assert {agent.parent for agent in agents} == {run.id}
    assert seconds(run) == (
        min(seconds(agent)[0] for agent in agents),
        max(seconds(agent)[1] for agent in agents),
    )
    assert seconds(run)[1] > seconds(found[0][0])[1], "in the background, after its turn"


def test_hooks_are_children_of_their_call() -> None:
    found = traced(
        f"""
{START}
H0 hook_success hookEvent=SessionStart
U1< "go"
A1< Bash(command="ls") as ls
P1< hook_progress "guard" hookEvent=PreToolUse of ls
R1< of ls "a"
P2< hook_progress of ls
H2< hook_success of ls
A2< "Done."
S1< stop_hook_summary "notify"
"""
    )
    assert (
        picture(found)
        == """
turn Turn 1
  hook SessionStart
  generation claude-opus-4-5
    tool Bash
      hook PreToolUse
      hook PostToolUse
  generation claude-opus-4-5
  hook Stop
""".strip()
    )


def test_no_span_ends_after_the_log(gallery: Path) -> None:
    for folder in sorted(gallery.iterdir()):
        archive = Archive([folder])
        for spans in traces(archive.sessions):
            ends = [span.end for span in spans if span.end is not None]
            last = max(archive.facts(one).ended or "" for one in archive.sessions)
            assert max(ends) <= datetime.fromisoformat(last).timestamp() * SECOND + SECOND, folder


def test_a_span_has_the_cost_of_its_response() -> None:
    (spans,) = traced(f'{START}\nU1 "go"\nA1< "Done."')
    generation = spans[1]
    assert generation.tokens is not None
    moment_ = datetime(2026, 11, 2, 9, tzinfo=UTC)
    assert generation.cost == Prices().cost("claude-opus-4-5", generation.tokens, moment_)
    assert generation.cost


def test_ids_depend_only_on_records(tmp_path: Path) -> None:
    draw(AGENTS).write(tmp_path / "one")
    draw(AGENTS).write(tmp_path / "elsewhere" / "two")
    one = list(traces(Archive([tmp_path / "one"]).sessions))
    two = list(traces(Archive([tmp_path / "elsewhere"]).sessions))
    assert [ids(spans) for spans in one] == [ids(spans) for spans in two]
    whole = traced(f'{START}\nU1 "one"\nA1< "x"\nU2< "two"\nA2< "y"')
    part = traced(f'{START}\nU1 "one"\nA1< "x"')
    assert ids(whole[0]) == ids(part[0]), "what follows changes nothing"


def test_copied_turn_has_the_ids_of_its_owner(gallery: Path) -> None:
    archive = Archive([gallery / "resumed-in-a-second-file"])
    together = {spans[0].trace: spans for spans in traces(archive.sessions)}
    assert [spans[0].turn for spans in together.values()] == [1, 2, 2]
    for session in archive.sessions:
        for spans in traces([session], among=archive.sessions):
            assert spans == together[spans[0].trace]
    *_, forked = archive.sessions
    alone = list(traces([forked], among=archive.sessions))
    assert [spans[0].session for spans in alone] == [forked.id]


def test_agents_without_a_call_are_placed_where_they_ran(tmp_path: Path) -> None:
    found = traced(
        f"""
{START}
U1 "one"
A1< "x"
U2< "two" @2026-11-02T10:00:00Z
A2< "y"
B1 boundary after A2 trigger=auto @2026-11-02T10:10:00Z
C1< "The story"
agent acompact-1a2b start=2026-11-02T10:09:00Z nometa
U31 "Your task is to create a detailed summary"
A31< "The story"
agent lost1 start=2026-11-02T09:30:00Z nometa
U41 "look"
A41< "Nothing."
"""
    )
    assert (
        picture(found)
        == """
turn Turn 1
  generation claude-opus-4-5
  agent agent
    generation claude-opus-4-5
turn Turn 2
  generation claude-opus-4-5
  compaction Compaction
    agent compaction agent
      generation claude-opus-4-5
""".strip()
    )


def test_turn_with_ten_thousand_calls_and_deep_agents() -> None:
    wide = {"s": conversation("s", [called(n) for n in range(10_000)])}
    (spans,) = build_traces(wide)
    assert Counter(span.kind for span in spans) == {"turn": 1, "generation": 1, "tool": 10_000}
    deep = {name_of(n): conversation(name_of(n), [called(n, name_of(n + 1))]) for n in range(1000)}
    (spans,) = build_traces(deep)
    assert Counter(span.kind for span in spans) == {
        "turn": 1,
        "generation": 1000,
        "tool": 1000,
        "agent": 999,
    }


def name_of(n: int) -> str:
    return f"s#{n}" if n else "s"


def called(n: int, *agents: str) -> ToolCall:
    return ToolCall(uuid=f"a{n}", response=0, call=f"t{n}", name="Agent", agents=agents)


def conversation(name: str, calls: list[ToolCall]) -> Conversation:
    """Return a conversation of one turn, in which one response made all calls."""
    opener = UserMessage(uuid=f"u{name}", kind="prompt", text="go", is_typed=True)
    response = Response(f"m{name}", None, "x", (), None, None, None, None)
    turn = Turn(1, opener, (opener, *calls), (0,), None, None)
    kind: LineKind = "agent" if "#" in name else "trunk"
    return Conversation(name, kind, "s", "", None, (turn,), (response,), ())


def test_spans_of_the_gallery_keep_the_promises(gallery: Path) -> None:
    sessions = Archive([gallery]).sessions
    found = list(traces(sessions))
    assert len(found) > 20
    check_traces(found)
    check_times(found)
    assert found == list(traces(sessions)), "the same again"


@given(archives)
def test_spans_of_any_records_keep_the_promises(
    archive: dict[str, list[dict[str, Any]]],
) -> None:
    keep_their_promises(archive)


@pytest.mark.long
@given(archives)
def test_spans_of_many_records_keep_the_promises(
    archive: dict[str, list[dict[str, Any]]],
) -> None:
    keep_their_promises(archive)


def keep_their_promises(archive: dict[str, list[dict[str, Any]]]) -> None:
    given_sources = sources(archive)
    graph = build(given_sources)
    if not graph.sessions:
        return
    by_line = tell(graph, given_sources).by_line
    found = list(build_traces(by_line))
    assert found == list(build_traces(by_line)), "the same again"
    spans = [span for spans in found for span in spans]
    check_traces(found)
    total = sum(span.tokens.total for span in spans if span.tokens)
    assert total == sum_conversations(by_line.values()).tokens.total, "the money adds up"
    packed = msgspec.msgpack.encode(spans)
    assert msgspec.msgpack.decode(packed, type=list[Span]) == spans


def ids(spans: list[Span]) -> list[tuple[str, str, str | None]]:
    return [(span.trace, span.id, span.parent) for span in spans]


def of_example(gallery: Path, name: str) -> list[list[Span]]:
    return list(traces(Archive([gallery / name]).sessions))
