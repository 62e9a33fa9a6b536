"""The official SDK as a second reader of session files, in its own process."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conformance.compare import comparable
from conformance.model import Json, Listed, Message, Missing, Resumed
from conformance.sandbox import Desk

READER = Path(__file__).with_name("sdk_reader.py")


class Sdk:
    """The SDK, answering questions until it is closed."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def resumed(self, desk: Desk, session: str) -> Resumed:
        """Return the messages of a session, each an entry of its own."""
        found = self._ask(desk, session=session)["messages"]
        chain = tuple(uuid for uuid, _, _ in found)
        messages: list[Message] = comparable(as_message(kind, said) for _, kind, said in found)
        return Resumed(bool(chain), chain[-1] if chain else None, chain, messages)

    def listed(self, desk: Desk) -> list[Listed]:
        """Return the sessions of a directory."""
        return [Listed(*row) for row in self._ask(desk)["sessions"]]

    def _ask(self, desk: Desk, **more: str) -> Json:
        question = {"config": str(desk.config), "directory": str(desk.directory), **more}
        if self._process.stdin is None or self._process.stdout is None:
            raise Missing("the SDK's process has no pipes")
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise Missing("the SDK's process ended")
        found: Json = json.loads(line)
        return found


def as_message(kind: str, said: Any) -> Json:
    """Return what the SDK holds of a message; some of its contents are no list."""
    content = said.get("content") if isinstance(said, dict) else None
    return {"role": kind, "content": content if isinstance(content, list | str) else []}


@contextmanager
def second_reader(python: Path, home: Path) -> Iterator[Sdk]:
    """Start the SDK in its environment, and end it."""
    process = subprocess.Popen(
        [str(python), "-I", str(READER)],
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Sdk(process)
    finally:
        process.kill()
        process.wait()
