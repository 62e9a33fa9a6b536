"""Responses over all files, counted plainly; branches as in the graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.drawing import draw
from plait.archive import Archive
from plait.conversation.build import may_branch
from plait.conversation.usage import NO_TOKENS, Tokens
from plait.graph import build
from plait.graph import lines as agents
from plait.record import prompts
from plait.record.reader import parse_record
from plait.usage import responses as usage
from plait.usage.responses import count_responses, find_abandoned
from tests.graph.generated import archives, conversations, sources

FIGURES = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)


def plainly(root: Path) -> dict[str, list[int]]:
    """Return the figures of each response, in the plainest way there is."""
    found: dict[str, list[int]] = {}
    for path in sorted(root.rglob("*.jsonl")):
        if path.name == "journal.jsonl":
            continue
        for number, line in enumerate(path.read_bytes().split(b"\n")):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if not isinstance(value, dict) or value.get("type") != "assistant":
                continue
            message = value.get("message")
            if not isinstance(message, dict) or message.get("model") == "<synthetic>":
                continue
            usage = message.get("usage")
            if not isinstance(usage, dict):
                continue
            key = message.get("id") or value.get("requestId") or f"{path}:{number}"
            said = [usage.get(name) or 0 for name in FIGURES]
            if key not in found or said[1] >= found[key][1]:
                found[key] = said
    return found


def totals(root: Path) -> tuple[int, Tokens]:
    counted = count_responses(Archive([root]).sessions).responses
    return len(counted), sum((one.tokens for one in counted), NO_TOKENS)


# checklist: F25, F37
def test_real_logs_add_up_to_the_token(shared: Path) -> None:
    for root in (shared / "corpus", shared / "produced"):
        plain = plainly(root)
        number, tokens = totals(root)
        assert number == len(plain)
        assert [tokens.input, tokens.output, tokens.cache_write, tokens.cache_read] == [
            sum(column) for column in zip(*plain.values(), strict=True)
        ]


def test_branches_of_real_logs_match_the_graph(shared: Path) -> None:
    archive = Archive([shared / "corpus"])
    responses = count_responses(archive.sessions).responses
    graph = build(archive.files)
    uuids = {one.uuid for one in responses if one.uuid}
    left = {uuid for uuid in uuids if not graph.lines[graph.line_of[uuid]].is_active}
    assert find_abandoned(archive.sessions, responses) == left
    assert left


def test_service_agents_match_the_graph() -> None:
    assert usage.SERVICE_IDS == agents.SERVICE_IDS
    assert prompts.WARMUP == agents.SERVICE_PROMPT


Drawn = dict[str, list[dict[str, Any]]]


def is_missed(archive: Drawn) -> bool:
    """Return whether a session called straight has a line that was left."""
    given_ = sources(archive)
    graph = build(given_)
    main = [one for one in given_ if one.file.kind == "session"]
    bent = any(may_branch(one.records) for one in main)
    return not bent and any(line.kind == "branch" for line in graph.lines.values())


@given(conversations)
def test_linear_session_has_no_branch(archive: Drawn) -> None:
    assert not is_missed(archive)


@given(archives)
def test_a_linear_session_among_others_has_no_abandoned_records(archive: Drawn) -> None:
    alone = {path: rows for path, rows in archive.items() if path == "p/s1.jsonl"}
    assert not alone or not is_missed(alone)


def nearly_straight(lengths: list[int], back: list[int]) -> Drawn:
    """Return turns of so many records, the prompts of which hang that many records back."""
    plain = {
        "uuid": None,
        "session": "s1",
        "time": 0,
        "response": None,
        "words": 1,
        "sidechain": False,
        "forked": None,
    }
    rows: list[dict[str, Any]] = []
    for turn, length in enumerate(lengths):
        rows.append({**plain, "kind": "prompt", "parent": back[turn], "call": 0, "words": turn})
        for call in range(length):
            rows.append({**plain, "kind": "call", "parent": 1, "call": turn * 4 + call})
            rows.append({**plain, "kind": "result", "parent": 1, "call": turn * 4 + call})
        rows.append({**plain, "kind": "answer", "parent": 1, "call": 0})
    for number, row in enumerate(rows):
        row["time"] = number % 60
    return {"p/s1.jsonl": rows}


turns = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from((1, 1, 1, 1, 2, 3, 5))), min_size=1, max_size=6
)


@given(turns)
def test_most_sessions_are_linear(drawn: list[tuple[int, int]]) -> None:
    lengths, back = [length for length, _ in drawn], [steps for _, steps in drawn]
    archive = nearly_straight(lengths, back)
    assert not is_missed(archive)
    if all(steps == 1 for steps in back):
        assert not may_branch(sources(archive)[0].records)


@pytest.mark.parametrize(
    ("picture", "may"),
    [
        ("U1 A2<U1 P3<U1 U4<P3 A5<U4", True),  # back to before the answer, by way of a note
        ("U1 A2<U1 P3<A2 U4<P3 A5<U4", False),
        ("U1 A2<U1 U3<U1 A4<U3", True),
    ],
)
def test_a_prompt_may_rewind_through_a_note(picture: str, may: bool) -> None:
    drawn = draw(picture)
    assert may_branch(parse_record(line.data, 1, 0) for line in drawn.files[0].lines) is may


BRANCH_WITH_AGENT = """
file work cwd=/home/dev/shop
U1 "Begin"
A1< "Yes?"
U2< "Ask an agent"
T2< Agent(description="Look", prompt="Look around")
R2< "Nothing."
A2< "Nothing there."
U3<A1 "Do it yourself"
A3< "Done."
agent look of T2
U9 "Look around"
A9< "Nothing."
"""


def test_agents_started_on_an_abandoned_branch_are_abandoned(tmp_path: Path) -> None:
    draw(BRANCH_WITH_AGENT).write(tmp_path)
    archive = Archive([tmp_path])
    responses = count_responses(archive.sessions).responses
    left = find_abandoned(archive.sessions, responses)
    kinds = sorted(one.kind for one in responses if one.uuid in left)
    assert kinds == ["agent", "main", "main"]
    assert len(responses) == 5


FORKS = {
    "begun later": ("enqueue\n", "", "mode normal\nenqueue\ndequeue\n"),
    "written in one go": ("", "mode normal\n", ""),
    "left, and nothing else tells": ("", "", ""),
}


@pytest.mark.parametrize("name", FORKS)
@pytest.mark.parametrize(("old", "new"), [("main", "side"), ("side", "main")])
def test_graph_logs_and_index_agree_on_owners(
    tmp_path: Path, name: str, old: str, new: str
) -> None:
    note, between, begun = FORKS[name]
    drawing = draw(
        f"file {old}\n{note}U1\nA1<\n{between}U2<A1\nA2<\n"
        f"file {new} start=2026-11-03T09:00:00Z\n{begun}"
        f"copy {old}:U1 {old}:A1 {old}:U2 {old}:A2 forked\nU3<{old}:A2\nA3<"
    )
    drawing.write(tmp_path / "logs")
    for path in (tmp_path / "logs").rglob("*.jsonl"):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        plain = [{key: one[key] for key in one if key != "forkedFrom"} for one in lines]
        path.write_text("".join(f"{json.dumps(one)}\n" for one in plain), encoding="utf-8")
    archive = Archive([tmp_path / "logs"], index=tmp_path / "index")
    graph = {
        one.uuid: one.session for one in archive.graph().nodes.values() if one.kind == "assistant"
    }
    cold = {one.uuid: one.session for one in archive.responses().responses}
    archive.update_index()
    warm = {one.uuid: one.session for one in archive.responses().responses}
    assert cold == warm == graph
    assert sorted(map(list(graph.values()).count, set(graph.values()))) == [1, 2]
