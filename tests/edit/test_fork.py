from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from plait.archive import Archive, Session
from plait.edit.plan import Plan
from plait.errors import UserError
from plait.graph.client import Context, build_context
from plait.graph.leaf import CHAIN_TYPES
from plait.record import Record, parse_record, read
from plait.write.lines import make_last_prompt_line
from tests.edit.copies import (
    SESSION,
    answer,
    apply_steps,
    calls,
    client_view,
    context_of,
    copied,
    editable,
    gallery,
    line_of,
    named,
    only,
    result,
    resume_cases,
    root_with,
    same_messages,
    user,
    write,
)
from tests.insights.cached_session import CachedSession

ROOTS = [*gallery(), *resume_cases()]


def context_at(records: list[Record], uuid: str) -> Context:
    """Return what the client would send standing at a record of a file."""
    pointer = parse_record(make_last_prompt_line("s", uuid, is_explicit=True))
    return build_context([*records, pointer], size=0)


def then(records: list[Record], uuid: str) -> Context:
    """Return what it would send had the file ended there."""
    last = max(record.line for record in records if record.uuid == uuid)
    return context_at([record for record in records if record.line <= last], uuid)


def places(session: Session) -> list[Record]:
    """Return the records that a session could go on from."""
    found = {record.uuid: record for record in read(session.path) if record.uuid}
    return [item for item in found.values() if item.type in CHAIN_TYPES and not item.is_sidechain]


def forks(session: Session, at: str) -> Plan:
    assert session.archive
    return session.archive.plan.fork(session, at)


@pytest.mark.parametrize("root", ROOTS, ids=named)
def test_a_fork_sends_what_the_client_sent_at_that_point(root: Path, tmp_path: Path) -> None:
    for session in editable(copied(root, tmp_path)):
        records = client_view(session.path)
        for record in places(session):
            if record.type != "user" or any(
                head.type == "tool_result" for head in record.block_heads
            ):
                continue
            assert record.uuid
            wanted = [context_at(records, record.uuid), then(records, record.uuid)]
            try:
                plan = forks(session, record.uuid)
            except UserError:
                assert not any(record.uuid in head.chain for head in wanted)
                continue
            found = context_of(apply_steps(plan))
            assert any(same_messages(plan, head, found) for head in wanted), record.uuid
            assert plan.check() == ()


U = {name: f"{at:08x}-1111-4222-8333-444444444444" for at, name in enumerate("abcdefghijklmn", 10)}
A, B, C, D, E, F, G, H, J, K = (U[name] for name in "abcdefghjk")


def texts(path: Path) -> list[str]:
    """Return what each record of a session says, or its kind."""
    return [words_of(record) or record.kind for record in read(path)]


def words_of(record: Record) -> str:
    content = record.fields.get("message", {}).get("content")
    if not isinstance(content, list):
        return str(content or "")
    return str(content[0].get("text") or content[0].get("content") or content[0].get("id"))


def forked(root: Path, at: str | int | None, **options: Any) -> list[str]:
    session = only(root)
    assert session.archive
    plan = session.archive.plan.fork(session, at, **options)
    path = apply_steps(plan)
    assert plan.check() == ()
    assert plan.after.bytes == path.stat().st_size
    assert plan.after.lines == len(list(read(path)))
    return texts(path)


def prompt_of(uuid: str) -> str:
    return f"prompt {uuid[:8]}"


def answers(uuid: str) -> str:
    return f"answer {uuid[:8]}"


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """Two turns with parallel calls in the first, and a rewind."""
    return root_with(
        tmp_path,
        user(A),
        answer(B, A, {"type": "text", "text": "let me look"}, id="m1"),
        answer(C, B, calls("t1"), id="m1"),
        answer(D, C, calls("t2"), id="m1"),
        result(E, C, "t1"),
        result(F, D, "t2"),
        answer(G, F),
        user(H, G),
        answer(J, H),
        user(K, G),
    )


FIRST = [prompt_of(A), "let me look", "t1", "t2", "result of t1", "result of t2"]


@pytest.mark.parametrize("at", [B, C, D, E, F])
def test_part_of_a_response_means_all_of_it_and_its_results(at: str, talk: Path) -> None:
    assert forked(talk, at) == FIRST
    assert len(context_of(last_written(talk)).chain) == len(FIRST)


def test_a_result_before_its_call_does_not_end_the_response(tmp_path: Path) -> None:
    lines = user(A), result(E, A, "t1"), answer(C, E, calls("t1")), user(H, C)
    assert forked(root_with(tmp_path, *lines), C) == [prompt_of(A), "result of t1", "t1"]


def test_a_result_without_a_parent_does_not_end_the_response(tmp_path: Path) -> None:
    loose = {**result(E, A, "t1"), "parentUuid": None}
    root = root_with(tmp_path, user(A), answer(C, None, calls("t1")), loose)
    assert forked(root, C) == ["t1", "result of t1", "last-prompt"]
    ends = context_of(last_written(root))
    assert next(read(last_written(root))).uuid in ends.chain


def test_parts_of_a_response_after_the_next_prompt_are_left_out(
    tmp_path: Path,
) -> None:
    later = answer(D, C, id="m1")
    root = root_with(tmp_path, user(A), answer(B, A, id="m1"), user(C, B), later, user(E, D))
    assert forked(root, B) == [prompt_of(A), answers(B), prompt_of(C), answers(D), "last-prompt"]
    assert len(set(context_of(last_written(root)).chain)) == 3


def test_sibling_parts_of_a_response_belong_together(tmp_path: Path) -> None:
    both = [answer(B, A, calls("t1"), id="m1"), answer(C, A, calls("t2"), id="m1")]
    root = root_with(tmp_path, user(A), *both, result(D, B, "t1"), result(E, C, "t2"), user(F, E))
    assert forked(root, B) == [prompt_of(A), "t1", "t2", "result of t1", "result of t2"]


def test_parts_of_a_response_on_another_branch_do_not_end_it(tmp_path: Path) -> None:
    other = answer(D, C, calls("t1"), id="m1")
    root = root_with(tmp_path, user(A), answer(B, A, id="m1"), user(C), other, result(E, D, "t1"))
    path = apply_steps(forks(only(root), B))
    (leaf,) = [record.envelope.leaf_uuid for record in read(path) if record.type == "last-prompt"]
    (source,) = [item.forked_from for item in read(path) if item.uuid == leaf]
    assert source and source.message_uuid == B


def test_the_call_of_a_result_is_kept_from_another_branch(tmp_path: Path) -> None:
    lines = user(A), answer(B, A, calls("t1")), user(C), result(D, C, "t1"), answer(E, D)
    found = forked(root_with(tmp_path, *lines), D)
    assert found == [prompt_of(A), "t1", prompt_of(C), "result of t1"]


def last_written(root: Path) -> Path:
    [path] = [path for path in root.rglob("*.jsonl") if path.stem != SESSION]
    return path


def test_a_fork_can_end_at_a_prompt(talk: Path) -> None:
    assert forked(talk, A) == [prompt_of(A)]


@pytest.mark.parametrize("at", [1, "1", -2, prompt_of(A), f"PROMPT  {A[:8]}"])
def test_a_turn_number_means_the_end_of_the_turn(at: str | int, talk: Path) -> None:
    assert forked(talk, at) == [*FIRST, answers(G)]


@pytest.mark.parametrize("at", [J, prompt_of(H), H])
def test_an_abandoned_branch_can_be_forked(at: str, talk: Path) -> None:
    full = [*FIRST, answers(G), prompt_of(H), answers(J)]
    assert forked(talk, at) == (full[:-1] if at == H else full)


@pytest.mark.parametrize("at", [2, K, prompt_of(K), None])
def test_a_fork_before_a_turn_has_nothing_of_it(at: str | int | None, talk: Path) -> None:
    assert forked(talk, at, before=True) == [*FIRST, answers(G)]


@pytest.mark.parametrize("at", [H, J])
def test_a_fork_before_a_record_is_before_its_turn(at: str, talk: Path) -> None:
    assert forked(talk, at, before=True) == [*FIRST, answers(G)]


@pytest.mark.parametrize("at", [1, C])
def test_fork_before_the_first_turn_is_refused(at: str | int, talk: Path) -> None:
    with pytest.raises(UserError, match="start a new session instead"):
        forked(talk, at, before=True)


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (3, "no turn 3: the conversation has 2 turns"),
        (0, "no turn 0"),
        (-3, "no turn -3"),
        ("prompt", "3 prompts match 'prompt'"),
        ("never said", "no record, turn or prompt matches 'never said'"),
        ("", "no record, turn or prompt matches ''"),
    ],
)
def test_an_unknown_place_is_refused(at: str | int, words: str, talk: Path) -> None:
    with pytest.raises(UserError, match=words):
        forked(talk, at)


def test_a_record_that_is_not_a_message_cannot_be_forked(tmp_path: Path) -> None:
    root = root_with(tmp_path, user(A), {"type": "strange", "uuid": B, "parentUuid": A})
    with pytest.raises(UserError, match="is not a message that a session can continue from"):
        forked(root, B)


def test_title_is_the_last_line(talk: Path) -> None:
    assert forked(talk, A, title="Anew") == [prompt_of(A), "custom-title"]


def test_a_pointer_is_written_only_where_it_is_needed(tmp_path: Path) -> None:
    """Without an id of its response the client loses the first call's result, the last line."""
    lines = [
        user(A),
        answer(B, A, calls("t1"), id=None),
        answer(C, B, calls("t2"), id=None),
        result(E, C, "t2"),
        result(D, B, "t1"),
        user(F, E),
    ]
    root = root_with(tmp_path, *lines)
    found = forked(root, E)
    assert found[-2:] == ["result of t1", "last-prompt"]
    assert len(context_of(last_written(root)).chain) == 4
    assert forked(root_of(root, tmp_path), F)[-1] == prompt_of(F)


def test_session_lines_are_kept_and_lines_of_removed_records_are_not(tmp_path: Path) -> None:
    def note(kind: str, **more: Any) -> dict[str, Any]:
        return {"type": kind, "sessionId": SESSION, **more}

    root = root_with(
        tmp_path,
        note("mode", mode="plan"),
        note("queue-operation", content="first"),
        note("file-history-snapshot", messageId=A, snapshot={"messageId": A}),
        user(A),
        note("never-seen", of=A),
        answer(B, A),
        note("last-prompt", leafUuid=B),
        note("queue-operation", content="second"),
        note("file-history-snapshot", messageId=C, snapshot={"messageId": C}),
        user(C, B),
        note("cost-state"),
        note("custom-title", customTitle="named later"),
        note("summary", summary="about C", leafUuid=C),
        note("summary", summary="about another session", leafUuid=U["n"]),
        answer(D, C),
    )
    assert forked(root, B) == [
        "mode",
        "queue-operation",
        "file-history-snapshot",
        prompt_of(A),
        "never-seen",
        answers(B),
        "custom-title",
        "summary",
    ]
    assert forked(root_of(root, tmp_path), D).count("queue-operation") == 2


def root_of(root: Path, folder: Path) -> Path:
    (path,) = root.rglob(f"{SESSION}.jsonl")
    return root_with(folder / "again", path.read_bytes())


def test_blank_and_broken_lines_are_left_out(tmp_path: Path) -> None:
    root = root_with(tmp_path, user(A), b"\n", b'{"type":"us\n', answer(B, A))
    assert forked(root, B) == [prompt_of(A), answers(B)]


def glued(*lines: dict[str, Any]) -> bytes:
    return b"".join(line_of(line)[:-1] for line in lines) + b"\n"


def late(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of the next hour, which stands in for no missing parent."""
    return {**line, "timestamp": "2026-11-02T10:00:00.000Z"}


def test_the_record_at_the_start_of_a_broken_line_gets_its_own_line(tmp_path: Path) -> None:
    padded = line_of(answer(B, A))[:-1] + b"\0\0\n"
    root = root_with(tmp_path, user(A), padded, late(user(C, B)), answer(D, C), user(E, D))
    assert forked(root, D) == [prompt_of(A), answers(B), prompt_of(C), answers(D)]
    assert len(context_of(last_written(root)).chain) == 4


def test_the_rest_of_a_broken_line_is_left_out(tmp_path: Path) -> None:
    root = root_with(tmp_path, user(A), glued(answer(B, A), user(F, B)), user(C, B), answer(D, C))
    plan = forks(only(root), D)
    assert texts(apply_steps(plan)) == [prompt_of(A), answers(B), prompt_of(C), answers(D)]
    assert plan.after.turns == plan.before.turns == 2


def test_a_fork_can_end_at_the_record_at_the_start_of_a_broken_line(tmp_path: Path) -> None:
    root = root_with(tmp_path, user(A), glued(answer(B, A), user(F, B)), user(C, B))
    assert forked(root, B) == [prompt_of(A), answers(B)]


def boundary(uuid: str, logical: str | None, **more: Any) -> dict[str, Any]:
    found = user(uuid, None, type="system", subtype="compact_boundary", **more)
    del found["message"]
    return {**found, "logicalParentUuid": logical}


@pytest.mark.parametrize("logical", [C, U["n"], None])
def test_history_before_a_compaction_is_kept(logical: str | None, tmp_path: Path) -> None:
    recap = user(E, D, isCompactSummary=True)
    lines = [user(A), answer(B, A), user(C, A), boundary(D, logical), recap, user(F, E)]
    found = forked(root_with(tmp_path, *lines), F)
    assert found == [prompt_of(A), prompt_of(C), "system", prompt_of(E), prompt_of(F)]


def test_a_later_compaction_is_ignored(tmp_path: Path) -> None:
    kept = {"preservedMessages": {"anchorUuid": E, "uuids": [C]}}
    recap = user(E, D, isCompactSummary=True)
    last = boundary(D, C, compactMetadata=kept)
    root = root_with(tmp_path, user(A), answer(B, A), user(C, B), last, recap, user(F, E))
    assert forked(root, B) == [prompt_of(A), answers(B)]


def test_the_first_line_of_a_repeated_record_decides_about_later_compactions(
    tmp_path: Path,
) -> None:
    kept = {"preservedMessages": {"anchorUuid": E, "uuids": [C]}}
    recap = user(E, D, isCompactSummary=True)
    last = boundary(D, C, compactMetadata=kept)
    lines = [user(A), answer(B, A), user(C, B), last, recap, user(F, E), answer(B, A)]
    assert forked(root_with(tmp_path, *lines), B) == [prompt_of(A), answers(B), answers(B)]


def test_repeated_records_do_not_refer_to_left_out_ones(tmp_path: Path) -> None:
    lines = [user(A), user(B), answer(C, A), user(D, B), user(D, C), user(D, C)]
    assert forked(root_with(tmp_path, *lines), D) == [
        prompt_of(A),
        answers(C),
        prompt_of(D),
        prompt_of(D),
    ]


def test_inline_agents_are_kept_with_the_call_that_started_them(tmp_path: Path) -> None:
    lines = [
        user(A),
        user(B, None, isSidechain=True),
        answer(C, B, isSidechain=True),
        answer(D, A),
        user(E, D),
        user(F, E, isSidechain=True),
        answer(G, E),
    ]
    assert forked(root_with(tmp_path, *lines), D) == [
        prompt_of(A),
        prompt_of(B),
        answers(C),
        answers(D),
    ]


def test_an_inline_agent_before_the_first_message_is_left_out(
    tmp_path: Path,
) -> None:
    lines = [user(B, None, isSidechain=True), user(A), answer(D, A), user(E, D)]
    assert forked(root_with(tmp_path, *lines), D) == [prompt_of(A), answers(D)]


def test_side_files_are_copied_with_the_lines_that_name_them(tmp_path: Path) -> None:
    snapshot = {"trackedFileBackups": {"x": {"backupFileName": "0a@v1"}}, "messageId": A}
    root = root_with(
        tmp_path,
        {"type": "file-history-snapshot", "messageId": A, "snapshot": snapshot},
        user(A),
        answer(B, A, calls("t1")),
        result(C, B, "t1", toolUseResult={"agentId": "a1", "runId": "wf_1"}),
        user(D, C),
        answer(E, D, calls("t2")),
        result(F, E, "t2", toolUseResult={"agentId": "a2", "runId": "wf_2"}),
    )
    folder = root / "projects" / "-home-dev-shop" / SESSION
    agents = folder / "subagents"
    write(agents / "agent-a1.jsonl", answer(G, None, calls("t9")))
    write(agents / "agent-a1.meta.json", {})
    write(agents / "agent-a2.jsonl", user(H))
    write(agents / "agent-a3.jsonl", user(J))
    write(agents / "agent-a3.meta.json", {"toolUseId": "t9"})
    write(agents / "agent-a4.jsonl", user(K, A))
    for run in ("wf_1", "wf_2"):
        write(agents / "workflows" / run / "journal.jsonl", {"type": "started"})
        write(folder / "workflows" / f"{run}.json", {})
    write(folder / "tool-results" / "t1.txt", "one")
    write(folder / "tool-results" / "t2.txt", "two")
    write(folder / "custom-title.json", {"customTitle": "named"})
    write(root / "file-history" / SESSION / "0a@v1", "was")
    write(root / "file-history" / SESSION / "0b@v1", "was")
    write(root / "tasks" / SESSION / "1.json", {})
    session = only(root)
    assert session.archive
    plan = session.archive.plan.fork(session, C)
    apply_steps(plan)
    assert plan.check() == ()
    beside = sorted(str(step.path).partition(plan.session)[2] for step in plan.steps[1:])
    assert beside == [
        "/0a@v1",
        "/custom-title.json",
        "/subagents/agent-a1.jsonl",
        "/subagents/agent-a1.meta.json",
        "/subagents/agent-a3.jsonl",
        "/subagents/agent-a3.meta.json",
        "/subagents/agent-a4.jsonl",
        "/subagents/workflows/wf_1/journal.jsonl",
        "/tool-results/t1.txt",
        "/workflows/wf_1.json",
    ]


@pytest.mark.parametrize("root", ROOTS, ids=named)
def test_clone_of_the_active_branch_sends_the_same_context(root: Path, tmp_path: Path) -> None:
    for session in editable(copied(root, tmp_path)):
        assert session.archive
        before = context_of(session.path)
        try:
            plan = session.archive.plan.clone(session, active_only=True)
        except UserError:
            assert not before.resumes or not before.chain
            continue
        assert same_messages(plan, before, context_of(apply_steps(plan)))
        assert plan.operation == "clone"
        assert plan.check() == ()
        assert plan.after.tokens == plan.before.tokens


def test_a_parent_in_the_log_of_a_left_out_agent_still_exists(tmp_path: Path) -> None:
    root = root_with(tmp_path, user(A), answer(B, A), user(C, G), answer(D, C))
    agents = root / "projects" / "-home-dev-shop" / SESSION / "subagents"
    write(agents / "agent-a1.jsonl", answer(G, B, isSidechain=True))
    session = only(root)
    plan = forks(session, D)
    assert [step.path for step in plan.steps] == [plan.path]
    assert plan.check() == ()
    *_, requested, _ = read(apply_steps(plan))
    assert requested.parent_uuid == G


def test_a_fork_reports_the_cost_of_the_next_prompt_and_its_break_even(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    talk = CachedSession(time=datetime.now(UTC) - timedelta(minutes=3))
    talk.ask(words=3000)
    talk.ask(timedelta(seconds=9), words=9000)
    talk.write(folder / f"{SESSION}.jsonl")
    plan = Archive([tmp_path]).plan.fork(SESSION, 1)
    before, after = plan.before.cost_usd, plan.after.cost_usd
    assert before and before.warm and after and after.warm and after.cold
    assert after.warm < before.warm
    assert plan.break_even_turns == pytest.approx(after.cold / (before.warm - after.warm))
    full = Archive([tmp_path]).plan.fork(SESSION, 2)
    assert full.after.cost_usd and full.after.cost_usd.warm == before.warm
    assert full.break_even_turns is None


def with_usage(line: dict[str, Any], tokens: int) -> dict[str, Any]:
    line["message"]["usage"] = {"input_tokens": tokens, "output_tokens": 10}
    return line


@pytest.fixture
def log_with_a_gap(tmp_path: Path) -> Path:
    """Three turns; the last line of the second is missing, which a hook's progress names."""
    long = {"message": {"role": "user", "content": "words " * 8000}}
    lines = [
        user(A),
        with_usage(answer(B, A), 1000),
        user(C, B, **long),
        with_usage(answer(D, C), 20_000),
        user(E, K, type="progress", data={"type": "hook_progress"}),
        user(F, E),
        with_usage(answer(G, F), 20_500),
        user(H, G),
        with_usage(answer(J, H), 21_000),
    ]
    timed = (
        {**line, "timestamp": f"2026-11-02T09:{at:02}:00.000Z"} for at, line in enumerate(lines)
    )
    return root_with(tmp_path, *timed)


def test_fork_keeps_the_turns_before_a_missing_line(log_with_a_gap: Path) -> None:
    session = only(log_with_a_gap)
    plan = forks(session, "3")
    assert (plan.before.turns, plan.after.turns) == (4, 3)
    found = texts(apply_steps(plan))
    assert found[:2] == [prompt_of(A), answers(B)]
    assert found[-2:] == [prompt_of(F), answers(G)]
    assert len(found) == 7
    assert len(context_of(plan.path).chain) == 2
    assert any("line 6 " in note for note in plan.notes)


def test_resume_tokens_leave_out_what_the_client_does_not_reach(
    log_with_a_gap: Path,
) -> None:
    plan = forks(only(log_with_a_gap), "3")
    assert plan.after.tokens is not None
    assert 1000 <= plan.after.tokens < 1200


def test_fork_before_a_compaction_warns_that_it_sends_more(tmp_path: Path) -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "logicalParentUuid": D}
    root = root_with(
        tmp_path,
        user(A),
        with_usage(answer(B, A), 1000),
        user(C, B),
        with_usage(answer(D, C), 9000),
        {**user(E), **boundary, "compactMetadata": {"trigger": "manual"}},
        user(F, E, isCompactSummary=True),
        user(G, F),
        with_usage(answer(H, G), 2000),
    )
    plan = forks(only(root), "2")
    assert (plan.before.tokens, plan.after.tokens) == (2010, 9010)
    assert any("before a compaction" in note for note in plan.notes)
    assert not any("before a compaction" in note for note in forks(only(root), "3").notes)


def test_turn_ends_with_the_last_entry_after_its_prompt(tmp_path: Path) -> None:
    note = user(E, B, isMeta=True)
    root = root_with(tmp_path, user(A), answer(B, A), user(C, B), answer(D, C), note)
    assert forked(root, 2) == [prompt_of(A), answers(B), prompt_of(C), answers(D)]
