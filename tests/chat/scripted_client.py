"""Clients with a scripted model, and their logs as drawings."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from plait.chat.client import Client
from plait.chat.context import LiveContext, RequestBuilder
from plait.chat.events import Event
from plait.chat.hooks import HookEffect
from plait.chat.models import ScriptModel
from plait.chat.permissions import SessionPermissions
from plait.chat.runtime import Limits, Ruling, Runtime
from plait.chat.streaming import Model
from plait.chat.tools.base import (
    Arguments,
    Effect,
    Outcome,
    ProgressCallback,
    Proposal,
    Tool,
    ToolError,
    Workplace,
)
from plait.write import SessionWriter
from plait.write.lines import NEWEST, Version

Json = dict[str, Any]


class Permissive(SessionPermissions):
    """Permissions that allow all tools except the named ones."""

    def __init__(self, *denied: str, stops: bool = False) -> None:
        self.denied = denied
        self.stops = stops
        self.mode = "default"

    async def check(
        self, proposal: Proposal, call: str, effect: HookEffect | None = None
    ) -> Ruling:
        """Decide by the name of the tool."""
        if proposal.tool in self.denied:
            return Ruling(
                False,
                proposal,
                "No.",
                "Error: No.",
                {"tool_denial_kind": "user-rejected"},
                ends_turn=self.stops,
            )
        return Ruling(True, proposal)


class Echo:
    """A tool that returns its text, as soon as the gate for it is open."""

    def __init__(self, name: str = "Echo", effect: Effect = "read") -> None:
        self.name = name
        self.effect: Effect = effect
        self.gates: dict[str, asyncio.Event] = {}
        self.started: list[str] = []
        self.running = 0
        self.most_running = 0
        self.cancelled: list[str] = []

    @property
    def definition(self) -> Mapping[str, Any]:
        """The definition of the tool."""
        schema = {"type": "object", "properties": {"text": {"type": "string"}}}
        return {"name": self.name, "description": "Says it.", "input_schema": schema}

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Check that there is a text."""
        if not isinstance(arguments.get("text"), str):
            raise ToolError(f"InputValidationError: {self.name} needs `text`", is_misuse=True)
        return Proposal(self.name, arguments, self.effect, arguments["text"])

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Return the text."""
        text = proposal.arguments["text"]
        self.started.append(text)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            report({"type": "bash_progress", "output": text, "fullOutput": text})
            if text in self.gates:
                await self.gates[text].wait()
            else:
                await asyncio.sleep(0)
            if text == "broken":
                raise RuntimeError("the tool broke")
            if text == "impossible":
                raise ToolError("it cannot be done")
            return Outcome(text, {"said": text})
        except asyncio.CancelledError:
            self.cancelled.append(text)
            raise
        finally:
            self.running -= 1


class ScriptedClient:
    """A client with a scripted model, in a folder of its own."""

    def __init__(
        self,
        folder: Path,
        script: Mapping[str, Any] | Model,
        *,
        tools: Sequence[Tool] = (),
        permissions: Permissive | None = None,
        limits: Limits | None = None,
        version: Version = NEWEST,
        entrypoint: str = "cli",
    ) -> None:
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        self.slept: list[float] = []
        writer = SessionWriter.new(
            folder / "config",
            cwd=self.work,
            version=version,
            entrypoint=entrypoint,
            random=Random(7),
            slug="quiet-quick-hopper",
        )
        model = ScriptModel(script) if isinstance(script, Mapping) else script
        self.parts = Runtime(
            writer,
            model,
            RequestBuilder(LiveContext(writer), "claude-opus-5-5"),
            permissions or Permissive(),
            Workplace(self.work, self.work),
            {tool.name: tool for tool in tools},
            limits=limits or Limits(),
        )
        self.client = Client(self.parts, sleep=self._sleep, random=Random(3))

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def ask(self, *prompts: str) -> list[Event]:
        """Send the prompts in order; return the events."""

        async def run() -> list[Event]:
            events = []
            async with self.client as client:
                for prompt in prompts:
                    events += [event async for event in client.send(prompt)]
            return events

        return asyncio.run(run())

    @property
    def lines(self) -> list[Json]:
        """All lines of the log except the cost line written at the end."""
        return [line for line in self.all_lines if line["type"] != "cost-state"]

    @property
    def all_lines(self) -> list[Json]:
        """All lines of the log."""
        data = self.parts.writer.path.read_bytes()
        return [json.loads(line) for line in data.splitlines()]

    @property
    def sent(self) -> list[Json]:
        """The messages of the next request."""
        return [dict(message) for message in LiveContext(self.parts.writer).messages()]

    def picture(self) -> str:
        """The log as a drawing: `message<parent  kind text`."""
        return picture(self.lines)


def picture(lines: Sequence[Json]) -> str:
    """Return a log as a drawing: a letter for each message, its parent and its kind."""
    letters: dict[str | None, str] = {None: "·"}
    drawn = []
    for line in lines:
        if "uuid" not in line:
            drawn.append(f"     {line['type']} {line.get('operation', '')}".rstrip())
            continue
        letters[line["uuid"]] = chr(ord("A") + len(letters) - 1)
        parent = letters.get(line["parentUuid"], "?")
        drawn.append(f"{letters[line['uuid']]}<{parent}  {_words(line)}")
    return "\n".join(drawn)


def _words(line: Json) -> str:
    if line["type"] == "system":
        return f"system {line['subtype']}"
    if line["type"] == "attachment":
        return f"attachment {line['attachment']['type']}"
    if line["type"] == "progress":
        return f"progress {line['data']['type']}"
    content = line["message"]["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return f"{line['type']} " + ", ".join(map(_block, blocks))


def _block(block: Json) -> str:
    match block["type"]:
        case "text":
            return str(block["text"])[:48]
        case "tool_use":
            return f"{block['name']}({block['input'].get('text', block['input'])})"
        case "tool_result":
            return f"→ {str(block['content'])[:60]}"
        case kind:
            return str(kind)
