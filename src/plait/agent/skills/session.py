"""A prompt that begins with a slash to what the command of that name makes of it.

What a command has run is ruled upon as any other call: what its head allows needs no asking, and
what nobody allows ends it before anything is asked of the model.
"""

import re
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING

from plait.agent.instructions import Grounds
from plait.agent.skills.expansion import expanded
from plait.agent.skills.lending import rules_in
from plait.agent.skills.model import Expansion, Skill, Unexpanded
from plait.agent.skills.reading import skills_in
from plait.agent.tools.model import Outcome, Proposal, ToolError
from plait.write.model import Content

if TYPE_CHECKING:
    from plait.agent.parts import Parts, Ruling

CALLED = re.compile(r"/([A-Za-z0-9][\w:.-]*)(?:\s+(.*))?", re.DOTALL)
NOT_FOR_PEOPLE = (
    "This skill can only be invoked by Claude, not directly by users. Ask Claude to use the"
    ' "{}" skill for you.'
)
REFUSED = 'Shell command permission check failed for pattern "{}": {}'
FAILED = 'Shell command failed for pattern "{}": [stderr]\n{}'


FRESH = 2.0
"""Seconds for which what was read counts where nothing is asked: names are completed key by key."""


class SessionSkills:
    """The commands and skills of a session; they are looked for anew with every prompt."""

    def __init__(self, grounds: Grounds) -> None:
        self._grounds = grounds
        self._known: dict[str, Skill] = {}
        self._read_at = -FRESH

    def look(self) -> None:
        """Reads them again, if others may be there by now."""
        self._known, self._read_at = skills_in(self._grounds), monotonic()

    @property
    def known(self) -> Mapping[str, Skill]:
        """Those that there are, by name, as of a moment ago."""
        if monotonic() - self._read_at >= FRESH:
            self.look()
        return self._known

    def named(self, name: str) -> Skill | None:
        """Returns one by its name, or by the one that it gives itself."""
        if name in self.known:
            return self.known[name]
        return next((one for one in self.known.values() if one.title == name), None)

    async def expanded(self, content: Content, parts: "Parts") -> Expansion | None:
        """Returns what a command makes of a prompt, None where it is none.

        Raises Unexpanded where it cannot be followed.
        """
        called = CALLED.fullmatch(content) if isinstance(content, str) else None
        if called is None:
            return None
        name, arguments = called[1], (called[2] or "").strip()
        self.look()
        skill = self.named(name)
        if skill is None:
            return None
        if not skill.is_for_person:
            raise Unexpanded(name, arguments, NOT_FOR_PEOPLE.format(name))
        return await self.expansion(skill, arguments, parts)

    async def expansion(self, skill: Skill, arguments: str, parts: "Parts") -> Expansion:
        """Returns what one makes of what it is given."""

        async def run(command: str, written: str) -> str:
            return await _said(command, written, skill, arguments, parts)

        content = await expanded(skill, arguments, parts.writer.session, run)
        return Expansion(skill.name, arguments, content, skill.allowed, skill.model)


async def _said(command: str, written: str, skill: Skill, arguments: str, parts: "Parts") -> str:
    """Returns what a command of the shell says, once it is allowed."""
    tool = parts.tools.get("Bash")
    if tool is None:
        told = REFUSED.format(written, "there is no tool that runs commands")
        raise Unexpanded(skill.name, arguments, told)
    try:
        proposal = tool.propose({"command": command}, parts.place)
        ruling = await _ruled(proposal, skill, parts)
        if not ruling.is_allowed:
            raise Unexpanded(skill.name, arguments, REFUSED.format(written, ruling.told))
        outcome = await tool.run(ruling.proposal, parts.place, lambda data: None)
    except ToolError as error:
        outcome = error.outcome
    words = _words(outcome)
    if outcome.is_error:
        told = re.sub(r"\AExit code \d+\n?", "", words)
        raise Unexpanded(skill.name, arguments, FAILED.format(written, told))
    return words


async def _ruled(proposal: Proposal, skill: Skill, parts: "Parts") -> "Ruling":
    """Has a command ruled upon, with what the skill allows."""
    before = parts.place.lent
    parts.place.lent = (*before, *rules_in(skill.allowed))
    try:
        return await parts.permissions.rule(proposal, "")
    finally:
        parts.place.lent = before


def _words(outcome: Outcome) -> str:
    if isinstance(outcome.content, str):
        return outcome.content
    return "\n".join(str(block.get("text", "")) for block in outcome.content)
