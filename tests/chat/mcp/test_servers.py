"""MCP servers of a session: tools, calls, and failures."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from plait.chat.events import Notice
from plait.chat.instructions import ProjectScope
from plait.chat.mcp import (
    MAX_DESCRIPTION,
    MAX_RESULT_LENGTH,
    ResultConverter,
    Server,
    SessionServers,
    load_servers,
    tool_name,
)
from plait.chat.settings import load_settings
from plait.chat.tools.base import SECRET_PLACEHOLDER, Tool
from plait.errors import UserError
from tests.chat.instructions.files import write
from tests.chat.scripted_session import ScriptedSession, kinds

SERVER = Path(__file__).with_name("server.py")


def call(tool: str, **given: Any) -> Mapping[str, Any]:
    """Return an answer that calls a tool of the server."""
    return {"calls": [{"name": f"mcp__lab__{tool}", "input": given}]}


def configure_server(session: ScriptedSession, way: str = "well", **env: str) -> None:
    """Has the project name the server."""
    found = {"command": sys.executable, "args": [str(SERVER), way], "env": env}
    session.write(".mcp.json", json.dumps({"mcpServers": {"lab": found}}))


def results(session: ScriptedSession) -> list[Any]:
    """Return the lines of results."""
    return [line for line in session.lines if "toolUseResult" in line]


def test_mcp_calls_are_logged_as_by_the_client(tmp_path: Path) -> None:
    """What each kind of result is told and kept as."""
    session = ScriptedSession(tmp_path, entrypoint="sdk-cli")
    configure_server(session)
    names = ("echo", "reads", "fail", "error", "structured", "empty", "odd_name__")
    session.ask("Go.", answers=[call(name, x="hi") for name in names], allowed=("mcp__lab",))
    result = dict(zip(names, results(session), strict=True))
    content = {name: line["message"]["content"][0]["content"] for name, line in result.items()}
    output = {name: line["toolUseResult"] for name, line in result.items()}
    assert content["reads"] == output["reads"] == [{"type": "text", "text": "called reads"}]
    assert content["odd_name__"] == [{"type": "text", "text": "called odd name.é"}]
    assert (content["fail"], output["fail"]) == ("it failed\ntwice", "Error: it failed\ntwice")
    assert result["fail"]["message"]["content"][0]["is_error"] is True
    assert (content["error"], output["error"]) == ("protocol trouble", "Error: protocol trouble")
    assert content["structured"] == output["structured"] == '{"a":1}'
    assert result["structured"]["mcpMeta"] == {"_meta": {"k": "v"}, "structuredContent": {"a": 1}}
    assert (content["empty"], output["empty"]) == (
        "(mcp__lab__empty completed with no output)",
        [],
    )
    hints = {name: line.get("mcpCallNotReadOnly") for name, line in result.items()}
    assert hints == dict.fromkeys(names, "no_hint") | dict.fromkeys(("reads", "fail", "error"))
    decision = {"decision": "accept", "source": "config", "reasonType": "rule"}
    assert result["echo"]["permissionDecision"] == decision | {"ruleSource": "cliArg"}
    answers = [line for line in session.lines if line["type"] == "assistant"]
    assert "attributionMcpTool" not in answers[0]
    assert [line["attributionMcpTool"] for line in answers[1:]] == [*names[:-1], "odd name.é"]
    assert {line["attributionMcpServer"] for line in answers[1:]} == {"lab"}


def test_unpermitted_tool_is_not_used(tmp_path: Path) -> None:
    """The model is told in the client's words; one that is forbidden is not there at all."""
    session = ScriptedSession(tmp_path, entrypoint="sdk-cli")
    configure_server(session)
    session.ask("Go.", answers=[call("echo")])
    [line] = results(session)
    assert line["message"]["content"][0]["content"] == (
        "Claude requested permissions to use mcp__lab__echo, but you haven't granted it yet."
    )
    assert line["toolDenialKind"] == "user-rejected"
    offered: list[str] = []
    session.ask("Go.", offered=offered.extend, forbidden=("mcp__lab",))
    assert not [name for name in offered if name.startswith("mcp__")]


def test_server_instructions_are_sent_once(tmp_path: Path) -> None:
    """Before the skills, as the client tells it."""
    session = ScriptedSession(tmp_path, entrypoint="sdk-cli")
    configure_server(session)
    session.ask("Hello.", "And?")
    session.ask("Again.")
    [attachment] = session.attachments("mcp_instructions_delta")
    assert attachment["attachment"] == {
        "type": "mcp_instructions_delta",
        "addedNames": ["lab"],
        "addedBlocks": ["## lab\nUse with care."],
        "removedNames": [],
    }
    assert attachment["rendered"][0]["content"] == (
        "<system-reminder>\n# MCP Server Instructions\n\nThe following MCP servers have provided"
        " instructions for how to use their tools and resources:\n\n## lab\nUse with care.\n"
        "</system-reminder>"
    )
    assert kinds(session.new_lines())[:2] == ["user", "mcp_instructions_delta"]


def test_secrets_reach_neither_server_nor_log(tmp_path: Path) -> None:
    """Only those that are let through, and what is named is filled in."""
    session = ScriptedSession(tmp_path, entrypoint="sdk-cli")
    configure_server(session, GIVEN="${WORD:-otherwise}-${NOPE}-${ANTHROPIC_API_KEY}")
    environment = {**os.environ, "ANTHROPIC_API_KEY": "sk-ant-1234567890", "WORD": "filled"}
    events = session.ask(
        "Go.", answers=[call("echo", x="hi")], allowed=("mcp__lab",), environment=environment
    )
    [line] = results(session)
    assert line["toolUseResult"] == [{"type": "text", "text": "hi filled-- none"}]
    items = [event.text for event in events if isinstance(event, Notice)]
    assert len([item for item in items if "which is unset or a secret;" in item]) == 2
    session.ask("Go.", answers=[call("echo", x="sk-ant-1234567890")], allowed=("mcp__lab",))
    assert SECRET_PLACEHOLDER not in json.dumps(results(session)[-1])
    session.ask(
        "Go.",
        answers=[call("echo", x="sk-ant-1234567890")],
        allowed=("mcp__lab",),
        environment=environment,
    )
    assert SECRET_PLACEHOLDER in json.dumps(results(session)[-1]["toolUseResult"])


def test_older_version_logs_call_progress(tmp_path: Path) -> None:
    """As lines of progress; fields that came later are left out."""
    session = ScriptedSession(tmp_path, "2.1.29", entrypoint="sdk-cli")
    configure_server(session)
    session.ask("Go.", answers=[call("echo", x="hi")], allowed=("mcp__lab",))
    items = [line["data"] for line in session.lines if line["type"] == "progress"]
    assert [item["status"] for item in items] == ["started", "completed"]
    assert items[0] == {
        "type": "mcp_progress",
        "status": "started",
        "serverName": "lab",
        "toolName": "echo",
    }
    assert not {"mcpMeta", "mcpCallNotReadOnly"} & results(session)[0].keys()


def test_dead_server_is_restarted(tmp_path: Path) -> None:
    """The call that it died of fails; nothing else is lost."""
    session = ScriptedSession(tmp_path, entrypoint="sdk-cli")
    configure_server(session)
    steps = [call("die"), call("echo", x="hi")]
    session.ask("Go.", "And?", answers=steps, allowed=("mcp__lab",))
    first, second = results(session)
    assert first["message"]["content"][0]["content"] == "Connection closed"
    assert second["toolUseResult"] == [{"type": "text", "text": "hi None none"}]


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("dies", "it cannot work here"),
        ("hangs", "not ready after 1 seconds"),
        ("floods", "a message was too long"),
        ("garbage", "it sent invalid messages"),
    ],
)
def test_broken_server_is_left_out(tmp_path: Path, way: str, why: str) -> None:
    """A person is told why, and its processes are gone."""
    server = Server("lab", "user", tmp_path, sys.executable, (str(SERVER), way))

    async def run() -> tuple[list[str], dict[str, Tool], str]:
        tools: dict[str, Tool] = {}
        environment = {"PATH": os.environ["PATH"]}
        servers = SessionServers(
            [server],
            tools,
            tmp_path,
            environment,
            start_patience=20,
            start_timeout=1 + 9 * (way != "hangs"),
        )
        notices = await servers.start()
        [line] = servers.status_lines()
        await servers.close()
        return notices, tools, line

    notices, tools, line = asyncio.run(run())
    assert notices == [f"MCP server 'lab' is not available: {why}"]
    assert (tools, "failed" in line) == ({}, True)


def test_prompt_does_not_wait_long_for_a_server(tmp_path: Path) -> None:
    """One that is late joins when it is there."""
    server = Server("lab", "user", tmp_path, sys.executable, (str(SERVER), "hangs"))

    async def run() -> list[str]:
        servers = SessionServers([server], {}, tmp_path, {}, start_patience=0.01)
        notices = await servers.start()
        await servers.close()
        return [*notices, servers.connections[0].state]

    assert asyncio.run(run()) == ["MCP server 'lab' is not ready yet", "off"]


def test_missing_command_is_reported(tmp_path: Path) -> None:
    """By its name."""
    session = ScriptedSession(tmp_path, entrypoint="sdk-cli")
    session.write(".mcp.json", '{"mcpServers": {"lab": {"command": "no-such-command-here"}}}')
    items = [event.text for event in session.ask("Go.") if isinstance(event, Notice)]
    assert items == ["MCP server 'lab' is not available: command not found: 'no-such-command-here'"]


def test_too_many_tools_are_cut(tmp_path: Path) -> None:
    """Page by page, as many as can be told, and a person is told how many."""
    session = ScriptedSession(tmp_path, entrypoint="sdk-cli")
    configure_server(session, "many")
    offered: list[str] = []
    events = session.ask("Go.", offered=offered.extend)
    assert len([name for name in offered if name.startswith("mcp__lab__")]) == 200
    items = [event.text for event in events if isinstance(event, Notice)]
    assert items == ["MCP server 'lab': 200 of 300 tools available"]


def test_tool_descriptions_are_cut(tmp_path: Path) -> None:
    """Cut where it goes on and on."""
    session = ScriptedSession(tmp_path, entrypoint="sdk-cli")
    configure_server(session)
    found: dict[str, Any] = {}
    session.ask("Go.", defined=found.update)
    assert found["mcp__lab__echo"]["description"] == "Does echo"
    assert len(found["mcp__lab__wordy"]["description"]) < MAX_DESCRIPTION + 10


def test_endless_call_stops_with_the_turn(tmp_path: Path) -> None:
    """And the session goes on."""
    session = ScriptedSession(tmp_path)
    session.write(
        "config/.claude.json",
        json.dumps(
            {"mcpServers": {"lab": {"command": sys.executable, "args": [str(SERVER), "well"]}}}
        ),
    )
    session.ask("Go.", "And?", answers=[call("waits")], allowed=("mcp__lab",), stops_call="waits")
    [line] = results(session)
    assert line["toolUseResult"] == "User rejected tool use"
    last = [line for line in session.lines if line["type"] == "assistant"][-1]
    assert last["message"]["content"] == [{"type": "text", "text": "ok"}]


def test_results_that_are_more_than_text(tmp_path: Path) -> None:
    """Pictures are shown and kept, other bytes only kept."""
    from tests.chat.mcp.server import DOT, kinds

    made = ResultConverter("lab", tmp_path / "results")
    picture = made.convert("pic", "mcp__lab__pic", {"content": [{"type": "image", "data": DOT}]})
    assert isinstance(picture.content, list)
    image, source = picture.content
    assert image["source"] == {"type": "base64", "media_type": "image/png", "data": DOT}
    path = Path(source["text"].removeprefix("[Image: source: ").removesuffix("]"))
    assert path.read_bytes()[1:4] == b"PNG" and path.suffix == ".png"
    outcome = made.convert("kinds", "mcp__lab__kinds", {"content": kinds()})
    items = [block["text"] for block in outcome.content if isinstance(block, Mapping)]
    assert items[0] == "[Resource from lab at lab://x] its text"
    assert items[1] == "[Resource link: y] lab://y (a link)"
    head = "[Resource from lab at lab://b] Binary content (application/zip, 3 bytes) saved to "
    assert Path(items[2].removeprefix(head)).read_bytes() == b"\0\1\2"
    assert items[3].startswith("[Audio from lab] Binary content (audio/wav, 3 bytes) saved to ")
    assert items[4].startswith("[Image from lab] Binary content (image/png, 3 bytes) saved to ")
    assert outcome.fields["mcp_meta"]["resourceLinks"] == [
        {"uri": "lab://y", "name": "y", "description": "a link"}
    ]


def test_long_result_is_stored_beside_the_log(tmp_path: Path) -> None:
    """The model is told where; what just fits is told."""
    made = ResultConverter("lab", tmp_path)
    long = {"content": [{"type": "text", "text": "line\n" * 40_000}]}
    result = made.convert("long", "mcp__lab__long", long)
    assert isinstance(result.content, str)
    assert result.content == result.output
    assert result.content.startswith(
        "Error: result (200,000 characters across 40,001 lines) exceeds maximum allowed tokens."
        f" Output has been saved to {tmp_path}/mcp-lab-long-"
    )
    [kept] = tmp_path.iterdir()
    assert kept.read_text(encoding="utf-8") == "line\n" * 40_000
    fits = {"content": [{"type": "text", "text": "x" * MAX_RESULT_LENGTH}]}
    assert isinstance(made.convert("long", "name", fits).content, list)
    broken = made.convert("x", "name", {"content": [{"type": "audio", "data": "%"}]})
    assert "could not be decoded" in str(broken.content)
    nowhere = ResultConverter("lab", None).convert("long", "name", long)
    assert "saved to no file" in str(nowhere.content)


def load_project_servers(
    folder: Path, *, is_asked: bool = False, **settings: Any
) -> dict[str, Server]:
    """Return the servers of a project, with some settings of the person."""
    write(folder / "config/settings.json", json.dumps(settings))
    found = load_settings(folder / "config", folder / "project")
    grounds = ProjectScope(folder / "project", folder / "config")
    servers, _ = load_servers(grounds, found, {"HOME": "/home/me"}, can_ask=is_asked)
    return {server.name: server for server in servers}


def test_nearer_configuration_wins(tmp_path: Path) -> None:
    """One's own for the directory, the project's, those above, one's own for all."""
    project = tmp_path / "project"
    local = {"projects": {str(project): {"mcpServers": {"a": {"command": "local"}}}}}
    state = {**local, "mcpServers": {name: {"command": "user"} for name in "abcd"}}
    write(tmp_path / "config/.claude.json", json.dumps(state))
    servers = {name: {"command": "project"} for name in "ab"}
    write(project / ".mcp.json", json.dumps({"mcpServers": servers}))
    above = {name: {"url": "http://${HOME}/x", "headers": {"k": "${HOME}"}} for name in "abc"}
    write(tmp_path / ".mcp.json", json.dumps({"mcpServers": above}))
    found = load_project_servers(tmp_path)
    assert {name: result.where for name, result in found.items()} == {
        "a": "local",
        "b": "project",
        "c": "http:///home/me/x",
        "d": "user",
    }
    assert [value.source for value in found.values()] == ["local", "project", "project", "user"]
    assert found["c"].headers == {"k": "/home/me"}


@pytest.mark.parametrize(
    ("settings", "is_asked", "is_approved"),
    [
        ({}, True, False),
        ({}, False, True),
        ({"enableAllProjectMcpServers": True}, True, True),
        ({"enabledMcpjsonServers": ["lab"]}, True, True),
        ({"enabledMcpjsonServers": ["other"]}, True, False),
        ({"enabledMcpjsonServers": "lab"}, True, False),
        ({"enableAllProjectMcpServers": True, "disabledMcpjsonServers": ["lab"]}, True, False),
        ({"disabledMcpjsonServers": ["lab"]}, False, False),
    ],
)
def test_project_servers_need_approval(
    tmp_path: Path, settings: dict[str, Any], is_asked: bool, is_approved: bool
) -> None:
    """Where somebody is there who can give it; what is refused is refused for programs, too."""
    write(tmp_path / "project/.mcp.json", '{"mcpServers": {"lab": {"command": "x"}}}')
    assert (
        load_project_servers(tmp_path, is_asked=is_asked, **settings)["lab"].is_approved
        is is_approved
    )


def test_project_cannot_approve_itself(tmp_path: Path) -> None:
    """Its own settings do not count for that."""
    write(tmp_path / "project/.mcp.json", '{"mcpServers": {"lab": {"command": "x"}}}')
    shared = tmp_path / "project/.claude/settings.json"
    write(shared, '{"enableAllProjectMcpServers": true, "enabledMcpjsonServers": ["lab"]}')
    assert not load_project_servers(tmp_path, is_asked=True)["lab"].is_approved
    shared.rename(shared.with_name("settings.local.json"))
    assert load_project_servers(tmp_path, is_asked=True)["lab"].is_approved


def test_unapproved_server_is_not_started(tmp_path: Path) -> None:
    """The person is told how, and can then."""
    server = Server(
        "lab", "project", tmp_path, sys.executable, (str(SERVER), "well"), is_approved=False
    )

    async def run() -> list[Any]:
        tools: dict[str, Tool] = {}
        servers = SessionServers([server], tools, tmp_path, {"PATH": os.environ["PATH"]})
        before = [*await servers.start(), *servers.status_lines(), len(tools)]
        with pytest.raises(UserError, match="there is no MCP server 'none'"):
            await servers.approve("none")
        result = await servers.approve("lab")
        again = await servers.approve("lab")
        await servers.close()
        return [*before, result, again, "mcp__lab__echo" in tools]

    first, line, none, result, again, is_there = asyncio.run(run())
    assert first == "the project's MCP server 'lab' needs approval: `/mcp approve lab`"
    assert "needs approval" in line
    assert (none, result, again, is_there) == (0, "lab is ready, with 13 tools", result, True)


def test_broken_configurations_are_reported(tmp_path: Path) -> None:
    """And what they name is left out."""
    write(tmp_path / "project/.mcp.json", "{")
    write(tmp_path / ".mcp.json", '{"mcpServers": {"a": {}, "b": {"command": 3}, "c": 4}}')
    grounds = ProjectScope(tmp_path / "project")
    servers, notices = load_servers(grounds, load_settings(tmp_path, tmp_path), {})
    assert servers == []
    assert len(notices) == 4


def test_tool_names() -> None:
    """Letters that the API takes, and not too many."""
    assert tool_name("a b", "c.d/é") == "mcp__a_b__c_d__"
    assert len(tool_name("a" * 100, "b" * 100)) == 128


@contextmanager
def served() -> Iterator[str]:
    """Serve a server by HTTP on loopback, made with the SDK."""
    import uvicorn
    from mcp.server.mcpserver import MCPServer

    made = MCPServer("web")

    @made.tool()
    def double(number: int) -> str:
        """Doubles a number."""
        return str(2 * number)

    app = made.streamable_http_app()
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="on"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(2000):
        if server.started:
            break
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/mcp"
    server.should_exit = True
    thread.join(10)


def test_http_server(tmp_path: Path) -> None:
    """Its tools are as any others; one that is not there is told."""
    session = ScriptedSession(tmp_path, entrypoint="sdk-cli")
    with served() as url:
        found = {"type": "http", "url": url, "headers": {"x-key": "y"}}
        session.write(".mcp.json", json.dumps({"mcpServers": {"web": found}}))
        double = {"calls": [{"name": "mcp__web__double", "input": {"number": 21}}]}
        session.ask("Go.", answers=[double], allowed=("mcp__web__double",))
    [line] = results(session)
    assert "42" in json.dumps(line["toolUseResult"])
    [notice] = [event.text for event in session.ask("Go.") if isinstance(event, Notice)]
    assert notice.startswith("MCP server 'web' is not available: ")
