"""Compressing any session: it resumes, prompts stay, no rule violations, and it is idempotent."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers

from bench.generate import generate
from plait import Archive
from plait.archive import Session
from plait.edit.compress import NO_HELP
from plait.edit.plan import Plan
from plait.graph.client import build_context
from plait.graph.client.entries import is_boundary
from plait.record import Record, read
from plait.record.codec import encode
from plait.record.prompts import is_human_prompt
from tests.edit.copies import (
    apply_steps,
    context_of,
    copied,
    editable,
    gallery,
    named,
    only,
    resume_cases,
    root_with,
)
from tests.graph.generated import conversations, lines_of
from tests.sampling import in_turn

SIZE = 100_000
ROOTS = [*gallery(), *resume_cases()]


def compressed(session: Session, keep_last: int) -> Plan:
    """Return the plan that compresses a session in its place."""
    assert session.archive
    return session.archive.plan.compress(session, keep_last=keep_last, in_place=True)


def prompts(records: list[Record], size: int) -> list[bytes]:
    """Return what people typed of what Claude sees, as the log has it, in order."""
    named = build_context(records, size=size).chain
    by_uuid = {record.uuid: record for record in records}
    last = max((n for n, uuid in enumerate(named) if is_boundary(by_uuid[uuid])), default=-1)
    chain = {uuid: place for place, uuid in enumerate(named) if place > last}
    typed = [item for item in records if item.uuid in chain and is_human_prompt(item)]
    return [_words(item) for item in sorted(typed, key=lambda item: chain[item.uuid or ""])]


def reports(session: Session, keep_last: int) -> int:
    """Count the older turns that a report of a task began: they join the one before."""
    assert session.archive
    turns = [turn for turn in session.archive.open(session).turns if turn.opener]
    older = turns[: len(turns) - keep_last]
    return sum(turn.opener is not None and turn.opener.kind == "notice" for turn in older)


def _words(record: Record) -> bytes:
    return encode({"message": record.fields["message"]})


def check(session: Session, keep_last: int, *, is_counted: bool = True) -> None:
    """Assert what holds of every session that is compressed in its place."""
    records, size = list(read(session.path)), session.path.stat().st_size
    typed, merged = prompts(records, size), reports(session, keep_last)
    plan = compressed(session, keep_last)
    if not plan.steps:
        assert plan.notes
        return
    assert plan.check() == ()
    if is_counted:
        assert plan.after.turns == plan.before.turns - merged
    before, after = plan.before.tokens or 0, plan.after.tokens or 0
    assert after < before or NO_HELP in plan.notes or not before
    path = apply_steps(plan)
    assert path.stat().st_size == plan.after.bytes
    assert context_of(path).resumes
    assert prompts(list(read(path)), plan.after.bytes) == typed
    again = compressed(only_one(path, session), keep_last)
    assert again.steps == (), again.changes


def only_one(path: Path, session: Session) -> Session:
    """Return the session of a file as an archive finds it that is opened anew."""
    assert session.archive
    found = Archive([root.path for root in session.archive.roots]).sessions
    return next(item for item in found if item.file and item.path == path)


@pytest.mark.parametrize(("root", "keep_last"), in_turn(ROOTS, [0, 1, 2], named))
def test_compressing_keeps_prompts_and_breaks_no_rule(
    root: Path, keep_last: int, tmp_path: Path
) -> None:
    for session in editable(copied(root, tmp_path)):
        check(session, keep_last, is_counted=root.is_dir())


@settings(deadline=None, max_examples=60)
@given(conversations, integers(0, 3))
def test_compression_of_random_conversations(
    archive: dict[str, list[dict[str, Any]]], keep_last: int
) -> None:
    [(path, rows)] = archive.items()
    once = [{**row, "uuid": None} for row in rows]  # what is repeated has no one place to stand
    lines = (line + b"\n" for line in lines_of(path, once))
    with TemporaryDirectory() as folder:
        session = only(root_with(Path(folder), *lines, session="s1"))
        check(session, keep_last, is_counted=False)


@pytest.mark.parametrize("keep_last", [0, 4])
def test_compression_of_a_long_random_session(keep_last: int, tmp_path: Path) -> None:
    generate(tmp_path / "projects", SIZE, seed=keep_last)
    for session in editable(tmp_path):
        check(session, keep_last)


@pytest.mark.parametrize(
    "share", [pytest.param(23, id="a few"), pytest.param(1, id="all", marks=pytest.mark.long)]
)
def test_compression_of_real_sessions(share: int, shared: Path, tmp_path: Path) -> None:
    for number, real in enumerate(editable(shared / "corpus")[::share]):
        folder = tmp_path / str(number) / "projects" / "p"
        folder.mkdir(parents=True)
        shutil.copyfile(real.path, folder / real.path.name)
        for session in editable(tmp_path / str(number)):
            check(session, 1, is_counted=False)
        shutil.rmtree(tmp_path / str(number))
