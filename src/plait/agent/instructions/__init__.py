"""Files such as CLAUDE.md to what the model is told of how to work here."""

from plait.agent.instructions.finding import Grounds, nested, standing
from plait.agent.instructions.model import Instruction
from plait.agent.instructions.telling import SessionInstructions, rendered

__all__ = ["Grounds", "Instruction", "SessionInstructions", "nested", "rendered", "standing"]
