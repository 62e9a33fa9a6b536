"""Files of saved questions to what each asks, what it is told, and its SQL."""

import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import datetime
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct, ValidationError, convert

from plait.errors import ConfigError, UserError

Kind: TypeAlias = Literal["text", "number", "time"]
Value: TypeAlias = str | int | float | datetime | None
USED = re.compile(r"\$([A-Za-z_]\w*)")
OWN = "questions.toml"
"""What own questions are written in, in the folder of the settings."""


class Parameter(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that a question can be told."""

    says: str = ""
    kind: Kind = "text"
    default: str | int | float | None = None
    one_of: tuple[str, ...] = ()


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """A question that is asked often."""

    asks: str
    sql: str
    parameters: dict[str, Parameter] = {}
    is_own: bool = False
    """Whether it comes from the user's file."""

    def values(
        self, given: Mapping[str, str], moment: Callable[[str], datetime | None]
    ) -> dict[str, Value]:
        """Returns what its parameters are, or says which one is not right."""
        for name in given:
            if name not in self.parameters:
                raise UserError(f"there is no parameter '{name}'", _near(name, self.parameters))
        told = {name: given.get(name) for name in self.parameters}
        return {
            name: _value(name, self.parameters[name], text, moment) for name, text in told.items()
        }


def questions(own: Path | None = None) -> dict[str, Question]:
    """Returns the questions by name: those of Plait, then those of the user's file."""
    built_in = files("plait.lake").joinpath(OWN).read_text("utf-8")
    found = _read(built_in, OWN, is_own=False)
    if own is None:
        return found
    try:
        return found | _read(own.read_text("utf-8"), str(own), is_own=True)
    except FileNotFoundError:
        return found
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is not text"
        raise ConfigError(f"cannot read the questions in '{own}': {said.lower()}") from error


def question_named(name: str, known: Mapping[str, Question]) -> Question:
    """Returns the question of a name, or says which one is near."""
    if name not in known:
        raise UserError(f"there is no question '{name}'", _near(name, known))
    return known[name]


def _near(name: str, known: Mapping[str, object]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known are {', '.join(known) or 'none'}"


def _read(text: str, place: str, *, is_own: bool) -> dict[str, Question]:
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"cannot read the questions in '{place}': {error}") from error
    return {name: _question(name, one, place, is_own=is_own) for name, one in table.items()}


def _question(name: str, entry: object, place: str, *, is_own: bool) -> Question:
    where = f"the question '{name}' in '{place}'"
    try:
        found = convert({**_table(entry), "is_own": is_own}, Question)
    except ValidationError as error:
        raise ConfigError(f"{where} is not right: {str(error).lower()}", _SHAPE) from error
    used, known = set(USED.findall(found.sql)), set(found.parameters)
    for one in sorted(used ^ known):
        said = "is used and not among its parameters" if one in used else "is not used in its sql"
        raise ConfigError(f"'{one}' of {where} {said}")
    for one, parameter in found.parameters.items():
        _check_default(one, parameter, where)
    return found


_SHAPE = (
    "it needs `asks` and `sql`, and may have `parameters.NAME = { says, kind, default, one_of }`"
)


def _table(entry: object) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise ValidationError("it is not a table")
    return {name: value for name, value in entry.items() if name != "is_own"}


def _check_default(name: str, parameter: Parameter, where: str) -> None:
    default = parameter.default
    if parameter.kind == "number" and isinstance(default, str):
        raise ConfigError(f"the default of '{name}' of {where} is no number")
    if parameter.one_of and default is not None and default not in parameter.one_of:
        raise ConfigError(f"the default of '{name}' of {where} is none of its choices")


def _value(
    name: str,
    parameter: Parameter,
    text: str | None,
    moment: Callable[[str], datetime | None],
) -> Value:
    if text is None and not (parameter.kind == "time" and isinstance(parameter.default, str)):
        return parameter.default
    said = str(parameter.default) if text is None else text
    if parameter.one_of and said not in parameter.one_of:
        raise UserError(f"'{name}' cannot be '{said}'", f"it can be {', '.join(parameter.one_of)}")
    match parameter.kind:
        case "time":
            return moment(said)
        case "number":
            return _number(name, said)
        case "text":
            return said


def _number(name: str, said: str) -> int | float:
    for kind in (int, float):
        try:
            found = kind(said)
        except ValueError:
            continue
        if abs(found) < float("inf"):
            return found
    raise UserError(f"'{said}' is no number", f"'{name}' takes one, as {name}=10")
