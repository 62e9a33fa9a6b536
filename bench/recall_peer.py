"""Questions with known answers to `plait mcp` and agentsview's server: hits and tokens.

python -m bench.recall_peer

Both are asked by the SDK's client, with the question as it is. agentsview wants every word of a
search to occur, so where that finds nothing it is asked again with fewer and fewer words, as its
description advises; each call counts. Tokens are bytes by three, of tools and of answers.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from bench.index import agentsview
from bench.measure import CACHE, PROJECT, SHARED, program, row
from bench.peers import nobodys
from plait import Archive
from plait.recall.model import count_tokens
from plait.recall.ranking import list_content_words
from tests.recall.test_questions import ASKED, CORPUS, FRESH, GALLERY, REPHRASED

HOME = CACHE / "recall-peer"
MOST_CALLS = 4
SETS = {
    "gallery": (PROJECT / "examples" / "gallery", GALLERY),
    "corpus": (SHARED / "corpus", CORPUS | FRESH | ASKED | REPHRASED),
}
WIDTHS = (34, 9, 9, 9, 12, 12)


def main() -> None:
    """Print all figures."""
    row("questions, answered by", "first", "of five", "calls", "tools", "answers", widths=WIDTHS)
    peer = agentsview()
    for name, (source, questions) in SETS.items():
        root = arrange(source, HOME / name)
        plain = {**os.environ, "PLAIT_CACHE_DIR": str(HOME / f"{name}-cache")}
        words = [sys.executable, "-m", "plait", "mcp", "--root", str(root)]
        anyio.run(measure, f"plait, {name}", words, plain, questions, ask_plait)
        if peer:
            home = HOME / f"{name}-home"
            home.mkdir(exist_ok=True)
            own = {
                **os.environ,
                **nobodys(root, home),
                "CLAUDE_PROJECTS_DIR": str(root / "projects"),
            }
            anyio.run(measure, f"agentsview, {name}", [str(peer), "mcp"], own, questions, ask_peer)
            program(peer, "daemon", "stop", **own)  # its server starts one and leaves it


def arrange(source: Path, root: Path) -> Path:
    """Copy sessions into one folder for each project, where both look for them."""
    shutil.rmtree(root, ignore_errors=True)
    for session in Archive([source]).sessions:
        folder = root / "projects" / session.project
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy2(session.path, folder)
        beside = session.path.with_suffix("")
        if beside.is_dir():
            shutil.copytree(beside, folder / beside.name, dirs_exist_ok=True)
    return root


async def measure(
    name: str, words: list[str], env: dict[str, str], questions: dict[str, str], ask: Any
) -> None:
    """Print how many questions a server answers in its first result, and in its first five."""
    async with Client(StdioServerParameters(command=words[0], args=words[1:], env=env)) as client:
        tools = (await client.list_tools()).tools
        size = count_tokens(json.dumps([tool.model_dump(exclude_none=True) for tool in tools]))
        await ask(client, "wait until it has read")
        await anyio.sleep(20)
        first = five = calls = tokens = 0
        for question, expected in questions.items():
            found, used, length = await ask(client, question)
            right = [part.partition(":")[0] for part in expected.split()]
            places = [n for n, session in enumerate(found[:5]) if session[:8] in right]
            first, five = first + (places[:1] == [0]), five + bool(places)
            calls, tokens = calls + used, tokens + length
        count = len(questions)
        shares = (f"{first}/{count}", f"{five}/{count}", f"{calls / count:.1f}")
        row(name, *shares, size, round(tokens / count), widths=WIDTHS)


async def ask_plait(client: Client, question: str) -> tuple[list[str], int, int]:
    """Return the sessions of the turns that are found, the calls, and the tokens."""
    given = {"query": question, "project": "*", "branches": "all"}
    text = (await client.call_tool("recall", given)).content[0].text  # type: ignore[union-attr]
    lines = [line for line in text.split("\n") if " · 20" in line and line[8:9] in ":@ "]
    return [line[:8] for line in lines], 1, count_tokens(text)


async def ask_peer(client: Client, question: str) -> tuple[list[str], int, int]:
    """Return the same of the peer, asked with all words, then with the longest of them."""
    words = sorted(list_content_words(question), key=len, reverse=True)
    tokens = 0
    for calls, wanted in enumerate((question, *(words[:n] for n in (5, 3, 2))), 1):
        query = wanted if isinstance(wanted, str) else " ".join(wanted)
        given = {"query": query, "include_active": True, "limit": 5}
        answer = await client.call_tool("search_sessions", given)
        text = answer.content[0].text  # type: ignore[union-attr]
        tokens += count_tokens(text)
        found = json.loads(text).get("results", []) if text.startswith("{") else []
        if found or calls == MOST_CALLS:
            break
    return [str(hit.get("session_id", "")).rpartition(":")[2] for hit in found], calls, tokens


if __name__ == "__main__":
    main()
