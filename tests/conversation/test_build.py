"""Invariants of every conversation, and where agents, branches and loose lines appear."""

import json
from collections import Counter
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from plait import Archive
from plait.conversation.model import (
    BranchPoint,
    Conversation,
    Conversations,
    FoldedItems,
    Item,
    LateResult,
    ToolCall,
    UserMessage,
)
from plait.conversation.results import iter_story
from plait.graph import SessionGraph, build
from tests.conversation.sketched import talk, tell, uuids_in
from tests.graph.generated import archives, conversations, sources

quick = settings(max_examples=120, deadline=None, derandomize=True)
thorough = settings(
    max_examples=4000, deadline=None, suppress_health_check=list(HealthCheck), derandomize=False
)


def check_nothing_is_lost(graph: SessionGraph, told: Conversations) -> None:
    assert set(graph.lines) <= set(told.by_line)
    for name, line in graph.lines.items():
        stands = Counter(uuids_in(told.by_line[name].items()))
        folded = [uuid for held in line.folded.values() for uuid in held]
        assert stands == Counter([*line.nodes, *folded])


def check_every_loose_line_stands_once(graph: SessionGraph, told: Conversations) -> None:
    stands = Counter(
        (item.file, item.line)
        for conversation in told.by_line.values()
        for item in conversation.items()
        if item.uuid is None and not isinstance(item, BranchPoint)
    )
    assert set(stands) == {(one.place.file, one.place.line) for one in graph.loose}


def check_pairs(conversation: Conversation) -> None:
    """Each result stands with its call or by itself, at any selection of items."""
    items = list(conversation.items())
    answers = {item.uuid for item in items if isinstance(item, LateResult)}
    calls = [item for item in items if isinstance(item, ToolCall)]
    assert all(call.answered_by in answers for call in calls if call.answered_by)
    shown = list(iter_story(items))
    together = sum(placed.has_result for placed in shown)
    apart = sum(isinstance(placed.item, LateResult) for placed in shown)
    assert together + apart == sum(isinstance(item, LateResult) for item in items)


def check_turns(conversation: Conversation) -> None:
    numbers = [turn.number for turn in conversation.turns]
    assert numbers == sorted(set(numbers))
    for turn in conversation.turns:
        assert (turn.opener is None) == (turn.number == 0)
        assert turn.opener is None or turn.items[0] is turn.opener
    counted = [number for turn in conversation.turns for number in turn.responses]
    assert sorted(counted) == list(range(len(conversation.responses)))


def check(graph: SessionGraph, told: Conversations) -> None:
    check_nothing_is_lost(graph, told)
    check_every_loose_line_stands_once(graph, told)
    for conversation in told.by_line.values():
        check_pairs(conversation)
        check_turns(conversation)
    msgspec.json.encode(told)


@quick
@given(archives)
def test_nothing_is_lost_for_any_records(archive: dict[str, list[dict[str, Any]]]) -> None:
    given_sources = sources(archive)
    graph = build(given_sources)
    if graph.sessions:
        check(graph, tell(graph, given_sources))


@quick
@given(conversations)
def test_nothing_is_lost_in_one_session(archive: dict[str, list[dict[str, Any]]]) -> None:
    given_sources = sources(archive)
    graph = build(given_sources)
    check(graph, tell(graph, given_sources))


@pytest.mark.long
@thorough
@given(archives)
def test_nothing_is_lost_for_any_records_thoroughly(
    archive: dict[str, list[dict[str, Any]]],
) -> None:
    given_sources = sources(archive)
    graph = build(given_sources)
    if graph.sessions:
        check(graph, tell(graph, given_sources))


def check_archive(root: Path) -> Counter[str]:
    archive = Archive([root])
    found: Counter[str] = Counter()
    for session in archive.sessions:
        told = archive.conversations(session)
        check(archive.graph(session), told)
        for conversation in told.by_line.values():
            found.update(map(kind_of, conversation.items()))
    return found


def kind_of(item: Item) -> str:
    return item.kind if isinstance(item, UserMessage) else type(item).__name__


def test_nothing_is_lost_in_the_gallery(gallery: Path) -> None:
    found = check_archive(gallery)
    assert {"prompt", "queued", "command", "notice", "teammate", "summary"} <= set(found)


def test_nothing_is_lost_in_real_logs(shared: Path) -> None:
    found = check_archive(shared / "corpus") + check_archive(shared / "produced")
    assert found["ToolCall"] > 3000
    assert found["empty"] < 10
    strays = found["LateResult"]
    assert strays >= found["ToolCall"] - 20


def test_an_agent_is_at_the_call_that_started_it() -> None:
    # checklist: D91
    found = talk(
        dedent("""\
            U1 "look into it"
            A1< Task(prompt="Read it all", description="Read", subagent_type="Explore") as sent
            R1< of sent "done"
            A2< "It is done."
            agent reader of sent type=Explore
            U9 "Read it all"
            A9< Read(file_path="/home/dev/a.py") as read
            R9< of read
            A8< "done"
        """)
    )
    call = next(item for item in found.main.items() if isinstance(item, ToolCall))
    (name,) = call.agents
    agent = found.all.by_line[name]
    assert (agent.kind, agent.call) == ("agent", call.call)
    assert found.turns(agent) == "1 prompt: U9=prompt A9=Read:ok(R9) R9=own A8=said"


def test_a_branch_is_shown_where_it_leaves() -> None:
    found = talk("U1 A1< U2< A2< U3<A1 A3<")
    assert found.picture.splitlines()[0] == "1 prompt: U1=prompt A1=said →branch"
    (left,) = (item for item in found.main.items() if isinstance(item, BranchPoint))
    branch = found.all.by_line[left.to]
    assert (branch.is_active, left.is_active) == (False, False)
    assert found.turns(branch) == "1 prompt: U2=prompt A2=said"


def test_prompt_only_in_the_queue_is_included() -> None:
    # checklist: F42
    found = talk(
        dedent("""\
            U1 "go"
            enqueue "and the tests"
            enqueue "go"
            A1< "ok"
        """)
    )
    queued = [item for item in found.main.items() if isinstance(item, UserMessage)]
    assert [(one.kind, one.text, one.is_only_queued) for one in queued] == [
        ("prompt", "go", False),
        ("queued", "and the tests", True),
    ]


@pytest.mark.parametrize(
    ("prompt", "alone"),
    [
        (r"one\ntwo\nlines\nthree", []),
        (r"one\n\ntwo\nlines\n three", []),
        (r"two\nlines\nthree", ["one"]),
        (r"one\nthree", ["two\nlines"]),
        ("one three", ["one", "two\nlines", "three"]),
        (r"one\nthree more", ["one", "two\nlines", "three"]),
        (r"three\none", ["one", "two\nlines", "three"]),
        (r"one\nthree\nand more", ["one", "two\nlines", "three"]),
        (r"one\nbut this", ["one", "two\nlines", "three"]),
    ],
)
def test_queued_prompts_that_were_sent_together_appear_once(prompt: str, alone: list[str]) -> None:
    found = talk(
        dedent(f"""\
            U1 "go"
            enqueue "one"
            enqueue "two\\nlines"
            enqueue "three"
            A1< "ok"
            U2< "{prompt}"
            A2< "done"
        """)
    )
    told = [item for item in found.main.items() if isinstance(item, UserMessage)]
    assert [one.text for one in told if one.is_only_queued] == alone
    assert sum(one.kind == "prompt" for one in told) == 2


def test_a_message_of_another_session_appears_once() -> None:
    message = r"<cross-session-message from=\"b\">\nred\n</cross-session-message>"
    first, second = (
        f"<task-notification><task-id>{name}</task-id><summary>done</summary></task-notification>"
        for name in ("b1", "b2")
    )
    waited = {"type": "queued_command", "commandMode": "task-notification", "prompt": first}
    line = {"type": "attachment", "uuid": "q1", "parentUuid": None, "attachment": waited}
    found = talk(
        dedent(f"""\
            U1 "go"
            enqueue "{message}"
            enqueue "{first}"
            enqueue "{second}"
            A1< "ok"
            U2< "Another Claude session sent a message:\\n{message}" {{"isMeta": true}}
            line {json.dumps(line)}
            A2< "oh"
        """)
    )
    told = [
        (one.kind, one.text, one.name)
        for conversation in found.all.by_line.values()
        for one in conversation.items()
        if isinstance(one, UserMessage) and one.kind != "prompt"
    ]
    notices = [("notice", "done", "b1"), ("notice", "done", "b2")]
    assert sorted(told) == [*notices, ("peer", "red", "b")]


def test_session_of_loose_lines_has_no_turns() -> None:
    found = talk('enqueue "never sent"\nmode "normal"')
    assert found.main.turns[0].number == 0
    assert [kind_of(item) for item in found.main.items()] == ["queued", "ClientNote"]


def test_retracted_prompt_keeps_its_text() -> None:
    found = talk("U1 A1< U2<A1 U3<A1 A3<")
    (fold,) = (item for item in found.main.items() if isinstance(item, FoldedItems))
    assert fold.reason == "retracted"
    assert isinstance(fold.items[0], UserMessage)


def test_records_recovered_from_broken_lines_are_separate(gallery: Path) -> None:
    archive = Archive([gallery / "glued-lines"])
    told = archive.conversations(archive.sessions[0])
    assert told.recovered is not None
    assert [kind_of(item) for item in told.recovered.items()] == [
        "LateResult",
        "AssistantText",
        "ClientNote",
    ]
    assert not set(uuids_in(told.recovered.items())) & {
        uuid for one in told.by_line.values() for uuid in uuids_in(one.items())
    }


def test_time_is_linear_in_the_number_of_agents(tmp_path: Path) -> None:
    session = "5a0e7c11-0000-4000-8000-000000000001"
    folder = tmp_path / session / "subagents"
    folder.mkdir(parents=True)
    said = {"type": "user", "sessionId": session, "message": {"role": "user", "content": "Go"}}
    (tmp_path / f"{session}.jsonl").write_text(json.dumps(said | {"uuid": "u"}) + "\n")
    for number in range(40):
        line = said | {"uuid": f"u{number}", "isSidechain": True, "agentId": f"a{number}"}
        (folder / f"agent-a{number}.jsonl").write_text(json.dumps(line) + "\n")
    told = Archive([tmp_path]).open(session).by_line.values()
    assert len(told) == 41
    assert len({id(one.files) for one in told}) == 1  # a list for each would be a list of lists
    assert len(next(iter(told)).files) == 41
