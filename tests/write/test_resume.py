"""A session that goes on: from where the client would go on, with all that it was given."""

import json
import shutil
from pathlib import Path

import pytest

import plait
from plait.errors import SourceError, UserError
from plait.graph.client import context
from plait.record import read
from tests.write.stories import STORIES, compacted, interrupted, plain, rewound, tools, writer

CASES = sorted((Path(__file__).resolve().parents[2] / "examples" / "resume").glob("*/*.jsonl"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.parent.name)
def test_the_next_prompt_hangs_where_the_client_would_hang_it(case: Path, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    shutil.copyfile(case, path)
    before = context(list(read(path)), size=path.stat().st_size)
    session = plait.SessionWriter.resume(path, cwd="/tmp/app")
    assert session.tip == before.leaf
    uuid = session.prompt("What next?")
    entry = json.loads(path.read_bytes().splitlines()[-1])
    assert (entry["uuid"], entry["parentUuid"]) == (uuid, before.leaf)
    after = context(list(read(path)), size=path.stat().st_size)
    if before.resumes and before.leaf:
        assert after.leaf == uuid
        said = [block.get("text") for _, blocks in after.messages for block in blocks]
        assert "What next?" in said


@pytest.mark.parametrize("name", STORIES)
def test_what_one_writer_began_another_goes_on_with(tmp_path: Path, name: str) -> None:
    with writer(tmp_path) as session:
        STORIES[name](session)
    with plait.SessionWriter.resume(session.path) as later:
        later.prompt("And?")
        later.answer("That is all.")
    path = session.path
    sent = context(list(read(path)), size=path.stat().st_size)
    assert sent.leaf == later.tip
    assert sent.messages[-1] == ("assistant", [{"type": "text", "text": "That is all."}])
    entries = [json.loads(line) for line in path.read_bytes().splitlines()]
    last = entries[-2]
    assert (last["cwd"], last["gitBranch"], last["slug"], last["sessionId"]) == (
        "/tmp/app",
        "main",
        session.setting.slug,
        session.session,
    )
    assert later.setting.model == session.setting.model


def test_turns_and_messages_are_counted_on(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        plain(session)
        tools(session)
    later = plait.SessionWriter.resume(session.path)
    later.prompt("x")
    later.answer("y")
    later.turn_ended(1)
    asked, _, ended = (json.loads(line) for line in session.path.read_bytes().splitlines()[-3:])
    assert asked["turnPosition"] == {"promptIndex": 4, "turnIndex": 4}
    assert ended["messageCount"] == 6 + 11 + 2


def test_expansions_summaries_and_results_are_no_prompts(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        tools(session)
        session.expansion("added")
        session.compact("So far so good.")
    later = plait.SessionWriter.resume(session.path)
    later.prompt("x")
    asked = json.loads(session.path.read_bytes().splitlines()[-1])
    assert asked["turnPosition"]["turnIndex"] == 1


def test_a_rewind_of_a_session_that_goes_on_knows_its_messages(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        rewound(session)
    records = [record for record in read(session.path) if record.uuid]
    later = plait.SessionWriter.resume(session.path)
    with pytest.raises(UserError, match="leads to where this session stands"):
        later.rewind(records[2].uuid)  # on the branch that was left
    later.rewind(records[1].uuid)
    later.prompt("x")
    entries = [json.loads(line) for line in session.path.read_bytes().splitlines()]
    assert [entry["type"] for entry in entries[-2:]] == ["user", "last-prompt"]
    assert entries[-2]["parentUuid"] == records[1].uuid


def test_calls_that_wait_can_still_be_answered(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.prompt("x")
    with session.response() as response:
        first, second = response.call("Bash", {}), response.call("Bash", {})
    session.result(first, "one")
    later = plait.SessionWriter.resume(session.path)
    assert later.waiting_calls == (second,)
    later.result(second, "two")
    entry = json.loads(session.path.read_bytes().splitlines()[-1])
    assert entry["parentUuid"] == response.messages[1] == entry["sourceToolAssistantUUID"]


def test_an_interruption_names_the_response_that_another_wrote(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        interrupted(session)
    later = plait.SessionWriter.resume(session.path)
    later.interrupt()
    entries = [json.loads(line) for line in session.path.read_bytes().splitlines()]
    assert entries[-1]["interruptedMessageId"] == entries[-3]["message"]["id"]


def test_a_line_that_a_crash_tore_is_ended_first(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        plain(session)
    whole = session.path.read_bytes()
    session.path.write_bytes(whole[:-20])
    with plait.SessionWriter.resume(session.path) as later:
        later.prompt("x")
    lines = session.path.read_bytes().split(b"\n")
    assert b"\n".join(lines).startswith(whole[:-20] + b"\n{")
    assert [json.loads(line) for line in lines[-4:-1]]


def test_preserved_messages_are_found_again(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        compacted(session)
    later = plait.SessionWriter.resume(session.path)
    later.prompt("x")
    sent = context(list(read(session.path)), size=session.path.stat().st_size)
    said = [block["text"] for _, blocks in sent.messages for block in blocks]
    assert "Two." in said and "One." not in said


def test_what_is_not_said_is_told_or_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with pytest.raises(SourceError, match="no such file"):
        plait.SessionWriter.resume(path, cwd="/tmp/app")
    path.write_bytes(b'{"type":"mode","mode":"normal","sessionId":"s"}\n')
    with pytest.raises(UserError, match="does not say its working directory"):
        plait.SessionWriter.resume(path)
    session = plait.SessionWriter.resume(path, cwd="/tmp/app", git_branch="main", model="m")
    session.prompt("x")
    entry = json.loads(path.read_bytes().splitlines()[-1])
    assert (entry["parentUuid"], entry["gitBranch"], entry["sessionId"]) == (None, "main", "s")
    assert len(entry["slug"].split("-")) == 3
    assert len(path.read_bytes().splitlines()) == 2, "no snapshots outside of the client's folders"


def test_models_modes_and_branches_are_those_that_were_used_last(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        session.prompt("x")
        session.answer("y", model="claude-haiku")
        session.api_error("API Error")
        session.permission_mode("plan")
    later = plait.SessionWriter.resume(session.path)
    assert later.setting.model == "claude-haiku"
    assert later.setting.permission_mode == "plan"
    told = plait.SessionWriter.resume(
        session.path, model="m", permission_mode="default", cwd=tmp_path, version="2.1.29"
    )
    assert told.setting.model == "m" and told.setting.permission_mode == "default"
    assert told.setting.cwd == str(tmp_path.resolve()) and told.setting.is_older
