import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plait import Archive
from plait.archive import Session
from plait.edit.plan import Append, Plan
from plait.errors import Refused, UserError
from plait.record import read
from plait.record.codec import encode
from tests.edit.copies import (
    EXAMPLES,
    SESSION,
    answer,
    apply_steps,
    calls,
    context_of,
    copied,
    editable,
    gallery,
    named,
    result,
    root_with,
    user,
    write,
)

OTHER = "7f0c2f0e-0b3c-4b69-9a51-0d5a3c1e7b11"
NAMES = "abcdefghijklmnopqrstuvwxyz"
U = {name: f"{at:08x}-1111-4222-8333-444444444444" for at, name in enumerate(NAMES, 10)}
A, B, C, D, E, F, G, H = (U[name] for name in "abcdefgh")
V, W, X, Y = (U[name] for name in "vwxy")


def texts_sent(path: Path) -> list[str]:
    """Return what the client sends, in short; thoughts go where models differ."""
    return [
        str(block.get("text", "").strip() or block.get("id") or block.get("tool_use_id"))
        for _, blocks in context_of(path).messages
        for block in blocks
        if block["type"] != "thinking"
    ]


def prompt(uuid: str) -> str:
    return f"prompt {uuid[:8]}"


def words(uuid: str) -> str:
    return f"answer {uuid[:8]}"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """A session with a branch that was left, and another one."""
    here = [user(A), answer(B, A), user(C, B), answer(D, C, calls("t1")), result(E, D, "t1")]
    root_with(tmp_path, *here, answer(F, E), user(G, B), answer(H, G))
    there = [user(V), answer(W, V)]
    mine = [{**line, "sessionId": OTHER} for line in there]
    return Archive([root_with(tmp_path, *mine, session=OTHER)])


def test_a_grafted_branch_follows_the_target(archive: Archive) -> None:
    plan = archive.plan.graft(SESSION, OTHER, F)
    path = apply_steps(plan)
    assert texts_sent(path) == [prompt(V), words(W), prompt(C), "t1", "t1", words(F)]
    assert plan.check() == ()
    assert plan.operation == "graft"
    assert plan.session not in (SESSION, OTHER)
    assert plan.after.bytes == path.stat().st_size
    assert plan.after.lines == len(list(read(path))) == 6
    assert (plan.count_lines("rewritten"), plan.count_lines("added")) == (2, 4)
    assert plan.after.turns == plan.before.turns + 1 == 2
    origins = [origin.forked_from for origin in read(path)]
    assert [origin and origin.session_id for origin in origins] == [OTHER] * 2 + [SESSION] * 4
    assert {origin.session_id for origin in read(path)} == {plan.session}


@pytest.mark.parametrize(("backed_up", "is_said"), [(C, True), (G, False)])
def test_backups_that_are_not_copied_are_noted(
    archive: Archive, backed_up: str, is_said: bool
) -> None:
    path = archive.session(SESSION).file
    snapshot = {"messageId": backed_up, "trackedFileBackups": {}}
    line = {"type": "file-history-snapshot", "messageId": backed_up, "snapshot": snapshot}
    assert path
    with path.path.open("ab") as log:
        log.write(encode(line) + b"\n")
    plan = archive.reopen().plan.graft(SESSION, OTHER, F)
    assert any("backups are not copied" in note for note in plan.notes) is is_said


def test_all_of_the_active_branch_is_grafted(archive: Archive) -> None:
    path = apply_steps(archive.plan.graft(SESSION, OTHER))
    assert texts_sent(path) == [prompt(V), words(W), prompt(A), words(B), prompt(G), words(H)]


def test_a_graft_in_place_only_appends_lines(archive: Archive) -> None:
    before = archive.session(OTHER).path.read_bytes()
    plan = archive.plan.graft(SESSION, OTHER, prompt(C), in_place=True, title="Both")
    assert [type(step) for step in plan.steps] == [Append]
    path = apply_steps(plan)
    after = path.read_bytes()
    assert (plan.session, path.stem) == (OTHER, OTHER)
    assert after.startswith(before)
    assert texts_sent(path) == [prompt(V), words(W), prompt(C), "t1", "t1", words(F)]
    assert plan.check() == ()
    assert plan.after.bytes == len(after)
    assert plan.after.lines == after.count(b"\n") == 7
    assert plan.count_lines("added") == 5
    assert json.loads(after.splitlines()[-1])["customTitle"] == "Both"


def test_messages_that_both_sessions_have_are_not_repeated(
    archive: Archive, tmp_path: Path
) -> None:
    fork = archive.plan.fork(SESSION, B)
    apply_steps(fork)
    grown = Archive([tmp_path])
    path = apply_steps(grown.plan.graft(SESSION, fork.session))
    assert texts_sent(path) == [prompt(A), words(B), prompt(G), words(H)]
    with pytest.raises(UserError, match="already has all of these messages"):
        grown.plan.graft(SESSION, fork.session, B)


def test_a_branch_the_target_abandoned_is_not_duplicated(archive: Archive, tmp_path: Path) -> None:
    wanted = [prompt(A), words(B), prompt(G), words(H), prompt(C), "t1", "t1", words(F)]
    clone = archive.plan.clone(SESSION)
    apply_steps(clone)
    for target in (SESSION, clone.session):
        plan = Archive([tmp_path]).plan.graft(SESSION, target, F)
        assert texts_sent(apply_steps(plan)) == wanted
        assert plan.check() == ()
        with pytest.raises(Refused, match="already has these answers"):
            Archive([tmp_path]).plan.graft(SESSION, target, F, in_place=True)


def test_a_session_that_cannot_be_resumed_is_no_graft_target(
    archive: Archive, tmp_path: Path
) -> None:
    root_with(tmp_path, {"type": "mode", "sessionId": X}, session=X)
    with pytest.raises(UserError, match="cannot be resumed"):
        Archive([tmp_path]).plan.graft(SESSION, X)


def boundary(uuid: str, logical: str, **more: Any) -> dict[str, Any]:
    found = user(uuid, None, type="system", subtype="compact_boundary", **more)
    del found["message"]
    return {**found, "logicalParentUuid": logical}


@pytest.mark.parametrize("is_preserved", [False, True])
def test_a_compaction_in_the_branch_is_left_out(
    archive: Archive, tmp_path: Path, is_preserved: bool
) -> None:
    kept = {"preservedMessages": {"anchorUuid": D, "uuids": [B]}} if is_preserved else {}
    recap = user(D, C, isCompactSummary=True)
    mark = boundary(C, B, compactMetadata=kept)
    root_with(tmp_path, user(A), answer(B, A), mark, recap, user(E, D), answer(F, E))
    plan = Archive([tmp_path]).plan.graft(SESSION, OTHER)
    own = [words(B)] if is_preserved else []
    assert texts_sent(apply_steps(plan)) == [
        prompt(V),
        words(W),
        prompt(D),
        *own,
        prompt(E),
        words(F),
    ]


def test_agents_and_outputs_of_the_branch_are_copied(archive: Archive, tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-dev-shop"
    write(folder / SESSION / "subagents" / "agent-a1.jsonl", user(X, isSidechain=True))
    write(folder / SESSION / "subagents" / "agent-a1.meta.json", {"toolUseId": "t1"})
    write(folder / SESSION / "tool-results" / "t1.txt", "output")
    write(folder / SESSION / "tool-results" / "t9.txt", "another's")
    write(folder / SESSION / "custom-title.json", {"customTitle": "what the other is not called"})
    write(folder / OTHER / "tool-results" / "v1.txt", "its own")
    grown = Archive([tmp_path])
    plan = grown.plan.graft(SESSION, OTHER, F)
    apply_steps(plan)
    found = sorted(str(step.path).partition(plan.session)[2] for step in plan.steps)
    assert found == [
        ".jsonl",
        "/subagents/agent-a1.jsonl",
        "/subagents/agent-a1.meta.json",
        "/tool-results/t1.txt",
        "/tool-results/v1.txt",
    ]
    [agent] = read(folder / plan.session / "subagents" / "agent-a1.jsonl")
    assert agent.session_id == plan.session
    assert agent.uuid != X
    write(folder / OTHER / "tool-results" / "t1.txt", "there already")
    in_place = Archive([tmp_path]).plan.graft(SESSION, OTHER, F, in_place=True)
    other = [step.path.name for step in in_place.steps[1:]]
    assert other == ["agent-a1.jsonl", "agent-a1.meta.json"]


STRAIGHT = EXAMPLES / "gallery" / "straight-line"


def grafts(root: Path, folder: Path) -> Iterator[tuple[Session, Session, Plan]]:
    (base,) = editable(copied(STRAIGHT, folder))
    for session in editable(copied(root, folder / "source")):
        both = Archive([folder])
        begins_whole = session.path.parents[2].name != "missing-head"  # else nothing to hang on
        if any(turn.number for turn in session.turns) and session.id != base.id and begins_whole:
            yield base, session, both.plan.graft(session, base)


@pytest.mark.parametrize("root", gallery(), ids=named)
def test_a_grafted_session_sends_the_messages_of_both(root: Path, tmp_path: Path) -> None:
    for base, session, plan in grafts(root, tmp_path):
        before, own = texts_sent(base.path), texts_sent(session.path)
        after = texts_sent(apply_steps(plan))
        assert plan.check() == () or Archive([session.path]).plan.check(session)  # it was not well
        assert after[: len(before)] == before
        assert after[len(before) :] == own


def test_branch_that_ends_without_a_timestamp_is_refused(tmp_path: Path) -> None:
    timeless = {key: item for key, item in answer(B, A).items() if key != "timestamp"}
    root_with(tmp_path, user(A), timeless)
    root_with(tmp_path, user(V), answer(W, V), session=OTHER)
    (found,) = Archive([tmp_path]).plan.graft(SESSION, OTHER).check()
    assert found.rule == "resumable"
    assert found.sentence == "Claude Code would not resume it: the last message has no timestamp"


def test_a_session_that_did_not_resume_before_need_not_resume_after(tmp_path: Path) -> None:
    timeless = {key: item for key, item in user(A).items() if key != "timestamp"}
    plan = Archive([root_with(tmp_path, timeless)]).plan.fork(SESSION, A)
    assert plan.check() == ()
