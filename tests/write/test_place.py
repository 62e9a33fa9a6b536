"""Id, file, title and metadata of a new session."""

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from random import Random
from uuid import UUID

import pytest

import plait
from plait.errors import UserError
from plait.line import make_project_slug
from plait.line.discovery import read_git_branch
from plait.write.lines import (
    ADJECTIVES,
    PARTICIPLES,
    SURNAMES,
    IdSource,
    format_time,
    utc_now,
)
from tests.write.stories import plain, writer


# checklist: P68
def test_new_session_has_a_uuid4(tmp_path: Path) -> None:
    sessions = [plait.SessionWriter.new(tmp_path, cwd="/tmp/app").session for _ in range(50)]
    assert len(set(sessions)) == 50
    for session in sessions:
        assert UUID(session).version == 4
        assert str(UUID(session)) == session


# checklist: P69
@pytest.mark.parametrize("inside", ["", "projects"])
def test_the_log_is_private_and_in_its_project_folder(tmp_path: Path, inside: str) -> None:
    session = plait.SessionWriter.new(tmp_path / ".claude" / inside, cwd="/tmp/app", session="s-1")
    assert not session.path.exists()
    session.prompt("x")
    expected = tmp_path / ".claude" / "projects" / "-tmp-app" / "s-1.jsonl"
    assert session.path == expected
    assert expected.stat().st_mode & 0o777 == 0o600
    assert expected.parent.stat().st_mode & 0o777 == 0o700


# checklist: P70
def test_folder_is_named_by_the_resolved_directory(tmp_path: Path) -> None:
    real = tmp_path / "my app_1"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    session = plait.SessionWriter.new(tmp_path / "c", cwd=tmp_path / "link" / "." / "")
    session.prompt("x")
    assert session.path.parent.name == make_project_slug(str(real.resolve()))
    assert session.path.parent.name.endswith("-my-app-1")
    assert session.path.parent.name.startswith("-")
    assert json.loads(session.path.read_bytes().splitlines()[-1])["cwd"] == str(real.resolve())


@pytest.mark.parametrize("name", ["", "../x", "a/b", "-x", "x.jsonl", "x" * 129, "a b"])
def test_a_path_is_refused_as_an_id(tmp_path: Path, name: str) -> None:
    if name:
        with pytest.raises(UserError, match="is not a session id"):
            plait.SessionWriter.new(tmp_path, cwd="/tmp/app", session=name)
    else:
        assert UUID(plait.SessionWriter.new(tmp_path, cwd="/tmp/app", session="").session)


# checklist: P71
def test_session_has_a_stable_slug(tmp_path: Path) -> None:
    with plait.SessionWriter.new(tmp_path, cwd="/tmp/app") as session:
        plain(session)
    with plait.SessionWriter.resume(session.path) as later:
        later.prompt("x")
    entries = [json.loads(line) for line in session.path.read_bytes().splitlines()]
    (name,) = {entry["slug"] for entry in entries if "uuid" in entry}
    first, second, last = name.split("-")
    assert first in ADJECTIVES and second in PARTICIPLES and last in SURNAMES


def test_slugs_are_varied_and_plain() -> None:
    for words in (ADJECTIVES, PARTICIPLES, SURNAMES):
        assert len(set(words)) == len(words) >= 100
        assert all(re.fullmatch("[a-z]+", word) for word in words)
    names = [IdSource(Random(seed)).name() for seed in range(200)]
    assert names[1] == IdSource(Random(1)).name()
    assert len(set(names)) > 190


def test_slug_is_optional(tmp_path: Path) -> None:
    session = plait.SessionWriter.new(tmp_path, cwd="/tmp/app", slug="")
    session.prompt("x")
    assert b"slug" not in session.path.read_bytes()
    other = plait.SessionWriter.new(tmp_path, cwd="/tmp/app", slug="so-it-is")
    assert other.setting.slug == "so-it-is"


# checklist: P72
def test_directory_branch_and_version_follow_changes(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.prompt("x")
    session.setting.cwd, session.setting.git_branch = "/tmp/app/sub", "feature"
    session.answer("y")
    session.turn_ended(1)
    entries = [json.loads(line) for line in session.path.read_bytes().splitlines()][1:]
    noted = [(entry["cwd"], entry["gitBranch"], entry["version"]) for entry in entries]
    assert noted == [
        ("/tmp/app", "main", "2.1.325"),
        ("/tmp/app/sub", "feature", "2.1.325"),
        ("/tmp/app/sub", "feature", "2.1.325"),
    ]
    assert {entry["sessionId"] for entry in entries} == {session.session}


@pytest.mark.parametrize(
    ("head", "branch"),
    [
        ("ref: refs/heads/main\n", "main"),
        ("ref: refs/heads/team/fix\n", "team/fix"),
        ("475f9bf7ea55c8a29b65b1d0ead9adc740fb012f\n", "HEAD"),
    ],
)
def test_the_branch_is_read_from_git(tmp_path: Path, head: str, branch: str) -> None:
    (tmp_path / "app" / ".git").mkdir(parents=True)
    (tmp_path / "app" / ".git" / "HEAD").write_text(head)
    (tmp_path / "app" / "sub").mkdir()
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text("gitdir: ../app/.git\n")
    for place in ("app", "app/sub", "tree"):
        assert read_git_branch(tmp_path / place) == branch
        session = plait.SessionWriter.new(tmp_path / "c", cwd=tmp_path / place)
        assert session.setting.git_branch == branch


def test_outside_of_git_the_branch_depends_on_the_version(tmp_path: Path) -> None:
    assert read_git_branch(tmp_path) is None
    newer = plait.SessionWriter.new(tmp_path, cwd=tmp_path)
    older = plait.SessionWriter.new(tmp_path, cwd=tmp_path, version="2.1.29")
    assert (newer.setting.git_branch, older.setting.git_branch) == ("HEAD", "")


# checklist: P77
@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 1, 3, 15, 44, 58, 325000, UTC), "2026-01-03T15:44:58.325Z"),
        (datetime(2026, 1, 3, 15, 44, 58, 0, UTC), "2026-01-03T15:44:58.000Z"),
        (datetime(2026, 1, 3, 15, 44, 58, 325999, UTC), "2026-01-03T15:44:58.325Z"),
        (
            datetime(2026, 1, 3, 1, 0, tzinfo=timezone(timedelta(hours=2))),
            "2026-01-02T23:00:00.000Z",
        ),
    ],
)
def test_times_are_iso_8601_in_utc_to_the_millisecond(moment: datetime, text: str) -> None:
    assert format_time(moment) == text
    assert IdSource(clock=lambda: moment).time() == text


def test_the_default_time_is_now() -> None:
    before = datetime.now(UTC)
    assert before <= utc_now() <= datetime.now(UTC)


def test_ids_have_the_clients_form() -> None:
    ids = IdSource(Random(7))
    base58 = "[1-9A-HJ-NP-Za-km-z]"
    assert re.fullmatch(f"msg_01{base58}{{22}}", ids.message())
    assert re.fullmatch(f"toolu_01{base58}{{22}}", ids.call())
    assert re.fullmatch(f"req_011C{base58}{{20}}", ids.request())
    assert re.fullmatch("a[0-9a-f]{16}", ids.agent(16))
    assert re.fullmatch("a[0-9a-f]{6}", ids.agent(6))


def test_ids_can_be_given(tmp_path: Path) -> None:
    names = iter(f"0000000{number}-0000-4000-8000-000000000000" for number in range(9))
    session = plait.SessionWriter.new(tmp_path, cwd="/tmp/app", uuid=names.__next__)
    assert session.session == "00000000-0000-4000-8000-000000000000"
    assert session.prompt("x") == "00000002-0000-4000-8000-000000000000"
