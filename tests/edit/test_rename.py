import json
from pathlib import Path

import pytest

from plait import Archive
from plait.archive import Session
from plait.edit.plan import Append, Write
from plait.errors import UserError
from tests.edit.copies import SESSION, apply_steps, editable, only, root_with, user, write

A, B = (f"{number:08x}-1111-4222-8333-444444444444" for number in (10, 11))


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return only(root_with(tmp_path, user(A), user(B, A)))


def test_title_is_one_line_at_the_end(session: Session) -> None:
    assert session.archive
    before = session.path.read_bytes()
    plan = session.archive.plan.rename(session, "  The “third” try ")
    apply_steps(plan)
    named = '{"type":"custom-title","customTitle":"The “third” try"'
    added = f'{named},"sessionId":"{SESSION}"}}\n'
    assert session.path.read_bytes() == before + added.encode()
    assert Archive([session.path]).sessions[0].title == "The “third” try"
    assert (plan.session, plan.path) == (SESSION, session.path)
    assert plan.count_lines("kept") == plan.before.lines == 2
    assert plan.after.lines == 3
    assert plan.after.bytes == session.path.stat().st_size
    assert plan.after.tokens == plan.before.tokens


def test_a_title_in_a_side_file_is_changed_too(session: Session) -> None:
    assert session.archive
    beside = session.path.with_suffix("") / "custom-title.json"
    write(beside, {"customTitle": "old", "by": "client"})
    _, step = session.archive.plan.rename(session, "new").steps
    assert isinstance(step, Write)
    assert step.was is not None
    assert json.loads(b"".join(step.content())) == {"customTitle": "new", "by": "client"}


def test_a_last_line_without_newline_is_ended_first(session: Session) -> None:
    assert session.archive
    session.path.write_bytes(session.path.read_bytes()[:-1])
    [step] = session.archive.plan.rename(session, "new").steps
    assert isinstance(step, Append)
    assert step.data.startswith(b'\n{"type"')


def test_an_empty_log_gets_no_extra_newline(tmp_path: Path) -> None:
    root = root_with(tmp_path)
    [step] = Archive([root]).plan.rename(SESSION, "new").steps
    assert isinstance(step, Append)
    assert step.data.startswith(b'{"type"')


@pytest.mark.parametrize("title", ["", " \n"])
def test_an_empty_title_is_refused(title: str, session: Session) -> None:
    assert session.archive
    with pytest.raises(UserError, match="the title is empty"):
        session.archive.plan.rename(session, title)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("experiment", "experiment"),
        ("  two words ", "two words"),
        ("ex\u200bper\u202eiment\ue000", "experiment"),
        ("\uff45\uff58", "ex"),
        (None, ""),
    ],
)
def test_a_tag_has_no_invisible_characters(word: str | None, said: str, session: Session) -> None:
    assert session.archive
    [step] = session.archive.plan.tag(session, word).steps
    assert isinstance(step, Append)
    assert json.loads(step.data) == {"type": "tag", "tag": said, "sessionId": SESSION}


def test_an_empty_tag_is_refused(session: Session) -> None:
    assert session.archive
    with pytest.raises(UserError, match="the tag is empty"):
        session.archive.plan.tag(session, "\u200b ")


def test_a_session_is_deleted_with_all_its_files(session: Session, tmp_path: Path) -> None:
    other = root_with(tmp_path, user(A), session=A)
    folder = session.path.with_suffix("")
    write(folder / "subagents" / "agent-a1.jsonl", user(B))
    write(folder / "tool-results" / "t.txt", "x")
    write(other / "file-history" / SESSION / "0@v1", "x")
    write(other / "file-history" / A / "0@v1", "x")
    write(session.path.parent / "agent-1234567.jsonl", user(B, isSidechain=True))
    [meant] = [item for item in editable(other) if item.id == SESSION]
    assert meant.archive
    plan = meant.archive.plan.delete(meant)
    assert plan.path == session.path == plan.steps[0].path
    assert len(plan.steps) == 5
    assert plan.notes == ("also removes 4 files next to the log",)
    assert (plan.after.lines, plan.after.bytes, plan.after.tokens) == (0, 0, None)
    assert plan.count_lines("dropped") == plan.before.lines
    apply_steps(plan)
    left = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(map(str, left)) == [
        f"file-history/{A}/0@v1",
        f"projects/-home-dev-shop/{A}.jsonl",
    ]


def test_a_deleted_session_can_be_restored(session: Session) -> None:
    assert session.archive
    before = session.path.read_bytes()
    session.archive.plan.delete(session).apply(force=True)
    assert not session.path.exists()
    session.archive.reopen().undo(force=True)
    assert session.path.read_bytes() == before
