"""Play conversations: one player for each client."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Protocol

from conformance.chat.talks import Step, Talk, answers
from conformance.client import Client, Finished
from conformance.sandbox import Desk
from conformance.scenarios.printed import lay_out

LONGEST = 90


class Player(Protocol):
    """Whoever leads a client through a talk."""

    @property
    def name(self) -> str:
        """Whom."""
        ...

    def step(self, desk: Desk, prompt: str, *arguments: str) -> Finished:
        """Ask one thing in print mode."""
        ...


@dataclass(frozen=True, slots=True)
class Genuine:
    """Leads the real client."""

    client: Client
    name: str = "client"

    def step(self, desk: Desk, prompt: str, *arguments: str) -> Finished:
        """Ask one thing in print mode."""
        return self.client.run(desk, "-p", prompt, *arguments)


@dataclass(frozen=True, slots=True)
class Ours:
    """Leads `plait chat`."""

    client: Client
    """Whose stand-in is spoken to."""
    more: tuple[str, ...] = ()
    name: str = "plait"

    def step(self, desk: Desk, prompt: str, *arguments: str) -> Finished:
        """Ask one thing in print mode."""
        return self._run(desk, "-p", prompt, *arguments, *self.more, "--output-format", "json")

    def many(self, desk: Desk, prompts: Sequence[str], *arguments: str) -> Finished:
        """Ask many things of one process, each once the one before is answered."""
        said = ({"role": "user", "content": prompt} for prompt in prompts)
        lines = "".join(f"{json.dumps({'type': 'user', 'message': one})}\n" for one in said)
        forms = ("--input-format", "stream-json", "--output-format", "stream-json")
        return self._run(desk, "-p", *forms, *arguments, given=lines)

    def _run(self, desk: Desk, *arguments: str, given: str = "") -> Finished:
        source = Path(__file__).resolve().parents[2] / "src"
        done = subprocess.run(
            [sys.executable, "-m", "plait", "chat", *arguments],
            cwd=desk.directory,
            env={**desk.environment(self.client.standin.url), "PYTHONPATH": str(source)},
            input=given,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST,
            check=False,
        )
        desk.hand_over()
        return Finished(done.stdout, done.stderr, done.returncode)


class Alternating:
    """Leads one client, then the other, and so on."""

    name = "in turn"

    def __init__(self, *players: Player) -> None:
        self._players = cycle(players)

    def step(self, desk: Desk, prompt: str, *arguments: str) -> Finished:
        """Ask one thing in print mode."""
        return next(self._players).step(desk, prompt, *arguments)


def play(player: Player, desk: Desk, client: Client, talk: Talk) -> list[Path]:
    """Lead a client through a talk and return the sessions that came of it, oldest first."""
    client.standin.choose = answers(desk.directory)
    lay_out(desk)
    if talk.settings:
        text = json.dumps(talk.settings)
        (desk.config / "settings.json").write_text(text, encoding="utf-8")
        desk.hand_over()
    for name, text in talk.files.items():
        path = desk.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    desk.hand_over()
    born: list[Path] = []
    for step in talk.steps:
        player.step(desk, step.prompt, *_arguments(step, born))
        born += [path for path in desk.sessions() if path not in born]
    return born


def _arguments(step: Step, born: list[Path]) -> tuple[str, ...]:
    resumed = ("--resume", born[0].stem) if step.is_first and born else ()
    return (*resumed, *step.arguments, *step.leave)
