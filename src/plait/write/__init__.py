"""Turns and blocks to new lines of a session, as the client makes them."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from plait.write.agents import AgentWriter
    from plait.write.response import Response
    from plait.write.writer import SessionWriter

__all__ = ["AgentWriter", "Response", "SessionWriter"]
HOMES = {"AgentWriter": "agents", "Response": "response", "SessionWriter": "writer"}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in HOMES:
        return getattr(import_module(f"plait.write.{HOMES[name]}"), name)
    raise AttributeError(f"module 'plait.write' has no attribute '{name}'")
