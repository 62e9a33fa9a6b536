"""How a session is resumed: directory, command, warnings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw
from plait import Archive
from plait.errors import UserError
from plait.line import make_project_slug
from plait.sessions.resume import Resume, format_resume_at_turn, plan_resume

ID = "11111111-1111-4111-8111-111111111111"


def entry(number: int, cwd: object, **fields: Any) -> dict[str, Any]:
    return {
        "parentUuid": f"u{number - 1}" if number else None,
        "type": "user" if number % 2 == 0 else "assistant",
        "message": {"role": "user" if number % 2 == 0 else "assistant", "content": f"say {number}"},
        "uuid": f"u{number}",
        "timestamp": f"2026-11-01T10:00:0{number}.000Z",
        "sessionId": ID,
        "cwd": cwd,
        **fields,
    }


def held_in(
    config: Path, project: str, *directories: object, name: str = ID, **fields: Any
) -> Resume:
    """Return how a session goes on that ran in these directories, one entry each."""
    file = config / "projects" / project / f"{name}.jsonl"
    file.parent.mkdir(parents=True)
    entries = [entry(number, cwd, **fields) for number, cwd in enumerate(directories)]
    file.write_text("".join(json.dumps(item) + "\n" for item in entries))
    return plan_resume(Archive([config]).session_at(file), default=config)


def codes(resume: Resume) -> list[str]:
    return [warning.code for warning in resume.warnings]


def test_resume_uses_the_session_directory(tmp_path: Path) -> None:
    shop = tmp_path / "my shop"
    shop.mkdir()
    found = held_in(tmp_path / "config", make_project_slug(str(shop)), str(shop), str(shop))
    assert (found.why_not, found.directory, found.config) == (None, str(shop), None)
    assert found.command == ("claude", "--resume", ID)
    assert found.line == f"cd '{shop}' && claude --resume {ID}"
    assert found.warnings == ()


@pytest.mark.parametrize("is_default", [True, False])
def test_other_config_folder_is_named(tmp_path: Path, is_default: bool) -> None:
    draw(f"file main cwd={tmp_path}\nU1\nA1<").write(tmp_path / "my config" / "projects")
    (session,) = Archive([tmp_path / "my config"]).sessions
    default = tmp_path / ("my config" if is_default else ".claude")
    found = plan_resume(session, default=default)
    named = "" if is_default else f"CLAUDE_CONFIG_DIR='{tmp_path}/my config' "
    assert found.line == f"cd {tmp_path} && {named}claude --resume {session.id}"


@pytest.mark.parametrize(
    ("what", "ran_in", "lies_in", "chosen", "expected"),
    [
        ("as usual", ["a"], "a", "a", []),
        ("it moved on", ["a", "b"], "a", "a", ["moved"]),
        ("it moved and came back", ["a", "b", "a"], "a", "a", []),
        ("its folder is another's", ["a", "b"], "c", "b", ["elsewhere"]),
        ("the directory is gone", ["gone"], "gone", "gone", ["gone"]),
        ("gone, and its folder another's", ["gone"], "a", "gone", ["gone", "elsewhere"]),
        ("the directory became a link", ["link"], "link", "link", ["elsewhere"]),
    ],
)
def test_choice_of_directory(
    tmp_path: Path, what: str, ran_in: list[str], lies_in: str, chosen: str, expected: list[str]
) -> None:
    for name in "abc":
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    directories = [str(tmp_path / name) for name in ran_in]
    found = held_in(tmp_path / "config", make_project_slug(str(tmp_path / lies_in)), *directories)
    assert (found.directory, codes(found)) == (str(tmp_path / chosen), expected), what


@pytest.mark.parametrize(
    "cwd", [None, "", "-", "relative", 7, ["/a"]], ids=lambda value: repr(value)
)
def test_unknown_directory_is_omitted(tmp_path: Path, cwd: object) -> None:
    found = held_in(tmp_path, "-a", cwd)
    assert (found.directory, found.line) == (None, f"claude --resume {ID}")
    assert codes(found) == ["no directory"]


@pytest.mark.parametrize("cwd", ["/" + "x" * 5000, "/nul\0", "/\ud800", "C:\\Users\\me"])
def test_impossible_directory_is_reported_missing(tmp_path: Path, cwd: str) -> None:
    found = held_in(tmp_path, make_project_slug(cwd), cwd)
    assert (found.directory, codes(found)) == (cwd, ["gone"])


def test_directory_cannot_inject_a_command(tmp_path: Path) -> None:
    found = held_in(tmp_path, "-a", "/tmp/$(touch x)';touch y")
    assert found.line.startswith("cd '/tmp/$(touch x)'\"'\"';touch y' && claude ")


def test_live_session_and_stray_file_are_warned_about(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    file.write_text(json.dumps(entry(0, str(tmp_path))) + "\n")
    session = Archive([tmp_path]).session_at(file)
    found = plan_resume(session, default=tmp_path, is_live=True)
    assert codes(found) == ["live", "elsewhere", "renamed", "no config"]
    assert found.warning("moved", "live") == found.warnings[0]
    assert found.warning("moved") is None


def test_reason_for_refusal_is_shown(tmp_path: Path) -> None:
    found = held_in(tmp_path, make_project_slug("/a"), "/a", isSidechain=True)
    assert found.why_not
    assert (found.warnings, found.back) == ((), None)


def test_id_that_looks_like_an_option_is_refused(tmp_path: Path) -> None:
    found = held_in(tmp_path, "-a", "/a", name="kept", sessionId="--dangerous")
    assert found.why_not == "'--dangerous' is not a UUID, which Claude Code requires"


def test_session_of_only_agents_cannot_be_resumed(tmp_path: Path) -> None:
    agent = tmp_path / "projects" / "-a" / ID / "subagents" / "agent-a1.jsonl"
    agent.parent.mkdir(parents=True)
    agent.write_text(json.dumps(entry(0, "/a", isSidechain=True)) + "\n")
    found = plan_resume(Archive([tmp_path]).session(ID), default=tmp_path)
    assert found.why_not == "the session has no log; only its agents' logs are left"
    assert (found.directory, found.warnings) == (None, ())


def test_command_for_a_turn_works_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_in(tmp_path / "logs", make_project_slug("/a"), "/a")
    monkeypatch.chdir(tmp_path)
    root = Path("logs")
    (session,) = Archive([root]).sessions
    report = format_resume_at_turn(session, [root], None, "/opt/plait")
    assert report == f"/opt/plait resume {session.id} --root {tmp_path / 'logs'} --at"
    assert format_resume_at_turn(session, [root], root) == f"plait resume {session.id} --at"


TURNS = """
file work cwd=/home/dev/shop
U1 "What would a first version look like?"
A1< "Two ways."
U2< "Take LIKE"
A2< "Done."
U3<A1 "Use FTS5 instead"
A3< "Done too."
B1 boundary after A3 trigger=manual
C1< "The story so far"
U4< "Great"
A4< "Thanks."
"""


@pytest.mark.parametrize(
    ("turn", "prompt", "is_in_reach"),
    [
        (1, "What would a first version look like?", False),
        (2, "Use FTS5 instead", False),
        (3, "Great", True),
    ],
)
def test_turns_are_the_prompts_of_the_active_branch(
    tmp_path: Path, turn: int, prompt: str, is_in_reach: bool
) -> None:
    draw(TURNS).write(tmp_path)
    (session,) = Archive([tmp_path]).sessions
    back = plan_resume(session, default=tmp_path, turn=turn).back
    assert back is not None
    assert (back.turn, back.turns, back.prompt) == (turn, 3, prompt)
    assert back.is_in_reach is is_in_reach


@pytest.mark.parametrize("turn", [-1, 0, 4])
def test_unknown_turn_is_an_error(tmp_path: Path, turn: int) -> None:
    draw(TURNS).write(tmp_path)
    (session,) = Archive([tmp_path]).sessions
    with pytest.raises(UserError, match=f"no turn {turn}: the active conversation has 3 turns"):
        plan_resume(session, default=tmp_path, turn=turn)
