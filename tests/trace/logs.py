"""A log that grows as Claude Code writes it, one record at a time."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

SESSION = "11111111-2222-4333-8444-555555555555"
OTHER = "22222222-2222-4333-8444-555555555555"
BEGIN = datetime(2026, 11, 2, 9, tzinfo=UTC)


class Growing:
    """A session's own log."""

    def __init__(self, folder: Path, session: str = SESSION) -> None:
        self.path = folder / f"{session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.session = session
        self.count = 0
        self.tip: str | None = None

    def write(self, data: bytes) -> None:
        """Add bytes as they are."""
        with self.path.open("ab") as file:
            file.write(data)

    def line(self, value: dict[str, Any]) -> bytes:
        """Return a record as bytes."""
        return json.dumps(value).encode() + b"\n"

    def record(self, **more: Any) -> dict[str, Any]:
        """Return the next record of the chain."""
        self.count += 1
        uuid = str(UUID(int=(hash_of(self.session) << 64) + self.count, version=4))
        value = {
            "parentUuid": self.tip,
            "sessionId": self.session,
            "uuid": uuid,
            "timestamp": (BEGIN + timedelta(seconds=self.count)).isoformat().replace("+00:00", "Z"),
            "cwd": "/home/dev/shop",
            "version": "2.1.325",
            "isSidechain": False,
            **more,
        }
        self.tip = uuid
        return value

    def add(self, **more: Any) -> str:
        """Write the next record and return its uuid."""
        value = self.record(**more)
        self.write(self.line(value))
        return str(value["uuid"])

    def prompt(self, text: str = "Look at this", **more: Any) -> str:
        """Write what a person typed."""
        return self.add(type="user", message={"role": "user", "content": text}, **more)

    def answer(self, text: str = "Done.", **more: Any) -> str:
        """Write words of the model."""
        return self.add(type="assistant", message=self.message([text_block(text)]), **more)

    def call(self, tool: str = "Bash", **given: Any) -> str:
        """Write a call of a tool, and return the call's id."""
        name = f"toolu_{self.count + 1}"
        block = {"type": "tool_use", "id": name, "name": tool, "input": given}
        self.add(type="assistant", message=self.message([block], stop="tool_use"))
        return name

    def result(self, call: str, text: str = "fine", **more: Any) -> str:
        """Write what a tool answered."""
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        return self.add(type="user", message={"role": "user", "content": [block]}, **more)

    def closed(self) -> str:
        """Write how long the turn took."""
        return self.add(type="system", subtype="turn_duration", durationMs=1000)

    def aside(self, **more: Any) -> None:
        """Write a line outside the chain."""
        self.write(self.line(more))

    def turn(self, text: str = "Look at this", *, is_closed: bool = True) -> str:
        """Write a whole turn and return the prompt's uuid."""
        prompt = self.prompt(text)
        self.result(self.call(command="ls"))
        self.answer(f"{text}: done.")
        if is_closed:
            self.closed()
        return prompt

    def message(self, blocks: list[dict[str, Any]], stop: str = "end_turn") -> dict[str, Any]:
        """Return a response of the model."""
        return {
            "id": f"msg_{self.session[:4]}_{self.count + 1}",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": blocks,
            "stop_reason": stop,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }

    def told(self, event: str = "Stop", **more: Any) -> dict[str, Any]:
        """Return what Claude Code tells a hook of this session."""
        return {
            "session_id": self.session,
            "transcript_path": str(self.path),
            "cwd": "/home/dev/shop",
            "hook_event_name": event,
            **more,
        }


def text_block(text: str) -> dict[str, Any]:
    """Return words as a block."""
    return {"type": "text", "text": text}


def hash_of(session: str) -> int:
    """Return a number that stands for a session."""
    return UUID(session).int >> 65
