"""`plait show --depth all` prints everything a session contains."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plait.archive import Archive
from plait.cli.app import run
from plait.conversation.model import Conversations
from plait.view.text import apply_carriage_returns, strip_sequences

SAMPLE = 60
LONG_ENOUGH = 12
MARKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd▌│┊┃╎]+")
TAG = re.compile(r"</?[a-z][\w-]*(?:\s[^<>\n]*)?>|&(?:lt|gt|amp|quot|#39);", re.IGNORECASE)
"""Tags of the client around what it says in the user's place, and what stands for their signs."""
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{200,}={0,2}")
INTERRUPTED = "[Request interrupted by user"
COMMAND = re.compile(r"<command-message>[^<]*</command-message>")
"""What the client shows while a command runs: the command itself is told."""
NOTICE = "<task-notification>"
WORDS_OF_NOTICE = re.compile(r"<(?:summary|result)>(.*?)</", re.DOTALL)
OF_THE_CLIENT = re.compile(r"Exit code \d+$|Output too large|Preview \(first|\.\.\.$")
"""Lines around a result: its exit code is told in a word, the rest of an output is read."""


def squeezed(text: str) -> str:
    """Return the letters of a text alone."""
    return MARKS.sub("", strip_sequences(text)).encode("utf-8", "ignore").decode()


def texts_of(record: Any) -> Iterator[str]:
    """Yield the texts of prompts, answers, thinking, inputs and results in a record."""
    message = record.get("message") if isinstance(record, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or ():
        match block:
            case {"type": "text", "text": str(text)} | {"type": "thinking", "thinking": str(text)}:
                yield text
            case {"type": "tool_use", "input": given}:
                yield from strings_in(given)
            case {"type": "tool_result", "content": result}:
                yield from map(apply_carriage_returns, strings_in(result))
            case _:
                pass


def strings_in(value: object) -> Iterator[str]:
    """Yield every text in a value of any form."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text):
                yield text
            case dict(inner):  # the kind of a block is no text
                waiting += [inner[name] for name in reversed(inner) if name != "type"]
            case list(inner):
                waiting += reversed(inner)


def pieces_of(text: str, directories: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a text as far as they are to be found.

    A file in base64 is told by its size, a stopped response in words of our own, a notice by
    its words without ids and figures, and a path from the project's directory on, which stands
    above the conversation.
    """
    if BASE64.fullmatch(text) or text.startswith(INTERRUPTED):
        return
    text = COMMAND.sub("", text)
    if text.startswith(NOTICE):
        text = "\n".join(WORDS_OF_NOTICE.findall(text))
    for directory in directories:
        text = text.removeprefix(f"{directory}/")
    for line in re.split(r"[\r\n]", TAG.sub("\n", text)):
        if len(piece := squeezed(line)) > LONG_ENOUGH and not OF_THE_CLIENT.match(line):
            yield piece


def printed_of(path: Path, found: Conversations, capfd: pytest.CaptureFixture[str]) -> str:
    """Return what the command prints of all conversations of a session."""
    printed = []
    for name in found.by_line:
        branch = ["--branch", name] if name != found.main else []
        assert run(["show", str(path), "--depth", "all", *branch]) == 0
        printed.append(capfd.readouterr().out)
    return "\n".join(printed)


def missing_in(path: Path, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """Return the texts of a session that are not printed."""
    archive = Archive([])
    found = archive.conversations(archive.session_at(path))
    printed = printed_of(path, found, capfd)
    lines = frozenset(map(squeezed, printed.split("\n")))
    full = squeezed(TAG.sub("", printed))
    records = list(records_of(found.active.files))
    directories = {str(item["cwd"]) for item in records if isinstance(item.get("cwd"), str)}
    pieces = dict.fromkeys(
        piece
        for record in records
        for text in texts_of(record)
        for piece in pieces_of(text, directories)
    )
    return [piece[:100] for piece in pieces if piece not in lines and piece not in full]


def records_of(files: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the objects in some files, those of broken lines left out."""
    for file in files:
        for line in Path(file).read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                yield record


def check(roots: Iterable[Path], capfd: pytest.CaptureFixture[str], most: int) -> None:
    """List what is not printed of a sample of sessions, the same each time."""
    paths = [session.path for session in Archive(roots).sessions]
    random.Random(7).shuffle(paths)
    lost = [
        f"{path}: {missing}" for path in paths[:most] for missing in missing_in(path, capfd)[:5]
    ]
    assert lost == []


def test_everything_in_the_gallery_is_shown(
    gallery: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    check([gallery], capfd, SAMPLE)


def test_everything_in_real_sessions_is_shown(
    shared: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    check([shared / "corpus", shared / "produced"], capfd, SAMPLE)
