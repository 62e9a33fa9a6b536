"""The server of a lake: pages and JSON, each person seeing what the policy allows."""

import socket
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.errors import PlaitError, UserError
from plait.lake.access import OWNER, HiddenMonth, Policy, ServedLake
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
from plait.web.guard import PERSON, Commands, Guard, Keys, equal_in_constant_time
from plait.web.responses import (
    error_response,
    html_response,
    json_response,
    log,
    read_number,
    serve_asset,
)
from plait.web.server import (
    ConnectionLimits,
    Server,
    create_guarded_application,
    create_uvicorn_config,
)

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
        self.path: dict[str, str] = request.path_params
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

    @property
    def filter_choices(self) -> FilterChoices:
        """The people and projects that can be selected."""
        return FilterChoices(*list_people_and_projects(self.sight))

    @property
    def hidden_months(self) -> list[HiddenMonth]:
        """The totals of sessions that this person may not see."""
        return list(self.state.served.hidden_totals(self.person))


def parse_moment(text: str) -> datetime | None:
    """Parse a day or a time of a URL."""
    time = parse_time(text) or parse_time(f"{text}T00:00:00Z")
    if time is None:
        raise UserError("not a valid date or time", "use a day such as 2026-11-15")
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
        try:
            name = urlsafe_b64decode(cookie.partition(".")[0]).decode()
        except (Error, ValueError):
            return None
        if name not in self.policy().people:
            return None
        return name if equal_in_constant_time(cookie, self._cookie(name)) else None

    def find_key_owner(self, key: str) -> str | None:
        """Return the owner of a key."""
        return self.policy().find_person(key)

    def _cookie(self, name: str) -> str:
        key = self.policy().people[name].key
        return f"{urlsafe_b64encode(name.encode()).decode()}.{self.sign(f'{name} {key}')}"


NO_SESSION = "no such session, or you do not have access to it"
Answer: TypeAlias = str | dict[str, Any]
"""A page, or a value for JSON."""
Endpoint: TypeAlias = Callable[[Request], Response]


def _get_sessions(lake: LakeRequest, *, is_json: bool) -> Answer:
    total, rows = list_sessions(lake.sight, **lake.filters, start=lake.start, limit=SESSIONS_STEP)
    if is_json:
        return {"total": total, "start": lake.start, "sessions": rows}
    sessions = [msgspec.convert(row, LakeSession) for row in rows]
    main = render_sessions(
        sessions,
        total,
        lake.fields,
        lake.filter_choices,
        lake.hidden_months,
        datetime.now(UTC),
    )
    return render_lake_page("Sessions", main, lake.person, here="sessions")


def _get_session(lake: LakeRequest, *, is_json: bool) -> Answer:
    row = find_session(lake.sight, **lake.path)
    if row is None:
        raise HTTPException(404, NO_SESSION)
    if is_json:
        return row
    states = {item["state"] or "": item["passages"] for item in row["states"]}
    state = lake.fields.get("state") or next(iter(states), "")
    if "state" not in lake.fields and "active" in states:
        state = "active"
    passages = list_passages(
        lake.sight, **lake.path, state=state, turn=lake.turn, start=lake.start, limit=PASSAGES
    )
    page = LakeSessionPage(
        session=msgspec.convert(row, LakeSession),
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
    return render_lake_page(page.session.display_title, main, lake.person)


def _get_search(lake: LakeRequest, *, is_json: bool) -> Answer:
    words, kind = lake.search_words, lake.fields.get("kind")
    total, rows = search_passages(lake.sight, words, **lake.filters, kind=kind, limit=MOST_FOUND)
    if is_json:
        return {"total": total, "passages": rows}
    hits = [msgspec.convert(row, LakeHit) for row in rows]
    now, has_text = datetime.now(UTC), lake.has_text
    main = render_search(hits, total, lake.fields, lake.filter_choices, now, has_text=has_text)
    query = str(lake.fields.get("q", ""))
    return render_lake_page("Search", main, lake.person, here="search", query=query)


def _get_usage(lake: LakeRequest, *, is_json: bool) -> Answer:
    by = lake.fields.get("by", "project")
    if by not in HEADINGS:
        if is_json:
            raise HTTPException(400, f"'by' must be one of {', '.join(HEADINGS)}")
        by = "project"
    cost = load_saved_queries()["cost"]
    values = cost.parse_values({"by": by, "limit": "500"}, parse_moment)
    rows = rows_as_dicts(lake.sight.query(cost.sql, {**values, **lake.filters}))
    total = sum_usage(lake.sight, **lake.filters, since=None)
    if is_json:
        rest = [month._asdict() for month in lake.hidden_months]
        return {"total": total, "by": by, "rows": rows, "rest": rest}
    fields = {**lake.fields, "by": by}
    form = render_filters("/usage", fields, lake.filter_choices)
    main = render_usage(total, rows, fields, form, lake.hidden_months)
    return render_lake_page("Usage", main, lake.person, here="usage")


def _get_questions(lake: LakeRequest, *, is_json: bool) -> Answer:
    queries = [(name, query.asks) for name, query in lake.state.questions().items()]
    if is_json:
        return {"questions": [{"name": name, "asks": asks} for name, asks in queries]}
    return render_lake_page("Questions", render_questions(queries), lake.person, here="questions")


def _get_question(lake: LakeRequest, *, is_json: bool) -> Answer:
    name = lake.path["name"]
    question = lake.state.questions().get(name)
    if question is None:
        raise HTTPException(404, "no such query")
    parameters = {
        key: value
        for key, value in lake.query.items()
        if value and (is_json or key in question.parameters)
    }
    try:
        values = question.parse_values(parameters, parse_moment)
    except UserError as error:
        raise HTTPException(400, error.message) from error
    answer = lake.sight.query(question.sql, values)
    if is_json:
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows()]
        return {"columns": answer.columns, "rows": rows}
    main = render_question(
        name,
        question.asks,
        question.parameters,
        parameters,
        answer.columns,
        list(answer.rows()),
    )
    return render_lake_page(name, main, lake.person, here="questions")


def _get_text(lake: LakeRequest, *, is_json: bool) -> Answer:
    if find_session(lake.sight, **lake.path) is None:
        raise HTTPException(404, NO_SESSION)
    state, turn = str(lake.fields.get("state", "active")), lake.turn
    passages = list_passages(
        lake.sight, **lake.path, state=state, turn=turn, start=lake.start, limit=PASSAGES
    )
    return {"passages": passages}


def _get_me(lake: LakeRequest, *, is_json: bool) -> Answer:
    return {"person": lake.person, "has_text": lake.has_text}


SESSION = "{source:path}/{session}"  # a source may be called team/laptop
PAGES = {
    "/": _get_sessions,
    f"/s/{SESSION}": _get_session,
    "/search": _get_search,
    "/usage": _get_usage,
    "/questions": _get_questions,
    "/questions/{name}": _get_question,
}
API = {
    "/api/me": _get_me,
    "/api/sessions": _get_sessions,
    f"/api/sessions/{SESSION}/text": _get_text,
    f"/api/sessions/{SESSION}": _get_session,
    "/api/search": _get_search,
    "/api/usage": _get_usage,
    "/api/questions": _get_questions,
    "/api/questions/{name}": _get_question,
}


def _iter_routes() -> Iterator[Route]:
    def create_endpoint(get: Callable[..., Answer], *, is_json: bool) -> Endpoint:
        def serve(request: Request) -> Response:
            answer = get(LakeRequest(request), is_json=is_json)
            if isinstance(answer, str):
                return html_response(request, answer)
            return json_response(request, answer)

        return serve

    for path, get in PAGES.items():
        yield Route(path, create_endpoint(get, is_json=False))
    for path, get in API.items():
        yield Route(path, create_endpoint(get, is_json=True))


def create_lake_application(state: LakeState, keys: Keys, address: ServerAddress) -> Guard:
    """Create the application: the guard, and behind it the pages of a lake."""
    return create_guarded_application(
        [*_iter_routes(), Route("/assets/{name}", serve_asset)],
        keys,
        address,
        {PlaitError: _handle_plait_error, Exception: _handle_exception},
        lake=state,
        render_error=lambda request, message, _: render_lake_error(
            message, request.scope.get(PERSON) or ""
        ),
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
        return error_response(request, 400, "this query failed", ())
    return error_response(request, 503, "cannot read the lake at the moment", ())


async def _handle_exception(request: Request, error: Exception) -> Response:
    log.error("%s %r failed", request.method, request.url.path, exc_info=error)
    return error_response(request, 500, "something went wrong in Plait", ())
