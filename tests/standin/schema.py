"""A JSON schema to a small value that fits it."""

from typing import Any

from tests.standin.model import Json

PLAIN: dict[str, Any] = {
    "string": "made up",
    "integer": 1,
    "number": 1,
    "boolean": False,
    "null": None,
    "array": [],
}


def schema_of(request: Json) -> Json | None:
    """Return the schema that the answer to a request must fit, None where it is free."""
    config = request.get("output_config")
    form = request.get("output_format") or (config or {}).get("format") or {}
    schema = form.get("schema")
    return schema if isinstance(schema, dict) else None


def value_for(schema: Json, given: Json) -> Any:
    """Return a value for a schema; fields that are given come first."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if choice := schema.get("anyOf") or schema.get("oneOf"):
        return value_for(choice[0], given)
    kind = schema.get("type", "object")
    name = kind[0] if isinstance(kind, list) else kind
    if name != "object":
        return PLAIN[name]
    fields = schema.get("properties", {})
    # a schema is a few levels deep: it comes from a script or a client, not from a log
    return {key: given.get(key, value_for(field, {})) for key, field in fields.items()}
