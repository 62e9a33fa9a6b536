"""What agents there are, and what each of them may use, as values."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from plait.agent.permission import Mode
from plait.agent.tools.model import Tool

USUAL: Final = "general-purpose"
DEEPEST: Final = 3
"""How many agents deep the last one is that nobody can be sent out from."""
SENDERS: Final = ("Agent", "Task")
"""What the tool is called that sends out agents, in newer and in older versions."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of agent: what it is for, what it is told, what it may use."""

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] | None = None
    """The tools that it has, None for all."""
    without: tuple[str, ...] = ()
    """Tools that it does not have in any case."""
    model: str | None = None
    """The model that it is asked of; None for the session's."""
    mode: Mode | None = None
    """Its permissions; None for the session's."""
    max_turns: int | None = None
    """How often the model is asked at most."""
    is_background: bool = False
    """Whether it works in the background unless it is told otherwise."""
    is_built_in: bool = False
    is_single: bool = False
    """Whether it is sent out for one thing, and nothing more is said to it."""

    def toolbox(self, tools: Mapping[str, Tool], depth: int) -> dict[str, Tool]:
        """Returns those of some tools that an agent has, so many agents deep."""
        return {
            name: tool
            for name, tool in tools.items()
            if (self.tools is None or _is_among(name, self.tools))
            and not _is_among(name, self.without)
            and (name not in SENDERS or depth < DEEPEST)
        }

    @property
    def reach(self) -> str:
        """What it may use, in words."""
        if self.tools is not None:
            return ", ".join(self.tools) or "none"
        return f"all tools but {', '.join(self.without)}" if self.without else "all tools"


def _is_among(tool: str, names: Collection[str]) -> bool:
    """Tells whether a tool is meant: by its name, that of other versions, or its server's."""
    if tool in names or (tool in SENDERS and not {*SENDERS}.isdisjoint(names)):
        return True
    parts = tool.split("__")
    return len(parts) > 2 and "__".join(parts[:2]) in names


REPORT = """\
Your last words are all that whoever sent you out gets to see: they hold what was found or done, \
with paths that can be opened, what does not work, and what is not sure. Nobody answers questions \
on the way."""
GENERAL = f"""\
You were sent out to do one thing and report back. Do that, all of it and nothing beside it. Look \
widely first, then closely; change no file that the task does not need changed.

{REPORT}"""
LOOKING = f"""\
You were sent out to find something in files, and you change nothing: no file is made, edited, \
moved or taken away, by no tool and no command. Look by name and by content, in several ways and \
places at once, and read the parts that matter.

{REPORT}"""
PLANNING = f"""\
You were sent out to plan a change, and you change nothing yourself. Learn how the code is built \
and what it already has that can be used; then say what to do step by step, in which order, what \
else could be done and why not, and which few files matter most.

{REPORT}"""
CHANGES = (*SENDERS, "Edit", "NotebookEdit", "Write")

BUILT_IN: Final = (
    Kind(
        "Explore",
        "Looks for things in many files and says where they are; it changes nothing.",
        LOOKING,
        without=CHANGES,
        is_built_in=True,
        is_single=True,
    ),
    Kind(
        USUAL,
        "Does a task of several steps by itself: research, searches whose words are not known yet,"
        " changes.",
        GENERAL,
        is_built_in=True,
    ),
    Kind(
        "Plan",
        "Designs how something is to be built: steps, files, choices; it changes nothing.",
        PLANNING,
        without=CHANGES,
        is_built_in=True,
        is_single=True,
    ),
)
"""The agents that every session has."""
