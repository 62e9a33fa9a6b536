"""Files mentioned in prompts: what is attached, and what is plain text."""

import base64
import json
from pathlib import Path

import pytest

from plait.chat.attachments import MAX_LISTED, Mention, find_mentions
from plait.chat.events import Notice
from plait.chat.tools.base import SECRET_PLACEHOLDER
from tests.chat.mcp.server import DOT
from tests.chat.words import ScriptedSession, kinds


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
    words = ScriptedSession(tmp_path)
    path = words.write("sub/n.txt", "one\ntwo\n")
    words.write("sub/CLAUDE.md", "sub")
    words.write("CLAUDE.md", "all")
    words.ask("see @sub/n.txt, please")
    assert kinds(words.new_lines())[:4] == ["user", "file", "nested_memory", "instructions"]
    [attachment] = words.attached("file")
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
    words = ScriptedSession(tmp_path)
    words.write("n.txt", "one\ntwo\nthree\nfour\n")
    words.ask("@n.txt#L2-3 @n.txt#L4 @n.txt#L3-2")
    files = [attachment["attachment"]["content"]["file"] for attachment in words.attached("file")]
    results = [(file["content"], file["startLine"], file["numLines"]) for file in files]
    assert results == [("two\nthree", 2, 2), ("four", 4, 1), ("three", 3, 1)]


def test_mentioned_directory_is_listed(tmp_path: Path) -> None:
    """As far as it goes."""
    words = ScriptedSession(tmp_path)
    words.write("sub/b", "x")
    words.write("sub/a", "x")
    words.ask("@sub/ @sub")
    [attachment] = words.attached("directory")
    assert attachment["attachment"] == {
        "type": "directory",
        "path": str(words.work / "sub"),
        "content": "a\nb",
        "displayPath": "sub",
    }
    assert "Result of calling the Bash tool:\na\nb" in attachment["rendered"][1]["content"]
    for number in range(MAX_LISTED):
        (words.work / f"sub/{number}.txt").touch()
    words.ask("@sub")
    assert words.attached("directory")[-1]["attachment"]["content"].endswith("… and 2 more")


@pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
def test_mentioned_image_is_shown(tmp_path: Path, version: str) -> None:
    """The model sees it, whatever form the log has."""
    words = ScriptedSession(tmp_path, version)  # type: ignore[arg-type]
    words.write("dot.png", base64.b64decode(DOT))
    words.ask("look at @dot.png")
    sent = json.dumps(words.messages)
    assert DOT in sent and '"type": "image"' in sent
    if version == "2.1.325":
        [attachment] = words.attached("file")
        assert attachment["attachment"]["content"]["file"]["dimensions"]["originalWidth"] == 1
        assert "rendered" not in attachment and attachment["renderedRole"] == "user"


def test_too_large_file_is_named(tmp_path: Path) -> None:
    """The model is told how to read it."""
    words = ScriptedSession(tmp_path)
    path = words.write("big.txt", "line of text\n" * 30_000)
    words.ask("@big.txt")
    [attachment] = words.attached("at_mention_reference")
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
    words = ScriptedSession(tmp_path)
    words.write("bad.png", "no picture")
    words.write("x.zip", b"\0\1")
    words.write("huge.png", base64.b64decode(DOT) + b"x" * 8_000_000)
    events = words.ask("@nope.txt a@b.com @someone @bad.png @x.zip @huge.png @", "And?")
    assert not [line for line in words.lines if line["type"] == "attachment"]
    results = [event.text for event in events if isinstance(event, Notice)]
    assert [item.partition(":")[0] for item in results] == [
        f"'{name}' was not attached" for name in ("bad.png", "x.zip", "huge.png")
    ]
    assert "Make a smaller copy" in results[-1]


def test_user_may_mention_any_file_a_command_only_some(tmp_path: Path) -> None:
    """What may be read without asking; and nothing that is hidden."""
    (tmp_path / "out.txt").write_text("outside", encoding="utf-8")
    words = ScriptedSession(tmp_path)
    words.write("in.txt", "inside")
    words.write(".claude/commands/look.md", "see @../out.txt and @in.txt")
    words.ask("/look")
    assert [attachment["attachment"]["displayPath"] for attachment in words.attached("file")] == [
        "in.txt"
    ]
    words.ask("@../out.txt")
    assert words.attached("file")[-1]["attachment"]["displayPath"] == "../out.txt"
    words.ask("@in.txt", forbidden=("Read(in.txt)",))
    assert len(words.attached("file")) == 2


def test_secrets_in_files_are_hidden(tmp_path: Path) -> None:
    """As in what tools read."""
    words = ScriptedSession(tmp_path)
    words.write("n.txt", "key sk-ant-1234567890")
    words.ask("@n.txt", environment={"ANTHROPIC_API_KEY": "sk-ant-1234567890"})
    result = json.dumps(words.attached("file"))
    assert SECRET_PLACEHOLDER in result and "sk-ant-1234567890" not in result


def test_older_version_attaches_as_client_text(tmp_path: Path) -> None:
    """In meta lines behind the prompt."""
    words = ScriptedSession(tmp_path, "2.1.29")
    words.write("n.txt", "one\n")
    words.write("big.txt", "line of text\n" * 30_000)
    words.ask("@n.txt @big.txt")
    results = [line for line in words.lines if line.get("isMeta") and line["type"] == "user"]
    assert len(results) == 2
    assert "Result of calling the Read tool:\n1\tone" in results[0]["message"]["content"]
    assert "too large" in results[1]["message"]["content"]


def test_mentioned_file_can_be_edited(tmp_path: Path) -> None:
    """The model has seen it."""
    words = ScriptedSession(tmp_path)
    path = words.write("n.txt", "one\n")
    given = {"file_path": str(path), "old_string": "one", "new_string": "two"}
    edit = {"calls": [{"name": "Edit", "input": given}]}
    words.ask("@n.txt change it", answers=[edit], mode="acceptEdits")
    assert path.read_text(encoding="utf-8") == "two\n"


def test_attached_files_are_separated(tmp_path: Path) -> None:
    """A line break stands behind each that another one follows, as the client sends them."""
    words = ScriptedSession(tmp_path)
    words.write("a.txt", "a")
    words.write("b.txt", "b")
    words.ask("@a.txt @b.txt")
    texts = [block["text"] for message in words.messages for block in message["content"]]
    assert [text.endswith("</system-reminder>\n") for text in texts[1:4]] == [True, True, True]
    assert texts[4] == "@a.txt @b.txt"
