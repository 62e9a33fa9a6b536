"""Sessions that are loaded as published, cleared and named, with what the log says of it."""

from pathlib import Path
from typing import Any

from plait.documents import rebuild_messages
from plait.errors import UserError
from plait.line import lines, stamp_of
from plait.line.folder import OutputFolder
from plait.record import read
from plait.record.codec import NotAnObject, encode, object_of
from plait.write import SessionWriter

TITLE_FILE = "custom-title.json"
TITLE_LINE = b'{"type":"custom-title"'
NAMED = (
    '<system-reminder>\nThe user named this session "{}". This may indicate the session\'s focus or'
    " intent.\n</system-reminder>"
)


def load_session(path: str | Path) -> list[dict[str, Any]]:
    """Returns the messages of a file as the published protocol rebuilds them, quirks included.

    What Claude will see is `plait.context`; what is sent while a session goes on is
    `plait.agent.context`.
    """
    return rebuild_messages(read(path))


def cleared(session: SessionWriter) -> SessionWriter:
    """Leaves a session for a new one that begins with nothing but its name, as `/clear` does."""
    title = title_of(session.path)
    session.close()
    setting = session.setting
    new = SessionWriter.new(
        session.path.parents[1],
        cwd=setting.cwd,
        version=setting.version,
        git_branch=setting.git_branch,
        model=setting.model,
        permission_mode=setting.permission_mode,
        entrypoint=setting.entrypoint,
        is_settled=session.is_settled,
    )
    new.setting.first = setting.first or setting.session
    if title:
        _name(new, title)
    new.command("clear", is_asked=True)
    return new


def rename(session: SessionWriter, title: str) -> str:
    """Gives a session a name, as `/rename` does; returns what the person is told."""
    name = " ".join(title.split())
    if not name:
        raise UserError("a title needs words", "such as `/rename the parser`")
    _name(session, name)
    told = f"Session renamed to: {name}"
    session.command("rename", name, told)
    if not session.is_unseen and not session.setting.is_older:
        session.remind(NAMED.format(name))
    return told


def title_of(path: Path) -> str | None:
    """Returns the name that a person gave a session last, None where nobody did."""
    title: str | None = None
    for line in lines(path) if stamp_of(path) else ():
        if line.data.startswith(TITLE_LINE):
            title = _title_in(line.data) or title
    return title


def _title_in(data: bytes) -> str | None:
    try:
        found = object_of(data).get("customTitle")
    except NotAnObject:
        return None
    return found if isinstance(found, str) and found else None


def _name(session: SessionWriter, title: str) -> None:
    session.title(title)
    if session.setting.is_older:
        return
    session.state("agent-name", agent_name=title)
    keep_title(session.path, title)


def keep_title(path: Path, title: str) -> None:
    """Keeps the name of a session beside its file, too."""
    OutputFolder(path.with_suffix("")).write(TITLE_FILE, encode({"customTitle": title}))
