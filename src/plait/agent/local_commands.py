"""Commands of the person that change or miss something, to their lines in the log."""

from plait.write import SessionWriter

NAMED = (
    "<system-reminder>\nThe user named this session \"{}\". This may indicate the session's focus or"
    " intent.\n</system-reminder>"
)


def rename(session: SessionWriter, title: str) -> None:
    """Writes the name that the person gave the session, and tells the model of it."""
    session.title(title)
    session.state("agent-name", agent_name=title)
    session.command("rename", title, f"Session renamed to: {title}")
    if not session.setting.is_older:
        session.note(NAMED.format(title))


def unknown(session: SessionWriter, name: str, arguments: str) -> None:
    """Writes that there is no such command."""
    session.system("informational", content=f"Unknown command: /{name}", level="warning")
    if arguments:
        words = f"Args from unknown skill: {arguments}"
        session.system("informational", content=words, level="warning")
