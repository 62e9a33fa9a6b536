"""Servers of the Model Context Protocol to tools of a session."""

from plait.agent.mcp.configured import servers_in
from plait.agent.mcp.model import Server
from plait.agent.mcp.servers import SessionServers

__all__ = ["Server", "SessionServers", "servers_in"]
