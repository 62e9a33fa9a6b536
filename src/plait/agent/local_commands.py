"""Commands of the person that change or miss something, to their lines in the log."""

from plait.write import SessionWriter


def unknown(session: SessionWriter, name: str, arguments: str) -> None:
    """Writes that there is no such command."""
    session.system("informational", content=f"Unknown command: /{name}", level="warning")
    if arguments:
        words = f"Args from unknown skill: {arguments}"
        session.system("informational", content=words, level="warning")
