"""Which commands may run at the same time as others."""

import asyncio
import os
from pathlib import Path

import pytest

from plait.chat.events import ToolFinished
from plait.chat.tools import toolbox
from plait.chat.tools.commands import is_read_only
from tests.chat.scripted_client import ScriptedClient


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "sleep 0.6; echo slow",
        "cat a.txt | grep x | sort -u",
        "git status && git log --oneline -3",
        "grep -rn x . 2>/dev/null",
        "wc -l a b 2>&1 | tail -1",
        "uniq -c a",
    ],
)
def test_read_only_commands(command: str) -> None:
    assert is_read_only(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "touch a",
        "sleep 1; touch a",
        "echo a > b",
        "echo a>b",
        "cat < a",
        "echo `rm a`",
        "echo $(rm a)",
        "ls | tee b",
        "ls | xargs rm",
        "cd /tmp && ls",
        "find . -delete",
        "sort -o a a",
        "sort --output=a a",
        "sort -uo a a",
        "sort --out=a a",
        "sort --compress-prog=sh a",
        "uniq a b",
        "uniq -- a -b",
        "printf -v PATH .; ls",
        "tree -R -L 1",
        "ls > /dev/nullify",
        "ls 2>&1x",
        "git commit -m x",
        "git",
        "git diff --output=a",
        "git log -3 --output a",
        "env rm a",
        "ls\nrm a",
        "ls & rm a",
        "'unclosed",
        "python -c 1",
    ],
)
def test_writing_commands(command: str) -> None:
    assert not is_read_only(command)


def test_read_only_commands_run_in_parallel(tmp_path: Path) -> None:
    """The first ends once the second has ended: one after the other, it would never."""
    bell = tmp_path / "bell"
    os.mkfifo(bell)
    calls = [
        {"name": "Bash", "input": {"command": command}}
        for command in (f"head -c 1 {bell}", "echo quick")
    ]
    script = {"answers": [{"calls": calls}, {"text": "Done."}]}
    session = ScriptedClient(tmp_path, script, tools=[toolbox()["Bash"]])

    async def play() -> list[str]:
        results: list[str] = []
        async with session.client as client:
            async for event in client.send("go"):
                if isinstance(event, ToolFinished):
                    results.append(event.outcome.output["stdout"])
                    if len(results) == 1:
                        bell.write_text("x", encoding="utf-8")
        return results

    assert asyncio.run(play()) == ["quick", "x"]
