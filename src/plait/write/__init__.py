"""Writing sessions: new lines in the client's form, added as things happen."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from plait.write.transcript import Response
    from plait.write.writer import AgentWriter, SessionWriter

__all__ = ["AgentWriter", "Response", "SessionWriter"]
HOMES = {"AgentWriter": "writer", "Response": "transcript", "SessionWriter": "writer"}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in HOMES:
        return getattr(import_module(f"plait.write.{HOMES[name]}"), name)
    raise AttributeError(f"module 'plait.write' has no attribute '{name}'")
