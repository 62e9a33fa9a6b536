"""Interactive conversations: the same keys for the real client and for `plait chat`."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.chat.talks import LEAVE
from conformance.client import Client
from conformance.sandbox import Desk
from conformance.scenarios.shown import BUSY, DONE, choose_point
from conformance.terminal import Terminal, shown_by, terminal

SOURCE = Path(__file__).resolve().parents[2] / "src"
BREATH = 1.5


def chosen_in_a_list(screen: Terminal, number: int) -> None:
    """Go back before a prompt, as the real client lets one choose it."""
    choose_point(screen, back=number, choice=0)
    screen.wait_until_gone("Restore conversation")


def said_by_number(screen: Terminal, number: int) -> None:
    """Go back before a prompt, as `plait chat` lets one say it."""
    screen.type(f"/rewind {number} both")
    screen.wait_for("later messages stay")


@dataclass(frozen=True, slots=True)
class Manner:
    """By what one knows what a client does, and the keys that it takes."""

    busy: str
    running: str
    stop: str
    asks: str
    refuse: tuple[str, ...]
    refused: str
    compacted: str
    go_back: Callable[[Terminal, int], None]
    done: str = ""
    """What stands below a turn that is over; where nothing does, being busy tells."""


THEIRS = Manner(
    busy=BUSY,
    running="Running",
    stop="Escape",
    asks="Do you want to",
    refuse=("Escape",),
    refused="User rejected",
    compacted="Compacted",
    go_back=chosen_in_a_list,
    done=DONE,
)
OURS = Manner(
    busy="Ctrl-C to stop",
    running="Bash",
    stop="C-c",
    asks="Proceed?",
    refuse=("n", "Enter"),
    refused="stopped",
    compacted="compacted:",
    go_back=said_by_number,
)


@dataclass(frozen=True, slots=True)
class Seat:
    """Somebody who sits before a client."""

    screen: Terminal
    manner: Manner

    def ask(self, prompt: str) -> None:
        """Ask, and wait for the end of the turn."""
        done = self.manner.done
        before = self.screen.screen().count(done)
        self.screen.type(prompt)
        if done:
            self.screen.wait_for_more(done, before)
        else:
            self.screen.wait_until_idle(self.manner.busy)

    def begin(self, prompt: str, until: str) -> None:
        """Ask, and wait until something stands on the screen."""
        self.screen.type(prompt)
        self.screen.wait_for(until)

    def stop(self) -> None:
        """Stop what goes on, and wipes what was typed."""
        self.screen.press(self.manner.stop)
        self.screen.wait_until_gone(self.manner.busy)
        self.screen.press("C-u", "C-k")

    def refuse(self) -> None:
        """Say no to what is asked."""
        self.screen.wait_for(self.manner.asks)
        time.sleep(BREATH)  # a question that has just come up takes no answer yet
        self.screen.press(*self.manner.refuse)
        self.screen.wait_for(self.manner.refused)
        time.sleep(BREATH)
        self.screen.press("C-u", "C-k")

    def go_back(self, number: int) -> None:
        """Go back before a prompt, the newest being 1, and wipes what is put back."""
        self.manner.go_back(self.screen, number)
        time.sleep(BREATH)
        self.screen.press("C-u", "C-k")

    def command(self, text: str) -> None:
        """Give a command that is done at once."""
        self.screen.type(text)
        time.sleep(BREATH)


Play = Callable[[Seat], None]


def turns_with_tools(seat: Seat) -> None:
    """Has files read and changed, in three turns."""
    for prompt in ("[think and look]", "[edit]", "[parallel]"):
        seat.ask(prompt)


def interrupted(seat: Seat) -> None:
    """Stop an answer, and go on."""
    seat.ask("To begin with.")
    seat.begin("[slow]", "This takes a while")
    seat.stop()
    seat.ask("Go on, but shorter.")


def stopped_in_tools(seat: Seat) -> None:
    """Stop two calls of which one has ended, and go on."""
    seat.begin("[sleep]", seat.manner.running)
    time.sleep(2)
    seat.stop()
    seat.ask("Go on.")


def queued(seat: Seat) -> None:
    """Type a prompt while the model speaks."""
    seat.begin("[slow]", "This takes a while")
    seat.begin("While you are at it.", "Understood.")
    seat.ask("And then?")


def queued_in_a_tool(seat: Seat) -> None:
    """Type a prompt while a command runs."""
    seat.begin("[nap]", seat.manner.running)
    seat.begin("While you are at it.", "Good morning.")
    seat.ask("And then?")


def retracted(seat: Seat) -> None:
    """Take a prompt back before any answer, and ask another."""
    seat.ask("To begin with.")
    seat.begin("[never]", seat.manner.busy)
    seat.stop()
    seat.ask("Better this.")


def refused(seat: Seat) -> None:
    """Refuse a call, and go on."""
    seat.screen.type("[write it]")
    seat.refuse()
    seat.ask("[think]")


def renamed(seat: Seat) -> None:
    """Give the session a name."""
    seat.ask("To begin with.")
    seat.command("/rename The best of names")
    seat.ask("Named well.")


def cleared(seat: Seat) -> None:
    """Clear the conversation, and start another."""
    seat.ask("To begin with.")
    seat.command("/clear")
    seat.ask("A new start.")


def compacted(seat: Seat) -> None:
    """Compact, and go on."""
    for prompt in ("First things first.", "Second thoughts.", "Third time lucky."):
        seat.ask(prompt)
    seat.begin("/compact", seat.manner.compacted)
    time.sleep(BREATH)
    seat.begin("And now?", "Understood.")


def three_turns(seat: Seat) -> None:
    """Ask three things."""
    for prompt in ("First things first.", "Second thoughts.", "Third time lucky."):
        seat.ask(prompt)


def rewound(seat: Seat) -> None:
    """Go back before the last prompt, and ask something else, twice."""
    three_turns(seat)
    seat.go_back(1)
    seat.ask("Another third.")
    seat.go_back(2)
    seat.ask("Another second.")


def rewound_to_the_start(seat: Seat) -> None:
    """Go back before the first prompt, and start again."""
    three_turns(seat)
    seat.go_back(3)
    seat.ask("Once more from the top.")


def rewound_and_left(seat: Seat) -> None:
    """Go back and leave, without another prompt."""
    three_turns(seat)
    seat.go_back(1)


def rewound_over_changes(seat: Seat) -> None:
    """Go back before a prompt that changed a file, and has another one changed."""
    seat.ask("[edit]")
    seat.go_back(1)
    seat.ask("[think and look]")


def branched(seat: Seat) -> None:
    """Branches off, and goes on in the branch."""
    seat.ask("To begin with.")
    seat.ask("[edit]")
    seat.command("/branch")
    time.sleep(BREATH)
    seat.ask("On the branch.")


@dataclass(frozen=True, slots=True)
class Screened:
    """A talk on a screen."""

    name: str
    play: Play
    leave: tuple[str, ...] = LEAVE


SCREENED = (
    Screened("turns with tools", turns_with_tools),
    Screened("interrupted answer", interrupted),
    Screened("interrupted tools", stopped_in_tools),
    Screened("queued behind an answer", queued),
    Screened("queued in a tool", queued_in_a_tool),
    Screened("retracted", retracted),
    Screened("refused by a person", refused, leave=("--permission-mode", "default")),
    Screened("renamed", renamed),
    Screened("cleared", cleared),
    Screened("compacted on a screen", compacted),
    Screened("rewound", rewound),
    Screened("rewound to the start", rewound_to_the_start),
    Screened("rewound and left", rewound_and_left),
    Screened("rewound over changes", rewound_over_changes),
    Screened("branched", branched),
)


DRIVEN = (
    Screened("driven, turns with tools", turns_with_tools),
    Screened("driven, interrupted answer", interrupted),
    Screened("driven, rewound", rewound),
    Screened("driven, branched", branched),
)
"""What the real client does while our console drives it."""


def with_theirs(client: Client, desk: Desk, talk: Screened) -> None:
    """Lead the real client through a talk."""
    with terminal(client, desk, *talk.leave) as screen:
        talk.play(Seat(screen, THEIRS))
        time.sleep(BREATH)  # the last lines of a turn are written behind it


def with_ours(client: Client, desk: Desk, talk: Screened) -> None:
    """Lead `plait chat` through a talk."""
    with _plait(client, desk, *talk.leave) as screen:
        talk.play(Seat(screen, OURS))
        screen.wait_until_idle(OURS.busy)
        screen.type("/exit")
        screen.wait_for("resumes this session")
    desk.hand_over()


def with_driven(client: Client, desk: Desk, talk: Screened) -> None:
    """Lead `plait chat` through a talk while it drives the real client."""
    with _plait(client, desk, "--engine", "claude", *talk.leave) as screen:
        talk.play(Seat(screen, OURS))
        screen.wait_until_idle(OURS.busy)
        screen.type("/exit")
        screen.wait_for("resumes this session")
    desk.hand_over()


@contextmanager
def _plait(client: Client, desk: Desk, *arguments: str) -> Iterator[Terminal]:
    """Start `plait chat` on a screen that stays once it has ended."""
    command = (sys.executable, "-m", "plait", "chat", *arguments)
    more = {"PYTHONPATH": str(SOURCE), "PLAIT_CLAUDE": str(client.executable)}
    with shown_by(client, desk, command, user=0, more=more) as screen:
        screen.wait_for("/help lists commands")
        yield screen
