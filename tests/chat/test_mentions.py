"""Files mentioned in prompts: what is attached, and what is plain text."""

import base64
import json
from pathlib import Path

import pytest

from plait.chat.attachments import MAX_LISTED, Mention, find_mentions
from plait.chat.events import Notice
from plait.chat.tools.base import SECRET_PLACEHOLDER
from tests.chat.mcp.server import DOT
from tests.chat.scripted_session import ScriptedSession, kinds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see @a.txt and @b/c.txt.", [Mention("a.txt"), Mention("b/c.txt")]),
        ("@a.txt, @a.txt! (@b.txt) x@c.txt @./a.txt", [Mention("a.txt"), Mention("./a.txt")]),
        ('@"a b.txt" x', [Mention("a b.txt")]),
        (
            "@a#L2-5 @a#L3 @a#L2-L4 @a#x",
            [
                Mention("a", 2, 5),
                Mention("a", 3, 3),
                Mention("a", 2, 4),
                Mention("a#x"),
            ],
        ),
        ("@dir and @dir/", [Mention("dir")]),
        ("@/ @", [Mention("/")]),
        ("one\n@a", [Mention("a")]),
    ],
)
def test_mentions_are_recognised(text: str, found: list[Mention]) -> None:
    """What follows an @ at the beginning of a word, each once."""
    assert find_mentions(text) == found


def test_mentioned_file_is_attached_as_if_read(tmp_path: Path) -> None:
    """Behind the prompt, with the instructions of its directory."""
    session = ScriptedSession(tmp_path)
    path = session.write("sub/n.txt", "one\ntwo\n")
    session.write("sub/CLAUDE.md", "sub")
    session.write("CLAUDE.md", "all")
    session.ask("see @sub/n.txt, please")
    assert kinds(session.new_lines())[:4] == ["user", "file", "nested_memory", "instructions"]
    [attachment] = session.attachments("file")
    assert attachment["attachment"] == {
        "type": "file",
        "filename": str(path),
        "content": {
            "type": "text",
            "file": {
                "filePath": str(path),
                "content": "one\ntwo\n",
                "numLines": 3,
                "startLine": 1,
                "totalLines": 3,
            },
        },
        "displayPath": "sub/n.txt",
        "savedCopyFraming": {"enveloped": False},
    }
    called = json.dumps({"file_path": str(path)}, separators=(",", ":"))
    assert [item["content"] for item in attachment["rendered"]] == [
        f"<system-reminder>\nCalled the Read tool with the following input: {called}\n"
        "</system-reminder>",
        "<system-reminder>\nResult of calling the Read tool:\n1\tone\n2\ttwo\n3\t\n"
        "</system-reminder>",
    ]
    assert (attachment["renderedRole"], "session_id" in attachment) == ("user", False)


def test_line_ranges_can_be_mentioned(tmp_path: Path) -> None:
    """Some, or one."""
    session = ScriptedSession(tmp_path)
    session.write("n.txt", "one\ntwo\nthree\nfour\n")
    session.ask("@n.txt#L2-3 @n.txt#L4 @n.txt#L3-2")
    files = [
        attachment["attachment"]["content"]["file"] for attachment in session.attachments("file")
    ]
    results = [(file["content"], file["startLine"], file["numLines"]) for file in files]
    assert results == [("two\nthree", 2, 2), ("four", 4, 1), ("three", 3, 1)]


def test_mentioned_directory_is_listed(tmp_path: Path) -> None:
    """As far as it goes."""
    session = ScriptedSession(tmp_path)
    session.write("sub/b", "x")
    session.write("sub/a", "x")
    session.ask("@sub/ @sub")
    [attachment] = session.attachments("directory")
    assert attachment["attachment"] == {
        "type": "directory",
        "path": str(session.work / "sub"),
        "content": "a\nb",
        "displayPath": "sub",
    }
    assert "Result of calling the Bash tool:\na\nb" in attachment["rendered"][1]["content"]
    for number in range(MAX_LISTED):
        (session.work / f"sub/{number}.txt").touch()
    session.ask("@sub")
    assert session.attachments("directory")[-1]["attachment"]["content"].endswith("… and 2 more")


@pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
def test_mentioned_image_is_shown(tmp_path: Path, version: str) -> None:
    """The model sees it, whatever form the log has."""
    session = ScriptedSession(tmp_path, version)  # type: ignore[arg-type]
    session.write("dot.png", base64.b64decode(DOT))
    session.ask("look at @dot.png")
    sent = json.dumps(session.messages)
    assert DOT in sent and '"type": "image"' in sent
    if version == "2.1.325":
        [attachment] = session.attachments("file")
        assert attachment["attachment"]["content"]["file"]["dimensions"]["originalWidth"] == 1
        assert "rendered" not in attachment and attachment["renderedRole"] == "user"


def test_too_large_file_is_named(tmp_path: Path) -> None:
    """The model is told how to read it."""
    session = ScriptedSession(tmp_path)
    path = session.write("big.txt", "line of text\n" * 30_000)
    session.ask("@big.txt")
    [attachment] = session.attachments("at_mention_reference")
    assert attachment["attachment"] == {
        "type": "at_mention_reference",
        "mentions": [str(path)],
        "unread": "too_large",
        "fileSize": 390_000,
        "displayPath": "big.txt",
    }
    assert f"The user @-mentioned {path} (380.9KB)." in attachment["rendered"][0]["content"]
    assert attachment["renderedRole"] == "system"


def test_text_that_is_not_a_file_stays_text(tmp_path: Path) -> None:
    """Names that nobody has, addresses, pictures that are none, binaries."""
    session = ScriptedSession(tmp_path)
    session.write("bad.png", "no picture")
    session.write("x.zip", b"\0\1")
    session.write("huge.png", base64.b64decode(DOT) + b"x" * 8_000_000)
    events = session.ask("@nope.txt a@b.com @someone @bad.png @x.zip @huge.png @", "And?")
    assert not [line for line in session.lines if line["type"] == "attachment"]
    results = [event.text for event in events if isinstance(event, Notice)]
    assert [item.partition(":")[0] for item in results] == [
        f"'{name}' was not attached" for name in ("bad.png", "x.zip", "huge.png")
    ]
    assert "Make a smaller copy" in results[-1]


def test_user_may_mention_any_file_a_command_only_some(tmp_path: Path) -> None:
    """What may be read without asking; and nothing that is hidden."""
    (tmp_path / "out.txt").write_text("outside", encoding="utf-8")
    session = ScriptedSession(tmp_path)
    session.write("in.txt", "inside")
    session.write(".claude/commands/look.md", "see @../out.txt and @in.txt")
    session.ask("/look")
    assert [
        attachment["attachment"]["displayPath"] for attachment in session.attachments("file")
    ] == ["in.txt"]
    session.ask("@../out.txt")
    assert session.attachments("file")[-1]["attachment"]["displayPath"] == "../out.txt"
    session.ask("@in.txt", forbidden=("Read(in.txt)",))
    assert len(session.attachments("file")) == 2


def test_secrets_in_files_are_hidden(tmp_path: Path) -> None:
    """As in what tools read."""
    session = ScriptedSession(tmp_path)
    session.write("n.txt", "key sk-ant-1234567890")
    session.ask("@n.txt", environment={"ANTHROPIC_API_KEY": "sk-ant-1234567890"})
    result = json.dumps(session.attachments("file"))
    assert SECRET_PLACEHOLDER in result and "sk-ant-1234567890" not in result


def test_older_version_attaches_as_client_text(tmp_path: Path) -> None:
    """In meta lines behind the prompt."""
    session = ScriptedSession(tmp_path, "2.1.29")
    session.write("n.txt", "one\n")
    session.write("big.txt", "line of text\n" * 30_000)
    session.ask("@n.txt @big.txt")
    results = [line for line in session.lines if line.get("isMeta") and line["type"] == "user"]
    assert len(results) == 2
    assert "Result of calling the Read tool:\n1\tone" in results[0]["message"]["content"]
    assert "too large" in results[1]["message"]["content"]


def test_mentioned_file_can_be_edited(tmp_path: Path) -> None:
    """The model has seen it."""
    session = ScriptedSession(tmp_path)
    path = session.write("n.txt", "one\n")
    given = {"file_path": str(path), "old_string": "one", "new_string": "two"}
    edit = {"calls": [{"name": "Edit", "input": given}]}
    session.ask("@n.txt change it", answers=[edit], mode="acceptEdits")
    assert path.read_text(encoding="utf-8") == "two\n"


def test_attached_files_are_separated(tmp_path: Path) -> None:
    """A line break stands behind each that another one follows, as the client sends them."""
    session = ScriptedSession(tmp_path)
    session.write("a.txt", "a")
    session.write("b.txt", "b")
    session.ask("@a.txt @b.txt")
    texts = [block["text"] for message in session.messages for block in message["content"]]
    assert [text.endswith("</system-reminder>\n") for text in texts[1:4]] == [True, True, True]
    assert texts[4] == "@a.txt @b.txt"
