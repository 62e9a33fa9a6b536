"""The table of the API to its OpenAPI document."""

from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import msgspec

from plait.web.api.model import Trouble
from plait.web.api.table import BASE, TABLE, Entry
from plait.web.hub import Event

REF = "#/components/schemas/{name}"
TROUBLES = {
    "400": "The question is not right",
    "401": "No cookie and no key",
    "403": "Another page has sent this",
    "404": "There is no such thing",
    "503": "A file could not be read",
}


@lru_cache
def document() -> dict[str, Any]:
    """Returns the OpenAPI document."""
    answers = [entry.answer for entry in TABLE]
    schemas, components = msgspec.json.schema_components(
        [*answers, Trouble, Event], ref_template=REF
    )
    trouble, event = schemas[-2], schemas[-1]
    paths = {
        f"{BASE}{entry.path}": {"get": operation(entry, schema, trouble)}
        for entry, schema in zip(TABLE, schemas, strict=False)
    }
    paths[f"{BASE}/events"] = {"get": listening(event, trouble)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Plait",
            "version": version("plait"),
            "description": "The sessions of Claude Code under some folders, read only.",
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


def operation(entry: Entry, schema: dict[str, Any], trouble: dict[str, Any]) -> dict[str, Any]:
    """Returns one address as the document has it."""
    return {
        "operationId": entry.name,
        "summary": entry.summary,
        "parameters": [*path_parameters(entry), *query_parameters(entry)],
        "responses": {"200": answered(entry.summary, schema), **troubled(trouble)},
    }


def listening(event: dict[str, Any], trouble: dict[str, Any]) -> dict[str, Any]:
    """Returns the stream of events as the document has it."""
    stream = {"description": "Events as they happen", "content": {"text/event-stream": {}}}
    stream["content"] = {"text/event-stream": {"schema": event}}
    session = {"name": "session", "in": "query", "schema": {"type": "string"}}
    return {
        "operationId": "all_events",
        "summary": "What changes, as server-sent events",
        "parameters": [session],
        "responses": {"200": stream, **troubled(trouble)},
    }


def answered(words: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Returns an answer as the document has it."""
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def troubled(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns what else may be answered."""
    return {code: answered(words, schema) for code, words in TROUBLES.items()}


def path_parameters(entry: Entry) -> Iterator[dict[str, Any]]:
    """Yields what stands in an address."""
    if "{name}" in entry.path:
        yield {
            "name": "name",
            "in": "path",
            "required": True,
            "description": "A session, by its name in the list",
            "schema": {"type": "string", "minLength": 1, "maxLength": 200},
        }


def query_parameters(entry: Entry) -> Iterator[dict[str, Any]]:
    """Yields what may stand behind an address."""
    _, components = msgspec.json.schema_components([entry.question])
    schema = components[entry.question.__name__]
    required = schema.get("required", ())
    for name, property_ in schema.get("properties", {}).items():
        yield {
            "name": name,
            "in": "query",
            "required": name in required,
            "schema": without_null(property_),
        }


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns what a query may hold: what is null is simply not said."""
    choices = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    if schema.get("default") is not None:
        rest["default"] = schema["default"]
    return {**rest, **choices[0]} if choices else rest
