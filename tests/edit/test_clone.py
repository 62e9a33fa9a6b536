import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plait import Archive
from plait.archive import Session
from plait.edit.plan import Plan, Write
from plait.errors import UserError
from plait.record import read
from tests.edit.copies import (
    SESSION,
    apply_steps,
    context_of,
    copied,
    editable,
    gallery,
    named,
    names_in,
    only,
    plain_records,
    resume_cases,
    root_with,
    same_messages,
    user,
    write,
)

A, B, C, G = (f"{number:08x}-1111-4222-8333-444444444444" for number in (10, 11, 12, 16))
ELSEWHERE = "99999999-1111-4222-8333-444444444444"
ROOTS = [*gallery(), *resume_cases()]


def cloned(session: Session, **options: Any) -> Path:
    return apply_steps(plan_of(session, **options))


def plan_of(session: Session, **options: Any) -> Plan:
    assert session.archive
    return session.archive.plan.clone(session, **options)


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")[:-1]


@pytest.mark.parametrize("root", ROOTS, ids=named)
def test_a_clone_differs_from_its_source_in_ids_only(root: Path, tmp_path: Path) -> None:
    for session in editable(copied(root, tmp_path)):
        plan = plan_of(session)
        sent = context_of(session.path)
        path = apply_steps(plan)
        sent_by_clone = context_of(path)
        assert same_messages(plan, sent, sent_by_clone)
        assert sent_by_clone.resumes == sent.resumes
        assert len(sent_by_clone.chain) == len(sent.chain)
        before, after = list(read(session.path)), list(read(path))
        names = {**names_in(before, after), session.id: plan.session}
        assert list(plain_records(after, {})) == list(plain_records(before, names))
        assert plan.after.lines == plan.before.lines
        assert plan.after.bytes == path.stat().st_size
        assert all(item.session_id in (None, plan.session) for item in after)
        assert not set(names) & {item.uuid for item in after}
        second = cloned(Archive([path]).session_at(path))
        again = list(read(second))
        names = {**names_in(after, again), path.stem: second.stem}
        assert list(plain_records(again, {})) == list(plain_records(after, names))
        assert len(lines_of(second)) == len(lines_of(session.path))


def test_the_content_of_a_planned_clone_is_the_same_each_time(tmp_path: Path) -> None:
    plan = plan_of(only(root_with(tmp_path, user(A), user(B, A))))
    [step] = plan.steps
    assert isinstance(step, Write)
    assert b"".join(step.content()) == b"".join(step.content())


POINTERS: dict[str, Any] = {
    "logicalParentUuid": A,
    "leafUuid": A,
    "messageId": A,
    "snapshot": {"messageId": A},
    "snapshotMessageId": A,
    "sourceToolAssistantUUID": A,
    "compactMetadata": {
        "preservedSegment": {"headUuid": A, "anchorUuid": A, "tailUuid": A},
        "preservedMessages": {"anchorUuid": A, "uuids": [A, ELSEWHERE], "allUuids": [A]},
    },
    "retractedMessageUuids": [A],
    "supersedesUuids": [A],
    "interruptedMessageId": A,
    "microcompactMetadata": {"clearedAttachmentUUIDs": [A]},
    "attachment": {"type": "queued_command", "source_uuid": A},
    "parentLastUuid": A,
    "summaryUuid": A,
    "firstArchivedUuid": A,
    "not known yet": {"points": [{"to": A}]},
    "by id": {A: 1},
}


@pytest.mark.parametrize("field", POINTERS)
def test_references_to_a_record_become_references_to_its_copy(field: str, tmp_path: Path) -> None:
    pointer = user(B, A, **{field: POINTERS[field]})
    first, second = read(cloned(only(root_with(tmp_path, user(A), pointer))))
    assert second.parent_uuid == first.uuid
    assert A.encode() not in second.raw.replace(b'"messageUuid":"%b"' % A.encode(), b"")
    assert second.raw.count(ELSEWHERE.encode()) == json.dumps(pointer).count(ELSEWHERE)
    assert isinstance(first.uuid, str)
    assert json.dumps(second.fields[field]) == json.dumps(POINTERS[field]).replace(A, first.uuid)


@pytest.mark.parametrize("field", ["leafUuid", "messageId", "parentUuid"])
def test_text_that_names_no_id_of_the_session_is_unchanged(field: str, tmp_path: Path) -> None:
    [record] = read(cloned(only(root_with(tmp_path, user(A, **{field: ELSEWHERE})))))
    assert record.fields[field] == ELSEWHERE


def test_lines_without_uuid_get_the_new_session_id(tmp_path: Path) -> None:
    kinds = ("queue-operation", "last-prompt", "custom-title", "mode", "pr-link", "never-seen")
    notes = [{"type": kind, "sessionId": SESSION} for kind in kinds]
    plan = plan_of(only(root_with(tmp_path, user(A), *notes)))
    found = list(read(apply_steps(plan)))
    assert {record.session_id for record in found} == {plan.session}
    assert not any("forkedFrom" in record.fields for record in found[1:])


def test_lines_of_another_session_in_the_file_get_the_new_id(tmp_path: Path) -> None:
    foreign = user(B, A, sessionId=ELSEWHERE, session_id=ELSEWHERE)
    plan = plan_of(only(root_with(tmp_path, user(A), foreign)))
    _, second = read(apply_steps(plan))
    assert second.session_id == plan.session
    assert second.fields["session_id"] == ELSEWHERE  # the process's first session is still that one


def test_copied_record_names_its_original(tmp_path: Path) -> None:
    older = user(B, A, forkedFrom={"sessionId": ELSEWHERE, "messageUuid": C}, note=1)
    first, second = read(cloned(only(root_with(tmp_path, user(A), older))))
    assert first.fields["forkedFrom"] == {"sessionId": SESSION, "messageUuid": A}
    assert second.fields["forkedFrom"] == {"sessionId": SESSION, "messageUuid": B}
    assert second.raw.count(b"forkedFrom") == 1
    assert second.fields["note"] == 1


@pytest.mark.parametrize(
    "line",
    [
        b'{"uuid":"A","forkedFrom":null,"type":"user","sessionId":"S"}\n',
        b'{"uuid":"A","type":"user","sessionId":"S","forkedFrom":{"x":[1,{"y":2}]}}\n',
        b'{"forkedFrom":"?" , "uuid":"A","type":"user","sessionId":"S"} \r\n',
        b'{"uuid":"A","type":"user","sessionId":"S","toolUseResult":{"forkedFrom":1}}\n',
    ],
)
def test_an_earlier_note_of_the_source_is_replaced_once(line: bytes, tmp_path: Path) -> None:
    real = line.replace(b'"A"', b'"%b"' % A.encode()).replace(b'"S"', b'"%b"' % SESSION.encode())
    path = cloned(only(root_with(tmp_path, real)))
    [record] = read(path)
    pairs = json.loads(record.raw, object_pairs_hook=list)
    origins = [dict(value) for key, value in pairs if key == "forkedFrom"]
    assert origins == [{"sessionId": SESSION, "messageUuid": A}]
    assert path.read_bytes().endswith(b"\r\n") == real.endswith(b"\r\n")


def test_a_repeated_uuid_gets_one_new_id(tmp_path: Path) -> None:
    found = list(read(cloned(only(root_with(tmp_path, user(A), user(B, A), user(A))))))
    assert found[0].uuid == found[2].uuid == found[1].parent_uuid != found[1].uuid


def test_ids_that_are_not_uuids_are_replaced_only_in_id_fields(tmp_path: Path) -> None:
    item = user("user", None, sessionId="user", kind="user", userType="user")
    two = user("b", "user", sessionId="user", list=["user"], uuids=["user"])
    plan = plan_of(only(root_with(tmp_path, item, two, session="s1")))
    first, second = read(apply_steps(plan))
    assert first.type == first.fields["kind"] == first.fields["userType"] == "user"
    assert first.uuid == second.parent_uuid == second.fields["uuids"][0] != "user"
    assert second.fields["list"] == ["user"]
    assert first.session_id == second.session_id == plan.session


def test_an_escaped_id_is_recognised(tmp_path: Path) -> None:
    escaped = json.dumps(user(B, A)).replace(A, "\\u0030" + A[1:]).encode() + b"\n"
    first, second = read(cloned(only(root_with(tmp_path, user(A), escaped))))
    assert second.parent_uuid == first.uuid


def test_messages_and_tool_output_are_unchanged(tmp_path: Path) -> None:
    text = user(B, A, toolUseResult={"stdout": A, "ids": [A, SESSION]}, lastPrompt=A)
    text["message"]["content"] = [{"type": "text", "text": A}, {"type": "x", "y": {"z": SESSION}}]
    first, second = read(cloned(only(root_with(tmp_path, user(A), text))))
    assert second.parent_uuid == first.uuid
    for name in ("message", "toolUseResult", "lastPrompt"):
        assert second.fields[name] == text[name]


ODD_LINES = [
    b"\n",
    b"\r\n",
    b"   \n",
    b"not json\n",
    b"[1,2]\n",
    b'{"type":"user","uuid":"%b"}{"type":"user","sessionId":"%b"}\n' % (A.encode(), A.encode()),
    b"\0\0\0\0\n",
    b'\0\0{"type":"user","uuid":"%b","sessionId":"x"}\n' % A.encode(),
    b'{"type":"user","message":{"role":"us\n',
    b"\xff\xfe\n",
]


@pytest.mark.parametrize("odd", ODD_LINES)
def test_a_line_without_a_record_is_copied_unchanged(odd: bytes, tmp_path: Path) -> None:
    plan = plan_of(only(root_with(tmp_path, user(A), odd, user(B, A))))
    found = lines_of(apply_steps(plan))
    is_begun = odd.startswith(b'{"type":"user","uuid"')
    assert found[1] + b"\n" == odd if not is_begun else found[1].endswith(odd[odd.find(b"}{") : -1])
    assert plan.count_lines("kept") == 1 - is_begun
    assert plan.count_lines("rewritten") == 2 + is_begun


def test_recovered_record_of_a_broken_line_is_linked_in_the_copy(tmp_path: Path) -> None:
    late = {"timestamp": "2026-11-02T10:00:00.000Z"}
    padded = json.dumps(user(B, A, **late)).encode() + b' {"type":"us\n'
    root = root_with(tmp_path, user(A), padded, user(C, B, **late))
    before = context_of(only(root).path)
    plan = plan_of(only(root))
    path = apply_steps(plan)
    assert len(context_of(path).chain) == len(before.chain) == 3
    assert context_of(path).messages == before.messages
    assert lines_of(path)[1].endswith(b'} {"type":"us')
    assert plan.check() == ()


def test_the_second_record_of_a_broken_line_is_not_in_the_copy(tmp_path: Path) -> None:
    both = json.dumps(user(B, A)).encode() + json.dumps(user(G, B)).encode() + b"\n"
    path = cloned(only(root_with(tmp_path, user(A), both, user(C, G))))
    assert json.dumps(user(G, B)).encode() in lines_of(path)[1]
    assert json.loads(lines_of(path)[2])["parentUuid"] == G


@pytest.mark.parametrize("odd", ODD_LINES)
def test_a_clean_copy_keeps_the_readable_part_of_a_broken_line(odd: bytes, tmp_path: Path) -> None:
    plan = plan_of(only(root_with(tmp_path, user(B), odd, user(C, B))), clean=True)
    path = apply_steps(plan)
    assert plan.after.lines == len(lines_of(path)) == len(list(read(path)))
    assert plan.after.bytes == path.stat().st_size
    full = {5: 2, 7: 1}.get(ODD_LINES.index(odd), 0)
    assert len(lines_of(path)) == 2 + full
    assert plan.count_lines("dropped") == (0 if full else 1)


def test_byte_order_mark_and_carriage_returns_stay(tmp_path: Path) -> None:
    marked = b"\xef\xbb\xbf" + json.dumps(user(A)).encode() + b"\r\n"
    path = cloned(only(root_with(tmp_path, marked, user(B, A))))
    assert path.read_bytes().startswith(b"\xef\xbb\xbf{")
    assert lines_of(path)[0].endswith(b"}\r")
    assert A.encode() not in path.read_bytes().replace(b'"messageUuid":"%b"' % A.encode(), b"")


def test_numbers_escapes_and_spaces_keep_their_form(tmp_path: Path) -> None:
    odd = b'{ "type" : "user", "uuid": "%b", "a":1.00, "b":1e5, "c":"\\u00e9\\/", "a":2 }\n'
    path = cloned(only(root_with(tmp_path, odd % A.encode())))
    [line] = lines_of(path)
    assert line.startswith(b'{ "type" : "user", "uuid": "')
    assert b'"a":1.00, "b":1e5, "c":"\\u00e9\\/", "a":2 ,"forkedFrom"' in line


def test_a_title_is_appended_even_after_an_unterminated_line(tmp_path: Path) -> None:
    root = root_with(tmp_path, user(A), json.dumps(user(B, A)).encode())
    plan = plan_of(only(root), title=" Second try ")
    path = apply_steps(plan)
    assert [record.fields.get("customTitle") for record in read(path)] == [None, None, "Second try"]
    assert plan.count_lines("added") == 1
    assert plan.after.bytes == path.stat().st_size
    assert plan.after.lines == 3


def test_an_empty_title_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="title is empty"):
        plan_of(only(root_with(tmp_path, user(A))), title="  ")


def test_a_truncated_last_line_stays_truncated(tmp_path: Path) -> None:
    path = cloned(only(root_with(tmp_path, user(A), b'{"type":"us')))
    assert path.read_bytes().endswith(b'\n{"type":"us')


def sub_agent(agent: str, parent: str | None = None) -> Iterator[dict[str, Any]]:
    yield {"type": "fork-context-ref", "parentSessionId": SESSION, "parentLastUuid": A}
    yield user(C, parent, isSidechain=True, agentId=agent)


def test_side_files_are_copied(tmp_path: Path) -> None:
    root = root_with(tmp_path, user(A))
    project = root / "projects" / "-home-dev-shop"
    folder = project / SESSION
    write(folder / "subagents" / "agent-a1.jsonl", *sub_agent("a1", A))
    write(folder / "subagents" / "agent-a1.meta.json", {"toolUseId": "t", "parentSession": SESSION})
    write(folder / "subagents" / "workflows" / "wf_1" / "journal.jsonl", {"sessionId": SESSION})
    write(folder / "workflows" / "wf_1.json", {"transcriptDir": f"/x/{SESSION}/subagents/wf_1"})
    write(folder / "tool-results" / "t1.json", {"sessionId": SESSION, "uuid": A})
    write(root / "file-history" / SESSION / "0123456789abcdef@v1", "the file as it was", A)
    write(root / "tasks" / SESSION / "1.json", {"id": 1})
    write(root / "todos" / f"{SESSION}-agent-{SESSION}.json", [])
    write(root / "todos" / f"{ELSEWHERE}-agent-{ELSEWHERE}.json", [])
    plan = plan_of(only(root))
    [first] = read(apply_steps(plan))
    new = project / plan.session
    assert {str(step.path.relative_to(root)) for step in plan.steps} == {
        f"projects/-home-dev-shop/{plan.session}{rest}"
        for rest in (
            ".jsonl",
            "/subagents/agent-a1.jsonl",
            "/subagents/agent-a1.meta.json",
            "/subagents/workflows/wf_1/journal.jsonl",
            "/workflows/wf_1.json",
            "/tool-results/t1.json",
        )
    } | {
        f"file-history/{plan.session}/0123456789abcdef@v1",
        f"tasks/{plan.session}/1.json",
        f"todos/{plan.session}-agent-{plan.session}.json",
    }
    reference, prompt = read(new / "subagents" / "agent-a1.jsonl")
    assert reference.fields["parentSessionId"] == prompt.session_id == plan.session
    assert reference.fields["parentLastUuid"] == prompt.parent_uuid == first.uuid
    assert prompt.uuid != C
    assert prompt.forked_from and prompt.forked_from.message_uuid == C
    meta = json.loads((new / "subagents" / "agent-a1.meta.json").read_text())
    assert meta == {"toolUseId": "t", "parentSession": plan.session}
    run = json.loads((new / "workflows" / "wf_1.json").read_text())
    assert run == {"transcriptDir": f"/x/{plan.session}/subagents/wf_1"}
    output = (new / "tool-results" / "t1.json").read_bytes()
    assert output == (folder / "tool-results" / "t1.json").read_bytes()
    assert {path for path, _ in plan.read} == {
        path for path in root.rglob("*") if path.is_file() and SESSION in str(path)
    } - {step.path for step in plan.steps}


def test_an_agent_log_of_older_versions_is_copied_into_the_session_folder(tmp_path: Path) -> None:
    root = root_with(tmp_path, user(A))
    project = root / "projects" / "-home-dev-shop"
    write(project / "agent-1234567.jsonl", user(C, None, isSidechain=True, agentId="1234567"))
    plan = plan_of(only(root))
    apply_steps(plan)
    [record] = read(project / plan.session / "subagents" / "agent-1234567.jsonl")
    assert record.session_id == plan.session
    assert len(Archive([root]).session(plan.session).agents) == 1


def test_a_symlink_among_side_files_is_not_followed(tmp_path: Path) -> None:
    root = root_with(tmp_path / "root", user(A))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").write_text("")
    folder = root / "projects" / "-home-dev-shop" / SESSION
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    (folder / "file").symlink_to(tmp_path / "elsewhere" / "secret")
    assert len(plan_of(only(root)).steps) == 1


def persisted(path: str) -> str:
    return f"<persisted-output>\nOutput too large. Full output saved to: {path}\n"


def test_references_to_large_outputs_point_to_the_copy(tmp_path: Path) -> None:
    path = f"/home/dev/.claude/projects/p/{SESSION}/tool-results/t1.txt"
    result = user(B, A, toolUseResult={"persistedOutputPath": path})
    result["message"]["content"] = [{"type": "tool_result", "content": persisted(path)}]
    answer = user(C, B, type="assistant")
    answer["message"] = {"role": "assistant", "content": [{"type": "thinking", "thinking": path}]}
    windows = user(ELSEWHERE, C, note=path.replace("/", "\\"))
    plan = plan_of(only(root_with(tmp_path, user(A), result, answer, windows)))
    _, second, third, fourth = read(apply_steps(plan))
    moved = path.replace(SESSION, plan.session)
    assert second.fields["toolUseResult"] == {"persistedOutputPath": moved}
    assert second.fields["message"]["content"][0]["content"] == persisted(moved)
    assert third.fields["message"] == answer["message"]  # a signature vouches for its words
    assert fourth.fields["note"] == moved.replace("/", "\\")


def test_a_similar_path_is_unchanged(tmp_path: Path) -> None:
    paths = [f"/tmp/{SESSION}/scratch", f"/x/{SESSION}.jsonl", f"/x/1{SESSION}/tool-results/y"]
    [record] = read(cloned(only(root_with(tmp_path, user(A, paths=paths)))))
    assert record.fields["paths"] == paths


def test_a_copy_has_the_permissions_of_its_source(tmp_path: Path) -> None:
    root = root_with(tmp_path, user(A))
    session = only(root)
    session.path.chmod(0o640)
    step = plan_of(session).steps[0]
    assert isinstance(step, Write)
    assert step.mode == 0o640
    assert step.was is None
    assert not plan_of(session).is_in_place


def test_clone_does_not_change_totals(tmp_path: Path) -> None:
    root = copied(next(item for item in gallery() if item.name == "compaction"), tmp_path)
    before = Archive([root]).usage(by="model").rows
    for session in editable(root):
        cloned(session)
    assert Archive([root]).usage(by="model").rows == before
