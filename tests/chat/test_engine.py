"""What the console learns of a session from any engine."""

import asyncio
import json
from pathlib import Path
from typing import Any

from plait.chat import Client, ScriptModel
from plait.chat.model_info import ContextFill

SCRIPT = {"answers": [{"text": "Good."}, {"text": "Better."}]}


def open_engine(folder: Path) -> Client:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return Client.new(folder, cwd=work, model=ScriptModel(SCRIPT, name="claude-one"))


async def send_prompt(engine: Client, prompt: str) -> list[str]:
    return [type(event).__name__ async for event in engine.send(prompt)]


def read_log(path: Path, name: str) -> list[Any]:
    values = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [value[name] for value in values if name in value]


def test_console_knows_the_session_state(tmp_path: Path) -> None:
    async def run() -> ContextFill | None:
        async with open_engine(tmp_path) as client:
            engine = client
            assert (engine.model, engine.mode) == ("claude-one", "default")
            assert "Bash" in engine.tools
            assert engine.total_dollars is None
            assert (await send_prompt(engine, "hello"))[-1] == "TurnEnded"
            assert engine.path.is_file()
            return engine.context_fill

    fill = asyncio.run(run())
    assert fill and 0 < fill.tokens < fill.compaction_threshold < fill.window == 200_000


def test_model_and_mode_changes_apply(tmp_path: Path) -> None:
    async def run() -> Path:
        async with open_engine(tmp_path) as client:
            await send_prompt(client, "hello")
            await client.switch(model="claude-opus-5-5", mode="acceptEdits")
            assert (client.model, client.mode) == ("claude-opus-5-5", "acceptEdits")
            assert client.context_fill and client.context_fill.window == 1_000_000
            await send_prompt(client, "and now?")
            return client.path

    path = asyncio.run(run())
    assert read_log(path, "permissionMode") == ["default", "acceptEdits", "acceptEdits"]


def test_resumed_session_shows_its_total_cost(tmp_path: Path) -> None:
    async def run() -> float | None:
        async with open_engine(tmp_path) as client:
            await send_prompt(client, "hello")
        async with Client.resume(client.path, model=ScriptModel(SCRIPT)) as again:
            return again.total_dollars

    assert asyncio.run(run()) is not None
