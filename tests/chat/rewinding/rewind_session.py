"""Sessions in which files are changed, as in a terminal."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plait.chat import Client, ScriptModel
from plait.chat.rewind import FileRewindPlan, RewindPoint
from plait.write.lines import NEWEST, Version

Json = dict[str, Any]


def write(path: Path, content: str) -> Json:
    """Return a call that writes a file."""
    return {"name": "Write", "input": {"file_path": str(path), "content": content}}


def edit(path: Path, old: str, new: str) -> Json:
    """Return a call that changes a file."""
    given = {"file_path": str(path), "old_string": old, "new_string": new}
    return {"name": "Edit", "input": given}


def read(path: Path) -> Json:
    """Return a call that reads a file."""
    return {"name": "Read", "input": {"file_path": str(path)}}


def run(command: str) -> Json:
    """Return a call that runs a command."""
    return {"name": "Bash", "input": {"command": command}}


class RewindSession:
    """A workspace, and a client whose turns make the given calls."""

    def __init__(self, folder: Path, version: Version = NEWEST) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        self.version = version
        self.client: Client | None = None

    def file(self, name: str) -> Path:
        """A file of the workspace."""
        return self.work / name

    def open(self, path: Path | None = None) -> Client:
        """Start the session, or resume one."""
        rest: Json = {"version": self.version, "entrypoint": "cli", "mode": "bypassPermissions"}
        model = ScriptModel({"otherwise": {"text": "Done."}}, name="claude-one")
        if path:
            self.client = Client.resume(path, model=model, cwd=self.work, **rest)
        else:
            self.client = Client.new(self.folder / "config", cwd=self.work, model=model, **rest)
        return self.client

    def ask(self, prompt: str, *calls: Json) -> None:
        """Run a turn that makes some calls."""
        client = self.client or self.open()
        answers = [*([{"calls": [*calls]}] if calls else []), {"text": "Done."}]
        client.runtime.model = ScriptModel({"answers": answers}, name="claude-one")
        client._response_client._runtime.model = client.runtime.model

        async def turn() -> None:
            async for _ in client.send(prompt):
                pass

        asyncio.run(turn())

    @property
    def points(self) -> Sequence[RewindPoint]:
        """Return the prompts that can be rewound to."""
        assert self.client
        return self.client.rewind_points()

    def plan(self, number: int) -> FileRewindPlan:
        """Return what rewinding to before a prompt does to files; 1 is the newest prompt."""
        assert self.client
        found = self.client.plan_file_rewind(self.points[-number])
        assert found
        return found

    def back(self, number: int) -> None:
        """Rewind to before a prompt."""
        assert self.client
        asyncio.run(self.client.rewind(self.points[-number]))

    def close(self) -> Path:
        """Close the session."""
        assert self.client
        asyncio.run(self.client.close())
        return self.client.path
