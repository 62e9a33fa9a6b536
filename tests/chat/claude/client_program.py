"""A stand-in for the installed client: `plait chat`, which speaks the same protocol."""

import json
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plait.chat.approval import Approval
from plait.chat.claude_code import ClaudeEngine, ClaudeOptions
from plait.chat.events import Event
from plait.chat.tools.base import Proposal

Json = dict[str, Any]
SOURCE = Path(__file__).resolve().parents[3] / "src"
CLIENT = """\
#!/bin/sh
if [ "$1" = --version ]; then echo "2.1.325 (Claude Code)"; exit; fi
exec {python} -m plait chat --engine api --model script:{script} --root {root} "$@"
"""
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONPATH": str(SOURCE),
}


def make_client(folder: Path, script: Mapping[str, Any]) -> Path:
    """Return an executable that answers from a script and logs to `folder/config`."""
    file, root = folder / "client.json", folder / "config"
    file.write_text(json.dumps(script))
    root.mkdir(exist_ok=True)
    return write_program(folder, CLIENT.format(python=sys.executable, script=file, root=root))


def write_program(folder: Path, text: str) -> Path:
    """Write a program and return its path."""
    place = folder / "claude"
    place.write_text(text)
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return place


class Person:
    """Gives the same answer to all questions and records them."""

    def __init__(self, answer: Approval | None = None) -> None:
        self.answer = answer or Approval(is_allowed=True)
        self.asked: list[Proposal] = []

    async def ask(self, proposal: Proposal, call: str) -> Approval:
        """Return the answer."""
        self.asked.append(proposal)
        return self.answer


def open_session(
    folder: Path, client: Path, person: Person | None = None, **start: Any
) -> ClaudeEngine:
    """Return an engine in `folder/work` that runs a client."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    environment = {**ENVIRONMENT, "HOME": str(folder)}
    result = ClaudeOptions(client, folder / "config", work, environment=environment, **start)
    return ClaudeEngine(result, approver=person)


async def send_prompt(engine: ClaudeEngine, prompt: str) -> list[Event]:
    """Send a prompt; return the events."""
    return [event async for event in engine.send(prompt)]


def event_kinds(events: list[Event]) -> list[str]:
    """Return the kinds of events; consecutive text deltas count once."""
    found = [type(event).__name__ for event in events]
    return [
        result
        for place, result in enumerate(found)
        if result != "TextDelta" or found[place - 1] != "TextDelta"
    ]
