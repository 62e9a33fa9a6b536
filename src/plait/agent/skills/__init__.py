"""Commands and skills that people wrote down to what is asked of the model with them."""

from plait.agent.skills.model import Expansion, Skill
from plait.agent.skills.reading import skills_in
from plait.agent.skills.session import SessionSkills
from plait.agent.skills.tool import SkillTool

__all__ = ["Expansion", "SessionSkills", "Skill", "SkillTool", "skills_in"]
