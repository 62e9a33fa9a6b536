"""A kind of agent and whoever sends it out to all that its turns need."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from plait.agent.agents.heeding import AgentAlong, along_of
from plait.agent.agents.kinds import Kind
from plait.agent.agents.work import Errand
from plait.agent.compaction import SessionCompactor
from plait.agent.context import LiveContext
from plait.agent.instructions import rendered
from plait.agent.memory import SessionMemory
from plait.agent.parts import Alone, Along, Limits, Parts, Permissions
from plait.agent.permission import Mode
from plait.agent.permissions import SessionPermissions
from plait.agent.skills.tool import SkillTool
from plait.agent.streaming import Block
from plait.agent.tools.model import Workplace
from plait.write import AgentWriter

if TYPE_CHECKING:
    from plait.agent.agents.crew import Crew

NARROW: tuple[Mode, ...] = ("plan", "dontAsk", "default")
"""Modes that an agent may be in though its session is not: they allow no more."""


def seat_of(crew: "Crew", writer: AgentWriter, errand: Errand, sender: Parts) -> Parts:
    """Returns what an agent works with: the tools of its kind, a memory and a place of its own."""
    kind = errand.kind
    tools = kind.toolbox(sender.tools, writer.errand.depth)
    context = LiveContext(writer)
    along = Alone() if kind.is_single else along_of(sender.along, writer, context)
    memory = SessionMemory(context, errand.model, _system(crew, kind, along))
    definitions = [tool.definition for tool in tools.values()]
    place = _place(sender)
    hooks = sender.hooks and sender.hooks.of_agent(writer, place, kind.name)
    permissions = _permissions(sender.permissions, errand)
    if hooks and isinstance(permissions, SessionPermissions):
        permissions = replace(permissions, hooks=hooks)
    most = min(kind.max_turns or crew.longest, crew.longest)
    parts = replace(
        sender,
        writer=writer,
        memory=memory,
        permissions=permissions,
        place=place,
        tools=tools,
        compactor=SessionCompactor(writer, memory, sender.model, tools=definitions),
        limits=Limits(most, sender.limits.dollars, sender.limits.retries),
        along=along,
        hooks=hooks,
        recall=lambda: None,
    )
    for name, tool in tools.items():
        if isinstance(tool, SkillTool):
            tools[name] = replace(tool, parts=parts)
    return parts


def _system(crew: "Crew", kind: Kind, along: Along) -> Sequence[Block]:
    texts = [kind.prompt, crew.around.text if crew.around else ""]
    if isinstance(along, AgentAlong) and along.instructions.is_told_beside:
        texts += [rendered(files)] if (files := along.instructions.files()) else []
    return [{"type": "text", "text": text} for text in texts if text.strip()]


def _place(sender: Parts) -> Workplace:
    """Returns where an agent works: where its sender does, with a memory of its own."""
    return replace(
        sender.place, seen={}, todos=[], background={}, is_scratch_own=False, keeps_cwd=False
    )


def _permissions(own: Permissions, errand: Errand) -> Permissions:
    """Returns the permissions of an agent: its sender's, never more.

    Of one in the background nobody is asked: the person may be at something else.
    """
    if not isinstance(own, SessionPermissions):
        return own
    mode = errand.kind.mode
    if mode in NARROW and own.mode != "bypassPermissions":
        own = replace(own, mode=mode)
    return replace(own, asker=None) if errand.is_background else own
