"""The store as the SDK's `SessionStore` to what the SDK's own suite and a real talk say of it.

    python -m conformance.session_store

The suite runs twice: over what lies in plain files, and over what is packed after every batch.
Then the SDK talks with a model, by its own client and the stand-in, and mirrors the session to a
store; the session is deleted from the disk, and goes on from the store alone.
"""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from conformance import install, sandbox
from conformance.model import Missing, Places
from plait.keep.sdk_store import SessionStore
from plait.keep.store import Store
from tests.standin import Asked, StandIn, by_script, call, calls, said

PROJECT = Path(__file__).resolve().parents[1]
LONGEST = 600
LACKS = 5


class Packing(SessionStore):
    """A store that packs after every batch."""

    async def append(self, key: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> None:
        """Adds entries, and leaves no plain file."""
        await super().append(key, entries)
        self.close()


def main() -> int:
    """Runs outside or inside, and returns the exit code."""
    if sys.argv[1:]:
        return judged(Path(sys.argv[1]))
    try:
        if lacking := list(sandbox.needs()):
            raise Missing("; ".join(lacking))
        install.sdk(Places(PROJECT / ".cache" / "conformance"))
    except Missing as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return LACKS
    with sandbox.temporary() as folder:
        command = [sys.executable, "-m", "conformance.session_store", str(folder)]
        return sandbox.inside(command, PROJECT, seconds=LONGEST)


def judged(folder: Path) -> int:
    """Runs the suite and the talk, inside, and says what came of them."""
    sandbox.furnish(folder)
    sandbox.check_alone()
    python = install.sdk(Places(PROJECT / ".cache" / "conformance"))
    sys.path += [str(path) for path in python.parents[1].glob("lib/python*/site-packages")]
    suite = import_module("claude_agent_sdk.testing").run_session_store_conformance
    for kind in (SessionStore, Packing):
        asyncio.run(suite(lambda kind=kind: kind(tempfile.mkdtemp(dir=folder))))
        print(f"the suite of {install.SDK} passes: {kind.__name__}")
    talked(folder)
    return 0


def talked(folder: Path) -> None:
    """Mirrors a session to a store, deletes it, and goes on from the store."""
    with StandIn(by_script({})) as standin, sandbox.Room(folder).desk() as desk:
        notes = desk.directory / "notes.txt"
        notes.write_text("one\n", encoding="utf-8")
        read = [calls(call("Read", file_path=str(notes))), said("It says one.")]
        standin.choose = by_script(
            {"rules": [{"when": "look", "answers": read}], "otherwise": said("Understood.")}
        )
        os.environ.clear()
        os.environ.update(desk.environment(standin.url))
        keep = folder / "keep"
        session = asyncio.run(_said(SessionStore(keep), desk, "look at the notes"))
        SessionStore(keep).close()
        logs = [path.read_bytes() for path in desk.sessions()]
        shutil.rmtree(desk.config / "projects")
        _check_mirrored(keep, session, logs)
        standin.taken()
        asyncio.run(_said(SessionStore(keep), desk, "and what did it say?", resume=session))
        _check_resumed(standin.taken())
        print("a session of the SDK goes on from the store alone")


async def _said(store: SessionStore, desk: sandbox.Desk, prompt: str, **more: Any) -> str:
    """Says something to the model by the SDK, and returns the session."""
    sdk = import_module("claude_agent_sdk")
    options = sdk.ClaudeAgentOptions(
        session_store=store, cwd=str(desk.directory), allowed_tools=["Read"], **more
    )
    session = ""
    async for message in sdk.query(prompt=prompt, options=options):
        session = getattr(message, "session_id", None) or session
    return session


def _check_mirrored(keep: Path, session: str, logs: list[bytes]) -> None:
    store = Store.open(keep)
    kept = store.session(session).log
    lines = set(store.read(kept).splitlines()) if kept else set()
    assert lines, "nothing was mirrored"
    (log,) = logs
    strange = lines - set(log.splitlines())
    assert not strange, f"lines that the client did not write: {strange}"
    print(f"mirrored: {len(lines)} of {len(log.splitlines())} lines, byte for byte")


def _check_resumed(asked: list[Asked]) -> None:
    texts = [str(one.body.get("messages")) for one in asked]
    whole = [text for text in texts if "look at the notes" in text and "what did it say" in text]
    assert whole, "the model was not told what was said before"
    assert any("It says one." in text for text in whole)


if __name__ == "__main__":
    sys.exit(main())
