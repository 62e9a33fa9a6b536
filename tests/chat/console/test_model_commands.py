"""The commands /model, /tools, /permissions and /mcp."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from plait.chat.client import Client
from plait.chat.console.commands import complete_commands, run_text_command
from plait.chat.models import ScriptModel
from plait.errors import UserError


def run_commands(folder: Path, *commands: str, **manner: Any) -> tuple[list[list[str] | None], str]:
    """Return what commands say in a session of a folder, and its log."""
    work = folder / "work"
    work.mkdir(exist_ok=True)

    async def run() -> tuple[list[list[str] | None], str]:
        model = ScriptModel({}, name="claude-opus-5-5")
        form = {"model": model, "entrypoint": "cli", **manner}
        async with Client.new(folder / "config", cwd=work, **form) as client:
            found = [await run_text_command(client, command) for command in commands]
        log = client.path.read_text(encoding="utf-8") if client.path.exists() else ""
        return found, log

    return asyncio.run(run())


def test_model_command_switches_the_model(tmp_path: Path) -> None:
    """By a short name or by its own; the log says so as the client does."""
    (first, second, third), log = run_commands(tmp_path, "/model", "/model haiku", "/model")
    assert first == ["model: claude-opus-5-5; `/model NAME` changes it"]
    assert second == ["Set model to claude-haiku-5-5"]
    assert third and third[0].startswith("model: claude-haiku-5-5")
    assert log.count("<local-command-stdout>Set model to claude-haiku-5-5") == 1


def test_tools_command_lists_tools(tmp_path: Path) -> None:
    """Without a trace in the log."""
    [lines], log = run_commands(tmp_path, "/tools")
    assert lines and "  Bash" in lines
    assert lines[0] == f"{len(lines) - 1} tools"
    assert log == ""


def test_permissions_command_lists_rules_and_changes_mode(tmp_path: Path) -> None:
    """Those given, with where they stand; the mode by its name."""
    commands = ("/permissions", "/permissions acceptedits", "/permissions")
    (first, second, third), _ = run_commands(
        tmp_path, *commands, allowed=("Read",), forbidden=("Bash(rm:*)",)
    )
    assert first and first[:3] == [
        "mode   default",
        "allow  Read  (cliArg)",
        "deny   Bash(rm:*)  (cliArg)",
    ]
    assert second == ["permission mode: acceptEdits"]
    assert third and third[0] == "mode   acceptEdits"


@pytest.mark.parametrize("mode", ["bypassPermissions", "none"])
def test_some_modes_cannot_be_switched_to(tmp_path: Path, mode: str) -> None:
    """What bypasses everything is said when a session begins, or not at all."""
    with pytest.raises(UserError, match="cannot switch to mode"):
        run_commands(tmp_path, f"/permissions {mode}")


def test_mcp_command_lists_and_approves_servers(tmp_path: Path) -> None:
    """A project's waits for leave; one that is not there is told."""
    assert run_commands(tmp_path, "/mcp")[0] == [
        ["no MCP servers configured in .mcp.json or .claude.json"]
    ]
    named = '{"mcpServers": {"lab": {"command": "no-such-command-here"}}}'
    (tmp_path / "work/.mcp.json").write_text(named, encoding="utf-8")
    [first, second], _ = run_commands(tmp_path, "/mcp", "/mcp approve lab")
    assert first and first[0].startswith("the project's MCP server 'lab' needs approval")
    assert second and second[0] == (
        "lab is not available: command not found: 'no-such-command-here'"
    )
    with pytest.raises(UserError, match="there is no MCP server 'x'"):
        run_commands(tmp_path, "/mcp approve x")
    with pytest.raises(UserError, match="is not a valid command"):
        run_commands(tmp_path, "/mcp approve")
    with pytest.raises(UserError, match="is not a valid command"):
        run_commands(tmp_path, "/mcp start lab")


def test_custom_commands_are_listed() -> None:
    """Behind the others, and not where one of those has the name."""
    found = [
        complete_command.text
        for complete_command in complete_commands("re", {"review": "x", "rename": "y", "do": "z"})
    ]
    assert found == ["rewind", "rename", "resume", "review"]
