"""Removed tokens are noted in the log, so that later usage figures are corrected."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait import Archive
from plait.conversation.next_prompt import estimate_next_prompt
from plait.edit.cuts import SentLog
from plait.edit.draft import NOTED
from tests.edit.copies import EXAMPLES, apply_steps, copied, only
from tests.edit.mending import records_of, result_of
from tests.edit.trimming import Trimmed, trimmed

TALK = """
U1 "go"
T1< Bash(command="make") as make
R1< of make times=200
  | built a file of the project
A1< "built"
U2< "and?"
A2< "that was all"
"""


def notes(found: Trimmed) -> dict[str, int]:
    """Return what each record notes, by its letter."""
    names = {uuid: name for name, uuid in found.drawing.uuids.items()}
    noted = ((record.uuid, record.trimmed_tokens) for record in found.records)
    return {names[uuid]: tokens for uuid, tokens in noted if uuid and tokens}


def sent(data: bytes) -> SentLog:
    """Return what is sent of a log."""
    return SentLog(records_of(data), len(data))


def test_a_shortened_result_notes_its_own_loss(tmp_path: Path) -> None:
    found = trimmed(tmp_path, TALK, tools=("Bash",), way="empty")
    went = sent(found.before).weight - sent(found.after).weight
    assert notes(found) == {"R1": went}
    assert [change.reason for change in found.plan.changes][1:] == ["Bash result"]


def test_a_loss_before_a_response_is_noted_on_the_record_above(tmp_path: Path) -> None:
    found = trimmed(tmp_path, TALK, tools=("Bash",))
    assert notes(found) == {"U1": sent(found.before).weight - sent(found.after).weight}
    raw = found.record("U1").raw
    assert raw.endswith(b',"trimmedTokens":%d}' % notes(found)["U1"])


def test_a_record_with_only_a_note_has_a_reason(tmp_path: Path) -> None:
    parallel = """
    U1 "go"
    T1< Bash(command="ls") as one + Read(file_path="/x") as two
    R1<T1.1 of one "a.py"
    R2<T1 of two "text"
    A1< "done"
    """
    found = trimmed(tmp_path, parallel, tools=("Read",))
    full = {name: item for name, item in notes(found).items() if name == "R1"}
    assert full and NOTED in [change.reason for change in found.plan.changes]
    assert sent(found.after).weight + sent(found.after).trimmed == sent(found.before).weight


def test_the_next_prompt_can_be_estimated_from_the_trimmed_log(tmp_path: Path) -> None:
    found = trimmed(tmp_path, TALK, tools=("Bash",), way="empty")
    before = estimate_next_prompt(records_of(found.before), len(found.before))
    after = estimate_next_prompt(found.records, len(found.after))
    assert before.tokens and after.tokens
    assert after.tokens == found.plan.after.tokens
    went = before.weight - after.weight
    assert before.tokens - after.tokens == pytest.approx(went * after.measure, abs=1)
    assert after.measure == pytest.approx(before.measure)


def test_notes_of_several_trims_add_up(tmp_path: Path) -> None:
    first = trimmed(tmp_path / "a", TALK, tools=("Bash",), way="cut", keep=3000)
    (path, *_) = first.drawing.write(tmp_path / "b")
    path.write_bytes(first.after)
    plan = Archive([tmp_path / "b"]).plan.trim(
        first.drawing.session, in_place=True, tools=("Bash",), way="empty"
    )
    full, once, twice = (sent(item) for item in (first.before, first.after, result_of(plan)))
    assert once.trimmed and twice.trimmed > once.trimmed
    assert twice.weight + twice.trimmed == once.weight + once.trimmed == full.weight


@pytest.mark.parametrize("kind", ["clone", "fork"])
def test_copies_of_a_trimmed_session_have_the_same_estimate(kind: str, tmp_path: Path) -> None:
    found = trimmed(tmp_path, TALK, tools=("Bash",))
    found.plan.apply(force=True)
    session = only(tmp_path)
    assert session.archive
    plans = session.archive.plan
    plan = plans.clone(session) if kind == "clone" else plans.fork(session, 1)
    assert plan.before.tokens == found.plan.after.tokens
    tokens = plan.after.tokens
    full = found.plan.before.tokens
    assert tokens and full and tokens < full - 500


def test_compressed_turns_are_noted_too(tmp_path: Path) -> None:
    root = copied(EXAMPLES / "trims" / "a-long-session", tmp_path)
    session = only(root)
    assert session.archive
    plan = session.archive.plan.compress(session, keep_last=2)
    before, path = sent(session.path.read_bytes()), apply_steps(plan)
    after = sent(path.read_bytes())
    assert after.weight + after.trimmed == before.weight
    assert plan.after.tokens == estimate_next_prompt(after.records, path.stat().st_size).tokens
