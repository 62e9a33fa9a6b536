"""Clones and forks of random sessions send the same context, whatever their shape."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings

from bench.generate import generate
from plait.archive import Session
from plait.errors import UserError
from plait.graph.client import build_context
from plait.record import Record, read
from tests.edit.copies import apply_steps, context_of, editable, only, root_with, same_messages
from tests.edit.test_fork import context_at, then
from tests.graph.generated import conversations, lines_of

SIZE = 100_000


def is_prompt(record: Record) -> bool:
    is_result = any(head.type == "tool_result" for head in record.block_heads)
    return record.type == "user" and not record.is_sidechain and not is_result


def check_clone(session: Session) -> None:
    assert session.archive
    before = context_of(session.path)
    plan = session.archive.plan.clone(session)
    path = apply_steps(plan)
    assert same_messages(plan, before, context_of(path))
    assert plan.check() == ()
    assert plan.after.bytes == path.stat().st_size
    path.unlink()


def check_active(session: Session) -> None:
    assert session.archive
    before = context_of(session.path)
    try:
        plan = session.archive.plan.clone(session, active_only=True)
    except UserError:
        assert not before.resumes or not before.chain
        return
    assert same_messages(plan, before, context_of(apply_steps(plan)))
    plan.path.unlink()


def check_forks(session: Session, every: int = 1) -> None:
    assert session.archive
    records = list(read(session.path))
    for uuid in dict.fromkeys(
        item.uuid for item in records[::every] if is_prompt(item) and item.uuid
    ):
        wanted = [context_at(records, uuid), then(records, uuid)]
        try:
            plan = session.archive.plan.fork(session, uuid)
        except UserError:
            assert not any(uuid in item.chain for item in wanted)
            continue
        found = context_of(apply_steps(plan))
        plan.path.unlink()
        assert any(same_messages(plan, item, found) for item in wanted), uuid


@settings(max_examples=60)
@given(conversations)
def test_clones_of_generated_sessions(archive: dict[str, list[dict[str, Any]]]) -> None:
    [(path, rows)] = archive.items()
    lines = (line + b"\n" for line in lines_of(path, rows))
    with TemporaryDirectory() as folder:
        check_clone(only(root_with(Path(folder), *lines, session="s1")))


@settings(max_examples=12)
@given(conversations)
def test_forks_of_generated_sessions_at_every_record(
    archive: dict[str, list[dict[str, Any]]],
) -> None:
    [(path, rows)] = archive.items()
    once = [{**row, "uuid": None} for row in rows]  # what is repeated has no one place to stand
    lines = (line + b"\n" for line in lines_of(path, once))
    with TemporaryDirectory() as folder:
        session = only(root_with(Path(folder), *lines, session="s1"))
        check_active(session)
        check_forks(session)


def test_edits_of_a_generated_archive(tmp_path: Path) -> None:
    generate(tmp_path / "projects", SIZE, seed=7)
    sessions = editable(tmp_path)
    assert len(sessions) > 3
    for session in sessions:
        check_clone(session)
        check_active(session)
        check_forks(session, every=23)


def test_clones_of_clones_of_generated_sessions(tmp_path: Path) -> None:
    generate(tmp_path / "projects", SIZE // 4, seed=3)
    for session in editable(tmp_path):
        assert session.archive
        first = apply_steps(session.archive.plan.clone(session))
        again = session.archive.reopen()
        second = apply_steps(again.plan.clone(again.session(first.stem)))
        ours, theirs = list(read(first)), list(read(second))
        size = first.stat().st_size
        assert build_context(ours, size=size).messages == build_context(theirs, size=size).messages
        assert len(ours) == len(theirs)
        assert second.stat().st_size == size
