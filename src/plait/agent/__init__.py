"""Prompts to answers of the Messages API, with a log as Claude Code writes it."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from plait.agent.assembly import Manner
    from plait.agent.client import Client
    from plait.agent.models.messages_api import MessagesApi
    from plait.agent.models.replay import ReplayModel
    from plait.agent.models.script import ScriptModel
    from plait.agent.sessions import load_session

__all__ = ["Client", "Manner", "MessagesApi", "ReplayModel", "ScriptModel", "load_session"]
HOMES = {
    "Client": "client",
    "Manner": "assembly",
    "MessagesApi": "models.messages_api",
    "ReplayModel": "models.replay",
    "ScriptModel": "models.script",
    "load_session": "sessions",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in HOMES:
        return getattr(import_module(f"plait.agent.{HOMES[name]}"), name)
    raise AttributeError(f"module 'plait.agent' has no attribute '{name}'")
