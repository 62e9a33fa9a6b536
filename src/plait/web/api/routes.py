"""The table of the API: what is asked where, and what answers; its addresses, its document."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import version
from typing import Any, get_type_hints

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.errors import UserError
from plait.web.answers import SessionRequest, json, library_in
from plait.web.api import edits, keeping, marks, model, sessions
from plait.web.api.writes import WRITES, write_operation, write_routes
from plait.web.events import Event, serve_events

BASE = "/api/v1"
ONE = "/sessions/{name}"


@dataclass(frozen=True)
class Entry:
    """One address: a question about the archive, or about one session, and its answer."""

    path: str
    summary: str
    answers: Callable[[Any, Any], object]
    described: type[Struct] | None = None
    """What is answered, where the function does not say."""

    @cached_property
    def question(self) -> type[Struct]:
        """What may be asked."""
        found: type[Struct] = get_type_hints(self.answers)["asked"]
        return found

    @cached_property
    def answer(self) -> type[Struct]:
        """What is answered."""
        found: type[Struct] = self.described or get_type_hints(self.answers)["return"]
        return found

    @property
    def is_about_one(self) -> bool:
        """Tells whether it is about one session."""
        return "{name}" in self.path

    @property
    def name(self) -> str:
        """What it is called in the document."""
        parts = [part for part in self.path.split("/") if part and not part.startswith("{")]
        return "_".join(["session" if self.is_about_one else "all", *parts])


TABLE: tuple[Entry, ...] = (
    Entry("/sessions", "Sessions, the newest first", sessions.sessions),
    Entry("/projects", "All projects", sessions.projects),
    Entry("/search", "Turns that answer a query", sessions.search),
    Entry("/usage", "Tokens and money, by day or by something else", sessions.usage_of_all),
    Entry("/stats", "What was done in all sessions", sessions.stats),
    Entry("/doctor", "The account of all lines", sessions.doctor),
    Entry("/edits", "What was changed, the newest first", edits.edits),
    Entry("/keep", "What is kept, and what will be lost when", keeping.status),
    Entry("/marks", "What is starred and pinned, the newest first", marks.marks),
    Entry(ONE, "A session: its conversations, files and totals", sessions.session),
    Entry(f"{ONE}/conversation", "Turns of a conversation", sessions.conversation, model.Talk),
    Entry(f"{ONE}/tree", "A session as it is drawn", sessions.tree),
    Entry(f"{ONE}/paths", "The ways through a session", sessions.paths),
    Entry(f"{ONE}/context", "What Claude will see when it is resumed", sessions.context),
    Entry(f"{ONE}/timeline", "A conversation in time", sessions.timeline),
    Entry(f"{ONE}/files", "What happened to files", sessions.files),
    Entry(f"{ONE}/usage", "What it took", sessions.usage),
    Entry(f"{ONE}/raw", "Lines of its files as they lie", sessions.raw),
    Entry(f"{ONE}/findings", "The account of its lines, and what is odd", sessions.findings),
    Entry(f"{ONE}/check", "Which rules for written sessions it breaks", edits.check),
    Entry(f"{ONE}/presets", "What each preset of a trim would leave", edits.presets),
)
REF = "#/components/schemas/{name}"
PUBLISHED = {"RowShape": "Row", "ResponseCost": "Paid", "CostSum": "Sum"}
"""Names of schemas, where programs know a value by another than ours."""
TROUBLES = {
    "400": "The question is not right",
    "401": "No cookie and no key",
    "403": "Another page has sent this",
    "404": "There is no such thing",
    "409": "It was refused, and would do harm",
    "503": "A file could not be read",
}


@lru_cache
def document() -> dict[str, Any]:
    """Returns the OpenAPI document."""
    answers = [entry.answer for entry in TABLE]
    written = [kind for entry in WRITES for kind in (entry.asked, entry.answer)]
    schemas, components = msgspec.json.schema_components(
        [*answers, *written, model.Trouble, Event], ref_template=REF
    )
    trouble, event = schemas[-2], schemas[-1]
    paths = {
        f"{BASE}{entry.path}": {"get": _operation(entry, schema, trouble)}
        for entry, schema in zip(TABLE, schemas, strict=False)
    }
    paths[f"{BASE}/events"] = {"get": _listening(event, trouble)}
    pairs = iter(schemas[len(TABLE) : -2])
    for entry in WRITES:
        told = write_operation(entry, next(pairs), next(pairs), _troubled(trouble))
        paths[f"{BASE}{entry.path}"] = {"post": told}
    found = {
        "openapi": "3.1.0",
        "info": {
            "title": "Plait",
            "version": version("plait"),
            "description": "The sessions of Claude Code under some folders; changed by POST alone.",
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
    return _published(found)


def _published(found: dict[str, Any]) -> dict[str, Any]:
    text = msgspec.json.encode(found).decode()
    for ours, known in PUBLISHED.items():
        text = text.replace(f'"{ours}"', f'"{known}"').replace(f'/{ours}"', f'/{known}"')
    published: dict[str, Any] = msgspec.json.decode(text)
    return published


def _operation(entry: Entry, schema: dict[str, Any], trouble: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": entry.name,
        "summary": entry.summary,
        "parameters": [*_path_parameters(entry), *_query_parameters(entry)],
        "responses": {"200": _answered(entry.summary, schema), **_troubled(trouble)},
    }


def _listening(event: dict[str, Any], trouble: dict[str, Any]) -> dict[str, Any]:
    stream = {"description": "Events as they happen", "content": {"text/event-stream": {}}}
    stream["content"] = {"text/event-stream": {"schema": event}}
    session = {"name": "session", "in": "query", "schema": {"type": "string"}}
    return {
        "operationId": "all_events",
        "summary": "What changes, as server-sent events",
        "parameters": [session],
        "responses": {"200": stream, **_troubled(trouble)},
    }


def _answered(words: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def _troubled(schema: dict[str, Any]) -> dict[str, Any]:
    return {code: _answered(words, schema) for code, words in TROUBLES.items()}


def _path_parameters(entry: Entry) -> Iterator[dict[str, Any]]:
    if entry.is_about_one:
        yield {
            "name": "name",
            "in": "path",
            "required": True,
            "description": "A session, by its name in the list",
            "schema": {"type": "string", "minLength": 1, "maxLength": 200},
        }


def _query_parameters(entry: Entry) -> Iterator[dict[str, Any]]:
    _, components = msgspec.json.schema_components([entry.question])
    schema = components[entry.question.__name__]
    required = schema.get("required", ())
    for name, property_ in schema.get("properties", {}).items():
        yield {
            "name": name,
            "in": "query",
            "required": name in required,
            "schema": _without_null(property_),
        }


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    choices = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    if schema.get("default") is not None:
        rest["default"] = schema["default"]
    return {**rest, **choices[0]} if choices else rest


def _serve_document(request: Request) -> Response:
    return json(request, document())


def _answering(entry: Entry) -> Callable[[Request], Response]:
    def serve(request: Request) -> Response:
        asked = _question(entry, request)
        about = SessionRequest(request) if entry.is_about_one else library_in(request)
        return json(request, entry.answers(about, asked))

    return serve


def _question(entry: Entry, request: Request) -> msgspec.Struct:
    try:
        return msgspec.convert(dict(request.query_params), entry.question, strict=False)
    except msgspec.ValidationError as error:
        words, _, place = str(error).partition(" - at `$.")
        where = f"'{place.rstrip('`')}': " if place else ""
        known = ", ".join(entry.question.__struct_fields__) or "nothing"
        raise UserError(
            f"{where}{words[:1].lower()}{words[1:]}", f"this address takes: {known}"
        ) from None


ROUTES = (
    Route(f"{BASE}/openapi.json", _serve_document),
    Route(f"{BASE}/events", serve_events),
    *(Route(f"{BASE}{entry.path}", _answering(entry)) for entry in TABLE),
    *write_routes(BASE),
)
