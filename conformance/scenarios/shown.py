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
    """Return a scenario that is played on a screen."""

    def on_screen(client: Client, desk: Desk) -> None:
        with terminal(client, desk) as screen:
            play(screen)
            time.sleep(1)  # the last lines of a turn are written behind it

    return on_screen


def ask(screen: Terminal, prompt: str) -> None:
    """Ask, and wait for the end of the turn."""
    before = screen.screen().count(DONE)
    screen.type(prompt)
    screen.wait_for_more(DONE, before)


def three_turns(screen: Terminal) -> None:
    """Ask three things."""
    for prompt in ("First things first.", "Second thoughts.", "Third time lucky."):
        ask(screen, prompt)


def choose_point(screen: Terminal, back: int, choice: int) -> None:
    """Open the rewind list, goes up, and take one of the choices."""
    screen.press("Escape", "Escape")
    screen.wait_for(REWIND_TITLE)
    screen.press(*["Up"] * back, "Enter")
    screen.wait_for(CHOICES[choice])
    screen.press(*["Down"] * choice, "Enter")


def rewound(screen: Terminal) -> None:
    """Go back before the last prompt, and ask something else."""
    three_turns(screen)
    choose_point(screen, back=1, choice=0)
    replace_prompt(screen, "Another third.")
    ask(screen, "And a fourth.")


def rewound_to_the_start(screen: Terminal) -> None:
    """Go back before the first prompt, and start again."""
    three_turns(screen)
    choose_point(screen, back=3, choice=0)
    replace_prompt(screen, "Once more from the top.")


def rewound_and_left(screen: Terminal) -> None:
    """Go back and leave, without another prompt."""
    three_turns(screen)
    choose_point(screen, back=1, choice=0)
    screen.wait_until_gone("Restore conversation")


def replace_prompt(screen: Terminal, prompt: str) -> None:
    """Wipe the prompt that a rewind put back, and ask another."""
    screen.wait_until_gone("Restore conversation")
    screen.press("C-u", "C-k")
    ask(screen, prompt)


def summarized(choice: int) -> Callable[[Terminal], None]:
    """Return the play that summarizes one side of a prompt."""

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
    """Take a prompt back before any answer, and ask another."""
    ask(screen, "To begin with.")
    screen.type("[never]")
    screen.wait_for(BUSY)
    screen.press("Escape")
    screen.wait_until_gone(BUSY)
    screen.press("C-u", "C-k")
    ask(screen, "Better this.")


def interrupted(screen: Terminal) -> None:
    """Interrupt an answer, and go on."""
    ask(screen, "To begin with.")
    screen.type("[slow]")
    screen.wait_for("This takes a while")
    screen.press("Escape")
    screen.wait_for("Interrupted")
    screen.press("C-u", "C-k")
    ask(screen, "Go on, but shorter.")


def queued(screen: Terminal) -> None:
    """Type a prompt while the model speaks."""
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
    """Branches off, and goes on in the branch."""
    ask(screen, "To begin with.")
    ask(screen, "Still on the trunk.")
    screen.type("/branch")
    time.sleep(2)
    ask(screen, "On the branch.")


def compacted(screen: Terminal) -> None:
    """Compact on the screen, and go on."""
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
    Scenario("/compact on the screen", shown(compacted)),
)
