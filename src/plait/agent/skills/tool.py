"""A skill that the model asks for to what it is told then."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from plait.agent.skills.model import Unexpanded
from plait.agent.skills.session import SessionSkills
from plait.agent.tools.arguments import Field, checked, definition
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    ToolError,
    Workplace,
)

if TYPE_CHECKING:
    from plait.agent.parts import Parts

FIELDS = (
    Field("skill", "string", "The name of a skill that was listed", is_needed=True),
    Field("args", "string", "What it is given, if anything"),
)
ABOUT = (
    "Follows a skill: instructions for a task of a certain kind, written down by the user. The"
    " skills that there are were listed with the conversation. When one of them fits what is"
    " asked, call this first; what it says comes with the result."
)
RESERVED = (
    "Skill {0} cannot be used with Skill tool due to disable-model-invocation. Ask the user to run"
    " /{0} themselves — it cannot be invoked via the Skill tool. Do not replicate this skill's"
    " workflow by other means — it is reserved for explicit user invocation."
)


@dataclass(slots=True)
class SkillTool:
    """The tool that follows a skill."""

    skills: SessionSkills
    parts: "Parts | None" = None
    """What the session is made of; told once it is put together."""
    name: str = "Skill"
    effect: Effect = "none"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, ABOUT, FIELDS)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Finds the skill; one that does more than say words is asked about."""
        taken = checked(self.name, FIELDS, arguments)
        name = str(taken["skill"]).removeprefix("/")
        skill = self.skills.named(name)
        if skill is None:
            raise ToolError(_unknown(name, self.skills), is_misuse=True)
        if not skill.is_for_model:
            raise ToolError(RESERVED.format(skill.name), is_misuse=True)
        effect: Effect = "none" if skill.is_plain else "execute"
        return Proposal(self.name, {**taken, "skill": name}, effect, name)

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Follows it: what it says goes along with the result."""
        skill = self.skills.named(str(proposal.arguments["skill"]))
        if skill is None or self.parts is None:
            raise ToolError("The skill is there no more.")
        try:
            given = str(proposal.arguments.get("args", ""))
            expansion = await self.skills.expansion(skill, given, self.parts)
        except Unexpanded as error:
            raise ToolError(error.text) from None
        output: dict[str, Any] = {"success": True, "commandName": skill.name}
        if skill.allowed:
            output["allowedTools"] = [*skill.allowed]
        return Outcome(f"Launching skill: {skill.name}", output, expansion=expansion)


def _unknown(name: str, skills: SessionSkills) -> str:
    told = f"Unknown skill: {name}."
    like = get_close_matches(name, skills.known, 1, 0.5)
    return f"{told} Did you mean {like[0]}?" if like else told
