"""Calls that send out agents to agents that work, each in a conversation and a log of its own."""

from plait.agent.agents.crew import Crew
from plait.agent.agents.kinds import BUILT_IN, SENDERS, Kind

__all__ = ["BUILT_IN", "SENDERS", "Crew", "Kind"]
