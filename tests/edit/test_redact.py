"""Redacted sessions: every copy of a text, in a new session or in place."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait import Archive
from plait.archive import build_plan_report
from plait.edit.plan import Plan
from plait.edit.redaction import THOUGHT
from plait.errors import Refused
from plait.redact import Redactor, Rules
from tests.edit.copies import (
    SESSION,
    answer,
    context_of,
    copied,
    editable,
    gallery,
    named,
    root_with,
    user,
    write,
)
from tests.edit.plans import LONG_AGO, MEMORY, put, tree

A, B, C, D = (f"{number:08x}-1111-4222-8333-444444444444" for number in (10, 11, 12, 13))
KEY = "ghp_" + "Zk4QwErTyUiOpAsDfGhJkLzXcVbNm1234567"[:36]
HOME = "/home/alicia"
CWD = f"{HOME}/shop"
WAYS = pytest.mark.parametrize("in_place", [False, True], ids=["copy", "in place"])


def age_files(config: Path) -> Path:
    for path in config.rglob("*"):
        os.utime(path, ns=(LONG_AGO, LONG_AGO))
    return config


def planned(config: Path, **options: Any) -> Plan:
    return Archive([config]).plan.redact(SESSION, **options)


def done(config: Path, **options: Any) -> Plan:
    plan = planned(config, **options)
    assert plan.check() == ()
    plan.apply()
    return plan


def result_bytes(config: Path, plan: Plan) -> bytes:
    """Return all that belongs to the session that results."""
    found = [path for path in config.rglob("*") if path.is_file() and ".plait" not in path.parts]
    own = [path for path in found if plan.session in str(path)]
    if plan.session == SESSION:
        own += [config / "history.jsonl", *config.rglob("sessions-index.json")]
    return b"\n".join(path.read_bytes() for path in own if path.exists())


def thought(words: str) -> dict[str, str]:
    return {"type": "thinking", "thinking": words, "signature": "c2lnbmVk"}


def full(config: Path, key: str = KEY) -> Path:
    """Make a session that tells a key in every place that a text may stand in."""
    report = f"export GITHUB_TOKEN={key}"
    result = {"type": "tool_result", "tool_use_id": "t1", "content": key}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"echo {key}"}}
    place = {"cwd": CWD}
    root_with(
        config,
        user(A, message={"role": "user", "content": report}, **place),
        answer(B, A, call, **place),
        user(
            C,
            B,
            message={"role": "user", "content": [result]},
            toolUseResult={"stdout": key, "originalFile": report, key: 1},
            **place,
        ),
        answer(D, C, **place),
        {"type": "progress", "data": {"type": "bash_progress", "output": key}, "uuid": "p"},
        {
            "type": "queue-operation",
            "operation": "enqueue",
            "content": report,
            "sessionId": SESSION,
        },
        {"type": "last-prompt", "lastPrompt": report, "leafUuid": D, "sessionId": SESSION},
        {"type": "custom-title", "customTitle": f"with {key}", "sessionId": SESSION},
        {"type": "ai-title", "aiTitle": f"with {key}", "sessionId": SESSION},
        {"type": "summary", "summary": f"told {key}", "leafUuid": D},
        {"type": "api-request-blob", "message": {"content": report}, "sessionId": SESSION},
        {
            "type": "file-history-snapshot",
            "messageId": A,
            "snapshot": {"messageId": A, "trackedFileBackups": {f"{CWD}/{key}": {}}},
        },
        f'{{"torn": "{key}'.encode() + b"\n",
    )
    log = config / "projects" / "-home-dev-shop" / f"{SESSION}.jsonl"
    folder = log.with_suffix("")
    agent = user("a" * 8, message={"role": "user", "content": report}, agentId="a1", **place)
    write(folder / "subagents" / "agent-a1.jsonl", agent)
    for name, text in {
        folder / "subagents" / "agent-a1.meta.json": json.dumps({"description": report}),
        folder / "tool-results" / "t1.txt": f"printed {key}\n",
        folder / "custom-title.json": json.dumps({"customTitle": key}),
        config / "file-history" / SESSION / "0123456789abcdef@v1": f"token = '{key}'\n",
        config / "tasks" / SESSION / "1.json": json.dumps({"subject": key}, indent=2),
        config / "todos" / f"{SESSION}-agent-x.json": json.dumps([{"content": key}]),
        log.parent / "sessions-index.json": json.dumps(
            {"entries": [{"sessionId": SESSION, "firstPrompt": report, "projectPath": CWD}]}
        ),
        config / "history.jsonl": json.dumps(
            {"display": report, "project": CWD, "sessionId": SESSION}
        )
        + "\n"
        + json.dumps({"display": "of another", "project": CWD, "sessionId": "other"})
        + "\n",
    }.items():
        put(name, text.encode())
    return age_files(config)


@WAYS
def test_a_key_is_removed_everywhere(tmp_path: Path, in_place: bool) -> None:
    config = full(tmp_path)
    plan = done(config, in_place=in_place)
    assert KEY.encode() not in result_bytes(config, plan)
    assert "‹secret 1: ".encode() in result_bytes(config, plan)


@settings(max_examples=12)
@given(st.permutations(KEY.removeprefix("ghp_")).map("".join))
def test_any_generated_key_is_removed_everywhere(letters: str) -> None:
    with TemporaryDirectory(dir=MEMORY) as folder:
        config = full(Path(folder), f"ghp_{letters}")
        plan = done(config, in_place=True)
        assert letters.encode() not in result_bytes(config, plan)


@WAYS
def test_plan_and_report_do_not_contain_the_key(tmp_path: Path, in_place: bool) -> None:
    config = full(tmp_path)
    plan = planned(config, in_place=in_place)
    assert KEY not in repr(build_plan_report(plan, plan.check()))
    edit = plan.apply()
    entry = config / ".plait" / "journal" / edit.id / "entry.json"
    assert KEY not in entry.read_text()
    assert any(
        "‹secret" in (difference.after or "") for difference in build_plan_report(plan).differences
    )


@WAYS
def test_a_redacted_session_is_still_found_and_resumed(tmp_path: Path, in_place: bool) -> None:
    config = full(tmp_path)
    before = context_of(Archive([config]).session(SESSION).path)
    plan = done(config, in_place=in_place)
    after = context_of(plan.path)
    assert after.resumes
    assert [role for role, _ in after.messages] == [role for role, _ in before.messages]
    cwds = {json.loads(line).get("cwd") for line in plan.path.read_bytes().splitlines()[:4]}
    assert cwds == {CWD}
    assert any("the working directory is kept" in note for note in plan.notes)


def test_names_of_people_are_hidden_in_messages(tmp_path: Path) -> None:
    words = {"role": "user", "content": f"look at {HOME}/notes"}
    config = age_files(root_with(tmp_path, user(A, message=words, cwd=CWD), answer(B, A, cwd=CWD)))
    done(config, in_place=True)
    first, second = Archive([config]).session(SESSION).path.read_bytes().splitlines()
    assert json.loads(first)["message"]["content"] == "look at /home/‹user 1›/notes"
    assert (json.loads(first)["cwd"], json.loads(second)["cwd"]) == (CWD, CWD)


def test_line_without_secrets_keeps_its_bytes(tmp_path: Path) -> None:
    odd = (
        b'{ "type":"assistant", "cwd":"/home/alicia/shop", "n": 1.50, "uuid":"'
        + B.encode()
        + b'","parentUuid":"'
        + A.encode()
        + b'","message":{"role":"assistant","content":[{"type":"text","text":"h\\u00e9"}]} }\r\n'
    )
    report = {"role": "user", "content": f"token {KEY}"}
    config = age_files(root_with(tmp_path, user(A, message=report, cwd=CWD), odd))
    plan = done(config, in_place=True)
    assert plan.path.read_bytes().splitlines(keepends=True)[1] == odd
    assert (plan.count_lines("rewritten"), plan.count_lines("kept")) == (1, 1)


def test_a_session_without_secrets_is_unchanged(tmp_path: Path) -> None:
    config = age_files(root_with(tmp_path, user(A, cwd=CWD), answer(B, A, cwd=CWD)))
    plan = planned(config, in_place=True)
    assert plan.steps == ()
    assert "nothing found to redact" in plan.notes


@WAYS
def test_thinking_with_a_secret_is_removed_and_the_chain_kept(
    tmp_path: Path, in_place: bool
) -> None:
    config = root_with(
        tmp_path,
        user(A, message={"role": "user", "content": f"GITHUB_TOKEN={KEY}"}),
        answer(B, A, thought(f"I see {KEY}"), id="m"),
        answer(C, B, id="m"),
        answer(D, C, thought("nothing"), {"type": "text", "text": "done"}, id="n"),
    )
    age_files(config)
    plan = done(config, in_place=in_place)
    lines = [json.loads(line) for line in plan.path.read_bytes().splitlines()]
    assert (lines[1]["type"], lines[1]["content"]) == ("system", THOUGHT)
    assert lines[1]["uuid"] == lines[2]["parentUuid"]
    assert "message" not in lines[1]
    assert lines[3]["message"]["content"][0] == thought("nothing")
    assert [role for role, _ in context_of(plan.path).messages] == [
        "user",
        "assistant",
        "assistant",
    ]
    assert any("thinking blocks" in note for note in plan.notes)


def test_only_the_thinking_of_a_longer_response_is_removed(tmp_path: Path) -> None:
    config = root_with(
        tmp_path,
        user(A, message={"role": "user", "content": f"GITHUB_TOKEN={KEY}"}),
        answer(B, A, thought(f"I see {KEY}"), {"type": "text", "text": "yes"}, thought("kept")),
    )
    plan = done(age_files(config), in_place=True)
    line = json.loads(plan.path.read_bytes().splitlines()[1])
    assert line["message"]["content"] == [{"type": "text", "text": "yes"}, thought("kept")]


def test_binary_files_are_kept_and_reported(tmp_path: Path) -> None:
    config = full(tmp_path)
    picture = put(
        config / "file-history" / SESSION / "fedcba9876543210@v1", b"\x89PNG\0" + KEY.encode()
    )
    age_files(config)
    plan = done(config, in_place=True)
    assert KEY.encode() in picture.read_bytes()
    assert any("not checked: 1 binary file" in note for note in plan.notes)


def test_redacted_file_backups_are_noted(tmp_path: Path) -> None:
    assert any("rewind" in note for note in planned(full(tmp_path), in_place=True).notes)
    (tmp_path / "file-history" / SESSION / "0123456789abcdef@v1").write_bytes(b"nothing")
    assert not any("rewind" in note for note in planned(tmp_path, in_place=True).notes)


def test_prompt_history_of_other_sessions_keeps_its_bytes(tmp_path: Path) -> None:
    config = full(tmp_path)
    history = config / "history.jsonl"
    other = history.read_bytes().splitlines()[1]
    done(config, in_place=True)
    own, after = history.read_bytes().splitlines()
    assert after == other
    assert json.loads(own)["project"] == CWD


def test_other_sessions_are_not_redacted(tmp_path: Path) -> None:
    config = full(tmp_path)
    theirs = json.dumps({"display": KEY, "project": CWD, "sessionId": "other"}).encode() + b"\n"
    with (config / "history.jsonl").open("ab") as file:
        file.write(theirs)
    index = config / "projects" / "-home-dev-shop" / "sessions-index.json"
    entries = [*json.loads(index.read_bytes())["entries"], {"sessionId": "o", "firstPrompt": KEY}]
    index.write_text(json.dumps({"entries": entries}))
    done(age_files(config), in_place=True)
    assert (config / "history.jsonl").read_bytes().endswith(theirs)
    own, other = json.loads(index.read_bytes())["entries"]
    assert KEY not in own["firstPrompt"]
    assert other["firstPrompt"] == KEY


def test_a_secret_found_only_in_the_prompt_history_is_hidden_in_the_session(tmp_path: Path) -> None:
    value = "vQ7xLm2pRt9wZk4c"
    output = {"role": "user", "content": f"use {value} for it"}
    config = root_with(tmp_path, user(A, message=output, cwd=CWD), answer(B, A, cwd=CWD))
    report = {"display": f"DB_PASSWORD={value}", "project": CWD, "sessionId": SESSION}
    put(config / "history.jsonl", json.dumps(report).encode() + b"\n")
    plan = done(age_files(config), in_place=True)
    assert value.encode() not in log_bytes(plan)


def log_bytes(plan: Plan) -> bytes:
    return plan.path.read_bytes()


def test_redacted_copy_changes_nothing_else(tmp_path: Path) -> None:
    config = full(tmp_path)
    before = tree(config)
    plan = done(config)
    after = tree(config)
    assert {name: after[name] for name in before} == before
    assert plan.session != SESSION
    Archive([config]).undo()
    assert tree(config) == before


def test_undo_restores_the_original_until_it_is_forgotten(tmp_path: Path) -> None:
    config = full(tmp_path)
    before = tree(config)
    plan = done(config, in_place=True)
    assert any("--forget" in note for note in plan.notes)
    Archive([config]).undo()
    assert tree(config) == before
    edit = planned(config, in_place=True).apply()
    Archive([config]).journals.forget(edit.id)
    left = b"".join(path.read_bytes() for path in config.rglob("*") if path.is_file())
    assert KEY.encode() not in left


def test_earlier_edits_that_keep_the_original_are_noted(tmp_path: Path) -> None:
    config = full(tmp_path)
    assert not any("earlier edit" in note for note in planned(config, in_place=True).notes)
    Archive([config]).plan.clone(SESSION).apply()  # of which the session itself has nothing
    assert not any("earlier edit" in note for note in planned(config, in_place=True).notes)
    Archive([config]).plan.rename(SESSION, "Another").apply()
    assert any("from 1 earlier edit" in note for note in planned(config, in_place=True).notes)


def test_a_live_session_is_redacted_in_place_only_by_force(tmp_path: Path) -> None:
    config = full(tmp_path)
    os.utime(Archive([config]).session(SESSION).path)
    with pytest.raises(Refused, match="is live"):
        planned(config, in_place=True).apply()
    planned(config).apply()


def test_rules_of_the_user_apply(tmp_path: Path) -> None:
    words = {"role": "user", "content": "about Bluebird"}
    config = age_files(root_with(tmp_path, user(A, message=words), answer(B, A)))
    plan = planned(config, in_place=True, redactor=Redactor(Rules(words=("Bluebird",))))
    plan.apply()
    assert b"Bluebird" not in plan.path.read_bytes()


def test_copy_may_have_another_title(tmp_path: Path) -> None:
    plan = planned(full(tmp_path), title="To share")
    plan.apply()
    assert Archive([tmp_path]).session(plan.session).title == "To share"


@pytest.mark.parametrize("root", gallery(), ids=named)
def test_a_redacted_copy_of_an_example_sends_the_same(root: Path, tmp_path: Path) -> None:
    config = age_files(copied(root, tmp_path))
    for session in editable(config):
        before = context_of(session.path)
        plan = Archive([config]).plan.redact(session.id)
        assert plan.check() == ()
        plan.apply()
        after = context_of(plan.path)
        assert after.resumes == before.resumes
        assert shape(after.messages) == shape(before.messages)
        again = Archive([config]).plan.redact(plan.session, in_place=True)
        assert again.steps == ()


def shape(messages: Any) -> list[tuple[str, list[str]]]:
    """Return who says what kinds of things."""
    return [
        (role, [block["type"] for block in blocks if block["type"] != "thinking"])
        for role, blocks in messages
    ]
