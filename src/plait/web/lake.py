"""The server of a lake: pages and JSON, each person seeing what the policy allows."""

import socket
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, NamedTuple

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from plait.errors import PlaitError, UserError
from plait.lake.access import OWNER, Policy, ServedLake
from plait.lake.page import (
    HEADINGS,
    MOST_FOUND,
    SESSIONS_STEP,
    FilterChoices,
    LakeHit,
    LakePassage,
    LakeSession,
    LakeSessionPage,
    render_filters,
    render_lake_error,
    render_lake_page,
    render_question,
    render_questions,
    render_search,
    render_session,
    render_sessions,
    render_usage,
)
from plait.lake.page import PASSAGES_STEP as PASSAGES
from plait.lake.query import (
    QueryEngine,
    QueryError,
    QueryResult,
    RowDict,
    find_session,
    list_passages,
    list_people_and_projects,
    list_sessions,
    rows_as_dicts,
    search_passages,
    sum_usage,
)
from plait.lake.saved_queries import SavedQuery, load_saved_queries
from plait.record.time import parse_time
from plait.web.address import ServerAddress
from plait.web.events import Hub
from plait.web.guard import PERSON, App, Commands, Guard, Keys, SignIn, equal_in_constant_time
from plait.web.responses import (
    NO_CACHE,
    PLAIN,
    handle_disconnect,
    html_response,
    json_response,
    log,
    read_number,
    serve_asset,
)
from plait.web.server import ConnectionLimits, Server, create_uvicorn_config

LONGEST = 300
MOST_WORDS = 12
FARTHEST = 1_000_000
NAMES = ("q", "person", "project", "kind", "by", "state", "start")


class LakeState(NamedTuple):
    """The state behind the pages of a lake."""

    served: ServedLake
    questions: Callable[[], dict[str, SavedQuery]]


class LakeRequest:
    """A request to a lake: person, parameters, and permissions."""

    def __init__(self, request: Request) -> None:
        self.state: LakeState = request.app.state.lake
        self.person: str = request.scope.get(PERSON) or OWNER
        self.query = request.query_params
        self.start = min(read_number(request, "start") or 0, FARTHEST)
        self.turn = read_number(request, "turn")

    @property
    def sight(self) -> QueryEngine:
        """The queries that this person may run."""
        return self.state.served.engine_for(self.person)

    @property
    def has_text(self) -> bool:
        """Whether the lake stores text at all."""
        return "text" in self.sight.table_names

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of the URL, cut to a length."""
        return {name: self.query[name][:LONGEST] for name in NAMES if self.query.get(name)}

    @property
    def filters(self) -> dict[str, str | None]:
        """The selected person and project."""
        return {name: self.fields.get(name) for name in ("person", "project")}

    @property
    def search_words(self) -> list[str]:
        """The words to search for."""
        return str(self.fields.get("q", "")).split()[:MOST_WORDS]

    def answer(self, question: SavedQuery, parameters: Mapping[str, str]) -> QueryResult:
        """Run a saved query; report invalid parameters."""
        try:
            values = question.parse_values(parameters, parse_moment)
        except UserError as error:
            raise HTTPException(400, error.message) from error
        return self.sight.query(question.sql, values)


def parse_moment(text: str) -> datetime | None:
    """Parse a day or a time of a URL."""
    time = parse_time(text) or parse_time(f"{text}T00:00:00Z")
    if time is None:
        raise UserError("this is not a time", "use a day such as 2026-11-15")
    return time.astimezone(UTC)


class PeopleKeys(Keys):
    """Signs in everybody in a policy by their key; the server's own secret opens nothing."""

    def __init__(self, secret: str, policy: Callable[[], Policy]) -> None:
        super().__init__(secret)
        self.policy = policy

    def exchange_for_cookie(self, key: str) -> str | None:
        """Return the cookie for a person's key."""
        name = self.find_key_owner(key)
        return None if name is None else self._cookie(name)

    def find_cookie_owner(self, cookie: str) -> str | None:
        """Return the owner of a cookie; after a change of the key nobody."""
        name = _decode_name(cookie)
        if name not in self.policy().people:
            return None
        return name if equal_in_constant_time(cookie, self._cookie(name)) else None

    def find_key_owner(self, key: str) -> str | None:
        """Return the owner of a key."""
        return self.policy().find_person(key)

    def _cookie(self, name: str) -> str:
        key = self.policy().people[name].key
        return f"{urlsafe_b64encode(name.encode()).decode()}.{self.sign(f'{name} {key}')}"


def _decode_name(cookie: str) -> str:
    try:
        return urlsafe_b64decode(cookie.partition(".")[0]).decode()
    except (Error, ValueError):
        return ""


NO_SESSION = "no such session, or you may not see it"
NO_QUESTION = "no such query"


def _list_filter_choices(lake: LakeRequest) -> FilterChoices:
    return FilterChoices(*list_people_and_projects(lake.sight))


def _serve_sessions(request: Request) -> Response:
    lake, now = LakeRequest(request), datetime.now(UTC)
    total, rows = list_sessions(lake.sight, **lake.filters, start=lake.start, limit=SESSIONS_STEP)
    sessions = [_to_session(row) for row in rows]
    hidden_months = list(lake.state.served.hidden_totals(lake.person))
    main = render_sessions(
        sessions, total, lake.fields, _list_filter_choices(lake), hidden_months, now
    )
    return html_response(request, render_lake_page("Sessions", main, lake.person, here="sessions"))


def _to_session(row: RowDict) -> LakeSession:
    return msgspec.convert(row, LakeSession)


def _serve_session(request: Request) -> Response:
    lake = LakeRequest(request)
    source, session = request.path_params["source"], request.path_params["session"]
    row = find_session(lake.sight, source, session)
    if row is None:
        raise HTTPException(404, NO_SESSION)
    states = {item["state"] or "": item["passages"] for item in row["states"]}
    state = lake.fields.get("state") or next(iter(states), "")
    if "state" not in lake.fields and "active" in states:
        state = "active"
    turn, start = lake.turn, lake.start
    passages = list_passages(
        lake.sight, source, session, state, turn=turn, start=start, limit=PASSAGES
    )
    page = LakeSessionPage(
        session=_to_session(row),
        version=row["version"],
        tools=row["tools"],
        models=row["models"],
        states=states,
        state=state,
        turn=lake.turn,
        start=lake.start,
        passages=[msgspec.convert(item, LakePassage) for item in passages],
    )
    main = render_session(page, has_text=lake.has_text)
    return html_response(request, render_lake_page(page.session.display_title, main, lake.person))


def _serve_search(request: Request) -> Response:
    lake, now = LakeRequest(request), datetime.now(UTC)
    kind = lake.fields.get("kind")
    total, rows = search_passages(
        lake.sight, lake.search_words, **lake.filters, kind=kind, limit=MOST_FOUND
    )
    hits = [msgspec.convert(row, LakeHit) for row in rows]
    choices, has_text = _list_filter_choices(lake), lake.has_text
    main = render_search(hits, total, lake.fields, choices, now, has_text=has_text)
    query = str(lake.fields.get("q", ""))
    return html_response(
        request, render_lake_page("Search", main, lake.person, here="search", query=query)
    )


def _serve_usage(request: Request) -> Response:
    lake = LakeRequest(request)
    by = lake.fields.get("by", "project")
    fields = {**lake.fields, "by": by if by in HEADINGS else "project"}
    rows = list_costs(lake, fields["by"])
    total = sum_usage(lake.sight, **lake.filters, since=None)
    hidden_months = list(lake.state.served.hidden_totals(lake.person))
    form = render_filters("/usage", fields, _list_filter_choices(lake))
    main = render_usage(total, rows, fields, form, hidden_months)
    return html_response(request, render_lake_page("Usage", main, lake.person, here="usage"))


def list_costs(lake: LakeRequest, by: str) -> list[RowDict]:
    """Return the costs of the visible sessions, by a dimension."""
    question = load_saved_queries()["cost"]
    values = question.parse_values({"by": by, "limit": "500"}, parse_moment)
    return rows_as_dicts(lake.sight.query(question.sql, {**values, **lake.filters}))


def _serve_questions(request: Request) -> Response:
    lake = LakeRequest(request)
    queries = [(name, query.asks) for name, query in lake.state.questions().items()]
    page = render_lake_page("Questions", render_questions(queries), lake.person, here="questions")
    return html_response(request, page)


def _serve_question(request: Request) -> Response:
    lake, name = LakeRequest(request), request.path_params["name"]
    question = lake.state.questions().get(name)
    if question is None:
        raise HTTPException(404, NO_QUESTION)
    parameters = {
        name_: lake.query[name_] for name_ in question.parameters if lake.query.get(name_)
    }
    answer = lake.answer(question, parameters)
    rows, summary = list(answer.rows()), question.asks
    main = render_question(name, summary, question.parameters, parameters, answer.columns, rows)
    return html_response(request, render_lake_page(name, main, lake.person, here="questions"))


PAGE_ROUTES = (
    Route("/", _serve_sessions),
    Route("/s/{source:path}/{session}", _serve_session),  # a source may be called team/laptop
    Route("/search", _serve_search),
    Route("/usage", _serve_usage),
    Route("/questions", _serve_questions),
    Route("/questions/{name}", _serve_question),
)


def _serve_me_json(request: Request) -> Response:
    lake = LakeRequest(request)
    return json_response(request, {"person": lake.person, "has_text": lake.has_text})


def _serve_sessions_json(request: Request) -> Response:
    lake = LakeRequest(request)
    total, rows = list_sessions(lake.sight, **lake.filters, start=lake.start, limit=SESSIONS_STEP)
    return json_response(request, {"total": total, "start": lake.start, "sessions": rows})


def _serve_session_json(request: Request) -> Response:
    lake = LakeRequest(request)
    row = find_session(lake.sight, **request.path_params)
    if row is None:
        raise HTTPException(404, NO_SESSION)
    return json_response(request, row)


def _serve_text_json(request: Request) -> Response:
    lake = LakeRequest(request)
    if find_session(lake.sight, **request.path_params) is None:
        raise HTTPException(404, NO_SESSION)
    state = str(lake.fields.get("state", "active"))
    turn, start = lake.turn, lake.start
    passages = list_passages(
        lake.sight, **request.path_params, state=state, turn=turn, start=start, limit=PASSAGES
    )
    return json_response(request, {"passages": passages})


def _serve_search_json(request: Request) -> Response:
    lake = LakeRequest(request)
    kind = lake.fields.get("kind")
    total, rows = search_passages(
        lake.sight, lake.search_words, **lake.filters, kind=kind, limit=MOST_FOUND
    )
    return json_response(request, {"total": total, "passages": rows})


def _serve_usage_json(request: Request) -> Response:
    lake = LakeRequest(request)
    by = lake.fields.get("by", "project")
    if by not in HEADINGS:
        raise HTTPException(400, f"'by' is one of {', '.join(HEADINGS)}")
    hidden_months = [month._asdict() for month in lake.state.served.hidden_totals(lake.person)]
    total = sum_usage(lake.sight, **lake.filters, since=None)
    return json_response(
        request, {"total": total, "by": by, "rows": list_costs(lake, by), "rest": hidden_months}
    )


def _serve_questions_json(request: Request) -> Response:
    queries = LakeRequest(request).state.questions()
    listed = [{"name": name, "asks": query.asks} for name, query in queries.items()]
    return json_response(request, {"questions": listed})


def _serve_question_json(request: Request) -> Response:
    lake = LakeRequest(request)
    question = lake.state.questions().get(request.path_params["name"])
    if question is None:
        raise HTTPException(404, NO_QUESTION)
    parameters = {name: value for name, value in lake.query.items() if value}
    answer = lake.answer(question, parameters)
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows()]
    return json_response(request, {"columns": answer.columns, "rows": rows})


API_ROUTES = (
    Route("/api/me", _serve_me_json),
    Route("/api/sessions", _serve_sessions_json),
    Route("/api/sessions/{source:path}/{session}/text", _serve_text_json),
    Route("/api/sessions/{source:path}/{session}", _serve_session_json),
    Route("/api/search", _serve_search_json),
    Route("/api/usage", _serve_usage_json),
    Route("/api/questions", _serve_questions_json),
    Route("/api/questions/{name}", _serve_question_json),
)


UNREADABLE = "cannot read the lake at the moment"
UNANSWERED = "this query failed"
FAILED = "something went wrong in Plait"


def create_lake_application(state: LakeState, keys: Keys, address: ServerAddress) -> Guard:
    """Create the application: the guard, and behind it the pages of a lake."""
    sign_in = SignIn(keys, f"plait{address.port}", address.commands)
    app = Starlette(
        routes=[
            Route("/enter", sign_in.enter, methods=["GET", "POST"]),
            Route("/alive", sign_in.alive),
            *PAGE_ROUTES,
            *API_ROUTES,
            Route("/assets/{name}", serve_asset),
        ],
        exception_handlers={
            PlaitError: _handle_plait_error,
            HTTPException: _handle_http_error,
            ClientDisconnect: handle_disconnect,
            Exception: _handle_exception,
        },
    )
    app.state.lake = state
    guarded: App = app
    if address.is_remote:
        guarded = GZipMiddleware(app, minimum_size=2000, compresslevel=4)
    remote = address.is_remote
    return Guard(
        guarded, keys, address.port, address.names, is_remote=remote, commands=address.commands
    )


def run_lake(
    state: LakeState,
    listener: socket.socket,
    keys: Keys,
    names: frozenset[str],
    idle: float | None,
    commands: Commands,
) -> None:
    """Serve until a signal, or until idle for too long."""
    host, port = listener.getsockname()[:2]
    address = ServerAddress(host, port, names | {"localhost"}, commands)
    guard = create_lake_application(state, keys, address)
    Server(create_uvicorn_config(ConnectionLimits(guard)), guard, Hub(), idle).run(listener)


async def _handle_plait_error(request: Request, error: Exception) -> Response:
    """Report an error of the lake or a query.

    Messages of an engine or a store can contain names, paths and text of sessions that the person
    cannot see: they go to the log.
    """
    assert isinstance(error, PlaitError)
    log.error("%s %r failed: %s", request.method, request.url.path, error.message)
    if isinstance(error, QueryError):
        return _error_response(request, 400, UNANSWERED)
    return _error_response(request, 503, UNREADABLE)


async def _handle_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    is_plain = error.detail == HTTPStatus(error.status_code).phrase
    message = PLAIN.get(error.status_code, error.detail) if is_plain else error.detail
    response = _error_response(request, error.status_code, message)
    response.headers.update(error.headers or {})
    return response


async def _handle_exception(request: Request, error: Exception) -> Response:
    log.error("%s %r failed", request.method, request.url.path, exc_info=error)
    return _error_response(request, 500, FAILED)


def _error_response(request: Request, status: int, message: str) -> Response:
    if request.url.path.startswith("/api/"):
        value = {"error": message, "hints": []}
        return Response(msgspec.json.encode(value), status, NO_CACHE, "application/json")
    page = render_lake_error(message, request.scope.get(PERSON) or "")
    data = page.encode("utf-8", "replace")
    return Response(data, status, NO_CACHE, "text/html; charset=utf-8")
