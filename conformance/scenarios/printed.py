"""Scenarios in print mode: turns, tools, agents, resuming, compacting."""

import base64
import json
from collections.abc import Callable

from conformance.client import Client
from conformance.sandbox import Desk
from conformance.scenarios.model import Scenario

TOOLS = "Agent Bash Edit Glob Grep NotebookEdit Read ToolSearch Write"
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def ask(client: Client, desk: Desk, prompt: str, *arguments: str) -> None:
    """Send a prompt in print mode, with permission to use the tools."""
    leave = ("--permission-mode", "acceptEdits", "--allowedTools", TOOLS)
    client.run(desk, "-p", prompt, *arguments, *leave)


def one(prompt: str) -> Callable[[Client, Desk], None]:
    """Return a scenario that sends a prompt, and then a second one."""

    def play(client: Client, desk: Desk) -> None:
        lay_out(desk)
        ask(client, desk, prompt)
        ask(client, desk, "And then?", "--continue")

    return play


def lay_out(desk: Desk) -> None:
    """Put a few files into the project."""
    source = "print(1)"
    cell = {"cell_type": "code", "id": "a1", "source": source, "metadata": {}, "outputs": []}
    form = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    (desk.directory / "notes.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (desk.directory / "dot.png").write_bytes(DOT)
    (desk.directory / "book.ipynb").write_text(
        json.dumps({**form, "cells": [{**cell, "execution_count": None}]}), encoding="utf-8"
    )
    desk.hand_over()


def resumed(client: Client, desk: Desk) -> None:
    """Resume a session twice, by its id."""
    ask(client, desk, "Remember the word plait.")
    session = desk.sessions()[0].stem
    for prompt in ("Which word?", "[think]"):
        ask(client, desk, prompt, "--resume", session)


def forked(client: Client, desk: Desk) -> None:
    """Fork a session, and continue the fork and then the original."""
    ask(client, desk, "Where were we?")
    session = desk.sessions()[0].stem
    ask(client, desk, "Another way.", "--resume", session, "--fork-session")
    ask(client, desk, "This way.", "--resume", session)


def failed_twice(client: Client, desk: Desk) -> None:
    """Get an API error twice in a row."""
    ask(client, desk, "[bad request]")
    ask(client, desk, "[bad request], once more", "--continue")


def compacted(client: Client, desk: Desk) -> None:
    """Compact after a few turns, continue, and compact again."""
    lay_out(desk)
    ask(client, desk, "[files]")
    ask(client, desk, "What was that?", "--continue")
    client.run(desk, "-p", "/compact", "--continue")
    ask(client, desk, "Go on.", "--continue")
    ask(client, desk, "[parallel]", "--continue")
    client.run(desk, "-p", "/compact keep the numbers", "--continue")
    ask(client, desk, "And on.", "--continue")


def compacted_only(client: Client, desk: Desk) -> None:
    """End the session with a compaction."""
    ask(client, desk, "A short talk.")
    client.run(desk, "-p", "/compact", "--continue")


def stopped_in_a_tool(client: Client, desk: Desk) -> None:
    """Limit the turns, so that a turn ends between a call and the next answer."""
    lay_out(desk)
    ask(client, desk, "[files]", "--max-turns", "2")
    ask(client, desk, "Why did you stop?", "--continue")


def commands(client: Client, desk: Desk) -> None:
    """Run local commands between turns."""
    ask(client, desk, "Hello there.")
    for command in ("/cost", "/context"):
        client.run(desk, "-p", command, "--continue")
    ask(client, desk, "Which commands were these?", "--continue")


def structured(client: Client, desk: Desk) -> None:
    """Ask for an object; the turn ends when the model returns it."""
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
    client.run(desk, "-p", "[object]", "--json-schema", json.dumps(schema))


PRINTED = (
    Scenario("plain turns", one("Good morning.")),
    Scenario("thinking", one("[think]")),
    Scenario("thinking and a tool", one("[think and look]")),
    Scenario("every file tool", one("[files]")),
    Scenario("parallel tools", one("[parallel]")),
    Scenario("failing tools", one("[failing]")),
    Scenario("long output", one("[long output]")),
    Scenario("several blocks", one("[many blocks]")),
    Scenario("odd chunks", one("[odd chunks]")),
    Scenario("cut at max_tokens", one("[cut short]")),
    Scenario("refusal", one("[refuse]")),
    Scenario("API error", one("[bad request]")),
    Scenario("two API errors", failed_twice),
    Scenario("one sub-agent", one("[one agent]")),
    Scenario("two sub-agents", one("[two agents]")),
    Scenario("nested sub-agents", one("[nested agents]")),
    Scenario("background sub-agent", one("[background agent]")),
    Scenario("resume by id", resumed),
    Scenario("fork", forked),
    Scenario("compact and continue", compacted),
    Scenario("compact at the end", compacted_only),
    Scenario("stopped between call and answer", stopped_in_a_tool),
    Scenario("local commands", commands),
    Scenario("structured output", structured),
)
