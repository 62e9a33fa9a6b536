"""Logs of other agents, written by hand for the tests."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from plait import Archive
from plait.archive import Session
from plait.conversation.costs import sum_conversations
from plait.view.transcript.json_form import conversation_to_json

THREAD = "019e7583-0b33-7912-a209-4c0407cfa2{:02x}"
Object = Mapping[str, Any]


def write_lines(path: Path, objects: Iterable[Object | str]) -> Path:
    """Write JSON lines; texts are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [value if isinstance(value, str) else json.dumps(value) for value in objects]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def open_archive(root: Path, cache: Path) -> Archive:
    """Return the archive of a folder, with translations in another one."""
    return Archive([root], translations=cache)


def prompts(session: Session) -> list[str]:
    """Return the prompts of the conversation that goes on."""
    return [turn.prompt or "" for turn in session.conversations.active.turns if turn.number]


def branches(session: Session) -> list[list[str]]:
    """Return the prompts of all other branches."""
    found = session.conversations
    return [
        [turn.prompt for turn in line.turns if turn.prompt]
        for line in found
        if line.id != found.active.id
    ]


def all_branches_json(session: Session) -> str:
    """Return what `plait show --json` prints of all branches of a session."""
    found = session.conversations
    return json.dumps(
        [
            conversation_to_json(found, line, line.turns, sum_conversations([line]), has_data=False)
            for line in found
        ],
        ensure_ascii=False,
    )


def preserved_texts(archive: Archive) -> list[str]:
    """Return the texts of what the last compaction keeps in the context."""
    found = [node.preserved for node in archive.graph().nodes.values() if node.preserved]
    (session,) = archive.sessions
    lines = [json.loads(line) for line in session.path.read_bytes().splitlines()]
    messages = {line["uuid"]: line["message"] for line in lines if "message" in line}
    return [_text_of(messages[uuid]["content"]) for uuid in found[-1].listed or ()] if found else []


def _text_of(content: Any) -> str:
    return (
        content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    )


# ------------------------------------------------------------------ Codex


class CodexLog:
    """The lines of a rollout."""

    def __init__(self, number: int = 0, **meta: Any) -> None:
        self.id = THREAD.format(number)
        self.lines: list[Object | str] = []
        self.total = 0
        self.clock = 0
        self.add("session_meta", id=self.id, cwd="/home/me/shop", cli_version="0.169.0", **meta)
        self.add("turn_context", model="gpt-5.5", cwd="/home/me/shop")

    def add(self, kind: str, **payload: Any) -> None:
        """Add a line."""
        self.clock += 1
        time = f"2026-10-01T10:{self.clock // 60:02}:{self.clock % 60:02}.000Z"
        self.lines.append({"timestamp": time, "type": kind, "payload": payload})

    def prompt(self, text: str) -> "CodexLog":
        """Add a prompt, as the model gets it and as the screen shows it."""
        content = [{"type": "input_text", "text": text}]
        self.add("response_item", type="message", role="user", content=content)
        self.add("event_msg", type="user_message", message=text)
        return self

    def answer(self, text: str, tokens: int = 100, cached: int = 40) -> "CodexLog":
        """Add an answer with the usage of its request."""
        content = [{"type": "output_text", "text": text}]
        self.add("response_item", type="message", role="assistant", content=content)
        self.usage(tokens, cached)
        return self

    def usage(self, tokens: int, cached: int = 0) -> None:
        """Add the usage of a request."""
        self.total += tokens
        last = {"input_tokens": tokens, "cached_input_tokens": cached, "output_tokens": 7}
        total = {"input_tokens": self.total, "total_tokens": self.total}
        info = {"total_token_usage": total, "last_token_usage": last}
        self.add("event_msg", type="token_count", info=info)

    def write(self, folder: Path, name: str = "") -> Path:
        """Write the file where Codex would."""
        path = (
            folder
            / ".codex/sessions/2026/10/01"
            / f"rollout-2026-10-01T10-00-00-{self.id}{name}.jsonl"
        )
        return write_lines(path, self.lines)
