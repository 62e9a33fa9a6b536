"""Recordings of real agents: every line accounted for, every text found, every token counted."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from plait import Archive
from plait.conversation.costs import sum_conversations
from plait.conversation.model import Conversation, Conversations
from plait.record.counts import LogCounts
from plait.view.transcript.json_form import conversation_to_json
from tests.conftest import SHARED
from tests.sampling import EACH_AND_ALL, one_of
from tests.sources.facts import TEXTS, USAGES, Fields, load

FOLDERS = {"gemini": "gemini-cli"}
AGENTS = ("codex", "copilot", "gemini", "opencode", "pi")
LONGEST = 80
WORD = re.compile(r"\b[^\W\d_]{2,}\b")

pytestmark = pytest.mark.skipif(
    not (SHARED / "agents").is_dir(),
    reason="needs recordings of other agents: a folder of real logs that holds agents/",
)


def recordings(agent: str) -> list[Path]:
    """Return the recordings of an agent."""
    return sorted((SHARED / "agents" / FOLDERS.get(agent, agent)).glob("*.jsonl"))


@cache
def lines_of(path: Path) -> list[Fields]:
    """Return the objects of a recording."""
    return load(path)


@pytest.fixture(scope="module", params=AGENTS)
def agent(request: pytest.FixtureRequest) -> str:
    """Return the name of an agent."""
    return str(request.param)


@pytest.fixture(scope="module")
def archive(agent: str, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Return the archive of an agent's recordings, with an index."""
    folder = tmp_path_factory.mktemp(agent)
    root = SHARED / "agents" / FOLDERS.get(agent, agent)
    if agent == "opencode":  # only its parts were recorded: they become a database again
        root = folder / "opencode"
        root.mkdir()
        write_database(root / "opencode.db", recordings(agent))
    return Archive([root], translations=folder / "cache", index=folder / "index")


def write_database(path: Path, files: list[Path]) -> None:
    """Write parts as rows; a message is what one role said without a break."""
    with closing(sqlite3.connect(path)) as base:
        base.executescript(
            """
            CREATE TABLE session (id, directory, title, time_updated);
            CREATE TABLE message (id, session_id, time_created, data);
            CREATE TABLE part (id, message_id, session_id, data);
            """
        )
        for number, file in enumerate(files):
            session = f"ses_{number:04}"
            parts = lines_of(file)
            base.execute(
                "INSERT INTO session VALUES (?, ?, ?, ?)",
                (session, parts[0]["_cwd"], file.stem, parts[-1]["_ts"]),
            )
            role, message = "", ""
            for place, part in enumerate(parts):
                if part["_role"] != role or part["type"] == "step-start":
                    role, message = part["_role"], f"msg_{number:04}{place:04}"
                    data = {"role": role, "modelID": "m", "time": {"created": part["_ts"]}}
                    row = (message, session, part["_ts"], json.dumps(data))
                    base.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
                row = (f"prt_{number:04}{place:04}", message, session, json.dumps(part))
                base.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)
        base.commit()


def sources_of(archive: Archive) -> dict[str, Path]:
    """Return the translations of recordings by the names of these."""
    return {
        Path(session.origin.path).name: session.path
        for session in archive.sessions
        if session.origin
    }


def strings(value: Any) -> Iterator[str]:
    """Yield all texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def test_every_line_is_accounted_for(agent: str, archive: Archive) -> None:
    found = sources_of(archive)
    if agent != "opencode":
        assert found.keys() == {path.name for path in recordings(agent)}
        assert len([*archive.accounts()]) >= len(found)  # reads all of them
        for path in recordings(agent):
            translated = {line["sourceLine"] for line in load(found[path.name])}
            assert translated == set(range(1, len(lines_of(path)) + 1)), path.name
    else:
        assert len(archive.sessions) == len(recordings(agent))
    account = LogCounts()
    for file, counts in zip(archive.files, archive.accounts(), strict=True):
        account.take(counts, file.path)
    assert account.is_balanced and not account.broken
    assert account.drift.counts.get("types", {}) == {}
    assert archive.graph().account.balanced


@pytest.mark.parametrize("share", EACH_AND_ALL)
def test_every_text_is_shown_and_found(agent: str, archive: Archive, share: int) -> None:
    sessions = sources_of(archive) if agent != "opencode" else {}
    missing: list[tuple[str, str]] = []
    chosen = one_of(share, recordings(agent))
    for number, path in enumerate(recordings(agent)):
        if path not in chosen:
            continue
        name = sessions[path.name].stem if sessions else f"ses_{number:04}"
        session = archive.session(name)
        shown = "\0".join(
            text
            for conversation in session.conversations
            for text in strings(show(session.conversations, conversation))
        )
        for text in {text for text in TEXTS[agent](lines_of(path)) if text.strip()}:
            if text.strip() not in shown:
                missing.append((path.name, f"not shown: {text[:100]!r}"))
            if (
                WORD.search(text)
                and not archive.search(f'"{first_words(text)}" session:{name}').hits
            ):
                missing.append((path.name, f"not found: {text[:100]!r}"))
    assert not missing, missing


def first_words(text: str) -> str:
    """Return the beginning of a text as it can stand in a quoted phrase."""
    match = WORD.search(text)
    words = text[match.start() if match else 0 :].replace('"', " ")
    return words if len(words) < LONGEST else re.sub(r"\w+$", "", words[:LONGEST])


def show(conversations: Conversations, conversation: Conversation) -> Any:
    """Return what `plait show --json --branch` prints of a conversation."""
    turns = conversation.turns
    totals = sum_conversations([conversation])
    return conversation_to_json(conversations, conversation, turns, totals, has_data=False)


def test_every_token_is_counted_once(agent: str, archive: Archive) -> None:
    expected = USAGES[agent](lines_of(path) for path in recordings(agent))
    tokens = archive.usage("session").totals.total.tokens
    written = tokens.cache_write_5m + tokens.cache_write_1h
    assert (tokens.input, tokens.cache_read, written, tokens.output) == expected
