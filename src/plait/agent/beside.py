"""What people wrote down for a directory to the parts of a session that heed it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from plait.agent.along import SessionAlong
from plait.agent.context import LiveContext
from plait.agent.instructions import Grounds, SessionInstructions, rendered
from plait.agent.mcp import SessionServers, servers_in
from plait.agent.mcp.telling import ServerInstructions
from plait.agent.mentions import SessionMentions
from plait.agent.settings import ClientSettings
from plait.agent.skills import SessionSkills, SkillTool
from plait.agent.skills.listing import SkillListing, listed, told
from plait.agent.streaming import Block
from plait.agent.tools import Tool, Workplace
from plait.write import SessionWriter
from plait.write.place import configuration_of


@dataclass(frozen=True, slots=True)
class Beside:
    """Instructions, skills and servers of a session, and what goes along with its prompts."""

    tools: dict[str, Tool]
    """Those of the session; those of servers join them."""
    along: SessionAlong
    skills: SessionSkills
    servers: SessionServers
    follower: SkillTool
    system: list[Block]
    """What the older form tells beside the log."""


def beside_of(
    writer: SessionWriter,
    context: LiveContext,
    place: Workplace,
    settings: ClientSettings,
    tools: Mapping[str, Tool],
    *,
    forbidden: frozenset[str] = frozenset(),
    has_own_tools: bool = False,
) -> Beside:
    """Returns what counts in the directory of a session; its own tools stay as they are."""
    grounds = _grounds(writer, place)
    instructions, skills = SessionInstructions(writer, context, grounds), SessionSkills(grounds)
    follower, all_tools = SkillTool(skills), {**tools}
    servers = SessionServers([], all_tools, place.root, place.environment)
    if not has_own_tools:
        servers = _servers(grounds, writer, place, settings, all_tools, forbidden)
        if listed(skills.known) and follower.name not in forbidden:
            all_tools[follower.name] = follower
    along = SessionAlong(
        writer,
        SessionMentions(writer, place),
        instructions,
        SkillListing(writer, context, skills),
        ServerInstructions(writer, context, servers),
    )
    system = _told_beside(instructions, skills) if writer.setting.is_older else []
    return Beside(all_tools, along, skills, servers, follower, system)


def _grounds(writer: SessionWriter, place: Workplace) -> Grounds:
    home = place.environment.get("HOME")
    own = configuration_of(writer.path)
    return Grounds(place.root, own, Path(home) if home else None, place.secrets)


def _servers(
    grounds: Grounds,
    writer: SessionWriter,
    place: Workplace,
    settings: ClientSettings,
    tools: dict[str, Tool],
    forbidden: frozenset[str],
) -> SessionServers:
    is_asked = not writer.is_unseen
    found, notices = servers_in(grounds, settings, place.environment, is_asked=is_asked)
    return SessionServers(
        found, tools, place.root, place.environment, notices=notices, forbidden=forbidden
    )


def _told_beside(instructions: SessionInstructions, skills: SessionSkills) -> list[Block]:
    files, offered = instructions.files(), listed(skills.known)
    texts = [rendered(files)] * bool(files) + [told(offered)] * bool(offered)
    return [{"type": "text", "text": text} for text in texts]
