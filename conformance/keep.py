"""Check the backup store with the SDK's own suite, the SDK and the real client.

    python -m conformance.keep [--cli VERSION]

The suite runs twice: over what lies in plain files, and over what is packed after every batch.
Then the SDK talks with a model, by its own client and the stand-in, and mirrors the session to a
store; the session is deleted from the disk, and goes on from the store alone. The real client
ends a session, and its hook keeps it; it resumes a session that was put together from what was
left of it, and sends what Plait says.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from conformance import install, sandbox
from conformance.client import Client
from conformance.judge import Judge
from conformance.model import Missing, Places
from plait import Archive
from plait.store.sdk import SessionStore
from plait.store.store import Store
from tests.standin import Asked, StandIn, by_script, call, calls, said

PROJECT = Path(__file__).resolve().parents[1]
LONGEST = 600
LACKS = 5
PATIENCE, STEP = 300, 0.1


class Packing(SessionStore):
    """A store that packs after every batch."""

    async def append(self, key: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> None:
        """Add entries, and leave no plain file."""
        await super().append(key, entries)
        self.close()


def main() -> int:
    """Run outside or inside, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m conformance.keep")
    parser.add_argument("--cli", default=install.PINNED, help="a version, or latest")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    return judged(given.inside, given.cli) if given.inside else prepared(given.cli)


def prepared(cli: str) -> int:
    """Install what is needed, then run itself inside namespaces."""
    places = Places(PROJECT / ".cache" / "conformance")
    try:
        if lacking := list(sandbox.needs()):
            raise Missing("; ".join(lacking))
        version = install.newest() if cli == "latest" else cli
        install.client(places, version)
        install.sdk(places)
    except Missing as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return LACKS
    with sandbox.temporary() as folder:
        command = [
            sys.executable,
            "-m",
            "conformance.keep",
            "--cli",
            version,
            "--inside",
            str(folder),
        ]
        return sandbox.inside(command, PROJECT, seconds=LONGEST)


def judged(folder: Path, version: str) -> int:
    """Run everything, inside, and say what came of it."""
    places = Places(PROJECT / ".cache" / "conformance")
    sandbox.furnish(folder)
    sandbox.check_alone()
    executable = sandbox.within_reach(install.client(places, version), folder)
    rescued(Client(executable, sandbox.Room(folder), StandIn(by_script({}))), places)
    hooked(executable, folder)
    python = install.sdk(places)
    sys.path += [str(path) for path in python.parents[1].glob("lib/python*/site-packages")]
    suite = import_module("claude_agent_sdk.testing").run_session_store_conformance
    for kind in (SessionStore, Packing):
        asyncio.run(suite(lambda kind=kind: kind(tempfile.mkdtemp(dir=folder))))
        print(f"the suite of {install.SDK} passes: {kind.__name__}")
    talked(folder)
    return 0


def rescued(client: Client, places: Places) -> None:
    """Put together a session of which only prompts are left, and let the client resume it."""
    with client.standin, client.room.desk() as desk:
        typed = [
            {
                "display": text,
                "pastedContents": {},
                "timestamp": 1_770_000_000_000 + number * 60_000,
                "project": str(desk.directory),
                "sessionId": sandbox.SESSION,
            }
            for number, text in enumerate(("first", "/model", "! ls", "second\nand more"))
        ]
        lines = (json.dumps(line) + "\n" for line in typed)
        (desk.config / "history.jsonl").write_text("".join(lines), encoding="utf-8")
        archive = Archive([desk.config], store=desk.root / "keep")
        (one,) = archive.keep.rescue().sessions
        there = archive.keep.store.restore(archive.keep.store.sessions()[0], desk.root / "back")
        verdict = Judge(client, None, places).given("rescued", one.session, there.path)
        assert verdict.is_equal, verdict
        print("what was rescued is resumed, and sent as Plait says")


def hooked(executable: Path, folder: Path) -> None:
    """Let the client end a session whose hook keeps it."""
    answers = by_script({"otherwise": said("Hello.")})
    with StandIn(answers) as standin, sandbox.Room(folder / "hooked").desk() as desk:
        own = {f"PLAIT_{kind}_DIR": str(desk.root / kind) for kind in ("DATA", "CACHE", "STATE")}
        way = os.environ.get("PYTHONPATH", "")
        environment = {**desk.environment(standin.url), **own, "PYTHONPATH": way}
        plait = [sys.executable, "-m", "plait", "keep"]
        _run([*plait, "--install", "hook", "--yes"], desk, environment)
        _run([str(executable), "-p", "hello", "--output-format", "json"], desk, environment)
        (log,) = desk.sessions()
        kept = _kept_soon(Store.open(desk.root / "DATA" / "keep"), log.read_bytes())
        _run([*plait, "--uninstall", "--yes"], desk, environment)
        assert not (desk.config / "settings.json").exists()
        print(f"kept by a hook when the client ended: {kept} bytes, as they are")


def _run(command: list[str], desk: sandbox.Desk, environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, cwd=desk.directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True
    )
    assert done.returncode == 0, done.stderr


def _kept_soon(store: Store, data: bytes) -> int:
    """Return how much was kept of a session once the process in the background is done."""
    for _ in range(PATIENCE):
        logs = [one.log for one in store.sessions() if one.log]
        if logs and store.read(logs[0]) == data:
            return logs[0].size
        time.sleep(STEP)
    raise AssertionError("the hook kept nothing, or something else")


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
    """Say something to the model by the SDK, and return the session."""
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
