"""The table of the API: addresses, requests and responses; its routes and its OpenAPI document.

Changes need an intentional POST. Pages of other sites cannot send one: their origin is refused, the
cookie is not sent along, and no form can set the required header.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import version
from typing import Any, get_type_hints

import msgspec
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.edit.report import EditEntry
from plait.errors import UserError
from plait.web.api import backups, edits, marks, model, sessions
from plait.web.events import Event, serve_events
from plait.web.responses import SessionRequest, get_library, json_response

HEADER = "plait-edit"
MEANT = "yes"
MAX_BODY = 16_384
"""Size limit for requests that change something."""


@dataclass(frozen=True)
class WriteEntry:
    """An address that changes something."""

    path: str
    summary: str
    asked: type[Struct]
    answer: type[Struct]
    answers: Callable[[Request, Any], Struct]

    @property
    def name(self) -> str:
        """Its name in the document."""
        parts = [part for part in self.path.split("/") if part and not part.startswith("{")]
        return "_".join(["write", *parts])

    @property
    def parameters(self) -> Iterator[str]:
        """The parameters in its address."""
        yield from (part[1:-1] for part in self.path.split("/") if part.startswith("{"))


WRITES = (
    WriteEntry(
        "/sessions/{name}/plan",
        "Plan an edit without applying it",
        model.Wanted,
        model.Planned,
        lambda request, asked: edits.plan(SessionRequest(request), asked, request.app.state.plans),
    ),
    WriteEntry(
        "/plans/{plan}/apply",
        "Apply a plan",
        model.Sure,
        model.Applied,
        lambda request, asked: edits.apply(
            get_library(request), asked, request.app.state.plans.take(request.path_params["plan"])
        ),
    ),
    WriteEntry(
        "/edits/{edit}/undo",
        "Undo an edit",
        model.Sure,
        EditEntry,
        lambda request, asked: edits.undo(get_library(request), asked, request.path_params["edit"]),
    ),
    WriteEntry(
        "/keep/now",
        "Back up sessions",
        backups.ToKeep,
        backups.NowKept,
        lambda request, asked: backups.keep(get_library(request), asked),
    ),
    WriteEntry(
        "/sessions/{name}/restore",
        "Restore a session from the backup",
        backups.ToRestore,
        backups.NowRestored,
        lambda request, asked: backups.restore(SessionRequest(request), asked),
    ),
    WriteEntry(
        "/marks/star",
        "Star or unstar a session",
        marks.ToStar,
        marks.NowStarred,
        lambda request, asked: marks.star(get_library(request), asked),
    ),
    WriteEntry(
        "/marks/pin",
        "Pin or unpin a turn",
        marks.ToPin,
        marks.NowPinned,
        lambda request, asked: marks.pin(get_library(request), asked),
    ),
)


def _create_write_endpoint(entry: WriteEntry) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        if get_library(request).is_read_only:
            raise HTTPException(403, "this server is read-only")
        if request.headers.get(HEADER) != MEANT:
            raise HTTPException(403, f"this request needs the header `{HEADER}: {MEANT}`")
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                raise HTTPException(413, "the request is too long")
        try:
            question = msgspec.json.decode(body or b"{}", type=entry.asked)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise _create_field_error(entry.asked, str(error)) from None

        def answer() -> Response:
            return json_response(request, entry.answers(request, question))

        return await run_in_threadpool(answer)

    return serve


def _create_field_error(asked: type[Struct], message: str, prefix: str = "") -> UserError:
    fields = ", ".join(asked.__struct_fields__) or "none"
    return UserError(f"{prefix}{message[:1].lower()}{message[1:]}", f"valid fields: {fields}")


BASE = "/api/v1"
SESSION_PATH = "/sessions/{name}"


@dataclass(frozen=True)
class Entry:
    """An address for reading about the archive or one session."""

    path: str
    summary: str
    answers: Callable[[Any, Any], object]
    described: type[Struct] | None = None
    """What it returns, if the function does not say."""

    @cached_property
    def question(self) -> type[Struct]:
        """The type of its parameters."""
        type_: type[Struct] = get_type_hints(self.answers)["asked"]
        return type_

    @cached_property
    def answer(self) -> type[Struct]:
        """The type of its response."""
        type_: type[Struct] = self.described or get_type_hints(self.answers)["return"]
        return type_

    @property
    def is_about_session(self) -> bool:
        """Whether it is about one session."""
        return "{name}" in self.path

    @property
    def name(self) -> str:
        """Its name in the document."""
        parts = [part for part in self.path.split("/") if part and not part.startswith("{")]
        return "_".join(["session" if self.is_about_session else "all", *parts])


TABLE: tuple[Entry, ...] = (
    Entry("/sessions", "Sessions, newest first", sessions.sessions),
    Entry("/projects", "All projects", sessions.projects),
    Entry("/search", "Turns that match a query", sessions.search),
    Entry("/usage", "Tokens and cost, by day, session, model and more", sessions.usage_of_all),
    Entry("/stats", "Statistics across all sessions", sessions.stats),
    Entry("/doctor", "Line counts and findings of all sessions", sessions.doctor),
    Entry("/edits", "Edits, newest first", edits.edits),
    Entry(
        "/keep",
        "The state of the backup, and when Claude Code will delete sessions not in it",
        backups.status,
    ),
    Entry("/marks", "Stars and pins, newest first", marks.marks),
    Entry(SESSION_PATH, "The conversations, files and totals of a session", sessions.session),
    Entry(
        f"{SESSION_PATH}/conversation", "Turns of a conversation", sessions.conversation, model.Talk
    ),
    Entry(f"{SESSION_PATH}/tree", "A session as a graph", sessions.tree),
    Entry(f"{SESSION_PATH}/paths", "The conversation paths of a session", sessions.paths),
    Entry(
        f"{SESSION_PATH}/context",
        "The context that Claude gets when the session is resumed",
        sessions.context,
    ),
    Entry(f"{SESSION_PATH}/timeline", "The timeline of a conversation", sessions.timeline),
    Entry(f"{SESSION_PATH}/files", "Files that a session changed or read", sessions.files),
    Entry(f"{SESSION_PATH}/usage", "Tokens and cost of a session", sessions.usage),
    Entry(f"{SESSION_PATH}/raw", "Raw lines of the log files of a session", sessions.raw),
    Entry(f"{SESSION_PATH}/findings", "Line counts and findings of a session", sessions.findings),
    Entry(f"{SESSION_PATH}/check", "Structural problems of a session", edits.check),
    Entry(f"{SESSION_PATH}/presets", "The effect of each trim preset on a session", edits.presets),
)
REF = "#/components/schemas/{name}"
PUBLISHED = {
    "ArchiveFigures": "Figures",
    "AssistantText": "Said",
    "AssistantThinking": "Thought",
    "BranchPoint": "Left",
    "ChangedFile": "FileStory",
    "ClientNote": "Noted",
    "CompactionItem": "Compacted",
    "CostSum": "Sum",
    "FoldedItems": "Folded",
    "LateResult": "Answered",
    "OtherBlock": "Shown",
    "PersistedOutput": "Persisted",
    "ResponseCost": "Paid",
    "RowShape": "Row",
    "SessionTouch": "Handled",
    "SessionUsage": "Taken",
    "ToolCall": "Called",
    "TurnFiles": "TurnStory",
    "UserMessage": "Told",
}
"""Published schema names of classes with another name."""
TROUBLES = {
    "400": "Invalid request",
    "401": "Missing cookie or key",
    "403": "Request from another site",
    "404": "Not found",
    "409": "Refused because the change would be unsafe",
    "503": "A file could not be read",
}


@lru_cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    answers = [entry.answer for entry in TABLE]
    write_types = [kind for entry in WRITES for kind in (entry.asked, entry.answer)]
    schemas, components = msgspec.json.schema_components(
        [*answers, *write_types, model.Trouble, Event], ref_template=REF
    )
    trouble, event = schemas[-2], schemas[-1]
    errors = {code: _describe_response(words, trouble) for code, words in TROUBLES.items()}
    session_name = {
        "name": "name",
        "in": "path",
        "required": True,
        "description": "A session name, as in the list of sessions",
        "schema": {"type": "string", "minLength": 1, "maxLength": 200},
    }
    paths: dict[str, Any] = {
        f"{BASE}{entry.path}": {
            "get": {
                "operationId": entry.name,
                "summary": entry.summary,
                "parameters": [
                    *([session_name] if entry.is_about_session else ()),
                    *_iter_query_parameters(entry),
                ],
                "responses": {"200": _describe_response(entry.summary, schema), **errors},
            }
        }
        for entry, schema in zip(TABLE, schemas, strict=False)
    }
    stream = {
        "description": "Live events",
        "content": {"text/event-stream": {"schema": event}},
    }
    session = {"name": "session", "in": "query", "schema": {"type": "string"}}
    paths[f"{BASE}/events"] = {
        "get": {
            "operationId": "all_events",
            "summary": "Changes as server-sent events",
            "parameters": [session],
            "responses": {"200": stream, **errors},
        }
    }
    schema_pairs = iter(schemas[len(TABLE) : -2])
    for entry in WRITES:
        parameters: list[dict[str, Any]] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in entry.parameters
        ]
        header_schema = {"type": "string", "enum": [MEANT]}
        parameters.append(
            {"name": HEADER, "in": "header", "required": True, "schema": header_schema}
        )
        paths[f"{BASE}{entry.path}"] = {
            "post": {
                "operationId": entry.name,
                "summary": entry.summary,
                "parameters": parameters,
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": next(schema_pairs)}},
                },
                "responses": {
                    "200": _describe_response(entry.summary, next(schema_pairs)),
                    **errors,
                },
            }
        }
    openapi = {
        "openapi": "3.1.0",
        "info": {
            "title": "Plait",
            "version": version("plait"),
            "description": "Claude Code sessions in the served folders. Only POST requests make "
            "changes.",
        },
        "security": [{"key": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "plait"},
            },
        },
    }
    text = msgspec.json.encode(openapi).decode()
    for internal_name, public_name in PUBLISHED.items():
        text = text.replace(f'"{internal_name}"', f'"{public_name}"').replace(
            f'/{internal_name}"', f'/{public_name}"'
        )
    published: dict[str, Any] = msgspec.json.decode(text)
    return published


def _describe_response(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _iter_query_parameters(entry: Entry) -> Iterator[dict[str, Any]]:
    _, components = msgspec.json.schema_components([entry.question])
    schema = components[entry.question.__name__]
    required = schema.get("required", ())
    for name, property_ in schema.get("properties", {}).items():
        choices = [choice for choice in property_.get("anyOf", ()) if choice != {"type": "null"}]
        rest = {
            name: value for name, value in property_.items() if name not in ("anyOf", "default")
        }
        if property_.get("default") is not None:
            rest["default"] = property_["default"]
        yield {
            "name": name,
            "in": "query",
            "required": name in required,
            "schema": ({**rest, **choices[0]} if choices else rest),
        }


def _create_endpoint(entry: Entry) -> Callable[[Request], Response]:
    def serve(request: Request) -> Response:
        try:
            question = msgspec.convert(dict(request.query_params), entry.question, strict=False)
        except msgspec.ValidationError as error:
            message, _, field = str(error).partition(" - at `$.")
            prefix = f"'{field.rstrip('`')}': " if field else ""
            raise _create_field_error(entry.question, message, prefix) from None
        target = SessionRequest(request) if entry.is_about_session else get_library(request)
        return json_response(request, entry.answers(target, question))

    return serve


ROUTES = (
    Route(f"{BASE}/openapi.json", lambda request: json_response(request, document())),
    Route(f"{BASE}/events", serve_events),
    *(Route(f"{BASE}{entry.path}", _create_endpoint(entry)) for entry in TABLE),
    *(
        Route(f"{BASE}{entry.path}", _create_write_endpoint(entry), methods=["POST"])
        for entry in WRITES
    ),
)
