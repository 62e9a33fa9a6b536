"""A session that runs until it is killed, in a process of its own.

python -m tests.chat.endless LOG|CONFIG WORK NAME [TURNS] [BYTES]

It begins once a line, or the end, comes from stdin. Each turn writes a file, runs commands and
says so; a line on stdout tells of each. With a limit of bytes the log cannot grow beyond it: as
on a full disk, a write is taken in part or not at all.
"""

import asyncio
import resource
import sys
from pathlib import Path
from typing import Any

from plait.chat.client import Client
from plait.chat.context import LiveContext, RequestBuilder
from plait.chat.events import TurnEnded
from plait.chat.models import ScriptModel
from plait.chat.runtime import Runtime
from plait.chat.tools import toolbox
from plait.chat.tools.base import Workplace
from plait.write import SessionWriter
from tests.chat.scripted_client import Permissive

MODEL = "claude-opus-5-5"
FOREVER = 10_000


def script(work: Path, name: str) -> dict[str, Any]:
    """Return the answers for every turn."""
    file = str(work / f"{name}.txt")
    calls = [
        {"name": "Write", "input": {"file_path": file, "content": name * 20}},
        {"name": "Bash", "input": {"command": "echo one"}},
        {"name": "Bash", "input": {"command": "echo two"}},
    ]
    answers = [{"thinking": "hm", "text": "I do it.", "calls": calls}, {"text": f"Done, {name}."}]
    return {"rules": [{"when": "turn", "answers": answers}]}


def make_client(place: Path, work: Path, name: str) -> Client:
    """Return a client that starts a session in a folder, or resumes the one in a log."""
    if place.suffix == ".jsonl":
        writer = SessionWriter.resume(place, model=MODEL)
    else:
        writer = SessionWriter.new(place, cwd=work, model=MODEL)
    memory = RequestBuilder(LiveContext(writer), MODEL)
    model = ScriptModel(script(work, name))
    desk = Workplace(work, work, environment={"PATH": "/usr/bin:/bin"})
    return Client(Runtime(writer, model, memory, Permissive(), desk, toolbox()))


async def run_turns(client: Client, name: str, turns: int) -> None:
    """Run turn after turn; when the disk is full, make room and continue."""
    async with client:
        print(client.runtime.writer.path, flush=True)
        sys.stdin.readline()
        for number in range(turns):
            async for event in client.send(f"turn {number} of {name}"):
                if isinstance(event, TurnEnded):
                    print(event.ending, event.text, flush=True)
                    if event.ending == "failed":
                        _limit(None)


def _limit(size: int | None) -> None:
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (most if size is None else size, most))


def main() -> None:
    """Run the session."""
    place, work, name, *more = sys.argv[1:]
    turns = int(more[0]) if more else FOREVER
    if len(more) > 1:
        _limit(int(more[1]))
    asyncio.run(run_turns(make_client(Path(place), Path(work), name), name, turns))


if __name__ == "__main__":
    main()
