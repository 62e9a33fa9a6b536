"""Whatever session is compressed: it resumes, prompts stay, nothing breaks, twice equals once."""

from pathlib import Path

import pytest

from plait import Archive
from plait.archive import Session
from plait.edit.model import Plan
from plait.graph.client import context
from plait.graph.client.load import is_boundary
from plait.record import Record, read
from plait.record.codec import encode
from plait.record.prompt import is_human_prompt
from tests.edit.copies import (
    carried_out,
    context_of,
    copied,
    editable,
    gallery,
    named,
    resume_cases,
)

ROOTS = [*gallery(), *resume_cases()]


def compressed(session: Session, keep_last: int, **options: object) -> Plan:
    """Returns the plan that compresses a session in its place."""
    assert session.archive
    plan = session.archive.plan
    return plan.compress(session, keep_last=keep_last, in_place=True, **options)  # type: ignore[arg-type]


def prompts(records: list[Record], size: int) -> list[bytes]:
    """Returns what people typed of what Claude sees, as the log has it, in order."""
    named = context(records, size=size).chain
    by_uuid = {record.uuid: record for record in records}
    last = max((n for n, uuid in enumerate(named) if is_boundary(by_uuid[uuid])), default=-1)
    chain = {uuid: place for place, uuid in enumerate(named) if place > last}
    typed = [one for one in records if one.uuid in chain and is_human_prompt(one)]
    return [_words(one) for one in sorted(typed, key=lambda one: chain[one.uuid or ""])]


def reports(session: Session, keep_last: int) -> int:
    """Counts the older turns that a report of a task began: they join the one before."""
    assert session.archive
    turns = [turn for turn in session.archive.open(session).turns if turn.opener]
    older = turns[: len(turns) - keep_last]
    return sum(turn.opener is not None and turn.opener.kind == "notice" for turn in older)


def _words(record: Record) -> bytes:
    return encode({"message": record.fields["message"]})


@pytest.mark.parametrize("keep_last", [0, 1, 2])
@pytest.mark.parametrize("root", ROOTS, ids=named)
def test_compressing_loses_no_prompt_and_breaks_no_rule(
    root: Path, keep_last: int, tmp_path: Path
) -> None:
    for session in editable(copied(root, tmp_path)):
        records, size = list(read(session.path)), session.path.stat().st_size
        was, typed = context_of(session.path), prompts(records, size)
        merged = reports(session, keep_last)
        plan = compressed(session, keep_last)
        if not plan.steps:
            continue
        assert plan.check() == ()
        if root.is_dir():
            assert plan.after.turns == plan.before.turns - merged
        path = carried_out(plan)
        now = context_of(path)
        assert was.resumes == now.resumes
        assert prompts(list(read(path)), path.stat().st_size) == typed
        again = compressed(only_one(path, session), keep_last)
        assert again.steps == (), again.changes


def only_one(path: Path, session: Session) -> Session:
    """Returns a session as an archive finds it that is opened anew."""
    assert session.archive
    return Archive([root.path for root in session.archive.roots]).session(session.id)
