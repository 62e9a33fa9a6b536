"""Saved queries: those that come with Plait and those of the user, each with its parameters."""

import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import datetime
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct, ValidationError, convert

from plait.errors import ConfigError, UserError

ParameterKind: TypeAlias = Literal["text", "number", "time"]
Value: TypeAlias = str | int | float | datetime | None
FILE_NAME = "questions.toml"
"""The file of the user's own queries, in the settings folder; ours have the same name."""
PLACEHOLDER = re.compile(r"\$([A-Za-z_]\w*)")


class QueryParameter(Struct, frozen=True, forbid_unknown_fields=True):
    """A parameter of a saved query."""

    says: str = ""
    kind: ParameterKind = "text"
    default: str | int | float | None = None
    one_of: tuple[str, ...] = ()

    def parse(
        self, name: str, text: str | None, parse_moment: Callable[[str], datetime | None]
    ) -> Value:
        """Return the value that a text means; without a text, the default."""
        if text is None:
            # A default time such as "7d" is relative to now.
            if self.kind != "time" or not isinstance(self.default, str):
                return self.default
            text = self.default
        if self.one_of and text not in self.one_of:
            raise UserError(f"'{name}' cannot be '{text}'", f"use one of {', '.join(self.one_of)}")
        match self.kind:
            case "text":
                return text
            case "time":
                return parse_moment(text)
            case "number":
                for kind in (int, float):
                    try:
                        number = kind(text)
                    except ValueError:
                        continue
                    if abs(number) < float("inf"):
                        return number
                raise UserError(f"'{text}' is not a number", f"for example {name}=10")


class SavedQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A query with a name."""

    asks: str
    sql: str
    parameters: dict[str, QueryParameter] = {}
    is_own: bool = False
    """Whether it comes from the user's file."""

    def parse_values(
        self, given: Mapping[str, str], parse_moment: Callable[[str], datetime | None]
    ) -> dict[str, Value]:
        """Return the value of every parameter."""
        for name in given:
            if name not in self.parameters:
                raise UserError(f"no parameter named '{name}'", _suggest(name, self.parameters))
        return {
            name: parameter.parse(name, given.get(name), parse_moment)
            for name, parameter in self.parameters.items()
        }


def load_saved_queries(own_file: Path | None = None) -> dict[str, SavedQuery]:
    """Return the saved queries by name: ours, then those of the user's file."""
    built_in = files("plait.lake").joinpath(FILE_NAME).read_text("utf-8")
    queries = _parse_queries(built_in, FILE_NAME, is_own=False)
    if own_file is None:
        return queries
    try:
        return queries | _parse_queries(own_file.read_text("utf-8"), str(own_file), is_own=True)
    except FileNotFoundError:
        return queries
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise ConfigError(f"cannot read the queries in '{own_file}': {reason.lower()}") from error


def find_saved_query(name: str, queries: Mapping[str, SavedQuery]) -> SavedQuery:
    """Return the query of a name; if there is none, the error suggests a similar name."""
    if name not in queries:
        raise UserError(f"no query named '{name}'", _suggest(name, queries))
    return queries[name]


def _suggest(name: str, known_names: Mapping[str, object]) -> str:
    similar = get_close_matches(name, known_names, n=1)
    if similar:
        return f"did you mean '{similar[0]}'?"
    return f"queries are {', '.join(known_names) or 'none'}"


def _parse_queries(text: str, file: str, *, is_own: bool) -> dict[str, SavedQuery]:
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"cannot read the queries in '{file}': {error}") from error
    queries = {}
    for name, entry in table.items():
        place = f"the query '{name}' in '{file}'"
        try:
            if not isinstance(entry, dict):
                raise ValidationError("it is not a table")
            query = convert({**entry, "is_own": is_own}, SavedQuery)
        except ValidationError as error:
            raise ConfigError(
                f"{place} is not valid: {str(error).lower()}",
                "it needs `asks` and `sql`, and may have "
                "`parameters.NAME = { says, kind, default, one_of }`",
            ) from error
        used, declared = set(PLACEHOLDER.findall(query.sql)), set(query.parameters)
        for parameter in sorted(used ^ declared):
            problem = "is not declared in `parameters`" if parameter in used else "is not used"
            raise ConfigError(f"'{parameter}' in {place} {problem}")
        for parameter, described in query.parameters.items():
            default = described.default
            if described.kind == "number" and isinstance(default, str):
                raise ConfigError(f"the default of '{parameter}' in {place} is not a number")
            if described.one_of and default is not None and default not in described.one_of:
                raise ConfigError(
                    f"the default of '{parameter}' in {place} is not one of its choices"
                )
        queries[name] = query
    return queries
