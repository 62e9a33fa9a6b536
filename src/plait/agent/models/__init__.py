"""Requests to answers: of the API, of a recorded session, of a script."""

from plait.agent.models.messages_api import MessagesApi
from plait.agent.models.replay import ReplayModel
from plait.agent.models.reply import Reply, played
from plait.agent.models.script import ScriptModel

__all__ = ["MessagesApi", "ReplayModel", "Reply", "ScriptModel", "played"]
