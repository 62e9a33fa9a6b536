"""Continuing from an earlier prompt, in the same session or in a branch."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from plait.chat.rewind import RewindPoint, chain_before, find_rewind_point
from plait.chat.session_commands import branch_session, read_title
from plait.errors import UserError
from plait.graph.client import build_context
from plait.line import iter_lines
from plait.record import iter_client_records
from plait.write.lines import NEWEST, VERSIONS, Version
from tests.chat.rewinding.desk import Json, RewindSession, read, run, write
from tests.chat.stage import picture


def read_lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def draw_log(path: Path) -> list[str]:
    """The messages of a log as a drawing, and where it is said to go on."""
    wanted = ("user", "assistant", "last-prompt", "custom-title", "agent-name", "mode")
    found = [line for line in picture(read_lines(path)).splitlines() if "turn_duration" not in line]
    return [line for line in found if any(f" {word}" in line for word in wanted)]


def sent_texts(path: Path) -> list[tuple[str, str]]:
    """What resuming a log would send, in short."""
    found = build_context(iter_client_records(iter_lines(path)), size=path.stat().st_size).messages
    return [(role, blocks[-1].get("text", "…")) for role, blocks in found]


def texts(points: Sequence[RewindPoint]) -> list[str]:
    return [point.text for point in points]


@pytest.mark.parametrize("version", VERSIONS)
def test_conversation_continues_before_a_prompt(tmp_path: Path, version: Version) -> None:
    desk = RewindSession(tmp_path, version)
    for prompt in ("One.", "Two.", "Three."):
        desk.ask(prompt)
    assert texts(desk.points) == ["One.", "Two.", "Three."]
    desk.back(2)
    assert texts(desk.points) == ["One."]
    desk.ask("Two, otherwise.")
    log = desk.close()
    results = [("user", "One."), ("assistant", "Done."), ("user", "Two, otherwise.")]
    assert sent_texts(log) == [*results, ("assistant", "Done.")]
    entries = [line for line in read_lines(log) if line["type"] == "user"]
    assert entries[3]["parentUuid"] == entries[1]["parentUuid"] is not None
    marks = [
        line for line in read_lines(log) if line["type"] == "last-prompt" and "explicit" in line
    ]
    assert len(marks) == (version == NEWEST)


def test_first_prompt_can_be_replaced(tmp_path: Path) -> None:
    desk = RewindSession(tmp_path)
    desk.ask("One.")
    desk.back(1)
    assert desk.points == []
    desk.ask("Another one.")
    log = desk.close()
    assert sent_texts(log) == [("user", "Another one."), ("assistant", "Done.")]
    assert [line["parentUuid"] for line in read_lines(log) if line["type"] == "user"] == [
        None,
        None,
    ]


def test_rewound_session_resumes_there(tmp_path: Path) -> None:
    desk = RewindSession(tmp_path)
    for prompt in ("One.", "Two."):
        desk.ask(prompt)
    desk.back(1)
    log = desk.close()
    assert sent_texts(log) == [("user", "One."), ("assistant", "Done.")]
    desk.open(log)
    assert texts(desk.points) == ["One."]


# checklist: P6
def test_rewind_in_a_resumed_session(tmp_path: Path) -> None:
    desk = RewindSession(tmp_path)
    file = desk.file("a.txt")
    desk.ask("Write.", write(file, "one\n"))
    desk.ask("Again.", write(file, "two\n"))
    desk.open(desk.close())
    desk.plan(1).apply()
    desk.back(1)
    assert (texts(desk.points), file.read_text()) == (["Write."], "one\n")


def test_file_state_is_rewound_for_the_model(tmp_path: Path) -> None:
    desk = RewindSession(tmp_path)
    file, other = desk.file("a.txt"), desk.file("b.txt")
    other.write_text("x\n")
    desk.ask("Write.", write(file, "one\n"))
    desk.ask("Read.", read(other))
    assert desk.client
    assert set(desk.client.runtime.place.file_views) == {file, other}
    desk.back(1)
    assert set(desk.client.runtime.place.file_views) == {file}


def test_no_rewind_during_a_turn(tmp_path: Path) -> None:
    desk = RewindSession(tmp_path)
    desk.ask("One.")
    client = desk.client
    assert client

    async def turn() -> None:
        events = client.send("Two.")
        await anext(events)
        with pytest.raises(UserError, match="a turn is running"):
            await client.rewind(client.rewind_points()[0])
        await events.aclose()

    asyncio.run(turn())


def test_prompts_before_a_compaction_cannot_be_chosen(tmp_path: Path) -> None:
    desk = RewindSession(tmp_path)
    for prompt in ("One.", "Two."):
        desk.ask(prompt)
    assert desk.client
    desk.client.runtime.writer.compact("They spoke.")
    desk.ask("Three.")
    assert texts(desk.points) == ["Three."]
    desk.back(1)
    desk.ask("Four.")
    assert [words for _, words in sent_texts(desk.close())][-2:] == ["Four.", "Done."]


def test_preserved_prompts_except_the_first_can_be_chosen(tmp_path: Path) -> None:
    desk = RewindSession(tmp_path)
    for prompt in ("One.", "Two.", "Three."):
        desk.ask(prompt)
    assert desk.client
    chain = [record.uuid or "" for record in desk.client.chain]
    kept = chain[chain.index(desk.points[-2].uuid) :]
    desk.client.runtime.writer.compact("They spoke.", preserved=kept)
    assert texts(desk.points) == ["Three."]
    desk.back(1)
    desk.ask("Otherwise.")
    results = [words for _, words in sent_texts(desk.close())]
    assert results == ["Two.", "Done.", "Otherwise.", "Done."]


@pytest.mark.parametrize(
    ("name", "text"), [("1", "Three."), ("3", "One."), ("bbbb", "Two."), ("bbbb2222", "Two.")]
)
def test_prompt_by_number_or_id(name: str, text: str) -> None:
    assert find_rewind_point(POINTS, name).text == text


POINTS = [
    RewindPoint("aaaa1111", "One.", "", None),
    RewindPoint("bbbb2222", "Two.", "", "x"),
    RewindPoint("cccc3333", "Three.", "", "y"),
]


@pytest.mark.parametrize("name", ["0", "4", "-1", "bbb", "dddd", "", "²"])
def test_an_unknown_prompt_is_rejected(name: str) -> None:
    with pytest.raises(UserError, match=f"there is no prompt '{name}'") as caught:
        find_rewind_point(POINTS, name)
    assert caught.value.hints == ("use a number from 1 (newest) to 3",)


def test_an_ambiguous_prompt_id_is_rejected() -> None:
    twins = [RewindPoint("aaaa1111", "One.", "", None), RewindPoint("aaaa2222", "Two.", "", None)]
    with pytest.raises(UserError):
        find_rewind_point(twins, "aaaa")
    with pytest.raises(UserError, match="there is no prompt to rewind to"):
        find_rewind_point([], "1")


def branch(
    desk: RewindSession, title: str = "", point: RewindPoint | None = None
) -> tuple[Path, Path]:
    """Branches off; returns the old session and the new one."""
    assert desk.client
    chain = chain_before(desk.client.chain, point) if point else desk.client.chain
    new = branch_session(desk.client.runtime.writer, chain, title)
    old = desk.client.path
    desk.open(new.path)
    return old, new.path


@pytest.mark.parametrize("version", VERSIONS)
def test_branch_starts_with_the_whole_conversation(tmp_path: Path, version: Version) -> None:
    desk = RewindSession(tmp_path, version)
    file = desk.file("a.txt")
    desk.ask("One.", write(file, "one\n"), run("true"))
    desk.ask("Two.", write(file, "two\n"))
    old, new = branch(desk, "my  branch")
    before = old.read_bytes()
    desk.ask("Three.")
    desk.close()
    assert old.read_bytes() == before
    assert read_title(new) == "my branch"
    assert sent_texts(new)[:-2] == sent_texts(old)
    copies = [line for line in read_lines(new) if "forkedFrom" in line]
    assert [line["uuid"] for line in copies] == [
        line["forkedFrom"]["messageUuid"] for line in copies
    ]
    assert {line["forkedFrom"]["sessionId"] for line in copies} == {old.stem}
    assert [line["parentUuid"] for line in copies] == [
        None,
        *(copie["uuid"] for copie in copies[:-1]),
    ]
    assert {line["sessionId"] for line in read_lines(new) if "sessionId" in line} == {new.stem}
    (printed,) = [
        line["content"] for line in read_lines(new) if "Branched" in str(line.get("content", ""))
    ]
    assert printed == (
        f'<local-command-stdout>Branched conversation "my branch". You are now in the new branch'
        f" (session {new.stem}). Use /resume {old.stem} to return to the original, or run"
        f" `claude -r {old.stem}` in a new terminal.</local-command-stdout>"
    )
    desk.open(new)
    desk.plan(3).apply()
    assert not file.exists()


def test_branch_before_a_prompt_leaves_the_session(tmp_path: Path) -> None:
    desk = RewindSession(tmp_path)
    for prompt in ("One.", "Two."):
        desk.ask(prompt)
    old, new = branch(desk, point=desk.points[-1])
    desk.ask("Otherwise.")
    desk.close()
    assert sent_texts(old)[-2:] == [("user", "Two."), ("assistant", "Done.")]
    assert [words for _, words in sent_texts(new)] == ["One.", "Done.", "Otherwise.", "Done."]


def test_unnamed_branch_is_titled_after_its_first_prompt(tmp_path: Path) -> None:
    desk = RewindSession(tmp_path)
    desk.ask("One  for all. " + "x" * 200)
    names = [read_title(branch(desk)[1]) for _ in range(3)]
    start = "One for all. " + "x" * 87
    assert names == [f"{start} (Branch)", f"{start} (Branch 2)", f"{start} (Branch 3)"]


def test_branch_of_an_empty_session(tmp_path: Path) -> None:
    client = RewindSession(tmp_path).open()
    with pytest.raises(UserError, match="nothing to branch yet"):
        branch_session(client.runtime.writer, client.chain)
