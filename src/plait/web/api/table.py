"""The table of the API: what is asked where, and what answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec import Struct
from starlette.requests import Request

from plait.conversation.stats.model import Figures
from plait.view.changed_files import ChangedFiles
from plait.web.api import archive, model, questions, sessions

BASE = "/api/v1"


@dataclass(frozen=True)
class Entry:
    """One address: a question and its answer."""

    path: str
    summary: str
    question: type[Struct]
    answer: type[Struct]
    answers: Callable[[Request, Any], object]

    @property
    def name(self) -> str:
        """What it is called in the document."""
        parts = [part for part in self.path.split("/") if part and not part.startswith("{")]
        return "_".join(["session" if "{name}" in self.path else "all", *parts])


ONE = "/sessions/{name}"
TABLE: tuple[Entry, ...] = (
    Entry(
        "/sessions",
        "Sessions, the newest first",
        questions.Sessions,
        model.SessionList,
        sessions.sessions,
    ),
    Entry("/projects", "All projects", questions.Nothing, model.ProjectList, sessions.projects),
    Entry(
        "/search",
        "Turns that answer a query",
        questions.Search,
        model.SearchAnswer,
        archive.search,
    ),
    Entry(
        "/usage",
        "Tokens and money, by day or by something else",
        questions.Spending,
        model.Usage,
        archive.usage,
    ),
    Entry("/stats", "What was done in all sessions", questions.Nothing, Figures, archive.stats),
    Entry("/doctor", "The account of all lines", questions.Nothing, model.Health, archive.doctor),
    Entry(
        ONE,
        "A session: its conversations, files and totals",
        questions.Nothing,
        model.SessionFacts,
        sessions.session,
    ),
    Entry(
        f"{ONE}/conversation",
        "Turns of a conversation",
        questions.Talk,
        model.Talk,
        sessions.conversation,
    ),
    Entry(f"{ONE}/tree", "A session as it is drawn", questions.Nothing, model.Tree, sessions.tree),
    Entry(
        f"{ONE}/paths", "The ways through a session", questions.Nothing, model.Ways, sessions.paths
    ),
    Entry(
        f"{ONE}/context",
        "What Claude will see when it is resumed",
        questions.Sight,
        model.Sight,
        sessions.context,
    ),
    Entry(
        f"{ONE}/timeline",
        "A conversation in time",
        questions.Span,
        model.InTime,
        sessions.timeline,
    ),
    Entry(
        f"{ONE}/files", "What happened to files", questions.Touched, ChangedFiles, sessions.files
    ),
    Entry(f"{ONE}/usage", "What it took", questions.Part, model.Taken, sessions.usage),
    Entry(
        f"{ONE}/raw",
        "Lines of its files as they lie",
        questions.Lines,
        model.RawLines,
        sessions.raw,
    ),
    Entry(
        f"{ONE}/findings",
        "The account of its lines, and what is odd",
        questions.Nothing,
        model.Health,
        sessions.findings,
    ),
)
