"""Building conversations: MB per CPU-second, compared with plain decoding."""

from pathlib import Path

import orjson

from bench.archives import archive
from bench.measure import SHARED, best_of, row
from plait import Archive
from plait.conversation.changes import files_of
from plait.conversation.costs import sum_conversations
from plait.graph.build import build
from plait.sessions.model import Session
from plait.sessions.open_session import open_session


def main() -> None:
    """Print the figures of generated logs, and of real ones where there are any."""
    row("conversations", "MB/CPU-s", "of orjson")
    measure("generated, 20 MB", archive("20MB"))
    if SHARED.is_dir():
        measure("real logs", SHARED / "corpus")


def measure(name: str, root: Path) -> None:
    """Print the figures of one archive."""
    sessions = Archive([root]).sessions
    size = sum(file.size for session in sessions for file in session.files) / 1e6
    plain = best_of(3, lambda: decode(sessions))
    for what, work in (
        ("decoded by orjson, nothing made of it", lambda: decode(sessions)),
        ("graph", lambda: [build(session.files) for session in sessions]),
        (
            "conversations, with the graph",
            lambda: [open_session(item).conversations for item in sessions],
        ),
        ("and their totals and files", lambda: everything(sessions)),
    ):
        took = best_of(3, work)
        row(f"{name}: {what}", f"{size / took:.0f}", f"{plain / took:.2f} ×")


def decode(sessions: tuple[Session, ...]) -> None:
    """Decode every line as any JSON reader would."""
    for session in sessions:
        for file in session.files:
            for line in file.path.read_bytes().split(b"\n"):
                try:
                    orjson.loads(line)
                except orjson.JSONDecodeError:
                    continue


def everything(sessions: tuple[Session, ...]) -> None:
    """Make of sessions what most commands need."""
    for session in sessions:
        result = open_session(session).conversations.by_line.values()
        sum_conversations(result)
        for item in result:
            files_of(item)


if __name__ == "__main__":
    main()
