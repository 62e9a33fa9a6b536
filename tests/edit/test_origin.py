"""Where a copy comes from, as other commands show it."""

from pathlib import Path

import pytest

from plait import Archive
from plait.archive import SessionTree
from plait.graph.client.entries import FULL_READ_LIMIT
from plait.record import read
from tests.edit.copies import (
    SESSION,
    answer,
    apply_steps,
    context_of,
    copied,
    editable,
    gallery,
    only,
    root_with,
    same_messages,
    user,
)

A, B, C, D, E = (f"{number:08x}-1111-4222-8333-444444444444" for number in range(10, 15))


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    return root_with(tmp_path / "root", user(A), answer(B, A), user(C, B), answer(D, C))


def shape(tree: SessionTree) -> list[tuple[str, str | None, str | None]]:
    return [(item.id, item.parent, item.attachment) for item in tree.items]


@pytest.mark.parametrize("is_warm", [False, True])
def test_copies_are_attached_in_the_tree_where_they_diverge(
    talk: Path, tmp_path: Path, is_warm: bool
) -> None:
    plans = Archive([talk]).plan
    clone, fork = plans.clone(SESSION), plans.fork(SESSION, 1)
    again = Archive([apply_steps(clone)]).plan.clone(clone.session)
    for plan in (fork, again):
        apply_steps(plan)
    archive = Archive([talk], index=tmp_path / "index" if is_warm else None)
    if is_warm:
        archive.update_index()
    last = list(read(clone.path))[-1].uuid
    assert sorted(shape(archive.tree()), key=str) == sorted(
        [
            (SESSION, None, None),
            (clone.session, SESSION, D),
            (fork.session, SESSION, B),
            (again.session, clone.session, last),
        ],
        key=str,
    )


def test_a_copy_without_its_source_is_a_root(talk: Path) -> None:
    plan = Archive([talk]).plan.clone(SESSION)
    apply_steps(plan)
    plan.source.log.path.unlink()
    assert shape(Archive([talk]).tree()) == [(plan.session, None, None)]


def test_sessions_that_claim_to_copy_each_other_are_both_shown(tmp_path: Path) -> None:
    other = "7f0c2f0e-0b3c-4b69-9a51-0d5a3c1e7b11"
    root_with(tmp_path, user(A, forkedFrom={"sessionId": other, "messageUuid": B}))
    second = user(B, sessionId=other, forkedFrom={"sessionId": SESSION, "messageUuid": A})
    root = root_with(tmp_path, second, session=other)
    assert {name for name, *_ in shape(Archive([root]).tree())} == {SESSION, other}


@pytest.mark.parametrize("root", gallery(), ids=lambda path: path.name)
def test_copies_do_not_change_totals(root: Path, tmp_path: Path) -> None:
    there = copied(root, tmp_path)
    before = Archive([there])
    costs = before.responses().own_costs
    for session in editable(there):
        assert session.archive
        plans = session.archive.plan
        apply_steps(plans.clone(session))
        if any(turn.number for turn in session.turns):
            apply_steps(plans.fork(session, -1))
    after = Archive([there])
    assert after.usage("model").rows == before.usage("model").rows
    assert {entry: cost for entry, cost in after.responses().own_costs.items() if cost} == costs


def test_copy_is_read_as_far_back_as_its_source(tmp_path: Path) -> None:
    """Beyond a size the client reads only what stands behind the last compaction."""
    boundary = {**user(C, None), "type": "system", "subtype": "compact_boundary"}
    lines = [user(A), answer(B, A), boundary, user(D, C, isCompactSummary=True), user(E, B)]
    bare = sum(path.stat().st_size for path in root_with(tmp_path, *lines).rglob("*.jsonl"))
    for spare in (40, 200, 10_000):
        lines[0]["padding"] = "x" * (FULL_READ_LIMIT - bare - spare)
        session = only(root_with(tmp_path / str(spare), *lines))
        assert session.archive
        plan = session.archive.plan.clone(session)
        found = list(read(apply_steps(plan)))
        assert plan.after.bytes == plan.path.stat().st_size <= FULL_READ_LIMIT
        result = [record.forked_from is not None for record in found]
        assert result == {40: [False] * 5, 200: [True, *[False] * 4], 10_000: [True] * 5}[spare]
        assert same_messages(plan, context_of(session.path), context_of(plan.path))
