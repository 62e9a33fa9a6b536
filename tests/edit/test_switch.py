import json
from pathlib import Path

import pytest

from plait import Archive
from plait.archive import Session
from plait.edit.plan import Append
from plait.errors import UserError
from plait.graph.client import resumes_at
from plait.record import read
from tests.edit.copies import (
    SESSION,
    answer,
    apply_steps,
    context_of,
    copied,
    editable,
    gallery,
    named,
    only,
    resume_cases,
    root_with,
    user,
)

A, B, C, D, E = (f"{number:08x}-1111-4222-8333-444444444444" for number in range(10, 15))


def branches_of(session: Session) -> list[tuple[str, str]]:
    """Return the branches of a session with the last record of each."""
    assert session.archive
    opened = session.archive.open(session)
    lines = (opened.graph.lines[name] for name in opened.by_line if name in opened.graph.lines)
    return [(line.id, line.nodes[-1]) for line in lines if line.kind in ("trunk", "branch")]


@pytest.mark.parametrize("root", [*gallery(), *resume_cases()], ids=named)
def test_a_switched_session_continues_from_the_tip_of_the_branch(
    root: Path, tmp_path: Path
) -> None:
    for session in editable(copied(root, tmp_path)):
        assert session.archive
        for name, tip in branches_of(session):
            before = session.path.read_bytes()
            try:
                plan = session.archive.plan.switch(session, name)
            except UserError as error:
                assert "cannot resume at" in str(error)
                continue
            apply_steps(plan)
            after = session.path.read_bytes()
            assert after.startswith(before)
            assert after.count(b"\n") == before.count(b"\n") + len(plan.steps)
            found = context_of(session.path)
            unsent = {item.uuid for item in found.left_out}
            assert resumes_at(list(read(session.path)), len(after), tip)
            assert not plan.steps or found.leaf == tip or tip in unsent
            assert len(after) == plan.after.bytes
            session.path.write_bytes(before)


@pytest.fixture
def forked(tmp_path: Path) -> Session:
    lines = [user(A), answer(B, A), user(C, B), answer(D, C), user(E, B)]
    return only(root_with(tmp_path, *lines))


def switched(session: Session, branch: str) -> dict[str, object]:
    assert session.archive
    [step] = session.archive.plan.switch(session, branch).steps
    assert isinstance(step, Append)
    found: dict[str, object] = json.loads(step.data)
    return found


def test_a_plain_pointer_leads_to_an_abandoned_branch(forked: Session) -> None:
    assert switched(forked, D) == {
        "type": "last-prompt",
        "lastPrompt": f"prompt {C[:8]}",
        "leafUuid": D,
        "sessionId": SESSION,
    }


def test_only_an_explicit_pointer_leads_to_an_ancestor(forked: Session) -> None:
    assert switched(forked, B)["explicit"] is True


def test_long_prompt_is_quoted_as_the_client_does(tmp_path: Path) -> None:
    long = user(C, B, message={"role": "user", "content": "word\n" * 100})
    lines = [user(A), answer(B, A), long, answer(D, C), user(E, B)]
    words = switched(only(root_with(tmp_path, *lines)), D)["lastPrompt"]
    assert words == ("word " * 40) + "…"


def test_switching_to_the_active_branch_writes_nothing(forked: Session) -> None:
    assert forked.archive
    plan = forked.archive.plan.switch(forked, E)
    assert plan.steps == ()
    assert plan.notes == ("the session already continues from there",)
    assert plan.before == plan.after


def test_a_unique_prefix_of_a_record_id_is_enough(forked: Session) -> None:
    assert switched(forked, D[:8])["leafUuid"] == D


def test_an_ambiguous_prefix_is_refused(tmp_path: Path) -> None:
    session = only(root_with(tmp_path, user(A), answer(B, A)))
    with pytest.raises(UserError, match="2 records start with '000000'"):
        switched(session, "000000")


def test_an_unknown_branch_is_refused(forked: Session) -> None:
    with pytest.raises(UserError, match="no branch named 'zzz'"):
        switched(forked, "zzz")
    with pytest.raises(UserError, match="no branch named 'ffffffff'"):
        switched(forked, "ffffffff")


def test_a_session_cannot_continue_from_a_sidechain_record(tmp_path: Path) -> None:
    aside = user(C, B, isSidechain=True)
    session = only(root_with(tmp_path, user(A), answer(B, A), aside, user(E, B)))
    assert session.archive
    with pytest.raises(UserError, match="cannot resume at '0000000c'") as caught:
        session.archive.plan.switch(session, C)
    assert caught.value.hints == (
        f"`plait fork {SESSION[:8]} --at 0000000c` creates a session that ends there",
    )


def test_an_agent_is_not_a_branch(tmp_path: Path) -> None:
    root = copied(next(item for item in gallery() if item.name == "sub-agent"), tmp_path)
    [session] = editable(root)
    assert session.archive
    with pytest.raises(UserError, match="is a sub-agent"):
        session.archive.plan.switch(session, "2")


def test_an_unterminated_last_line_is_ended_first(forked: Session) -> None:
    forked.path.write_bytes(forked.path.read_bytes()[:-1])
    plan = Archive([forked.path]).plan.switch(forked.path, D)
    plan.apply(force=True)
    assert forked.path.stat().st_size == plan.after.bytes
    assert len(list(read(forked.path))) == plan.after.lines == 6
