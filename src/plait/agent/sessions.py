"""Working directories to the sessions that are begun, gone on with or left in them."""

from pathlib import Path
from typing import Any

from plait.documents import rebuild_messages
from plait.record import read


def load_session(path: str | Path) -> list[dict[str, Any]]:
    """Returns the messages of a file as the published protocol rebuilds them, quirks included.

    What Claude will see is `plait.context`; what is sent while a session goes on is
    `plait.agent.context`.
    """
    return rebuild_messages(read(path))
