"""Trimming real sessions: everything not removed is sent as before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from plait.archive import Session
from plait.edit.operations import find_subject
from plait.edit.plan import Plan
from plait.edit.trim import Cut, plan_cuts
from plait.errors import UserError
from plait.record import Record, read
from tests.edit.mending import records_of, result_of
from tests.edit.test_repair_corpus import sessions_in
from tests.edit.trim_oracle import cut_ids, expect, some_calls

SAMPLE = 10


def plan_checked_cuts(session: Session, cuts: Sequence[Cut], *, in_place: bool) -> Plan:
    """Return the plan that makes these cuts, and breaks no rule that the session kept."""

    def chosen(records: Sequence[Record], size: int) -> Sequence[Cut]:
        return cuts

    plan = plan_cuts(find_subject(session), chosen, is_in_place=in_place)
    assert plan.check() == ()
    return plan


def judge(session: Session, share: float, seed: int) -> int:
    """Trim a session in its place and as a new one, and return how many lines went."""
    assert session.file
    before = list(read(session.file.path))
    cuts = some_calls(before, share, seed)
    try:
        plan = plan_checked_cuts(session, cuts, in_place=True)
    except UserError as error:
        assert "would not resume what is left" in error.message
        return 0
    if plan.steps:
        expect(before, records_of(result_of(plan)), cut_ids(before, cuts))
        plan_checked_cuts(session, cuts, in_place=False)
    return plan.count_lines("dropped")


def test_trims_of_real_sessions_keep_everything_else(shared: Path) -> None:
    every = sessions_in(shared / "corpus")
    assert sum(judge(item, 0.2, seed) for seed, item in enumerate(Random(18).sample(every, SAMPLE)))


@pytest.mark.long
@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("folder", ["corpus", "client-sessions", "produced", "audit-cases"])
def test_trims_of_all_real_sessions_keep_everything_else(
    shared: Path, folder: str, share: float
) -> None:
    found = Counter(
        judge(item, share, seed) > 0 for seed, item in enumerate(sessions_in(shared / folder))
    )
    print(f"{folder}, {share:.0%} of the calls: {found[True]} of {found.total()} sessions trimmed")
