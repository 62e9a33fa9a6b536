"""The chat client: sessions with a model, logged as Claude Code logs them."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from plait.chat.client import Client
    from plait.chat.models import MessagesApi, ReplayModel, ScriptModel
    from plait.chat.session import SessionOptions
    from plait.chat.session_commands import load_session

__all__ = ["Client", "MessagesApi", "ReplayModel", "ScriptModel", "SessionOptions", "load_session"]
HOMES = {
    "Client": "client",
    "SessionOptions": "session",
    "MessagesApi": "models",
    "ReplayModel": "models",
    "ScriptModel": "models",
    "load_session": "session_commands",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in HOMES:
        return getattr(import_module(f"plait.chat.{HOMES[name]}"), name)
    raise AttributeError(f"module 'plait.chat' has no attribute '{name}'")
