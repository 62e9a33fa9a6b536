"""Interactive scenarios: rewinds, retracted prompts, commands, interruptions."""

import time
from collections.abc import Callable

from conformance.client import Client
from conformance.sandbox import Desk
from conformance.scenarios.model import Scenario
from conformance.terminal import Terminal, terminal

DONE = "· done"
BUSY = "esc to interrupt"
REWIND_TITLE = "Restore the code and/or conversation"
CHOICES = ("Restore conversation", "Summarize from here", "Summarize up to here")


def shown(play: Callable[[Terminal], None]) -> Callable[[Client, Desk], None]:
    """Return a scenario that runs in a terminal."""

    def on_screen(client: Client, desk: Desk) -> None:
        with terminal(client, desk) as screen:
            play(screen)
            time.sleep(1)  # the client writes the last lines after the turn has ended

    return on_screen


def ask(screen: Terminal, prompt: str) -> None:
    """Send a prompt, and wait for the end of the turn."""
    before = screen.screen().count(DONE)
    screen.type(prompt)
    screen.wait_for_more(DONE, before)


def three_turns(screen: Terminal) -> None:
    """Send three prompts."""
    for prompt in ("First things first.", "Second thoughts.", "Third time lucky."):
        ask(screen, prompt)


def choose_point(screen: Terminal, back: int, choice: int) -> None:
    """Open the rewind list, move up, and select a choice."""
    screen.press("Escape", "Escape")
    screen.wait_for(REWIND_TITLE)
    screen.press(*["Up"] * back, "Enter")
    screen.wait_for(CHOICES[choice])
    screen.press(*["Down"] * choice, "Enter")


def rewound(screen: Terminal) -> None:
    """Rewind to before the last prompt, and send another one."""
    three_turns(screen)
    choose_point(screen, back=1, choice=0)
    replace_prompt(screen, "Another third.")
    ask(screen, "And a fourth.")


def rewound_to_the_start(screen: Terminal) -> None:
    """Rewind to before the first prompt, and start again."""
    three_turns(screen)
    choose_point(screen, back=3, choice=0)
    replace_prompt(screen, "Once more from the top.")


def rewound_and_left(screen: Terminal) -> None:
    """Rewind and exit without another prompt."""
    three_turns(screen)
    choose_point(screen, back=1, choice=0)
    screen.wait_until_gone("Restore conversation")


def replace_prompt(screen: Terminal, prompt: str) -> None:
    """Delete the prompt that a rewind restored, and send another one."""
    screen.wait_until_gone("Restore conversation")
    screen.press("C-u", "C-k")
    ask(screen, prompt)


def summarized(choice: int) -> Callable[[Terminal], None]:
    """Return a script that summarizes the messages before or after a prompt."""

    def play(screen: Terminal) -> None:
        three_turns(screen)
        choose_point(screen, back=2, choice=choice)
        screen.wait_until_gone(CHOICES[choice])
        screen.wait_until_idle(BUSY)
        screen.press("C-u", "C-k")
        screen.type("What do you remember?")
        screen.wait_until_idle(BUSY)

    return play


def retracted(screen: Terminal) -> None:
    """Cancel a prompt before any answer, and send another one."""
    ask(screen, "To begin with.")
    screen.type("[never]")
    screen.wait_for(BUSY)
    screen.press("Escape")
    screen.wait_until_gone(BUSY)
    screen.press("C-u", "C-k")
    ask(screen, "Better this.")


def interrupted(screen: Terminal) -> None:
    """Interrupt an answer, and continue."""
    ask(screen, "To begin with.")
    screen.type("[slow]")
    screen.wait_for("This takes a while")
    screen.press("Escape")
    screen.wait_for("Interrupted")
    screen.press("C-u", "C-k")
    ask(screen, "Go on, but shorter.")


def queued(screen: Terminal) -> None:
    """Type a prompt while the model is answering."""
    screen.type("[slow]")
    screen.wait_for("This takes a while")
    screen.type("While you are at it.")
    screen.wait_for("Understood.")


def cleared(screen: Terminal) -> None:
    """Clear the conversation, and start another."""
    ask(screen, "To begin with.")
    screen.type("/clear")
    time.sleep(1.5)
    ask(screen, "A new start.")


def renamed(screen: Terminal) -> None:
    """Give the session a name."""
    ask(screen, "To begin with.")
    screen.type("/rename The best of names")
    time.sleep(1.5)
    ask(screen, "Named well.")


def branched(screen: Terminal) -> None:
    """Create a branch, and continue in it."""
    ask(screen, "To begin with.")
    ask(screen, "Still on the trunk.")
    screen.type("/branch")
    time.sleep(2)
    ask(screen, "On the branch.")


def compacted(screen: Terminal) -> None:
    """Compact in the terminal, and continue."""
    three_turns(screen)
    screen.type("/compact")
    screen.wait_for("Compacted")
    screen.type("And now?")
    screen.wait_for("Understood.")


SHOWN = (
    Scenario("rewind", shown(rewound)),
    Scenario("rewind to the start", shown(rewound_to_the_start)),
    Scenario("rewind and leave", shown(rewound_and_left)),
    Scenario("summarize from here", shown(summarized(1))),
    Scenario("summarize up to here", shown(summarized(2))),
    Scenario("retract before an answer", shown(retracted)),
    Scenario("interruption", shown(interrupted)),
    Scenario("queued prompt", shown(queued)),
    Scenario("/clear", shown(cleared)),
    Scenario("/rename", shown(renamed)),
    Scenario("/branch", shown(branched)),
    Scenario("/compact in the terminal", shown(compacted)),
)
