"""The server with real clients: the SDK over stdio, and HTTP with a key."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from plait.mcp_server import LISTS, PATH
from plait.recall.model import count_tokens

CALLS = {
    "recall": ({"query": "gift card discount", "project": "*"}, "336718fa:1"),
    "read": ({"handle": "336718fa:2", "view": "calls"}, "test_checkout.py"),
    "about": ({"target": "shop/checkout.py", "project": "*"}, "336718fa:1"),
    "sessions": ({"project": "weather"}, "Dark mode for the dashboard"),
    "cost": ({"session": "2c687a8d"}, "$0.27"),
}


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a server with an empty home."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "PLAIT_CACHE_DIR": str(home / "cache")}


def ask(gallery: Path, home: Path, work: Callable[[Client], Awaitable[None]]) -> None:
    """Run some work with a client of a server of its own."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "plait", "mcp", "--root", str(gallery)],
        env=environment(home),
        cwd=home,
    )

    async def run() -> None:
        with anyio.fail_after(90):
            async with Client(server) as client:
                await work(client)

    anyio.run(run)


def test_client_calls_every_tool(gallery: Path, tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(CALLS)
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        for name, (arguments, words) in CALLS.items():
            result = await client.call_tool(name, {**arguments, "budget": 600})
            text = result.content[0].text  # type: ignore[union-attr]
            assert words in text, (name, text)
            assert count_tokens(text) <= 600
            assert text.rpartition("\n")[2].startswith("next: ")
            assert not result.is_error
        odd = {"query": ["gift", "card"], "limit": "two", "budget": "lots", "colour": 3}
        text = (await client.call_tool("recall", odd)).content[0].text  # type: ignore[union-attr]
        assert "There is no argument 'colour'" in text and "'limit' is not a number" in text
        text = (await client.call_tool("forget", {})).content[0].text  # type: ignore[union-attr]
        assert "No tool named forget" in text

    ask(gallery, tmp_path, work)


def test_prompts_and_resources(gallery: Path, tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        assert [p.name for p in (await client.list_prompts()).prompts] == ["handoff", "standup"]
        brief = await client.get_prompt("handoff", {"session": "336718fa"})
        assert "# Handoff: Gift card is deducted twice" in brief.messages[0].content.text  # type: ignore[union-attr]
        standup = await client.get_prompt("standup", {"since": "2026-10-01"})
        assert "# Standup" in standup.messages[0].content.text  # type: ignore[union-attr]
        resources = (await client.list_resources()).resources
        assert len(resources) == 20
        uri = next(r.uri for r in resources if "336718fa" in r.uri)
        assert "3 prompts" in (await client.read_resource(uri)).contents[0].text  # type: ignore[union-attr]

    ask(gallery, tmp_path, work)


def test_tool_descriptions_are_short() -> None:
    tools = LISTS["tools/list"]["tools"]
    assert len(tools) == 5
    assert count_tokens(json.dumps(tools)) <= 1200


def test_http_needs_the_key(gallery: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "plait", "mcp", "--http", "--port", "0"]
    server = subprocess.Popen(
        [*command, "--root", str(gallery)],
        env=environment(tmp_path) | {"PYTHONUNBUFFERED": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr
    try:
        said = server.stderr.readline() + server.stderr.readline()
        found = re.search(r"(http://127\.0\.0\.1:\d+" + PATH + r").*key ([\w-]+)", said, re.DOTALL)
        assert found, said
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
        }
        for key, status in ((None, 401), ("wrong", 401), (found[2], 200)):
            given = headers | ({"Authorization": f"Bearer {key}"} if key else {})
            request = Request(found[1], json.dumps(body).encode(), given)
            try:
                with urlopen(request, timeout=60) as answer:
                    assert answer.status == status
                    assert len(json.load(answer)["result"]["tools"]) == 5
            except HTTPError as refused:
                assert refused.code == status
    finally:
        server.terminate()
        server.wait(30)
        server.stderr.close()


@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_installing_shows_the_plan_and_can_be_undone(tmp_path: Path, scope: str) -> None:
    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "plait", "mcp", *words, "--scope", scope],
            env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    path = tmp_path / (".mcp.json" if scope == "project" else ".claude.json")
    before = '{\n  "numStartups": 3\n}\n'
    path.write_text(before, encoding="utf-8")
    assert '"plait": {' in run("--install", "--dry-run")
    assert path.read_text(encoding="utf-8") == before
    assert "added the server" in run("--install", "--yes")
    assert "already in" in run("--install", "--yes")
    assert "removed the server" in run("--uninstall", "--yes")
    assert path.read_text(encoding="utf-8") == before
