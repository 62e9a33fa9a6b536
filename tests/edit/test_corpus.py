"""Clones and forks of real sessions: no new rule violation, no text lost.

Nothing is written where they lie: what a plan would write is looked at elsewhere.
"""

from pathlib import Path
from typing import Any

import pytest

from plait.archive import Session
from plait.edit.plan import Plan, Write
from plait.record import Record, read
from plait.record.prompts import get_prompt_text, is_human_prompt
from tests.edit.copies import editable, names_in, plain_records, without_ids

A_FEW = pytest.param(17, 3, id="a few")
ALL = pytest.param(1, 1, id="all", marks=pytest.mark.long)


def write_planned_log(plan: Plan, folder: Path) -> Path:
    """Write the log that a plan is about, elsewhere."""
    [step] = [item for item in plan.steps if item.path == plan.path]
    assert isinstance(step, Write)
    path = folder / plan.path.name
    path.write_bytes(b"".join(step.content()))
    return path


def typed(records: list[Record]) -> list[str]:
    """Return what people typed."""
    return [get_prompt_text(record) for record in records if is_human_prompt(record)]


def above(uuid: str, records: list[Record]) -> set[str]:
    """Return a record and all that it follows, as far as parents name each other."""
    parents = {record.uuid: record.parent_uuid for record in records if record.uuid}
    found: set[str] = set()
    at: str | None = uuid
    while at in parents and at not in found:
        found.add(at)
        at = parents[at]
    return found


def origins(copy: list[Record]) -> dict[str, str]:
    """Return of what each record is a copy, by its new id."""
    copies = (item for item in copy if is_copy(item))
    return {item.uuid or "": item.fields["forkedFrom"]["messageUuid"] for item in copies}


def is_copy(record: Record) -> bool:
    return "forkedFrom" in record.fields


def agents_origins(plan: Plan, folder: Path) -> dict[str, str]:
    """Return the same of the records of agents: each stands where it stood."""
    found = {}
    logs = {log.path.name: log.path for log in plan.source.others}
    for step in plan.steps:
        if isinstance(step, Write) and step.path.name in logs:
            copy = folder / "agent.jsonl"
            copy.write_bytes(b"".join(step.content()))
            found.update(names_in(list(read(copy)), list(read(logs[step.path.name]))))
            copy.unlink()
    return found


def check_records(session: Session, plan: Plan, path: Path) -> None:
    """Assert that every record of a copy is that of its source, but for ids."""
    before, after = list(read(session.path)), list(read(path))
    olds = {**agents_origins(plan, path.parent), **origins(after), plan.session: session.id}
    wanted: dict[str | None, list[Any]] = {}
    for record, plain in zip(before, plain_records(before, {}), strict=True):
        wanted.setdefault(record.uuid, []).append(plain)
    for record in filter(is_copy, after):
        [plain] = plain_records([record], {})
        assert without_ids(plain, olds) in wanted[olds[record.uuid or ""]]


@pytest.mark.parametrize(("share", "_"), [A_FEW, ALL])
def test_clones_of_real_sessions(share: int, _: int, shared: Path, tmp_path: Path) -> None:
    for session in editable(shared / "corpus")[::share]:
        assert session.archive
        plan = session.archive.plan.clone(session)
        assert plan.check() == ()
        path = write_planned_log(plan, tmp_path)
        before, after = list(read(session.path)), list(read(path))
        assert typed(after) == typed(before)
        assert len(after) == len(before)
        check_records(session, plan, path)
        path.unlink()


@pytest.mark.parametrize(("share", "prompts"), [A_FEW, ALL])
def test_forks_of_real_sessions_at_every_prompt(
    share: int, prompts: int, shared: Path, tmp_path: Path
) -> None:
    for session in editable(shared / "corpus")[::share]:
        assert session.archive
        records = list(read(session.path))
        for uuid in list_prompts(records)[::prompts]:
            plan = session.archive.plan.fork(session, uuid)
            assert plan.check() == (), (session.id, uuid)
            path = write_planned_log(plan, tmp_path)
            route = above(uuid, records)
            output = typed([item for item in records if item.uuid in route])
            assert [words for words in output if words not in typed(list(read(path)))] == []
            check_records(session, plan, path)
            path.unlink()


def list_prompts(records: list[Record]) -> list[str]:
    """Return the prompts of people."""
    found = (item.uuid for item in records if is_human_prompt(item) and not item.is_sidechain)
    return [uuid for uuid in found if uuid]
