"""Any trim of any session: what stays is sent, paired and referenced, and undo restores it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait import Archive
from plait.edit.log import split_lines
from plait.edit.plan import Plan, Subject
from plait.edit.trim import Cut, plan_cuts
from plait.errors import UserError
from plait.graph.client.entries import is_boundary
from plait.line.discovery import make_log_file
from plait.record import Record
from plait.record.json_text import iter_json_strings
from tests.edit.copies import EXAMPLES, copied, gallery, resume_cases
from tests.edit.mending import records_of, result_of
from tests.edit.plans import MEMORY, put, tree
from tests.edit.trim_oracle import (
    content_of,
    cut_ids,
    expect,
    expect_no_loss,
    expect_pairs,
    sent,
    some_calls,
)
from tests.edit.trim_sessions import sessions
from tests.graph import generated
from tests.sampling import in_turn

SESSION = "6f0c2f0e-0b3c-4b69-9a51-0d5a3c1e7b11"
shares = st.sampled_from((0.2, 0.5, 1.0))
seeds = st.integers(0, 99)


def cut(path: Path, cuts: Sequence[Cut], *, in_place: bool = True) -> Plan:
    """Return the plan that makes these cuts in a log."""

    def chosen(records: Sequence[Record], size: int) -> Sequence[Cut]:
        return cuts

    subject = Subject(path.stem, make_log_file(path))
    return plan_cuts(subject, chosen, is_in_place=in_place)


def write_log(folder: str, data: bytes) -> Path:
    """Write a log."""
    return put(Path(folder, "projects", "p", f"{SESSION}.jsonl"), data)


def judge(path: Path, share: float, seed: int) -> None:
    """Cut some calls and all thoughts, and holds what is left to what was there."""
    before = records_of(path.read_bytes())
    cuts = some_calls(before, share, seed)
    plan = cut(path, cuts)
    if not plan.steps:
        return
    assert plan.check() == ()
    after = result_of(plan)
    expect(before, records_of(after), cut_ids(before, cuts))
    expect_same_bytes(path.read_bytes(), after)


def expect_same_bytes(before: bytes, after: bytes) -> None:
    """Hold each line that stays to the one that it was, but for ids and what a trim notes."""
    was = {_bare(line.data) for line in split_lines([before])}
    cut = {
        item.uuid for item in records_of(before) if CUT & {head.type for head in item.block_heads}
    }
    for record in records_of(after):
        is_list = is_boundary(record) or record.type == "last-prompt"
        if not is_list and (not record.uuid or record.uuid not in cut):
            assert _bare(record.raw) in was


CUT = {"tool_use", "tool_result", "thinking", "redacted_thinking"}
NOTED = re.compile(
    rb',"trimmedTokens":\d+|"usage":\{(?:[^{}]|\{[^{}]*\})*\}|(?<="stop_reason":)"[a-z_]+"'
)
"""How much went before, what a response cost and how it ended: another line may say that now."""


def _bare(data: bytes) -> bytes:
    """Return a line without the ids in it, and without what a trim may add."""
    parts, end = [], 0
    for spot in iter_json_strings(data):
        if spot.field.lower().endswith((b"uuid", b"uuids", b"messageid")) and not spot.is_name:
            parts.append(data[end : spot.start])
            end = spot.stop
    bare = b"".join((*parts, data[end:])).replace(b"null", b"")
    return NOTED.sub(b"", bare).replace(b",,", b",").replace(b"[,", b"[").replace(b",]", b"]")


@given(sessions, shares, seeds)
def test_trims_of_both_formats_keep_everything_else(data: bytes, share: float, seed: int) -> None:
    with TemporaryDirectory(dir=MEMORY) as folder:
        judge(write_log(folder, data), share, seed)


Archived = dict[str, list[dict[str, Any]]]


def unique(archive: Archived) -> Archived:
    """Return an archive in which no uuid stands twice."""
    return {path: [{**row, "uuid": None} for row in rows] for path, rows in archive.items()}


def with_all_parents(archive: Archived) -> Archived:
    """Return one in which every parent is there, too."""
    return {
        path: [row if isinstance(row["parent"], int) else {**row, "parent": 1} for row in rows]
        for path, rows in unique(archive).items()
    }


def data_of(archive: Archived) -> bytes:
    """Return the log of an archive that has one."""
    ((path, rows),) = archive.items()
    return b"\n".join(generated.lines_of(path, rows)) + b"\n"


@given(generated.conversations.map(with_all_parents), shares, seeds)
def test_trims_of_any_log_keep_all_prompts(archive: Archived, share: float, seed: int) -> None:
    data = data_of(archive)
    before = records_of(data)
    cuts = some_calls(before, share, seed)
    with TemporaryDirectory(dir=MEMORY) as folder:
        try:
            plan = cut(write_log(folder, data), cuts)
        except UserError:
            return
        if plan.steps:
            assert plan.check() == ()
            expect_no_loss(before, records_of(result_of(plan)), cut_ids(before, cuts))


@given(generated.conversations.map(unique), shares, seeds)
def test_trims_of_any_log_break_no_rule(archive: Archived, share: float, seed: int) -> None:
    data = data_of(archive)
    before = records_of(data)
    cuts = some_calls(before, share, seed)
    with TemporaryDirectory(dir=MEMORY) as folder:
        try:
            plan = cut(write_log(folder, data), cuts)
        except UserError:
            return
        if plan.steps:
            assert plan.check() == ()
            expect_pairs(before, records_of(result_of(plan)), cut_ids(before, cuts))


@given(sessions, shares, seeds)
def test_in_place_and_as_new_session_give_the_same_conversation(
    data: bytes, share: float, seed: int
) -> None:
    cuts = some_calls(records_of(data), share, seed)
    with TemporaryDirectory(dir=MEMORY) as folder:
        path = write_log(folder, data)
        here, new = cut(path, cuts), cut(path, cuts, in_place=False)
        if here.steps:
            assert new.check() == ()
            item, other = (sent(records_of(result_of(plan))) for plan in (here, new))
            assert item.request == other.request and len(item.chain) == len(other.chain)


@given(sessions, shares, seeds)
def test_undo_restores_the_bytes(data: bytes, share: float, seed: int) -> None:
    cuts = some_calls(records_of(data), share, seed)
    with TemporaryDirectory(dir=MEMORY) as folder:
        path = write_log(folder, data)
        before = tree(Path(folder))
        plan = cut(path, cuts)
        if plan.steps:
            after = result_of(plan)
            edit = plan.apply()
            assert path.read_bytes() == after != data
            Archive([Path(folder)]).undo(edit.id)
            assert tree(Path(folder)) == before


@given(sessions, shares, seeds)
def test_trims_are_idempotent(data: bytes, share: float, seed: int) -> None:
    before = records_of(data)
    cuts = some_calls(before, share, seed)
    removed = cut_ids(before, cuts)
    with TemporaryDirectory(dir=MEMORY) as folder:
        plan = cut(write_log(folder, data), cuts)
        if plan.steps:
            path = write_log(folder, result_of(plan))
            again = some_calls(records_of(path.read_bytes()), 1.0, 0)
            left = [item for item in again if not cut_ids(records_of(path.read_bytes()), [item])]
            assert not left
            assert removed.isdisjoint(cut_ids(records_of(path.read_bytes()), again))


@given(sessions, st.integers(0, 400), seeds)
def test_shorter_results_change_nothing_else(data: bytes, length: int, seed: int) -> None:
    before = records_of(data)
    found = [
        Cut(record.line, at, f"{block['content'][:length]} [cut]", "shorter")
        for record in before
        for at, block in enumerate(content_of(record))
        if block["type"] == "tool_result" and hash((seed, record.line)) % 2
    ]
    with TemporaryDirectory(dir=MEMORY) as folder:
        path = write_log(folder, data)
        plan = cut(path, found)
        if not plan.steps:
            assert not found
            return
        assert plan.check() == ()
        after = records_of(result_of(plan))
        assert sent(after).chain == sent(before).chain
        assert len(sent(after).request) == len(sent(before).request)
        assert [record.uuid for record in after] == [record.uuid for record in before]
        path.write_bytes(result_of(plan))
        assert cut(path, found).steps == ()
        for item in found:
            view = after[item.line - 1].fields["toolUseResult"]
            assert view["stdout"] in (
                item.to,
                before[item.line - 1].fields["toolUseResult"]["stdout"],
            )
            assert len(view["stdout"]) <= max(len(item.to or ""), 80)


ROOTS = [*gallery(), *sorted(path.parent for path in (EXAMPLES / "trims").glob("*/projects"))]


@pytest.mark.parametrize(("root", "share"), in_turn(ROOTS, [0.5, 1.0], lambda root: root.name))
def test_trims_of_the_gallery_keep_everything_else(
    root: Path, share: float, tmp_path: Path
) -> None:
    home = copied(root, tmp_path)
    for session in Archive([home]).sessions:
        if session.file:
            judge(session.file.path, share, 7)


ODD = ("parallel-meta-prompt-in-file-order", "response-within-another")
"""Where a result that could not be placed can be once another call is gone."""


@pytest.mark.parametrize(
    ("path", "share"), in_turn(resume_cases(), [0.2, 0.5, 1.0], lambda path: path.parent.name)
)
def test_trims_of_odd_sessions_keep_everything_else(path: Path, share: float) -> None:
    before = records_of(path.read_bytes())
    cuts = some_calls(before, share, 7)
    plan = cut(path, cuts)
    if plan.steps:
        assert plan.check() == ()
        holds = expect_no_loss if path.parent.name in ODD else expect
        holds(before, records_of(result_of(plan)), cut_ids(before, cuts))
