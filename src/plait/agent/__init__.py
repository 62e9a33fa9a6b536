"""Prompts to answers of the Messages API, with a log as Claude Code writes it."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from plait.agent.sessions import load_session

__all__ = ["load_session"]
HOMES = {"load_session": "sessions"}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in HOMES:
        return getattr(import_module(f"plait.agent.{HOMES[name]}"), name)
    raise AttributeError(f"module 'plait.agent' has no attribute '{name}'")
