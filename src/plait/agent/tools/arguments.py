"""What a model passed to what a tool takes, checked by its fields or refused as the client does."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from plait.agent.tools.model import Arguments, ToolError

Kind: TypeAlias = Literal["string", "number", "integer", "boolean", "array", "object"]
Issue: TypeAlias = dict[str, Any]
SCHEMA = "https://json-schema.org/draft/2020-12/schema"
WORDS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of a tool."""

    name: str
    kind: Kind
    about: str
    is_needed: bool = False
    choices: tuple[str, ...] = ()
    default: Any = None
    more: Mapping[str, Any] = field(default_factory=dict)
    """What else its schema says, such as the items of an array."""

    @property
    def schema(self) -> dict[str, Any]:
        """The field as the API wants it."""
        said: dict[str, Any] = {"description": self.about, "type": self.kind}
        if self.choices:
            said["enum"] = [*self.choices]
        if self.default is not None:
            said["default"] = self.default
        return said | dict(self.more)


def definition(name: str, about: str, fields: Sequence[Field]) -> dict[str, Any]:
    """Returns a tool as the API wants it."""
    return {
        "name": name,
        "description": about,
        "input_schema": {
            "$schema": SCHEMA,
            "type": "object",
            "properties": {one.name: one.schema for one in fields},
            "required": [one.name for one in fields if one.is_needed],
            "additionalProperties": False,
        },
    }


def checked(tool: str, fields: Sequence[Field], arguments: Arguments) -> dict[str, Any]:
    """Returns arguments that fit the fields of a tool, defaults first; raises ToolError.

    As with the client, a number or a truth value may come as text.
    """
    if not isinstance(arguments, Mapping):
        raise _refused(tool, [_wrong_type([], "object", arguments)])
    taken = {
        one.name: _taken(one.kind, arguments[one.name]) for one in fields if one.name in arguments
    }
    if issues := [*_issues(fields, taken), *_unknown(fields, arguments)]:
        raise _refused(tool, issues)
    unsaid = {one.name: one.default for one in fields if one.default is not None}
    return unsaid | taken


def _taken(kind: Kind, value: Any) -> Any:
    if not isinstance(value, str) or kind == "string":
        return value
    if kind == "boolean":
        return WORDS.get(value, value)
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return read if _kind_of(read) == {"integer": "number"}.get(kind, kind) else value


def _issues(fields: Sequence[Field], taken: Arguments) -> Iterator[Issue]:
    for one in fields:
        if one.name not in taken:
            if one.is_needed:
                yield _wrong_type([one.name], one.kind)
        elif not _fits(one.kind, taken[one.name]):
            yield _wrong_type([one.name], one.kind, taken[one.name])
        elif one.choices and taken[one.name] not in one.choices:
            yield _not_offered(one)


def _fits(kind: Kind, value: Any) -> bool:
    if kind == "integer":
        return _kind_of(value) == "number" and value == int(value)
    return _kind_of(value) == kind


def _kind_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "number"
        case float():
            return "number" if value == value and abs(value) != float("inf") else "nan"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


_ABSENT = object()


def _wrong_type(path: list[str], kind: str, value: Any = _ABSENT) -> Issue:
    found = "undefined" if value is _ABSENT else _kind_of(value)
    expected = {"integer": "int" if found == "number" else "number"}.get(kind, kind)
    issue: Issue = {"expected": expected}
    if expected == "int":
        issue["format"] = "safeint"
    message = f"Invalid input: expected {expected}, received {found}"
    return issue | {"code": "invalid_type", "path": path, "message": message}


def _not_offered(one: Field) -> Issue:
    offered = "|".join(json.dumps(choice) for choice in one.choices)
    return {
        "code": "invalid_value",
        "values": [*one.choices],
        "path": [one.name],
        "message": f"Invalid option: expected one of {offered}",
    }


def _unknown(fields: Sequence[Field], arguments: Arguments) -> Iterator[Issue]:
    names = [one.name for one in fields]
    if unknown := [str(key) for key in arguments if key not in names]:
        shown = ", ".join(json.dumps(key, ensure_ascii=False) for key in unknown)
        keys = "Unrecognized key" if len(unknown) == 1 else "Unrecognized keys"
        message = f"{keys}: {shown}"
        yield {"code": "unrecognized_keys", "keys": unknown, "path": [], "message": message}


def refused(*issues: Issue) -> ToolError:
    """Returns the refusal of arguments for reasons that the client tells as data."""
    told = f"InputValidationError: {json.dumps(list(issues), indent=2, ensure_ascii=False)}"
    return ToolError(told, is_misuse=True, logged=told)


def _refused(tool: str, issues: list[Issue]) -> ToolError:
    plain = refused(*issues)
    told = [line for issue in issues for line in _told(issue)]
    if len(told) < len(issues):
        return plain
    noun = "issue" if len(told) == 1 else "issues"
    text = f"InputValidationError: {tool} failed due to the following {noun}:\n" + "\n".join(told)
    return ToolError(text, is_misuse=True, logged=plain.logged)


def _told(issue: Issue) -> list[str]:
    name = ".".join(map(str, issue["path"]))
    match issue["code"]:
        case "invalid_type" if issue["message"].endswith("undefined"):
            return [f"The required parameter `{name}` is missing"]
        case "invalid_type":
            expected, found = issue["expected"], issue["message"].rpartition(" ")[2]
            return [
                f"The parameter `{name}` type is expected as `{expected}` but provided as `{found}`"
            ]
        case "unrecognized_keys":
            return [f"An unexpected parameter `{key}` was provided" for key in issue["keys"]]
        case _:
            return []
