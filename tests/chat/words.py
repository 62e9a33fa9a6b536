"""A session with a script, held as the command holds it: with all that goes along."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from plait.chat.client import Client
from plait.chat.events import Event, PromptLogged, ToolStarted
from plait.chat.models import ScriptModel
from plait.chat.streaming import Message, Request, StreamEvent
from plait.write.lines import NEWEST, Version

Json = dict[str, Any]


class WatchedModel(ScriptModel):
    """Follows a script, and tells who is asked, with which tools."""

    def __init__(
        self,
        script: Mapping[str, Any],
        seen: Callable[[str], None],
        offered: Callable[[Sequence[str]], None],
        defined: Callable[[Mapping[str, Any]], None],
    ) -> None:
        super().__init__(script)
        self.seen, self.offered, self.defined = seen, offered, defined

    def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        """Answer as the script says."""
        self.seen(request.model)
        self.offered([str(tool["name"]) for tool in request.tools])
        self.defined({str(tool["name"]): tool for tool in request.tools})
        return super().stream(request)


class ScriptedSession:
    """A project, a configuration and the sessions that are held there."""

    def __init__(self, folder: Path, version: Version = NEWEST, entrypoint: str = "cli") -> None:
        self.work, self.config = folder / "work", folder / "config"
        self.work.mkdir(exist_ok=True)
        self.version, self.entrypoint = version, entrypoint
        self.path: Path | None = None
        self.told = 0
        """How many lines were told already."""

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file of the project, or with `config/` before it one of the configuration."""
        path = self.config.parent / name if name.startswith("config/") else self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def ask(
        self, *prompts: str, stops: str = "", stops_call: str = "none", **manner: Any
    ) -> list[Event]:
        """Ask one thing after the other in one process, and return what happened."""

        async def asked(client: Client) -> AsyncIterator[Event]:
            for prompt in prompts:
                async for event in client.send(prompt):
                    yield event
                    is_asked = isinstance(event, PromptLogged) and event.text == stops
                    is_called = isinstance(event, ToolStarted) and event.proposal.tool.endswith(
                        stops_call
                    )
                    if is_asked or is_called:
                        client.interrupt()

        return self.held(asked, **manner)

    def compact(self, **manner: Any) -> list[Event]:
        """Has a summary stand for what was said."""
        return self.held(lambda client: client.compact(), **manner)

    def held(
        self,
        work: Callable[[Client], AsyncIterator[Event]],
        *,
        answers: Sequence[Mapping[str, Any]] = (),
        seen: Callable[[str], None] = lambda model: None,
        offered: Callable[[Sequence[str]], None] = lambda tools: None,
        defined: Callable[[Mapping[str, Any]], None] = lambda tools: None,
        **manner: Any,
    ) -> list[Event]:
        """Do something with the session, begun or gone on with, and return what happened."""
        model = WatchedModel(
            {"answers": [*answers], "otherwise": {"text": "ok"}}, seen, offered, defined
        )
        form = {"model": model, "version": self.version, "entrypoint": self.entrypoint, **manner}

        async def done() -> list[Event]:
            if self.path is None:
                client = Client.new(self.config, cwd=self.work, **form)
                self.path = client.path
            else:
                client = Client.resume(self.path, cwd=self.work, **form)
            async with client:
                events = [event async for event in work(client)]
                self.sent = client.runtime.requests.build([])
            return events

        return asyncio.run(done())

    @property
    def lines(self) -> list[Json]:
        """All lines of the log."""
        assert self.path
        return [json.loads(line) for line in self.path.read_bytes().splitlines()]

    def new_lines(self) -> list[Json]:
        """Return the messages of the log since the last time."""
        messages = [line for line in self.lines if "uuid" in line]
        result, self.told = self.told, len(messages)
        return messages[result:]

    def attached(self, kind: str) -> list[Json]:
        """Return the attachments of a kind."""
        found = [line for line in self.lines if line["type"] == "attachment"]
        return [line for line in found if line["attachment"]["type"] == kind]

    @property
    def messages(self) -> Sequence[Message]:
        """What would be sent now."""
        return self.sent.messages


def read(path: Path) -> Json:
    """Return an answer that reads a file."""
    return {"calls": [{"name": "Read", "input": {"file_path": str(path)}}]}


def kinds(lines: Sequence[Json]) -> list[str]:
    """Return what each line is."""
    return [line["attachment"]["type"] if "attachment" in line else line["type"] for line in lines]
