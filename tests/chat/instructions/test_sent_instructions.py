"""Instructions in the log and in requests, as Claude Code has them."""

from pathlib import Path

import pytest

from plait.chat.events import Notice
from plait.write.lines import Version
from tests.chat.scripted_session import ScriptedSession, kinds, read


def test_instructions_are_sent_with_the_first_prompt(tmp_path: Path) -> None:
    """In the log behind the prompt; to the model before its words."""
    session = ScriptedSession(tmp_path)
    session.write("config/CLAUDE.md", "be brief\n")
    session.write("CLAUDE.md", "---\ntitle: x\n---\nuse tabs\n")
    session.write("CLAUDE.local.md", "mine\n")
    session.ask("Hello.", "And?")
    assert kinds(session.new_lines())[:3] == ["user", "instructions", "assistant"]
    [attachment] = session.attachments("instructions")
    config, work = session.config, session.work
    assert attachment["attachment"] == {
        "type": "instructions",
        "files": [
            {"path": f"{config}/CLAUDE.md", "type": "User", "content": "be brief"},
            {"path": f"{work}/CLAUDE.md", "type": "Project", "content": "use tabs"},
            {"path": f"{work}/CLAUDE.local.md", "type": "Local", "content": "mine"},
        ],
    }
    assert attachment["rendered"] == [
        {
            "content": f"""<system-reminder>
Codebase and user instructions are shown below. Be sure to adhere to these instructions. \
IMPORTANT: These instructions OVERRIDE any default behavior and you MUST follow them exactly \
as written.

Contents of {config}/CLAUDE.md (user's private global instructions for all projects):

be brief

Contents of {work}/CLAUDE.md (project instructions, checked into the codebase):

use tabs

Contents of {work}/CLAUDE.local.md (user's private project instructions, not checked in):

mine
</system-reminder>"""
        }
    ]
    assert (attachment["renderedRole"], attachment["session_id"]) == (
        "user",
        attachment["sessionId"],
    )
    first = session.messages[0]["content"]
    assert [block["text"][:40].strip() for block in first][-1] == "Hello."
    assert first[0]["text"].strip() == attachment["rendered"][0]["content"]


def test_without_instructions_nothing_is_sent(tmp_path: Path) -> None:
    """No line says that there are none."""
    session = ScriptedSession(tmp_path)
    session.ask("Hello.")
    assert "instructions" not in kinds(session.new_lines())


def test_a_resumed_session_gets_changed_instructions(tmp_path: Path) -> None:
    """Files that say something else, and those that are there no more."""
    session = ScriptedSession(tmp_path)
    session.write("CLAUDE.md", "one @more.md\n")
    session.write("more.md", "more\n")
    session.write("config/CLAUDE.md", "own\n")
    session.ask("Hello.")
    session.ask("And?")
    assert len(session.attachments("instructions")) == 1
    session.write("CLAUDE.md", "two\n")
    session.ask("And now?")
    attachments = session.attachments("instructions")[-1]
    work = session.work
    assert attachments["attachment"] == {
        "type": "instructions",
        "files": [{"path": f"{work}/CLAUDE.md", "type": "Project", "content": "two"}],
        "removed": [f"{work}/more.md"],
        "changed": True,
        "reason": "session_start",
    }
    assert attachments["rendered"][0]["content"] == (
        "<system-reminder>\nInstruction files were re-read when this session started; these differ"
        " from their earlier copies — each replaces its earlier copy, and the instructions preamble"
        f" above still applies:\n\nContents of {work}/CLAUDE.md (project instructions, checked into"
        f" the codebase):\n\ntwo\n\nInstructions no longer present: {work}/more.md\n"
        "</system-reminder>"
    )
    (work / "CLAUDE.md").unlink()
    session.ask("And then?", "And?")
    assert len(session.attachments("instructions")) == 3
    attachments = session.attachments("instructions")[-1]
    assert attachments["attachment"]["files"] == []
    assert attachments["rendered"][0]["content"] == (
        "<system-reminder>\nInstruction files were re-read when this session started.\n\n"
        f"Instructions no longer present: {work}/CLAUDE.md\n</system-reminder>"
    )


def test_after_a_compaction_instructions_are_sent_again(tmp_path: Path) -> None:
    """The summary does not hold them."""
    session = ScriptedSession(tmp_path)
    session.write("CLAUDE.md", "one\n")
    session.write("sub/CLAUDE.md", "sub\n")
    path = session.write("sub/f.txt", "f\n")
    summed = {"text": "<summary>Short.</summary>"}
    session.ask("Look.", answers=[read(path)])
    session.compact(answers=[summed])
    session.ask("And?", "And?", "Look.", answers=[{"text": "a"}, {"text": "b"}, read(path)])
    assert [
        "changed" in attachment["attachment"] for attachment in session.attachments("instructions")
    ] == [
        False,
        False,
    ]
    assert len(session.attachments("nested_memory")) == 2


def test_nested_instructions_are_sent_when_a_file_there_is_read(tmp_path: Path) -> None:
    """Once, behind the results; again where they have changed."""
    session = ScriptedSession(tmp_path)
    session.write("sub/CLAUDE.md", "sub @more.md\n")
    session.write("sub/more.md", "<!-- x -->\nmore\n")
    session.write(".claude/rules/t.md", "---\npaths: '*.txt'\n---\nfor texts\n")
    path = session.write("sub/f.txt", "f\n")
    session.ask("Look.", "Again.", answers=[read(path), {"text": "f"}, read(path)])
    work = session.work
    assert kinds(session.new_lines())[:6] == [
        *("user", "assistant", "user"),
        *("nested_memory",) * 3,
    ]
    first, second, third = session.attachments("nested_memory")
    assert first["attachment"] == {
        "type": "nested_memory",
        "path": f"{work}/sub/CLAUDE.md",
        "content": {
            "path": f"{work}/sub/CLAUDE.md",
            "type": "Project",
            "content": "sub @more.md\n",
            "contentDiffersFromDisk": False,
        },
        "displayPath": "sub/CLAUDE.md",
    }
    assert first["rendered"] == [
        {
            "content": f"<system-reminder>\nContents of {work}/sub/CLAUDE.md:\n\nsub @more.md\n\n"
            "</system-reminder>"
        }
    ]
    assert second["attachment"]["content"] == {
        "path": f"{work}/sub/more.md",
        "type": "Project",
        "content": "more\n",
        "contentDiffersFromDisk": True,
        "rawContent": "<!-- x -->\nmore\n",
        "parent": f"{work}/sub/CLAUDE.md",
    }
    assert third["attachment"]["content"] == {
        "path": f"{work}/.claude/rules/t.md",
        "type": "Project",
        "content": "for texts\n",
        "globs": ["*.txt"],
        "contentDiffersFromDisk": True,
        "rawContent": "---\npaths: '*.txt'\n---\nfor texts\n",
        "isRule": True,
    }
    session.write("sub/CLAUDE.md", "sub, again @more.md\n")
    session.ask("Look.", answers=[read(path)])
    assert len(session.attachments("nested_memory")) == 4


def test_unreadable_file_adds_nothing(tmp_path: Path) -> None:
    """Nor does one that is only looked for."""
    session = ScriptedSession(tmp_path)
    session.write("sub/CLAUDE.md", "sub\n")
    missing = read(session.work / "sub/none.txt")
    looks = {"calls": [{"name": "Grep", "input": {"pattern": "x", "path": str(session.work)}}]}
    session.ask("Look.", answers=[missing, looks])
    assert not session.attachments("nested_memory")


def test_written_file_adds_nested_instructions(tmp_path: Path) -> None:
    """As what is read does."""
    session = ScriptedSession(tmp_path)
    session.write("sub/CLAUDE.md", "sub\n")
    given = {"file_path": str(session.work / "sub/new.txt"), "content": "x"}
    write = {"calls": [{"name": "Write", "input": given}]}
    session.ask("Write.", answers=[write], mode="acceptEdits")
    assert len(session.attachments("nested_memory")) == 1


def test_known_instructions_are_not_sent_again_for_a_file(tmp_path: Path) -> None:
    """A file that counts anyway, and is brought in once more from below."""
    session = ScriptedSession(tmp_path)
    session.write("CLAUDE.md", "@style.md\n")
    session.write("style.md", "style\n")
    session.write("sub/CLAUDE.md", "@../style.md\n")
    session.ask("Look.", answers=[read(session.write("sub/f.txt", "f\n"))])
    assert [
        attachment["attachment"]["displayPath"]
        for attachment in session.attachments("nested_memory")
    ] == ["sub/CLAUDE.md"]


@pytest.mark.parametrize("version", ["2.1.29"])
def test_the_older_format_has_instructions_in_the_system_prompt(
    tmp_path: Path, version: Version
) -> None:
    """All of them in the system prompt; those further down as what the client puts in."""
    session = ScriptedSession(tmp_path, version)
    session.write("CLAUDE.md", "use tabs\n")
    session.write("sub/CLAUDE.md", "sub\n")
    path = session.write("sub/f.txt", "f\n")
    session.ask("Look.", "Again.", answers=[read(path), {"text": "f"}, read(path)])
    assert not [line for line in session.lines if line["type"] == "attachment"]
    assert "use tabs" in session.sent.system[-1]["text"]
    [note] = [line for line in session.lines if line.get("isMeta") and line["type"] == "user"]
    assert "sub" in note["message"]["content"]


def test_the_user_is_notified_of_skipped_instructions(tmp_path: Path) -> None:
    """Once, when they ask."""
    session = ScriptedSession(tmp_path)
    session.write("CLAUDE.md", "@../secret.md\n")
    (tmp_path / "secret.md").write_text("x", encoding="utf-8")
    events = session.ask("Hello.", "And?")
    assert len([event for event in events if isinstance(event, Notice)]) == 1


def test_interrupted_unanswered_prompt_is_withdrawn(tmp_path: Path) -> None:
    """What goes along with it does not hold it in the log."""
    session = ScriptedSession(tmp_path)
    session.write("CLAUDE.md", "x\n")
    session.ask("Stop.", "Go on.", stops="Stop.")
    prompts = {
        line["message"]["content"]: line["parentUuid"]
        for line in session.lines
        if line["type"] == "user"
    }
    assert prompts == {"Stop.": None, "Go on.": None}
