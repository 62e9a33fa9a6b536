"""Sessions under roots, and resolving names to sessions."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from plait import Archive, read
from plait.conversation.model import UserMessage
from plait.errors import AmbiguousSession, NoSuchSession, SourceError, UserError
from plait.line import make_project_slug
from plait.sessions.facts import normalize_timestamp

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "12222222-2222-4222-8222-222222222222"
SHOP = make_project_slug("/home/dev/shop")


def prompt(text: str, session: str, **fields: object) -> dict[str, Any]:
    return {
        "parentUuid": None,
        "cwd": "/home/dev/shop",
        "sessionId": session,
        "version": "2.1.325",
        "gitBranch": "main",
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": f"u-{text}",
        "timestamp": "2026-11-01T10:00:00.000Z",
        **fields,
    }


def write(path: Path, *entries: dict[str, Any], age: float = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    time = datetime.now().timestamp() - age
    os.utime(path, (time, time))
    return path


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Two sessions of a shop, the second with agents in the new and the old layout."""
    shop = tmp_path / "projects" / SHOP
    write(
        shop / f"{ONE}.jsonl",
        prompt("fix the basket", ONE),
        prompt("and the till", ONE, timestamp="2026-11-01T11:00:00.000Z", version="2.1.326"),
        {"type": "custom-title", "customTitle": "The basket", "sessionId": ONE},
        age=100,
    )
    write(shop / f"{TWO}.jsonl", prompt("write tests", TWO), age=50)
    agent = prompt("look around", TWO, isSidechain=True, agentId="a1")
    write(shop / TWO / "subagents" / "agent-a1.jsonl", agent, age=60)
    write(shop / "agent-0a1b2c3.jsonl", agent, age=60)
    return tmp_path


def test_sessions_include_their_agents(config: Path) -> None:
    archive = Archive([config])
    assert [session.id for session in archive.sessions] == [ONE, TWO]
    assert [len(session.agents) for session in archive.sessions] == [0, 2]
    assert [project.name for project in archive.projects] == [SHOP]


# checklist: S17
def test_facts_of_a_session(config: Path) -> None:
    archive = Archive([config])
    assert [session.id for session in archive] == [ONE, TWO]
    assert {record.session_id for record in read(archive.session(ONE).path)} == {ONE}
    facts = archive.facts(archive.session(ONE))
    assert (facts.title, facts.title_from) == ("The basket", "custom")
    assert facts.first_prompt == "fix the basket"
    assert facts.started == "2026-11-01T10:00:00.000Z"
    assert facts.ended == "2026-11-01T11:00:00.000Z"
    assert (facts.entries, facts.subagents) == (3, 0)
    assert facts.versions == ("2.1.325", "2.1.326")
    assert (facts.cwd, facts.git_branch) == ("/home/dev/shop", "main")
    assert facts.bytes == facts.path.stat().st_size


def test_title_file_beside_the_session_is_used(config: Path) -> None:
    folder = config / "projects" / SHOP / TWO
    (folder / "custom-title.json").write_text('{"customTitle":"From the side"}')
    archive = Archive([config])
    assert archive.facts(archive.session(TWO)).title == "From the side"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (ONE, ONE),
        (ONE.upper(), ONE),
        ("11", ONE),
        ("122", TWO),
        ("The basket", ONE),
        ("the BASKET", ONE),
        ("basket", ONE),
        ("write tests", TWO),
        ("latest", TWO),
        ("latest:shop", TWO),
        ("latest:/home/dev/shop", TWO),
    ],
)
def test_name_resolves_to_one_session(config: Path, name: str, expected: str) -> None:
    assert Archive([config]).session(name).id == expected


def test_file_resolves_to_its_session(config: Path, tmp_path: Path) -> None:
    path = config / "projects" / SHOP / f"{TWO}.jsonl"
    inside = Archive([config]).session(str(path))
    outside = Archive([]).session(str(path))
    assert inside.id == outside.id == TWO
    assert len(inside.agents) == len(outside.agents) == 2


def test_agent_file_resolves_to_its_session(config: Path) -> None:
    path = config / "projects" / SHOP / TWO / "subagents" / "agent-a1.jsonl"
    assert Archive([config]).session(str(path)).id == TWO


def test_dot_resolves_to_the_newest_session_of_the_directory(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    write(
        tmp_path / "projects" / make_project_slug(str(here.resolve())) / f"{ONE}.jsonl",
        prompt("x", ONE),
    )
    assert Archive([tmp_path]).session(".", here).id == ONE
    with pytest.raises(NoSuchSession, match="no session was started in"):
        Archive([tmp_path]).session(".", tmp_path)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("1", AmbiguousSession, "'1' matches 2 sessions"),
        ("zebra", NoSuchSession, "no session named 'zebra'"),
        ("latest:nowhere", NoSuchSession, "no project named 'nowhere'"),
        ("", NoSuchSession, "the session name is empty"),
        ("gone.jsonl", SourceError, "no such file or folder: 'gone.jsonl'"),
        ("./", UserError, "is a folder"),
    ],
)
def test_unknown_or_ambiguous_name_is_explained(
    config: Path, name: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Archive([config]).session(name)


def test_near_miss_is_suggested(config: Path) -> None:
    with pytest.raises(NoSuchSession) as caught:
        Archive([config]).session("The baskett")
    assert caught.value.hints == ("closest: 11111111 ('The basket', 2026-11-01)",)


def test_empty_archive_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoSuchSession, match="no sessions found"):
        Archive([tmp_path]).session("latest")


def test_loose_logs_get_their_id_from_records(tmp_path: Path) -> None:
    write(tmp_path / "case" / "transcript.jsonl", prompt("hello", ONE))
    write(tmp_path / "agents" / "agent-x.jsonl", prompt("look", ONE, isSidechain=True))
    (session,) = Archive([tmp_path]).sessions
    assert session.id == ONE
    assert len(session.agents) == 1


def test_agents_without_a_session_are_still_listed(tmp_path: Path) -> None:
    write(tmp_path / "p" / "agent-x.jsonl", prompt("look", TWO, isSidechain=True))
    archive = Archive([tmp_path])
    (session,) = archive.sessions
    assert (session.id, session.file) == (TWO, None)
    assert archive.facts(session).title == "agents only: look"
    assert archive.facts(session).entries == 1


def test_real_sessions_with_text_have_a_title(shared: Path) -> None:
    archive = Archive([shared / "corpus"])
    untitled = [session for session in archive.sessions if archive.facts(session).title is None]
    report = [item for entry in untitled for item in archive.conversations(entry).active.items()]
    kinds = {item.kind for item in report if isinstance(item, UserMessage) and item.text}
    assert len(untitled) < 5
    assert not kinds & {"prompt", "queued", "command", "teammate", "peer"}


def test_live_sessions_have_a_running_client(config: Path) -> None:
    (config / "sessions").mkdir()
    for session, pid in ((ONE, os.getpid()), (TWO, 2**22 + 5)):
        (config / "sessions" / f"{pid}.json").write_text(
            json.dumps({"pid": pid, "sessionId": session})
        )
    (config / "sessions" / "torn.json").write_text('{"pid":')
    archive = Archive([config])
    assert archive.running == {ONE}
    assert archive.facts(archive.session(ONE)).is_live


@pytest.mark.parametrize(
    ("settings", "days"), [("", 30), ('{"cleanupPeriodDays": 90}', 90), ("not json", 30)]
)
def test_day_of_deletion(config: Path, settings: str, days: int) -> None:
    if settings:
        (config / "settings.json").write_text(settings)
    archive = Archive([config])
    deleted = archive.facts(archive.session(TWO)).deleted_at
    assert deleted is not None
    left = deleted - datetime.now(UTC)
    assert timedelta(days=days - 1) < left <= timedelta(days=days)


def test_loose_logs_are_not_due_for_deletion(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", prompt("x", ONE))
    archive = Archive([tmp_path])
    assert archive.facts(archive.sessions[0]).deleted_at is None


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2026-11-01T10:00:00.000Z", "2026-11-01T10:00:00.000Z"),
        ("2026-11-01T12:00:00+02:00", "2026-11-01T10:00:00.000Z"),
        ("2026-11-01T10:00:00Z", "2026-11-01T10:00:00.000Z"),
        ("nonsense", None),
        (None, None),
    ],
)
def test_stamps_sort_as_text(stamp: str | None, expected: str | None) -> None:
    assert normalize_timestamp(stamp) == expected


def test_reading_writes_nothing(config: Path) -> None:
    def picture() -> dict[str, tuple[int, int]]:
        return {
            str(path): (path.stat().st_mtime_ns, path.stat().st_size)
            for path in sorted(config.rglob("*"))
        }

    before = picture()
    archive = Archive([config])
    look: list[Callable[[], object]] = [
        lambda: [archive.facts(session) for session in archive.sessions],
        lambda: archive.session("latest"),
        lambda: archive.projects,
    ]
    for act in look:
        act()
    assert picture() == before
