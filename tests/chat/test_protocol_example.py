"""The example session of the published protocol: its six lines."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from plait.chat.client import Client
from plait.chat.context import LiveContext, RequestBuilder
from plait.chat.models import ScriptModel
from plait.chat.runtime import Runtime
from plait.chat.tools import toolbox
from plait.chat.tools.base import Workplace
from plait.write import SessionWriter
from tests.chat.scripted_client import Permissive
from tests.write.test_read_back import EXAMPLE, TEXT, mask_ids

MODEL = "claude-opus-4-5-20251101"
PROMPT = "Read the README and tell me what this project does"
NUMBER = re.compile(r"^ *\d+[\t→]", re.MULTILINE)


def answers(readme: Path) -> list[dict[str, Any]]:
    return [
        {
            "calls": [{"name": "Read", "input": {"file_path": str(readme)}}],
            "usage": {"input_tokens": 500, "output_tokens": 50},
        },
        {
            "text": "This project is a CLI tool for managing widgets.",
            "usage": {"input_tokens": 600, "output_tokens": 20},
        },
    ]


def play_session(folder: Path) -> list[dict[str, Any]]:
    """Hold the session in a project of its own, and return its lines."""
    project = folder / "project"
    project.mkdir()
    readme = project / "README.md"
    readme.write_text(TEXT, encoding="utf-8")
    writer = SessionWriter.new(
        folder / "config",
        cwd=project,
        version="2.1.29",
        git_branch="main",
        slug="",
        permission_mode=None,
        model=MODEL,
    )
    memory = RequestBuilder(LiveContext(writer), MODEL)
    model = ScriptModel({"answers": answers(readme)})
    place = Workplace(project, project)
    client = Client(Runtime(writer, model, memory, Permissive(), place, toolbox()))

    async def run() -> None:
        async with client:
            async for _ in client.send(PROMPT):
                pass

    asyncio.run(run())
    text = writer.path.read_text(encoding="utf-8").replace(str(project), "/home/user/project")
    return [json.loads(line) for line in text.splitlines()]


def without_numbers(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a line without what Read counts and how long it took."""
    content = entry.get("message", {}).get("content")
    if entry["type"] == "user" and isinstance(content, list):
        content[0]["content"] = NUMBER.sub("", content[0]["content"])
    return entry | ({"durationMs": 0} if "durationMs" in entry else {})


# checklist: P40, P43, P44, P45, P72, P80, P82, P83, P100
def test_turn_writes_the_six_lines(tmp_path: Path) -> None:
    described = [json.loads(line) for line in EXAMPLE.splitlines()]
    written = play_session(tmp_path)
    assert [mask_ids(without_numbers(entry)) for entry in written] == [
        mask_ids(without_numbers(entry)) for entry in described
    ]


def test_six_lines_are_chained_as_described(tmp_path: Path) -> None:
    snapshot, prompt, call, result, answer, ended = play_session(tmp_path)
    chain = [prompt, call, result, answer, ended]
    assert [line["parentUuid"] for line in chain] == [None, *(line["uuid"] for line in chain[:-1])]
    assert snapshot["messageId"] == prompt["uuid"]
    assert len({line["sessionId"] for line in chain}) == 1
    assert call["requestId"] != answer["requestId"]
    block = result["message"]["content"][0]
    assert block["tool_use_id"] == call["message"]["content"][0]["id"]
