"""Sessions: loading, starting, continuing, forking, clearing, naming."""

import json
from pathlib import Path
from typing import Any

import pytest

import plait.chat
from plait.chat.context import LiveContext
from plait.chat.session_commands import clear_session, read_title, rename_session
from plait.errors import SourceError, UserError
from plait.graph.client import build_context
from plait.line import iter_lines
from plait.record import iter_client_records
from plait.write import SessionWriter
from plait.write.lines import VERSIONS, Version
from tests.chat.scripted_client import picture

ANSWER = [{"type": "text", "text": "A"}]


def write_log(path: Path, *entries: dict[str, object]) -> Path:
    """Return a file of some lines."""
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


def test_session_loads_as_the_protocol_says(tmp_path: Path) -> None:
    path = write_log(
        tmp_path / "session.jsonl",
        {"type": "file-history-snapshot", "messageId": "u1"},
        {"type": "user", "message": {"role": "user", "content": "before"}},
        {"type": "summary", "summary": "They spoke.", "leafUuid": "u1"},
        {"type": "user", "message": {"role": "user", "content": "go on"}},
        {"type": "user", "isMeta": True, "message": {"role": "user", "content": "a skill"}},
        {"type": "assistant", "requestId": "r1", "message": {"content": ANSWER}},
        {"type": "assistant", "requestId": "r1", "message": {"content": [{"type": "tool_use"}]}},
        {"type": "assistant", "requestId": "r2", "message": {"content": ANSWER}},
    )
    assert plait.chat.load_session(path) == [
        {"role": "user", "content": "[Previous conversation summary]: They spoke."},
        {"role": "user", "content": "go on"},
        {"role": "assistant", "content": [*ANSWER, {"type": "tool_use"}]},
        {"role": "assistant", "content": ANSWER},
    ]


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def draw_log(path: Path) -> list[str]:
    """The lines of a log as a drawing."""
    return picture(read_lines(path)).splitlines()


def resume_messages(path: Path) -> list[Any]:
    """What resuming a log would send."""
    return build_context(iter_client_records(iter_lines(path)), size=path.stat().st_size).messages


def start_session(folder: Path, cwd: Path, *prompts: str, **options: Any) -> SessionWriter:
    """A session of a few turns."""
    session = SessionWriter.new(folder, cwd=cwd, **options)
    for prompt in prompts:
        session.prompt(prompt)
        session.answer(f"To {prompt}")
    session.close()
    return session


def in_parallel(folder: Path, **options: Any) -> SessionWriter:
    """A session with two calls at once and a turn that was taken back."""
    session = SessionWriter.new(folder, cwd=folder, **options)
    session.prompt("Both.")
    with session.response() as response:
        first = response.call("Bash", {"command": "1"})
        second = response.call("Bash", {"command": "2"})
    session.result(second, "two")
    session.result(first, "one")
    end = session.answer("Done.").messages[-1]
    session.prompt("Taken back.")
    session.rewind(end)
    session.prompt("Instead.")
    session.answer("Well.")
    session.close()
    return session


def test_fork_copies_the_context_with_its_first_message(tmp_path: Path) -> None:
    source = in_parallel(tmp_path)
    before = source.path.read_bytes()
    fork = SessionWriter.fork(source.path, tmp_path, session="f0f0")
    assert not fork.path.exists()
    assert fork.tip == source.tip
    fork.queue("enqueue", "Another way.")
    fork.prompt("Another way.")
    fork.answer("So.")
    fork.close()
    assert source.path.read_bytes() == before
    picture = [line for line in draw_log(fork.path) if "snapshot" not in line]
    assert picture == [
        "     queue-operation enqueue",
        "A<·  user Both.",
        "B<A  assistant Bash({'command': '1'})",
        "C<B  assistant Bash({'command': '2'})",
        "D<C  user → two",
        "E<B  user → one",
        "F<E  assistant Done.",
        "G<F  user Instead.",
        "H<G  assistant Well.",
        "I<H  user Another way.",
        "J<I  assistant So.",
        "     last-prompt",
    ]
    entries = [line for line in read_lines(fork.path) if "uuid" in line]
    assert {line["sessionId"] for line in entries} == {"f0f0"}
    assert len({line["promptId"] for line in entries if "promptId" in line}) == 1
    assert {line.get("slug") for line in entries} == {None, fork.setting.slug}
    assert fork.setting.slug != source.setting.slug
    assert not any("forkedFrom" in line for line in entries)
    assert resume_messages(fork.path)[:-2] == resume_messages(source.path)
    live = LiveContext(fork)
    assert [message["role"] for message in live.messages()][-2:] == ["user", "assistant"]


def test_fork_of_a_compaction_begins_with_it(tmp_path: Path) -> None:
    source = SessionWriter.new(tmp_path, cwd=tmp_path)
    source.prompt("Long ago.")
    kept = source.answer("Kept.").messages
    source.compact("They spoke.", preserved=kept)
    source.prompt("Now.")
    source.answer("Yes.")
    source.close()
    fork = SessionWriter.fork(source.path, tmp_path, has_snapshots=False)
    fork.prompt("On.")
    assert [line[:3] for line in draw_log(fork.path)] == ["A<·", "B<A", "C<B", "D<C", "E<D", "F<E"]
    assert resume_messages(fork.path)[:4] == resume_messages(source.path)


def test_fork_closes_interrupted_calls(tmp_path: Path) -> None:
    source = SessionWriter.new(tmp_path, cwd=tmp_path)
    source.prompt("Go.")
    with source.response() as response:
        response.call("Bash", {"command": "sleep"})
    fork = SessionWriter.fork(source.path, tmp_path)
    fork.prompt("What became of it?")
    words = [line for line in draw_log(fork.path) if "Tool call interrupted" in line]
    assert len(words) == 1
    assert resume_messages(fork.path)[:4] == resume_messages(source.path)


def test_fork_keeps_the_title(tmp_path: Path) -> None:
    source = start_session(tmp_path, tmp_path, "x")
    for title in ("First", "Second"):
        rename_session(source, title)
    fork = SessionWriter.fork(source.path, tmp_path)
    fork.prompt("y")
    assert read_title(fork.path) == "Second"
    assert [line for line in draw_log(fork.path) if "title" in line or "agent-name" in line] == [
        "     custom-title",
        "     agent-name",
    ]


def test_fork_is_a_new_session(tmp_path: Path) -> None:
    source = start_session(tmp_path, tmp_path, "x", session="aaaa")
    with pytest.raises(UserError, match="session 'aaaa' already exists"):
        SessionWriter.fork(source.path, tmp_path, session="aaaa")
    fork = SessionWriter.fork(source.path, tmp_path, session="bbbb")
    fork.path.write_bytes(b"{}\n")
    with pytest.raises(SourceError):
        fork.prompt("y")


@pytest.mark.parametrize("version", VERSIONS)
def test_clear_starts_a_new_session(tmp_path: Path, version: Version) -> None:
    old = SessionWriter.new(
        tmp_path, cwd=tmp_path, version=version, model="claude-x", permission_mode="plan"
    )
    old.prompt("Before.")
    old.answer("y")
    new = clear_session(old)
    assert new.session != old.session
    assert new.path.parent == old.path.parent
    same = ("cwd", "version", "model", "permission_mode", "entrypoint", "git_branch")
    assert [getattr(new.setting, item) for item in same] == [
        getattr(old.setting, item) for item in same
    ]
    if version == "2.1.325":
        assert draw_log(old.path)[-1].strip() == "last-prompt"
        assert [line for line in draw_log(new.path) if "<" in line[:2]] == [
            "A<·  user <local-command-caveat>The command below was run ",
            "B<A  user <command-name>/clear</command-name>",
            "C<B  system local_command",
        ]
    new.prompt("z")
    assert "Before." not in str(resume_messages(new.path))


def test_answers_name_the_original_session(tmp_path: Path) -> None:
    first = start_session(tmp_path, tmp_path, "x")
    third = clear_session(clear_session(first))
    third.prompt("z")
    third.answer("y")
    answer = read_lines(third.path)[-1]
    assert (answer["sessionId"], answer["session_id"]) == (third.session, first.session)


def test_rename_writes_what_the_client_writes(tmp_path: Path) -> None:
    session = start_session(tmp_path, tmp_path, "x")
    assert read_title(session.path) is None
    assert (
        rename_session(session, "  The best\nof names ") == "Session renamed to: The best of names"
    )
    assert read_title(session.path) == "The best of names"
    added = read_lines(session.path)[-5:]
    assert [line["type"] for line in added] == [
        "custom-title",
        "agent-name",
        "system",
        "system",
        "user",
    ]
    assert added[0]["customTitle"] == added[1]["agentName"] == "The best of names"
    assert added[4]["isMeta"] and 'named this session "The best of names"' in str(added[4])
    beside = session.path.with_suffix("") / "custom-title.json"
    assert beside.read_bytes() == b'{"customTitle":"The best of names"}'
    with pytest.raises(UserError, match="a title cannot be empty"):
        rename_session(session, " \n")


def test_title_survives_clear(tmp_path: Path) -> None:
    session = start_session(tmp_path, tmp_path, "x", entrypoint="sdk-cli")
    rename_session(session, "First")
    rename_session(session, "Second")
    assert read_lines(session.path)[-1]["commandRun"] == {"command": "rename", "args": "Second"}
    assert not any("named this session" in str(line) for line in read_lines(session.path))
    new = clear_session(session)
    assert [line["type"] for line in read_lines(new.path)][:2] == ["custom-title", "agent-name"]
    assert read_title(new.path) == "Second"
    assert (new.path.with_suffix("") / "custom-title.json").exists()


def test_older_version_has_only_a_title(tmp_path: Path) -> None:
    session = start_session(tmp_path, tmp_path, "x", version="2.1.29")
    rename_session(session, "Name")
    assert [line["type"] for line in read_lines(session.path)][-3:] == [
        "custom-title",
        "system",
        "system",
    ]
    assert not session.path.with_suffix("").exists()


def test_invalid_title_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    assert read_title(path) is None
    head = b'{"type":"custom-title"'
    path.write_bytes(head + b',"customTitle":"A"}\n' + head + b',"customTitle":7}\n' + head)
    assert read_title(path) == "A"
