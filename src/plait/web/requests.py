"""Requests to what they ask for: the archive, a session of it, a number."""

from collections.abc import Iterator
from functools import cached_property

from starlette.exceptions import HTTPException
from starlette.requests import Request

from plait.archive import LineSurvey, Session
from plait.archive.live import LiveArchive, LiveSession
from plait.line import LogFile
from plait.view.page.conversation.page import facts
from plait.view.page.tabs.head import Head


def library_in(request: Request) -> LiveArchive:
    """Returns the archive that is served."""
    found: LiveArchive = request.app.state.library
    return found


class SessionRequest:
    """The session that a request names; it is read where what is asked for needs it."""

    def __init__(self, request: Request) -> None:
        self.library = library_in(request)
        self.name: str = request.path_params["name"]
        self.session: Session = self.library.now.session(self.name)

    @cached_property
    def opened(self) -> LiveSession:
        """The session, read."""
        return self.library.opened(self.name)

    @cached_property
    def head(self) -> Head:
        """What stands above its tabs."""
        heading = self.opened.heading
        if heading is None:
            return Head(name=self.name, title=self.session.id)
        return Head(name=self.name, title=heading.title, facts=facts(heading))

    def file(self, number: int) -> LogFile:
        """Returns one of its log files."""
        if not 0 <= number < len(self.session.files):
            raise HTTPException(404, "this session has no such file")
        return self.session.files[number]

    def survey(self, number: int) -> LineSurvey:
        """Returns where the lines of one of its files lie."""
        return self.library.survey(self.file(number))

    def findings(self, number: int) -> Iterator[tuple[int | None, str]]:
        """Yields what is odd in one of its files: the line and a sentence."""
        path, graph = str(self.file(number).path), self.opened.opened.graph
        places = {at for at, file in enumerate(graph.files) if file.path == path}
        yield from self.survey(number).broken.items()
        for one in graph.findings:
            if one.file in places:
                yield one.line, one.sentence


def number_in(request: Request, name: str) -> int | None:
    """Returns a number of a query, None where there is none."""
    text = request.query_params.get(name, "").strip()
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise HTTPException(400, f"'{name}' must be a number")
    return int(text)
