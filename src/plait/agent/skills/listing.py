"""The skills that there are to what the model is told of them, once, and of those that change."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from plait.agent.context import LiveContext
from plait.agent.skills.model import Skill
from plait.agent.skills.session import SessionSkills
from plait.graph.client.wording import SKILLS, as_reminder
from plait.record.codec import mapping
from plait.write import SessionWriter

KIND = "skill_listing"


def listed(skills: Mapping[str, Skill]) -> list[Skill]:
    """Returns the skills that the model is told of."""
    return [one for one in skills.values() if one.is_for_model]


def told(skills: Sequence[Skill]) -> str:
    """Returns the list of some skills, as the model is told it."""
    return as_reminder(SKILLS.format(content="\n".join(one.line for one in skills)))


class SkillListing:
    """Tells a session which skills there are."""

    def __init__(self, writer: SessionWriter, context: LiveContext, skills: SessionSkills) -> None:
        self._writer = writer
        self._context = context
        self._skills = skills
        self._seen: tuple[str | None, list[str]] = (None, [])
        """Since which message they are told, and which they were."""

    def tell(self) -> None:
        """Tells with a prompt which there are, unless the model knows."""
        skills = listed(self._skills.known)
        seen = (self._context.records[0].uuid, [_digest(one) for one in skills])
        if self._writer.setting.is_older or not skills or seen == self._seen:
            return
        self._seen = seen
        known = self._known()
        fresh = [one for one in skills if known.get(one.name) != _digest(one)]
        if fresh:
            self._writer.attachment(_fields(fresh, is_first=not known), told(fresh), role="system")

    def _known(self) -> dict[str, str]:
        known: dict[str, str] = {}
        for record in self._context.records:
            head = record.envelope.attachment if record.type == "attachment" else None
            if head is not None and head.type == KIND:
                fields = mapping(record.fields.get("attachment"))
                names, digests = fields.get("names") or (), fields.get("digests") or ()
                known |= dict(zip(names, digests, strict=False))
        return known


def _digest(skill: Skill) -> str:
    return sha256(skill.line.encode()).hexdigest()[:16]


def _fields(skills: Sequence[Skill], *, is_first: bool) -> dict[str, Any]:
    return {
        "type": KIND,
        "content": "\n".join(one.line for one in skills),
        "skillCount": len(skills),
        "isInitial": is_first,
        "names": [one.name for one in skills],
        "digests": [_digest(one) for one in skills],
    }
