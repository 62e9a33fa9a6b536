"""Repairing real sessions loses nothing."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from plait import Archive
from plait.edit.draft import Draft, open_draft
from plait.edit.log import split_lines
from plait.edit.plan import Plan
from plait.edit.repair import list_sent_blocks, mend_draft
from plait.line import LogFile
from plait.record.prompts import is_human_prompt
from plait.sessions.model import Session
from tests.edit.mending import context_of, result_of, texts_of

SAMPLE = 30


def sessions_in(folder: Path) -> list[Session]:
    """Return the sessions that have a log of their own, in the order of their paths."""
    found = (session for session in Archive([folder]).sessions if session.file)
    return sorted(found, key=lambda session: str(session.path))


def judge(session: Session) -> Plan:
    """Plans a repair in place and as a new session, and holds it to what it promises."""
    log = session.file
    assert log and session.archive
    before = log.path.read_bytes()
    plan = session.archive.plan.repair(session, in_place=True)
    if not plan.steps:
        return plan
    after = result_of(plan)
    assert plan.check() == () and session.archive.plan.repair(session).check() == ()
    old, new = drafted(log, before), drafted(log, after)
    assert list_sent_blocks(old) <= list_sent_blocks(new)
    assert typed(old) <= typed(new)
    kept = Counter(after.split(b"\n"))
    assert (Counter(before.split(b"\n")) & kept).total() >= plan.count_lines("kept")
    new.external_uuids = frozenset(record.parent_uuid or "" for record in new.records)
    mend_draft(new)
    assert not new.is_changed
    return plan


def drafted(log: LogFile, data: bytes) -> Draft:
    return open_draft(log, split_lines([data]))


def typed(draft: Draft) -> set[str]:
    return {record.text for record in draft.records if is_human_prompt(record)}


def test_repairing_real_sessions_loses_nothing(shared: Path) -> None:
    every = sessions_in(shared / "corpus")
    plans = [judge(session) for session in Random(17).sample(every, SAMPLE)]
    assert len(plans) == SAMPLE


@pytest.mark.long
@pytest.mark.parametrize("folder", ["corpus", "client-sessions", "produced", "audit-cases"])
def test_repairing_all_real_sessions_loses_nothing(shared: Path, folder: str) -> None:
    plans = [judge(session) for session in sessions_in(shared / folder)]
    mended = [plan for plan in plans if plan.steps]
    reasons = Counter(change.reason for plan in mended for change in plan.changes)
    print(f"{folder}: {len(plans)} sessions, {len(mended)} mended, {reasons}")


@pytest.mark.parametrize("folder", ["client-sessions", "produced"])
def test_sessions_written_by_the_client_need_no_repair(shared: Path, folder: str) -> None:
    plans = [judge(session) for session in sessions_in(shared / folder)]
    assert plans and not any(plan.steps or plan.unmended for plan in plans)


CLASSES = ("D", "G", "P", "C", "E", "A18", "F02")


def test_repaired_sessions_send_as_much_or_more(shared: Path) -> None:
    cases = [item for item in sorted((shared / "resume-cases").iterdir()) if item.is_dir()]
    result: list[str] = []
    for case in cases:
        path = case / "session.jsonl"
        if not case.name.startswith(CLASSES) or not path.exists():
            continue
        archive = Archive([path])
        plan = archive.plan.repair(path, in_place=True)
        expected = json.loads((case / "expected.json").read_text())
        before = context_of(path.read_bytes())
        assert before.resumes == expected["resumes"]
        if plan.steps:
            after = context_of(result_of(plan))
            gained = len(texts_of(after)) - len(texts_of(before))
            result.append(f"{case.name}: {gained:+}")
            assert after.resumes and plan.check() == ()
    assert len(result) > 15
    print("\n".join(result))
