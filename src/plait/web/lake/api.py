"""Requests about a lake to JSON: what its pages show, for programs with a person's key."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.lake.browsing import (
    passages_found,
    passages_of,
    session_told,
    sessions_listed,
    sums,
)
from plait.view.page.lake.figures import HEADINGS
from plait.view.page.lake.lists import MOST_FOUND, STEP
from plait.view.page.lake.session import STEP as PASSAGES
from plait.web.answers import json
from plait.web.lake.asked import Looking
from plait.web.lake.pages import NO_QUESTION, NO_SESSION, spent_by


def _tell_me(request: Request) -> Response:
    looking = Looking(request)
    return json(request, {"person": looking.person, "has_text": looking.has_text})


def _tell_sessions(request: Request) -> Response:
    looking = Looking(request)
    total, rows = sessions_listed(looking.sight, **looking.whose, start=looking.start, limit=STEP)
    return json(request, {"total": total, "start": looking.start, "sessions": rows})


def _tell_session(request: Request) -> Response:
    looking = Looking(request)
    row = session_told(looking.sight, **request.path_params)
    if row is None:
        raise HTTPException(404, NO_SESSION)
    return json(request, row)


def _tell_text(request: Request) -> Response:
    looking = Looking(request)
    if session_told(looking.sight, **request.path_params) is None:
        raise HTTPException(404, NO_SESSION)
    state = str(looking.asked.get("state", "active"))
    at, start = looking.turn, looking.start
    said = passages_of(
        looking.sight, **request.path_params, state=state, turn=at, start=start, limit=PASSAGES
    )
    return json(request, {"passages": said})


def _tell_found(request: Request) -> Response:
    looking = Looking(request)
    kind = looking.asked.get("kind")
    total, rows = passages_found(
        looking.sight, looking.words, **looking.whose, kind=kind, limit=MOST_FOUND
    )
    return json(request, {"total": total, "passages": rows})


def _tell_usage(request: Request) -> Response:
    looking = Looking(request)
    by = looking.asked.get("by", "project")
    if by not in HEADINGS:
        raise HTTPException(400, f"'by' is one of {', '.join(HEADINGS)}")
    rest = [one._asdict() for one in looking.state.served.rest(looking.person)]
    total = sums(looking.sight, **looking.whose, since=None)
    return json(request, {"total": total, "by": by, "rows": spent_by(looking, by), "rest": rest})


def _tell_questions(request: Request) -> Response:
    known = Looking(request).state.questions()
    told = [{"name": name, "asks": one.asks} for name, one in known.items()]
    return json(request, {"questions": told})


def _tell_answer(request: Request) -> Response:
    looking = Looking(request)
    question = looking.state.questions().get(request.path_params["name"])
    if question is None:
        raise HTTPException(404, NO_QUESTION)
    given = {name: value for name, value in looking.query.items() if value}
    answer = looking.answer(question, given)
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows()]
    return json(request, {"columns": answer.columns, "rows": rows})


ROUTES = (
    Route("/api/me", _tell_me),
    Route("/api/sessions", _tell_sessions),
    Route("/api/sessions/{source:path}/{session}/text", _tell_text),
    Route("/api/sessions/{source:path}/{session}", _tell_session),
    Route("/api/search", _tell_found),
    Route("/api/usage", _tell_usage),
    Route("/api/questions", _tell_questions),
    Route("/api/questions/{name}", _tell_answer),
)
