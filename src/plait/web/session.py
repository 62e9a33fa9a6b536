"""A request for a session to the values that its tabs and the API are made from."""

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request

from plait.archive import LineSurvey, Resumption, Session, line_survey, resumption_of
from plait.archive.live import Cache, LiveArchive, Opened, marks_of
from plait.conversation.model import Conversation, Conversations
from plait.graph.client import Context
from plait.graph.model import SessionGraph
from plait.graph.paths import SPOKEN
from plait.line import LogFile
from plait.view.changed_files import ChangedFiles, changed_files
from plait.view.context_window import Weighed, context_window
from plait.view.costs import SessionCost, session_cost
from plait.view.page.conversation.page import facts
from plait.view.page.tabs.head import Head
from plait.view.text import shortened
from plait.view.timeline import Timeline, timeline_of

T = TypeVar("T")
NO_FILE = "it has no file of its own, only its agents are left"
NO_CONTEXT = Context(False, NO_FILE, None, (), [], [], ())


class SessionRequest:
    """One session as a request asks for it; each value is made once for the same files."""

    def __init__(self, library: LiveArchive, kept: Cache, heavy: Cache, name: str) -> None:
        self.library = library
        self.name = name
        self.session: Session = library.now.session(name)
        self._kept = kept
        self._heavy = heavy
        self._marks = marks_of(self.session)

    def _of(self, kind: str, make: Callable[[], T]) -> T:
        return self._kept.of(kind, self.name, self._marks, make)

    @cached_property
    def opened(self) -> Opened:
        """The session, read."""
        return self.library.opened(self.name)

    @property
    def told(self) -> Conversations:
        """All its conversations."""
        found = self.opened.told
        if found is None:
            raise HTTPException(404, "there is nothing in this session")
        return found

    @property
    def graph(self) -> SessionGraph:
        """Its graph."""
        return self.opened.family.graph

    def line(self, name: str | None) -> Conversation:
        """Returns one of its conversations, the active one where none is named."""
        if name is None:
            return self.told.active
        found = self.told.by_line.get(name)
        if found is None:
            raise HTTPException(404, "this session has no such conversation")
        return found

    @property
    def resumption(self) -> Resumption:
        """What Claude will see of it."""
        make = partial(resumption_of, self.opened.opened)
        return self._heavy.of("resumption", self.name, self._marks, make)

    @property
    def weighed(self) -> Weighed:
        """What Claude will see of it, weighed."""
        if self.session.file is None:
            return context_window(self.name, NO_CONTEXT, None)
        found = self.resumption
        return self._of("weighed", lambda: context_window(self.name, found.context, found.tokens))

    def timeline(self, line: str) -> Timeline:
        """Returns one of its conversations in time."""
        told = self.told
        return self._of(f"timeline {line}", lambda: timeline_of(told, line))

    @property
    def files(self) -> ChangedFiles:
        """What it did to files."""
        told = self.told
        return self._of("files", lambda: changed_files(told))

    @property
    def spent(self) -> SessionCost:
        """What it took."""
        told, cost_of = self.told, self.opened.cost_of
        return self._of("spent", lambda: session_cost(told, cost_of))

    def file(self, number: int) -> LogFile:
        """Returns one of its log files."""
        if not 0 <= number < len(self.session.files):
            raise HTTPException(404, "this session has no such file")
        return self.session.files[number]

    def survey(self, number: int) -> LineSurvey:
        """Returns where the lines of one of its files lie."""
        file = self.file(number)
        return self._of(f"survey {number}", lambda: line_survey(file.path, file.size))

    def findings(self, number: int) -> Iterator[tuple[int | None, str]]:
        """Yields what is odd in one of its files: the line and a sentence."""
        path = str(self.file(number).path)
        places = {at for at, file in enumerate(self.graph.files) if file.path == path}
        yield from self.survey(number).broken.items()
        for one in self.graph.findings:
            if one.file in places:
                yield one.line, one.sentence

    @property
    def ways(self) -> list[tuple[str, str]]:
        """The conversations that people had, and what each is called."""
        told = self.told
        spoken = [one for one in told.by_line.values() if one.kind in SPOKEN]
        ordered = sorted(spoken, key=lambda one: one.id != told.main)
        return [(one.id, _way_name(one, told)) for one in ordered]

    @cached_property
    def head(self) -> Head:
        """What stands above its tabs."""
        heading = self.opened.headed(self.name)
        if heading is None:
            return Head(name=self.name, title=self.session.id)
        return Head(name=self.name, title=heading.title, facts=facts(heading))

    @property
    def directory(self) -> str | None:
        """Where it ran."""
        place = self.opened.family.places.get(self.opened.id)
        return place.directory if place else None


def _way_name(one: Conversation, told: Conversations) -> str:
    if one.id == told.main:
        return "active"
    return shortened(one.label or one.title or one.id, 60)


def session_request(request: Request) -> SessionRequest:
    """Returns the session that a request names."""
    state = request.app.state
    return SessionRequest(state.library, state.kept, state.heavy, request.path_params["name"])


def number_in(request: Request, name: str) -> int | None:
    """Returns a number of a query, None where there is none."""
    text = request.query_params.get(name, "").strip()
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise HTTPException(400, f"'{name}' must be a number")
    return int(text)
