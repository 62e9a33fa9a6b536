"""Talks on a screen: keys for the real client, and the same turns for `plait.agent.Client`."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from conformance.chat.talks import LEAVE
from conformance.client import Client
from conformance.sandbox import Desk
from conformance.scenarios.shown import (
    DONE,
    ask,
    cleared,
    compacted,
    interrupted,
    queued,
    retracted,
)
from conformance.scenarios.shown import renamed as renamed_on_screen
from conformance.terminal import Terminal, terminal

Keys = Callable[[Terminal], None]


@dataclass(frozen=True, slots=True)
class Screened:
    """A talk on a screen."""

    name: str
    keys: Keys
    leave: tuple[str, ...] = LEAVE


def turns_with_tools(screen: Terminal) -> None:
    """Has files read and changed, in two turns."""
    ask(screen, "[think and look]")
    ask(screen, "[edit]")
    ask(screen, "[parallel]")


def stopped_in_tools(screen: Terminal) -> None:
    """Stops two calls of which one has ended, and goes on."""
    screen.type("[sleep]")
    screen.wait_for("Running")
    time.sleep(2)
    screen.press("Escape")
    screen.wait_for("Interrupted")
    screen.press("C-u", "C-k")
    ask(screen, "Go on.")


def queued_in_a_tool(screen: Terminal) -> None:
    """Types a prompt while a command runs."""
    screen.type("[nap]")
    screen.wait_for("Running")
    screen.type("While you are at it.")
    screen.wait_for(DONE)
    ask(screen, "And then?")


def refused(screen: Terminal) -> None:
    """Refuses a call, and goes on."""
    screen.type("[write it]")
    screen.wait_for("Do you want to")
    screen.press("Escape")
    screen.wait_until_gone("Do you want to")
    time.sleep(1)
    screen.press("C-u", "C-k")
    ask(screen, "[think]")


SCREENED = (
    Screened("turns with tools", turns_with_tools),
    Screened("interrupted answer", interrupted),
    Screened("interrupted tools", stopped_in_tools),
    Screened("queued behind an answer", queued),
    Screened("queued in a tool", queued_in_a_tool),
    Screened("retracted", retracted),
    Screened("refused by a person", refused, leave=("--permission-mode", "default")),
    Screened("renamed", renamed_on_screen),
    Screened("cleared", cleared),
    Screened("compacted", compacted),
)


def on_screen(client: Client, desk: Desk, talk: Screened) -> None:
    """Leads the real client through a talk on a screen."""
    with terminal(client, desk, *talk.leave) as screen:
        talk.keys(screen)
        time.sleep(1)  # the last lines of a turn are written behind it
