"""A proposal to a question at the keyboard, and what is typed to an answer."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

from plait.agent.keeping import permanent_rules
from plait.agent.permission import Answer
from plait.agent.tools.model import Arguments, Effect, Proposal
from plait.cli.chat.keyboard import Keyboard
from plait.cli.chat.screen import Screen
from plait.cli.text import safe, safe_line
from plait.conversation.patches import Patch, hunks_between
from plait.view.passages.call_view import path_from
from plait.view.passages.tools import CallLine, first_line, tool_name
from plait.view.terminal.calls import changed
from plait.view.terminal.model import ALL_LINES, AnyBlock, Printed, printed_lines

YES, ALWAYS, FOR_GOOD, CHANGE, NO = "y", "a", "p", "e", "n"
SPELLED = {"yes": YES, "1": YES, "always": ALWAYS, "2": ALWAYS, "edit": CHANGE, "no": NO}
CHANGED_IN = {"Bash": "command", "Write": "content", "Edit": "new_string"}
"""The argument that a person may change, by tool."""
ASKED: dict[Effect, str] = {
    "none": "may it be done?",
    "read": "may it be read?",
    "write": "may it be written?",
    "execute": "may it run?",
    "network": "may it be fetched?",
}
ALIKE: dict[Effect, str] = {
    "none": "the like",
    "read": "all in this folder",
    "write": "all changes of files here",
    "execute": "this command",
    "network": "all of this host",
}
"""What is allowed with it for the rest of the session."""
QUESTION = "Do it? "


@dataclass
class Dialogue:
    """Asks a person, one question at a time."""

    screen: Screen
    keyboard: Keyboard
    settled: Callable[[], Awaitable[None]]
    """Waits until all that went before the question is on the screen."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, proposal: Proposal, call: str) -> Answer:
        """Returns what the person says; Ctrl-C and the end of input stop the turn."""
        async with self._turn, self.keyboard.alone():
            await self.settled()
            shown = [*proposed(proposal, self.screen.drawing.directory), choices(proposal)]
            await self.screen.print(shown, is_whole=True)
            while (said := await self.keyboard.answer(QUESTION)) is not None:
                if answer := await self._understood(said.strip(), proposal):
                    return answer
            return Answer(is_allowed=False, stops=True)

    async def _understood(self, said: str, proposal: Proposal) -> Answer | None:
        match SPELLED.get(said.casefold(), said.casefold()):
            case "":
                return None
            case "y":
                return Answer(is_allowed=True)
            case "a":
                return Answer(is_allowed=True, is_for_session=True)
            case "p" if permanent_rules(proposal):
                return Answer(is_allowed=True, is_permanent=True)
            case "e" if proposal.tool in CHANGED_IN:
                return await self._edited(proposal)
            case "n":
                return Answer(is_allowed=False, stops=True)
            case _:
                return Answer(is_allowed=False, words=said)

    async def _edited(self, proposal: Proposal) -> Answer | None:
        name = CHANGED_IN[proposal.tool]
        before = str(proposal.arguments.get(name, ""))
        text = await self.keyboard.changed(before)
        if text is None:
            return None
        arguments: Arguments = {**proposal.arguments, name: text}
        return Answer(is_allowed=True, arguments=arguments if text != before else None)


def proposed(proposal: Proposal, directory: str | None = None) -> Iterator[AnyBlock]:
    """Yields what would be done, all of it: what a person allows, they can see.

    What a terminal would obey is not taken out, as elsewhere, but stands there as a sign.
    """
    title = safe(proposal.title)
    is_command = proposal.effect == "execute"
    yield CallLine(
        tool=tool_name(proposal.tool),
        subject="" if is_command else first_line(path_from(title, directory)),
        result=ASKED[proposal.effect],
        outcome="missing",
    )
    if is_command:
        yield from printed_lines(title, ALL_LINES, tone="plain")
        if proposal.arguments.get("run_in_background"):
            yield Printed(lines=("(goes on in the background)",), tone="quiet")
    if unsaid := _unsaid(proposal, directory):
        yield Printed(lines=unsaid, tone="plain")
    if proposal.after is not None and not is_command:
        hunks = hunks_between(safe(proposal.before or ""), safe(proposal.after))
        path = str(proposal.paths[0]) if proposal.paths else ""
        yield changed(Patch(path, hunks, 0, 0, is_new=proposal.before is None), None)


def _unsaid(proposal: Proposal, directory: str | None) -> tuple[str, ...]:
    """Returns the files and folders that are meant, but for one that the title already names.

    A link is named by what it leads to, and a search by where it looks.
    """
    here = os.path.realpath(directory) if directory else None
    said = {path_from(proposal.title, directory), path_from(proposal.title, here)}
    meant = (str(path) for path in proposal.paths)
    return tuple(
        safe_line(path) for path in meant if "\n" in path or path_from(path, here) not in said
    )


def choices(proposal: Proposal) -> Printed:
    """Returns what can be said."""
    edit = (f"{CHANGE}  yes, but let me change it first",) if proposal.tool in CHANGED_IN else ()
    rules = safe_line(", ".join(permanent_rules(proposal)))
    kept = (f"{FOR_GOOD}  yes, and from now on in this project: {rules}",) if rules else ()
    lines = (
        f"{YES}  yes",
        f"{ALWAYS}  yes, and {ALIKE[proposal.effect]} until this session ends",
        *kept,
        *edit,
        f"{NO}  no, and stop; any other words say what to do instead",
    )
    return Printed(lines=lines, tone="plain")
