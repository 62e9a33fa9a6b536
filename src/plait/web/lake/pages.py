"""Requests about a lake to its pages."""

from datetime import UTC, datetime

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.lake.browsing import (
    Row,
    objects,
    passages_found,
    passages_of,
    people_and_projects,
    session_told,
    sessions_listed,
    sums,
)
from plait.lake.questions import questions
from plait.view.page.lake.figures import HEADINGS, question_main, questions_main, usage_main
from plait.view.page.lake.frame import lake_page
from plait.view.page.lake.lists import (
    MOST_FOUND,
    STEP,
    Among,
    LakeHit,
    LakeSession,
    chooser,
    search_main,
    sessions_main,
)
from plait.view.page.lake.session import STEP as PASSAGES
from plait.view.page.lake.session import LakePassage, LakeStory, session_main
from plait.web.answers import html
from plait.web.lake.asked import Looking, moment_said

NO_SESSION = "there is no such session, or it is not shown to you"
NO_QUESTION = "there is no such question"


def _among(looking: Looking) -> Among:
    return Among(*people_and_projects(looking.sight))


def _serve_sessions(request: Request) -> Response:
    looking, now = Looking(request), datetime.now(UTC)
    total, rows = sessions_listed(looking.sight, **looking.whose, start=looking.start, limit=STEP)
    listed = [_session_in(row) for row in rows]
    rest = list(looking.state.served.rest(looking.person))
    main = sessions_main(listed, total, looking.asked, _among(looking), rest, now)
    return html(request, lake_page("Sessions", main, looking.person, here="sessions"))


def _session_in(row: Row) -> LakeSession:
    return msgspec.convert(row, LakeSession)


def _serve_session(request: Request) -> Response:
    looking = Looking(request)
    source, session = request.path_params["source"], request.path_params["session"]
    row = session_told(looking.sight, source, session)
    if row is None:
        raise HTTPException(404, NO_SESSION)
    states = {one["state"] or "": one["passages"] for one in row["states"]}
    state = looking.asked.get("state") or next(iter(states), "")
    if "state" not in looking.asked and "active" in states:
        state = "active"
    at, start = looking.turn, looking.start
    said = passages_of(looking.sight, source, session, state, turn=at, start=start, limit=PASSAGES)
    story = LakeStory(
        session=_session_in(row),
        version=row["version"],
        tools=row["tools"],
        models=row["models"],
        states=states,
        state=state,
        turn=looking.turn,
        start=looking.start,
        passages=[msgspec.convert(one, LakePassage) for one in said],
    )
    main = session_main(story, has_text=looking.has_text)
    return html(request, lake_page(story.session.words, main, looking.person))


def _serve_search(request: Request) -> Response:
    looking, now = Looking(request), datetime.now(UTC)
    kind = looking.asked.get("kind")
    total, rows = passages_found(
        looking.sight, looking.words, **looking.whose, kind=kind, limit=MOST_FOUND
    )
    hits = [msgspec.convert(row, LakeHit) for row in rows]
    among, has_text = _among(looking), looking.has_text
    main = search_main(hits, total, looking.asked, among, now, has_text=has_text)
    query = str(looking.asked.get("q", ""))
    return html(request, lake_page("Search", main, looking.person, here="search", query=query))


def _serve_usage(request: Request) -> Response:
    looking = Looking(request)
    by = looking.asked.get("by", "project")
    asked = {**looking.asked, "by": by if by in HEADINGS else "project"}
    rows = spent_by(looking, asked["by"])
    total = sums(looking.sight, **looking.whose, since=None)
    rest = list(looking.state.served.rest(looking.person))
    form = chooser("/usage", asked, _among(looking))
    main = usage_main(total, rows, asked, form, rest)
    return html(request, lake_page("Usage", main, looking.person, here="usage"))


def spent_by(looking: Looking, by: str) -> list[Row]:
    """Returns what the sessions that somebody sees cost, by a heading."""
    question = questions()["cost"]
    values = question.values({"by": by, "limit": "500"}, moment_said)
    return objects(looking.sight.ask(question.sql, {**values, **looking.whose}))


def _serve_questions(request: Request) -> Response:
    looking = Looking(request)
    known = [(name, one.asks) for name, one in looking.state.questions().items()]
    page = lake_page("Questions", questions_main(known), looking.person, here="questions")
    return html(request, page)


def _serve_question(request: Request) -> Response:
    looking, name = Looking(request), request.path_params["name"]
    question = looking.state.questions().get(name)
    if question is None:
        raise HTTPException(404, NO_QUESTION)
    given = {one: looking.query[one] for one in question.parameters if looking.query.get(one)}
    answer = looking.answer(question, given)
    rows, asks = list(answer.rows()), question.asks
    main = question_main(name, asks, question.parameters, given, answer.columns, rows)
    return html(request, lake_page(name, main, looking.person, here="questions"))


ROUTES = (
    Route("/", _serve_sessions),
    Route("/s/{source:path}/{session}", _serve_session),  # a source may be called team/laptop
    Route("/search", _serve_search),
    Route("/usage", _serve_usage),
    Route("/questions", _serve_questions),
    Route("/questions/{name}", _serve_question),
)
