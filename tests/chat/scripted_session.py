"""Sessions with a scripted model and everything that `plait chat` adds to them."""

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
    """A scripted model that reports the model and the tools of each request."""

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
        """Answer from the script."""
        self.seen(request.model)
        self.offered([str(tool["name"]) for tool in request.tools])
        self.defined({str(tool["name"]): tool for tool in request.tools})
        return super().stream(request)


class ScriptedSession:
    """A project, a configuration folder and a session there."""

    def __init__(self, folder: Path, version: Version = NEWEST, entrypoint: str = "cli") -> None:
        self.work, self.config = folder / "work", folder / "config"
        self.work.mkdir(exist_ok=True)
        self.version, self.entrypoint = version, entrypoint
        self.path: Path | None = None
        self.seen_count = 0
        """The number of messages that `new_lines` has returned already."""

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file of the project, or of the configuration (`config/…`)."""
        path = self.config.parent / name if name.startswith("config/") else self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def ask(
        self, *prompts: str, stops: str = "", stops_call: str = "none", **manner: Any
    ) -> list[Event]:
        """Send the prompts to one client in order; return the events."""

        async def run(client: Client) -> AsyncIterator[Event]:
            for prompt in prompts:
                async for event in client.send(prompt):
                    yield event
                    is_asked = isinstance(event, PromptLogged) and event.text == stops
                    is_called = isinstance(event, ToolStarted) and event.proposal.tool.endswith(
                        stops_call
                    )
                    if is_asked or is_called:
                        client.interrupt()

        return self.run_client(run, **manner)

    def compact(self, **manner: Any) -> list[Event]:
        """Compact the conversation; return the events."""
        return self.run_client(lambda client: client.compact(), **manner)

    def run_client(
        self,
        work: Callable[[Client], AsyncIterator[Event]],
        *,
        answers: Sequence[Mapping[str, Any]] = (),
        seen: Callable[[str], None] = lambda model: None,
        offered: Callable[[Sequence[str]], None] = lambda tools: None,
        defined: Callable[[Mapping[str, Any]], None] = lambda tools: None,
        **manner: Any,
    ) -> list[Event]:
        """Start or resume the session, run something with its client and return the events."""
        model = WatchedModel(
            {"answers": [*answers], "otherwise": {"text": "ok"}}, seen, offered, defined
        )
        form = {"model": model, "version": self.version, "entrypoint": self.entrypoint, **manner}

        async def run() -> list[Event]:
            if self.path is None:
                client = Client.new(self.config, cwd=self.work, **form)
                self.path = client.path
            else:
                client = Client.resume(self.path, cwd=self.work, **form)
            async with client:
                events = [event async for event in work(client)]
                self.sent = client.runtime.requests.build([])
            return events

        return asyncio.run(run())

    @property
    def lines(self) -> list[Json]:
        """All lines of the log."""
        assert self.path
        return [json.loads(line) for line in self.path.read_bytes().splitlines()]

    def new_lines(self) -> list[Json]:
        """Return the messages logged since the last call."""
        messages = [line for line in self.lines if "uuid" in line]
        result, self.seen_count = self.seen_count, len(messages)
        return messages[result:]

    def attachments(self, kind: str) -> list[Json]:
        """Return the attachments of a kind."""
        found = [line for line in self.lines if line["type"] == "attachment"]
        return [line for line in found if line["attachment"]["type"] == kind]

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the next request."""
        return self.sent.messages


def read(path: Path) -> Json:
    """Return an answer that reads a file."""
    return {"calls": [{"name": "Read", "input": {"file_path": str(path)}}]}


def kinds(lines: Sequence[Json]) -> list[str]:
    """Return the kind of each line."""
    return [line["attachment"]["type"] if "attachment" in line else line["type"] for line in lines]
