"""The parts of a session to what is told of how it stands."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from plait.agent.capacity import capacity_of
from plait.agent.cost import SessionCost
from plait.agent.engine import Fill
from plait.agent.memory import SessionMemory
from plait.agent.parts import Parts
from plait.agent.permission import Mode
from plait.agent.permissions import SessionPermissions
from plait.agent.skills import SessionSkills


class Standing:
    """What is told of a session while it is held."""

    parts: Parts
    cost: SessionCost

    @property
    def session(self) -> str:
        """The id of the session."""
        return self.parts.writer.session

    @property
    def path(self) -> Path:
        """The file of its log; there is none before its first line."""
        return self.parts.writer.path

    @property
    def model(self) -> str:
        """The name of whoever answers."""
        return self.parts.writer.setting.model

    @property
    def mode(self) -> Mode:
        """What may be done without asking."""
        permissions = self.parts.permissions
        return permissions.mode if isinstance(permissions, SessionPermissions) else "default"

    @property
    def tools(self) -> Sequence[str]:
        """The names of what the model can have done."""
        return tuple(self.parts.tools)

    @property
    def commands(self) -> Mapping[str, str]:
        """The commands that people wrote down, by name, with what each is for."""
        skills = self.parts.commands
        if not isinstance(skills, SessionSkills):
            return {}
        return {one.name: one.description for one in skills.known.values() if one.is_for_person}

    @property
    def dollars_in_all(self) -> float | None:
        """What it cost with all that came before, None where nothing did."""
        return float(self.cost.fields["totalCostUSD"]) if self.cost.before else None

    @property
    def fill(self) -> Fill | None:
        """How full its context is, None where nobody knows."""
        memory = self.parts.memory
        if not isinstance(memory, SessionMemory):
            return None
        capacity = capacity_of(memory.model)
        return Fill(memory.context.tokens(), capacity.window, capacity.full)

    @property
    def rules(self) -> Sequence[str]:
        """What may be done without asking, what is asked about and what may not, a line each."""
        held = self.parts.permissions
        return held.lines() if isinstance(held, SessionPermissions) else ()

    async def servers(self, approve: str = "") -> list[str]:
        """Returns how each server stands; one that waits for leave is started first."""
        if self.parts.servers is None:
            return []
        notices = await self.parts.servers.begin()
        told = [await self.parts.servers.approve(approve)] if approve else notices
        return [*told, *self.parts.servers.lines()]
