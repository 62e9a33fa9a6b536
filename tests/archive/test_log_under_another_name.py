"""Logs whose records carry another session id than their file name."""

from pathlib import Path

import pytest

from plait import Archive
from tests.edit.copies import SESSION, answer, apply_steps, context_of, root_with, user, write

NAME = "aaaaaaaa-0b3c-4b69-9a51-0d5a3c1e7b11"
A, B, C, D, E = (f"{number:08x}-1111-4222-8333-444444444444" for number in range(10, 15))
TALK = [user(A), answer(B, A), user(C, B), answer(D, C)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return root_with(tmp_path, *TALK, session=NAME)


def prompts(archive: Archive, name: str) -> list[str]:
    return [turn.prompt for turn in archive.session(name).turns if turn.number and turn.prompt]


SAID = [f"prompt {A[:8]}", f"prompt {C[:8]}"]


def test_turns_belong_to_the_session_of_the_file_name(root: Path) -> None:
    archive = Archive([root])
    assert [session.id for session in archive.sessions] == [NAME]
    assert prompts(archive, NAME) == SAID


def test_fork_finds_its_turns(root: Path) -> None:
    plan = Archive([root]).plan.fork(NAME, 1)
    assert plan.check() == ()
    assert len(context_of(apply_steps(plan)).chain) == 2


def test_agents_belong_to_it(root: Path) -> None:
    folder = root / "projects" / "-home-dev-shop" / NAME / "subagents"
    write(folder / "agent-a1.jsonl", user(E, None, isSidechain=True, agentId="a1"))
    (agent,) = [line for line in Archive([root]).open(NAME).graph.lines.values() if line.agent]
    assert agent.session == NAME


def test_one_own_record_makes_the_others_foreign(tmp_path: Path) -> None:
    own = user(E, D, sessionId=NAME)
    archive = Archive([root_with(tmp_path, *TALK, own, session=NAME)])
    assert prompts(archive, NAME) == [f"prompt {E[:8]}"]


def test_next_to_a_log_of_that_id_both_are_separate(root: Path) -> None:
    archive = Archive([root_with(root, *TALK[:2])])
    assert prompts(archive, SESSION) == SAID[:1]
    assert prompts(archive, NAME) == SAID
