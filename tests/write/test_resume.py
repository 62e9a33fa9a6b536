"""Continuing a session from where the client would, with its state."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import plait
from plait.errors import SourceError, UserError
from plait.graph.client import build_context
from plait.record import read
from plait.write.lines import VERSIONS, Version
from tests.write.stories import STORIES, compacted, interrupted, plain, rewound, tools, writer

CASES = sorted((Path(__file__).resolve().parents[2] / "examples" / "resume").glob("*/*.jsonl"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.parent.name)
def test_next_prompt_follows_the_clients_leaf(case: Path, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    shutil.copyfile(case, path)
    count = len(path.read_bytes().splitlines())
    before = build_context(list(read(path)), size=path.stat().st_size)
    session = plait.SessionWriter.resume(path, cwd="/tmp/app")
    assert session.tip == before.leaf
    uuid = session.prompt("What next?")
    lines = [json.loads(line) for line in path.read_bytes().splitlines()[count:]]
    added = [entry for entry in lines if "uuid" in entry]
    assert added[-1]["uuid"] == uuid
    follows = [entry["parentUuid"] for entry in added if "sourceToolAssistantUUID" not in entry]
    assert len(added) > len(follows) or follows[0] == before.leaf
    after = build_context(list(read(path)), size=path.stat().st_size)
    if before.resumes:
        assert after.leaf == uuid
        is_same = describe_blocks(after.messages)[:-1] == [
            *describe_blocks(before.messages),
            "What next?",
        ]
        assert is_same == (case.parent.name not in REPAIRED)


REPAIRED = {
    "call-before-words-of-a-turn-that-a-result-ends",
    "call-before-words-that-a-result-follows",
    "calls-after-the-last-words-and-a-result",
    "calls-beside-an-attachment-without-words",
    "note-that-leads-to-another-result",
    "open-call-of-the-response-that-began-last",
    "result-before-its-call-below-an-answer",
    "turn-cut-off-among-tools",
}
"""Shapes by chance in which calls stand unanswered before others that are answered: the client
sends or orders them in one way while they are the end, and in another once something follows."""


def describe_blocks(messages: list[tuple[str, list[dict[str, Any]]]]) -> list[Any]:
    """Return what is sent, block by block; where text meets text a line break is added."""
    blocks = [block for _, found in messages for block in found]
    return [
        block["text"].removesuffix("\n") if block["type"] == "text" else block for block in blocks
    ]


@pytest.mark.parametrize("name", STORIES)
def test_another_writer_can_continue_a_session(tmp_path: Path, name: str) -> None:
    with writer(tmp_path) as session:
        STORIES[name](session)
    with plait.SessionWriter.resume(session.path) as later:
        later.prompt("And?")
        later.answer("That is all.")
    path = session.path
    sent = build_context(list(read(path)), size=path.stat().st_size)
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


def test_counts_of_turns_and_messages_continue(tmp_path: Path) -> None:
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


def test_expansions_summaries_and_results_are_not_prompts(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        tools(session)
        session.expansion("added")
        session.compact("So far so good.")
    later = plait.SessionWriter.resume(session.path)
    later.prompt("x")
    asked = json.loads(session.path.read_bytes().splitlines()[-1])
    assert asked["turnPosition"]["turnIndex"] == 2


def test_a_resumed_session_can_be_rewound(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        rewound(session)
    records = [record for record in read(session.path) if record.uuid]
    later = plait.SessionWriter.resume(session.path)
    with pytest.raises(UserError, match=r"there is no message .* on the active branch"):
        later.rewind(records[2].uuid)  # on the branch that was left
    later.rewind(records[1].uuid)
    later.prompt("x")
    entries = [json.loads(line) for line in session.path.read_bytes().splitlines()]
    assert [entry["type"] for entry in entries[-2:]] == ["user", "last-prompt"]
    assert entries[-2]["parentUuid"] == records[1].uuid


def test_open_calls_can_still_be_answered(tmp_path: Path) -> None:
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


def test_interrupted_calls_are_answered_like_the_client_does(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.prompt("x")
    with session.response() as response:
        first, second = response.call("Bash", {}), response.call("Bash", {})
    session.result(first, "one")
    later = plait.SessionWriter.resume(session.path)
    later.prompt("y")
    later.prompt("z")
    lines = [json.loads(line) for line in session.path.read_bytes().splitlines()][5:]
    cut_off, made_up, _, asked, _, again = lines
    block = cut_off["message"]["content"][0]
    assert cut_off["parentUuid"] == response.messages[1] and block["tool_use_id"] == second
    assert block["content"].startswith("[Tool call interrupted: the session ended")
    assert block["is_error"] is True and cut_off["toolUseResult"] == block["content"]
    assert cut_off["toolDenialKind"] == "interrupted"
    assert made_up["message"]["content"][0]["text"] == "No response requested."
    assert made_up["message"]["model"] == "<synthetic>" and made_up["madeBy"] == "other"
    assert made_up["isApiErrorMessage"] is False
    assert (made_up["parentUuid"], asked["parentUuid"]) == (cut_off["uuid"], made_up["uuid"])
    assert again["parentUuid"] == asked["uuid"], "only what another left is closed"


def test_calls_answered_or_rewound_before_the_prompt_are_not_closed(tmp_path: Path) -> None:
    session = writer(tmp_path)
    asked = session.prompt("x")
    later = plait.SessionWriter.resume(session.path)
    later.answer("late, but here")
    later.prompt("y")
    rewound = plait.SessionWriter.resume(session.path)
    rewound.rewind(asked)
    rewound.prompt("z")
    assert b"No response requested." not in session.path.read_bytes()


def test_an_interruption_names_the_response_of_another_writer(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        interrupted(session)
    later = plait.SessionWriter.resume(session.path)
    later.interrupt()
    entries = [json.loads(line) for line in session.path.read_bytes().splitlines()]
    assert entries[-1]["interruptedMessageId"] == entries[-3]["message"]["id"]


def test_a_truncated_line_is_ended_first(tmp_path: Path) -> None:
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
    sent = build_context(list(read(session.path)), size=session.path.stat().st_size)
    results = [block["text"] for _, blocks in sent.messages for block in blocks]
    assert "Two." in results and "One." not in results


def test_missing_settings_have_defaults_or_are_required(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with pytest.raises(SourceError, match="no such file"):
        plait.SessionWriter.resume(path, cwd="/tmp/app")
    path.write_bytes(b'{"type":"mode","mode":"normal","sessionId":"s"}\n')
    with pytest.raises(UserError, match="does not name a working directory"):
        plait.SessionWriter.resume(path)
    session = plait.SessionWriter.resume(path, cwd="/tmp/app", git_branch="main", model="m")
    session.prompt("x")
    entry = json.loads(path.read_bytes().splitlines()[-1])
    assert (entry["parentUuid"], entry["gitBranch"], entry["sessionId"]) == (None, "main", "s")
    assert len(entry["slug"].split("-")) == 3
    assert len(path.read_bytes().splitlines()) == 2, "no snapshots outside of the client's folders"


def test_model_mode_and_branch_are_the_last_used(tmp_path: Path) -> None:
    with writer(tmp_path) as session:
        session.prompt("x")
        session.answer("y", model="claude-haiku")
        session.api_error("API Error")
        session.permission_mode("plan")
    later = plait.SessionWriter.resume(session.path)
    assert later.setting.model == "claude-haiku"
    assert later.setting.permission_mode == "plan"
    result = plait.SessionWriter.resume(
        session.path, model="m", permission_mode="default", cwd=tmp_path, version="2.1.29"
    )
    assert result.setting.model == "m" and result.setting.permission_mode == "default"
    assert result.setting.cwd == str(tmp_path.resolve()) and result.setting.is_older


@pytest.mark.parametrize(("letters", "is_forgotten"), [(10, False), (5_300_000, True)])
def test_large_log_is_read_like_the_client(
    tmp_path: Path, letters: int, is_forgotten: bool
) -> None:
    session = writer(tmp_path)
    session.prompt("x" * letters)
    old = session.answer("before").messages[-1]
    session.compact("There was a lot.")
    session.prompt("y")
    new = session.answer("after").messages[-1]
    session.state("last-prompt", leaf_uuid=old)
    assert plait.SessionWriter.resume(session.path).tip == (new if is_forgotten else old)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_pointer_that_leads_elsewhere_is_cleared(tmp_path: Path, version: Version) -> None:
    session = writer(tmp_path)
    asked = session.prompt("x")
    with session.response() as response:
        response.thinking("Only a thought, which the client drops.", "c2ln")
    session.last_prompt()
    later = plait.SessionWriter.resume(session.path, version=version)
    assert later.tip == asked
    uuid = later.prompt("y")
    sent = build_context(list(read(session.path)), size=session.path.stat().st_size)
    assert sent.leaf == uuid
    count = session.path.read_bytes().count(b"last-prompt")
    later.prompt("z")
    assert session.path.read_bytes().count(b"last-prompt") == count == 2


def test_a_pointer_next_to_interrupted_calls_is_cleared(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.prompt("x")
    with session.response() as response:
        response.call("Bash", {})
        response.call("Bash", {})
    session.last_prompt()
    later = plait.SessionWriter.resume(session.path)
    uuid = later.prompt("y")
    sent = build_context(list(read(session.path)), size=session.path.stat().st_size)
    assert sent.leaf == uuid
    assert b'"explicit":true' in session.path.read_bytes().splitlines()[-1]


def index_of_next(path: Path, **options: Any) -> int:
    """Which turn the next prompt says that it begins."""
    plait.SessionWriter.resume(path, **options).prompt("Next")
    data = json.loads(path.read_bytes().splitlines()[-1])
    return int(data["turnPosition"]["turnIndex"])


def test_only_user_prompts_count_as_turns(tmp_path: Path) -> None:
    session = writer(tmp_path)
    session.setting.entrypoint = "sdk-cli"
    session.prompt("One")
    session.command("cost", "", "1")
    session.command("compact", "", "Compacted", is_asked=True, is_heard=True)
    session.prompt("Two")
    session.interrupt()
    assert index_of_next(session.path) == 3


def test_turn_counts_continue_after_a_compaction(tmp_path: Path) -> None:
    session = writer(tmp_path)
    for number in range(4):
        session.prompt(f"{number}")
        session.answer("Yes.")
    session.compact("They counted.")
    assert index_of_next(session.path) == 5
    assert index_of_next(session.path) == 6
