"""Sessions with hooks: commands run by a real shell, a model that follows a script."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Any

from plait.chat.client import Client
from plait.chat.events import Event, Notice, TurnEnded
from plait.chat.models import ScriptModel
from plait.chat.settings import load_settings
from plait.chat.streaming import Request, StreamEvent
from plait.write.lines import NEWEST, Version
from tests.chat.scripted_client import picture

Json = dict[str, Any]
RUN = {"name": "Bash", "input": {"command": "echo hi"}}
SCRIPT: Json = {
    "rules": [
        {"when": "summary", "answers": [{"text": "<summary>All of it.</summary>"}]},
        {"when": "run", "answers": [{"text": "I run.", "calls": [RUN]}, {"text": "Done."}]},
        {
            "when": "fail",
            "answers": [
                {"calls": [{"name": "Bash", "input": {"command": "exit 3"}}]},
                {"text": "Done."},
            ],
        },
        {
            "when": "write",
            "answers": [
                {"calls": [{"name": "Write", "input": {"file_path": "new.txt", "content": "x"}}]},
                {"text": "Done."},
            ],
        },
    ],
    "otherwise": {"text": "ok"},
}


def json_command(**fields: Any) -> str:
    """Return a command that prints these fields as JSON."""
    return f"cat > /dev/null; printf '%s' '{json.dumps(fields)}'"


def event_command(event: str, **fields: Any) -> str:
    """Return a command that prints the JSON output for an event."""
    return json_command(hookSpecificOutput={"hookEventName": event, **fields})


class RecordingModel(ScriptModel):
    """A model that follows a script and records the requests."""

    def __init__(self, script: Json) -> None:
        super().__init__(script)
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        """Answer from the script."""
        self.requests.append(request)
        async for piece in super().stream(request):
            yield piece


class HookSession:
    """A project with hooks in its settings, each given as a command or as a complete entry."""

    def __init__(
        self,
        folder: Path,
        hooks: Mapping[str, Any],
        *,
        version: Version = NEWEST,
        entrypoint: str = "sdk-cli",
        script: Json | None = None,
        **manner: Any,
    ) -> None:
        self.work, self.config = folder / "work", folder / "config"
        for place in (self.work, self.config):
            place.mkdir(exist_ok=True)
        text = json.dumps({"hooks": {event: _groups(result) for event, result in hooks.items()}})
        (self.config / "settings.json").write_text(text, encoding="utf-8")
        self.notes: list[str] = []
        self.model = RecordingModel(script or SCRIPT)
        self.manner = {
            "settings": load_settings(self.config, self.work),
            "environment": {"PATH": "/usr/bin:/bin", "HERE": str(folder)},
            "allowed": ("Bash",),
            "note": self.notes.append,
            **manner,
        }
        self.form: Json = {"version": version, "entrypoint": entrypoint}
        self.events: list[Event] = []
        self.client = self._new()

    def _new(self) -> Client:
        return Client.new(self.config, cwd=self.work, model=self.model, **self.form, **self.manner)

    def resume(self) -> None:
        """Close the session and resume it."""
        path = self.client.path
        self.client = Client.resume(path, model=self.model, **self.form, **self.manner)

    def play(self, *prompts: str) -> TurnEnded:
        """Send the prompts in order; return how the last turn ended."""

        async def run() -> None:
            async with self.client as client:
                for prompt in prompts:
                    turn = client.compact() if prompt == "/compact" else client.send(prompt)
                    self.events += [event async for event in turn]

        asyncio.run(run())
        ends = [event for event in self.events if isinstance(event, TurnEnded)]
        return ends[-1] if ends else TurnEnded("done", "", 0, 0, {}, None)

    @property
    def lines(self) -> list[Json]:
        """All messages of the log."""
        data = self.client.path.read_bytes()
        return [line for line in map(json.loads, data.splitlines()) if "uuid" in line]

    @property
    def attachments(self) -> list[Json]:
        """The attachments that hooks added to the log."""
        found = (line["attachment"] for line in self.lines if line["type"] == "attachment")
        return [item for item in found if item["type"].startswith("hook_")]

    @property
    def results(self) -> list[Json]:
        """The lines of results."""
        return [line for line in self.lines if "sourceToolAssistantUUID" in line]

    @property
    def notices(self) -> list[str]:
        """The notices for the user."""
        return [event.text for event in self.events if isinstance(event, Notice)]

    @property
    def picture(self) -> str:
        """The log as a drawing."""
        return picture(self.lines)

    @property
    def sent(self) -> str:
        """The last request to the model, as text."""
        return json.dumps([dict(message) for message in self.model.requests[-1].messages])

    def inputs(self, name: str = "told") -> list[Json]:
        """Return the inputs of hooks that saved them in a file."""
        text = (self.work.parent / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines() if line.strip()]


KEEP = 'told=$(cat); printf "%s\\n" "$told" >> $HERE/told'
"""A hook that saves its input."""


def _groups(hooks: Any) -> list[Json]:
    if isinstance(hooks, str):
        return [{"hooks": [{"type": "command", "command": hooks}]}]
    if isinstance(hooks, Sequence) and all(isinstance(item, str) for item in hooks):
        return [{"hooks": [{"type": "command", "command": item} for item in hooks]}]
    return [hooks] if isinstance(hooks, dict) else list(hooks)
