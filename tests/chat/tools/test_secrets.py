"""Environment secrets: neither commands nor the log get them."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest

from plait.chat.tools.base import SECRET_PLACEHOLDER, Outcome, Proposal, ToolError, Workplace
from plait.chat.tools.secrets import (
    SecretHidingTool,
    hide_secrets,
    is_secret,
    secret_values,
    without_secrets,
)
from tests.chat.tools.workspace import PATH, ToolWorkspace

SECRET = "correct-horse-battery"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ANTHROPIC_API_KEY", "anything"),
        ("ANTHROPIC_AUTH_TOKEN", "anything"),
        ("GITHUB_TOKEN", "anything"),
        ("GH_PAT", "anything"),
        ("AWS_SECRET_ACCESS_KEY", "anything"),
        ("AWS_ACCESS_KEY_ID", "anything"),
        ("DB_PASSWORD", "anything"),
        ("PGPASSWORD", "anything"),
        ("MYSQL_PWD_HASH", "anything"),
        ("NPM_CONFIG__AUTH", "anything"),
        ("SESSION_COOKIE", "anything"),
        ("MY_CREDENTIALS", "anything"),
        ("github_token", "anything"),
        ("SOMETHING", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
        ("DATABASE_URL", "postgres://me:hunter2hunter2@db.example/x"),
    ],
)
def test_secret_variables(name: str, value: str) -> None:
    assert is_secret(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/home/me"),
        ("LANG", "C.UTF-8"),
        ("TERM", "xterm-256color"),
        ("PWD", "/home/me/work"),
        ("OLDPWD", "/home/me"),
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("XAUTHORITY", "/home/me/.Xauthority"),
        ("GIT_AUTHOR_NAME", "Me"),
        ("KEYBOARD", "us"),
        ("MONKEY", "banana"),
        ("COMPASS", "north"),
        ("EMPTY_TOKEN", ""),
    ],
)
def test_ordinary_variables(name: str, value: str) -> None:
    assert not is_secret(name, value)


def test_environment_is_filtered() -> None:
    environment = {"PATH": "/bin", "A_TOKEN": SECRET, "B_TOKEN": "short", "C_KEY": SECRET + "!"}
    assert without_secrets(environment) == {"PATH": "/bin"}
    assert without_secrets(environment, ("A_TOKEN",)) == {"PATH": "/bin", "A_TOKEN": SECRET}
    assert secret_values(environment) == (SECRET + "!", SECRET)
    assert secret_values(environment, ("C_KEY",)) == (SECRET,)


@pytest.fixture
def guarded(workspace: ToolWorkspace) -> ToolWorkspace:
    """A workspace of somebody whose environment holds a secret."""
    environment = {"PATH": PATH, "MY_TOKEN": SECRET, "PLAIN": "plain"}
    workspace.place.environment = without_secrets(environment)
    workspace.place.secrets = secret_values(environment)
    return workspace


def test_commands_do_not_inherit_them(guarded: ToolWorkspace) -> None:
    assert guarded.result_text("Bash", command='echo "[$MY_TOKEN] $PLAIN"') == "[] plain"
    assert SECRET not in guarded.result_text("Bash", command="env")


COMES_UPON = [
    ("Bash", {"command": f"echo {SECRET}"}),
    ("Bash", {"command": f"echo {SECRET}; exit 1"}),
    ("Bash", {"command": f"echo {SECRET}; seq 1 10000"}),
    ("Read", {"file_path": ".env"}),
    ("Grep", {"pattern": "TOKEN", "output_mode": "content"}),
    ("Edit", {"file_path": ".env", "old_string": "x=1", "new_string": "x=2"}),
    ("Write", {"file_path": ".env", "content": "y\n"}),
    ("Edit", {"file_path": ".env", "old_string": SECRET + "?", "new_string": "x"}),
]


@pytest.mark.parametrize(("tool", "arguments"), COMES_UPON)
def test_secrets_in_output_are_replaced(
    guarded: ToolWorkspace, tool: str, arguments: dict[str, Any]
) -> None:
    guarded.put(".env", f"TOKEN={SECRET}\nx=1\n")
    outcome = guarded.run_tool(tool, **arguments)
    result = json.dumps([outcome.content, outcome.output])
    assert SECRET not in result
    if "?" not in str(arguments):
        assert SECRET_PLACEHOLDER in result
    if isinstance(outcome.output, dict) and "persistedOutputPath" in outcome.output:
        from pathlib import Path

        assert SECRET not in Path(outcome.output["persistedOutputPath"]).read_text()


def test_background_output_is_redacted(guarded: ToolWorkspace) -> None:
    async def play() -> None:
        started = await guarded.call("Bash", command=f"echo {SECRET}", run_in_background=True)
        name = started.output["backgroundTaskId"]
        shown = await guarded.call("TaskOutput", task_id=name)
        assert SECRET not in json.dumps([shown.content, shown.output])

    asyncio.run(play())


@dataclass(frozen=True)
class Tells:
    """A tool that tells and reports a secret."""

    name: str = "Tells"
    effect: Any = "none"
    definition: Any = None

    def propose(self, arguments: Any, place: Workplace) -> Proposal:
        """Refuse with a secret."""
        raise ToolError(f"no {SECRET}", is_misuse=True)

    async def run(self, proposal: Proposal, place: Workplace, report: Any) -> Outcome:
        """Reports a secret."""
        report({"said": [SECRET]})
        return Outcome([{"type": "text", "text": SECRET}], {"a": {"b": SECRET}}, is_error=False)


def test_reports_and_denials_are_redacted(workspace: ToolWorkspace) -> None:
    workspace.place.secrets = (SECRET,)
    workspace.tools["Tells"] = SecretHidingTool(Tells())
    assert (
        workspace.result_text("Tells")
        == f"<tool_use_error>no {SECRET_PLACEHOLDER}</tool_use_error>"
    )
    proposal = Proposal("Tells", {}, "none", "")
    run = workspace.tools["Tells"].run(proposal, workspace.place, workspace.reports.append)
    outcome = asyncio.run(run)
    assert workspace.reports == [{"said": [SECRET_PLACEHOLDER]}]
    assert outcome.content == [{"type": "text", "text": SECRET_PLACEHOLDER}]
    assert outcome.output == {"a": {"b": SECRET_PLACEHOLDER}}
    assert outcome.is_error is False


@pytest.mark.parametrize("secret", ['quo"ted\\', "line\nbreak", "ünï¢ode"])
def test_secrets_with_odd_characters_are_found(secret: str) -> None:
    assert hide_secrets({"a": [f"x{secret}y"]}, (secret,)) == {"a": [f"x{SECRET_PLACEHOLDER}y"]}
    assert hide_secrets({"a": 1}, (secret,)) == {"a": 1}
    assert hide_secrets(None, (secret,)) is None
