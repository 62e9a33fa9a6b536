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
from tests.chat.rewinding.rewind_session import Json, RewindSession, read, run, write
from tests.chat.scripted_client import picture


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
    session = RewindSession(tmp_path, version)
    for prompt in ("One.", "Two.", "Three."):
        session.ask(prompt)
    assert texts(session.points) == ["One.", "Two.", "Three."]
    session.back(2)
    assert texts(session.points) == ["One."]
    session.ask("Two, otherwise.")
    log = session.close()
    results = [("user", "One."), ("assistant", "Done."), ("user", "Two, otherwise.")]
    assert sent_texts(log) == [*results, ("assistant", "Done.")]
    entries = [line for line in read_lines(log) if line["type"] == "user"]
    assert entries[3]["parentUuid"] == entries[1]["parentUuid"] is not None
    marks = [
        line for line in read_lines(log) if line["type"] == "last-prompt" and "explicit" in line
    ]
    assert len(marks) == (version == NEWEST)


def test_first_prompt_can_be_replaced(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    session.ask("One.")
    session.back(1)
    assert session.points == []
    session.ask("Another one.")
    log = session.close()
    assert sent_texts(log) == [("user", "Another one."), ("assistant", "Done.")]
    assert [line["parentUuid"] for line in read_lines(log) if line["type"] == "user"] == [
        None,
        None,
    ]


def test_rewound_session_resumes_there(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    for prompt in ("One.", "Two."):
        session.ask(prompt)
    session.back(1)
    log = session.close()
    assert sent_texts(log) == [("user", "One."), ("assistant", "Done.")]
    session.open(log)
    assert texts(session.points) == ["One."]


# checklist: P6
def test_rewind_in_a_resumed_session(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    file = session.file("a.txt")
    session.ask("Write.", write(file, "one\n"))
    session.ask("Again.", write(file, "two\n"))
    session.open(session.close())
    session.plan(1).apply()
    session.back(1)
    assert (texts(session.points), file.read_text()) == (["Write."], "one\n")


def test_file_state_is_rewound_for_the_model(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    file, other = session.file("a.txt"), session.file("b.txt")
    other.write_text("x\n")
    session.ask("Write.", write(file, "one\n"))
    session.ask("Read.", read(other))
    assert session.client
    assert set(session.client.runtime.place.file_views) == {file, other}
    session.back(1)
    assert set(session.client.runtime.place.file_views) == {file}


def test_no_rewind_during_a_turn(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    session.ask("One.")
    client = session.client
    assert client

    async def turn() -> None:
        events = client.send("Two.")
        await anext(events)
        with pytest.raises(UserError, match="a turn is running"):
            await client.rewind(client.rewind_points()[0])
        await events.aclose()

    asyncio.run(turn())


def test_prompts_before_a_compaction_cannot_be_chosen(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    for prompt in ("One.", "Two."):
        session.ask(prompt)
    assert session.client
    session.client.runtime.writer.compact("They spoke.")
    session.ask("Three.")
    assert texts(session.points) == ["Three."]
    session.back(1)
    session.ask("Four.")
    assert [words for _, words in sent_texts(session.close())][-2:] == ["Four.", "Done."]


def test_preserved_prompts_except_the_first_can_be_chosen(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    for prompt in ("One.", "Two.", "Three."):
        session.ask(prompt)
    assert session.client
    chain = [record.uuid or "" for record in session.client.chain]
    kept = chain[chain.index(session.points[-2].uuid) :]
    session.client.runtime.writer.compact("They spoke.", preserved=kept)
    assert texts(session.points) == ["Three."]
    session.back(1)
    session.ask("Otherwise.")
    results = [words for _, words in sent_texts(session.close())]
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
    session: RewindSession, title: str = "", point: RewindPoint | None = None
) -> tuple[Path, Path]:
    """Branches off; returns the old session and the new one."""
    assert session.client
    chain = chain_before(session.client.chain, point) if point else session.client.chain
    new = branch_session(session.client.runtime.writer, chain, title)
    old = session.client.path
    session.open(new.path)
    return old, new.path


@pytest.mark.parametrize("version", VERSIONS)
def test_branch_starts_with_the_whole_conversation(tmp_path: Path, version: Version) -> None:
    session = RewindSession(tmp_path, version)
    file = session.file("a.txt")
    session.ask("One.", write(file, "one\n"), run("true"))
    session.ask("Two.", write(file, "two\n"))
    old, new = branch(session, "my  branch")
    before = old.read_bytes()
    session.ask("Three.")
    session.close()
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
    session.open(new)
    session.plan(3).apply()
    assert not file.exists()


def test_branch_before_a_prompt_leaves_the_session(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    for prompt in ("One.", "Two."):
        session.ask(prompt)
    old, new = branch(session, point=session.points[-1])
    session.ask("Otherwise.")
    session.close()
    assert sent_texts(old)[-2:] == [("user", "Two."), ("assistant", "Done.")]
    assert [words for _, words in sent_texts(new)] == ["One.", "Done.", "Otherwise.", "Done."]


def test_unnamed_branch_is_titled_after_its_first_prompt(tmp_path: Path) -> None:
    session = RewindSession(tmp_path)
    session.ask("One  for all. " + "x" * 200)
    names = [read_title(branch(session)[1]) for _ in range(3)]
    start = "One for all. " + "x" * 87
    assert names == [f"{start} (Branch)", f"{start} (Branch 2)", f"{start} (Branch 3)"]


def test_branch_of_an_empty_session(tmp_path: Path) -> None:
    client = RewindSession(tmp_path).open()
    with pytest.raises(UserError, match="nothing to branch yet"):
        branch_session(client.runtime.writer, client.chain)
