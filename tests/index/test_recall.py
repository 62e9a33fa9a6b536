"""Every word of real logs is found where it occurs."""

import random
import re
from pathlib import Path

import pytest

from plait import Archive
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    Item,
    LateResult,
    ToolCall,
    UserMessage,
)
from plait.conversation.walk import iter_items
from plait.index.query import Field
from plait.index.search import IndexReader
from plait.index.text_index import MAX_WORD_LENGTH
from plait.indexing import update_index
from plait.search.search import search
from plait.sessions.model import Session
from tests.index.held import list_expected, list_indexed

MOST = 300_000
"""Larger logs are left out of the quick run."""
WORD = re.compile(r"[^\W_]{3,40}", re.ASCII)
Asked = tuple[str, str, str, int]
"""A word or a phrase, with the session, the DAG-line and the turn that it comes from."""


def texts(item: Item) -> str:
    match item:
        case AssistantText(text=text) | AssistantThinking(text=text) | UserMessage(text=text):
            return text
        case ToolCall(input=dict() as given):
            return next((one for one in given.values() if isinstance(one, str)), "")
        case LateResult(result=result) if result.persisted is None:
            return result.text
        case _:
            return ""


def asked_of(sessions: list[Session], count: int, chance: random.Random) -> list[Asked]:
    """Return words and phrases of random turns."""
    found: list[Asked] = []
    for session in sessions:
        told = Archive([session.path]).conversations(session).by_line
        pool = [
            (words, line, turn)
            for line, conversation in told.items()
            for turn, item in iter_items(conversation)
            if (words := list(WORD.finditer(texts(item)[:20_000])))
        ]
        for words, line, turn in chance.sample(pool, min(len(pool), 1 + count // len(sessions))):
            place = chance.randrange(len(words))
            first = words[place]
            last = words[min(place + chance.choice((0, 0, 2)), len(words) - 1)]
            text = first.string[first.start() : last.end()]
            if '"' not in text and last.start() - first.start() < MAX_WORD_LENGTH:
                found.append((text, session.id, line, turn))
    return found


def check_recall(root: Path, folder: Path, most: int, count: int) -> None:
    archive = Archive([root])
    sessions = [one for one in archive.sessions if one.file and one.bytes < most]
    chance = random.Random(8)
    chosen = chance.sample(sessions, min(len(sessions), count // 3))
    update_index(archive, folder)
    reader = IndexReader(folder)
    missed: list[Asked] = []
    asked = asked_of(chosen, count, chance)
    for text, session, line, turn in asked:
        hits = reader.search(f'"{text}"', [Field("session", session)], limit=1000).hits
        if not any((hit.branch, hit.turn) == (line, turn) for hit in hits):
            missed.append((text, session, line, turn))
    reader.close()
    assert len(asked) >= count * 2 // 3
    assert missed == []


def test_words_and_phrases_of_real_turns_are_found(shared: Path, tmp_path: Path) -> None:
    root = small_copy(shared / "corpus", tmp_path / "root")
    check_recall(root, tmp_path / "index", MOST, 300)
    assert list_indexed(tmp_path / "index") == list_expected(root)


@pytest.mark.long
def test_a_thousand_words_and_phrases_of_all_real_turns_are_found(
    shared: Path, tmp_path: Path
) -> None:
    check_recall(shared / "corpus", tmp_path / "index", 1 << 40, 1000)


def small_copy(corpus: Path, root: Path) -> Path:
    """Links a part of the real logs into a folder of its own."""
    logs = [path for path in sorted(corpus.rglob("*.jsonl")) if path.stat().st_size < MOST]
    for path in random.Random(8).sample(logs, min(120, len(logs))):
        place = root / path.relative_to(corpus)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(path)
    return root


@pytest.mark.parametrize("text", ["error", "(", "\\n", "import os", "é", '": "'])
def test_exact_text_matches_a_plain_scan(shared: Path, tmp_path: Path, text: str) -> None:
    root = small_copy(shared / "corpus", tmp_path / "root")
    archive = Archive([root])
    wanted = plain_scan(archive, re.escape(text))
    found = search(archive, tmp_path / "index", text, way="exact", limit=1)
    assert found.total == len(wanted)


@pytest.mark.parametrize("pattern", [r"def \w+\(", r"(?i)ERROR", r"^\s*$", r"foo|bar|0x[0-9a-f]+"])
def test_regex_matches_a_plain_scan(shared: Path, tmp_path: Path, pattern: str) -> None:
    root = small_copy(shared / "corpus", tmp_path / "root")
    archive = Archive([root])
    wanted = plain_scan(archive, pattern)
    assert search(archive, tmp_path / "index", pattern, way="regex").total == len(wanted)


def plain_scan(archive: Archive, pattern: str) -> list[str]:
    """Return the passages of cold files that match, one by one."""
    from plait.indexing import IndexedSession

    expression = re.compile(pattern, re.MULTILINE)
    return [
        one.text
        for session in archive.sessions
        for one in IndexedSession(session).passages()
        if one.text and one.kind != "title" and expression.search(one.text)
    ]
