"""Sessions whose scripted model starts agents, and their logs."""

import asyncio
import json
from pathlib import Path
from typing import Any

from plait.chat import Client, ScriptModel
from plait.chat.events import Event
from plait.write.lines import Version

Json = dict[str, Any]


def agent_call(prompt: str, kind: str = "general-purpose", **more: Any) -> Json:
    """Return a call that starts an agent and waits for its report."""
    given = {"description": "some work", "prompt": prompt, "subagent_type": kind}
    return {"name": "Agent", "input": given | {"run_in_background": False} | more}


COUNTING = {
    "when": "[count]",
    "answers": [
        {"text": "I look.", "calls": [{"name": "Bash", "input": {"command": "cat notes.txt"}}]},
        {"text": "There are two."},
    ],
}


class AgentSession:
    """A session with a scripted model, its log and the logs of its agents."""

    def __init__(self, folder: Path, rules: list[Json], version: Version, **manner: Any) -> None:
        work = folder / "work"
        work.mkdir(parents=True, exist_ok=True)
        (work / "notes.txt").write_text("one\ntwo\n")
        self.work = work
        model = manner.pop("model", None) or ScriptModel({"rules": rules}, name="claude-opus-5-5")
        self.client = Client.new(
            folder / "config", cwd=work, model=model, version=version, **manner
        )

    def ask(self, *prompts: str) -> list[Event]:
        async def play() -> list[Event]:
            events = []
            async with self.client as client:
                for prompt in prompts:
                    events += [event async for event in client.send(prompt)]
            return events

        return asyncio.run(play())

    @property
    def path(self) -> Path:
        return self.client.runtime.writer.path

    @property
    def lines(self) -> list[Json]:
        return read_lines(self.path)

    @property
    def agents(self) -> list[Path]:
        """The logs of agents, in the order in which they were started."""
        found = self.path.parent.rglob("agent-*.jsonl")
        return sorted(found, key=lambda log: str(read_lines(log)[0]["timestamp"]))

    def agent(self) -> list[Json]:
        [log] = self.agents
        return read_lines(log)

    @property
    def result(self) -> Json:
        """The last result of the session."""
        return [line for line in self.lines if "toolUseResult" in line][-1]


def read_lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]
