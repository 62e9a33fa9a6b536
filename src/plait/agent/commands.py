"""Commands that somebody gave to what the log says of them, as the client logs its own."""

from plait.agent.cost import SessionCost, usage_lines
from plait.write import SessionWriter


def noted(
    writer: SessionWriter, cost: SessionCost, name: str, rest: str, said: list[str]
) -> list[str]:
    """Logs a command with what it says; returns what is told of it.

    What a session took is told to a program as the client tells it. On a screen the client shows
    that in a window of its own, and logs nothing.
    """
    if name == "cost" and not writer.setting.is_older:
        if not writer.is_unseen:
            return said
        name, said = "usage", usage_lines(cost.fields)
    writer.command(name, rest, "\n".join(said))
    return said


def note_unknown(writer: SessionWriter, name: str, rest: str) -> None:
    """Logs that there is no such command."""
    writer.system("informational", content=f"Unknown command: /{name}", level="warning")
    if rest:
        words = f"Args from unknown skill: {rest}"
        writer.system("informational", content=words, level="warning")
