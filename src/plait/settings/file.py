"""Changes of `config.toml` that keep its comments, its order and what is not understood.

    jobs = 4  # of eight    ── set_key("jobs", 2) ──>    jobs = 2  # of eight

A statement is found by reading on, line by line, until the lines are valid TOML, so that strings
and lists of several lines need no grammar of their own.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from plait.errors import ConfigError, SourceError, UserError
from plait.settings import SETTINGS, Setting, find_config_file, parse_config, read_config_text

EMPTY = {list: "[]", int: "1", float: "1.0", str: '""'}
HEAD = """\
# Settings of Plait. Remove the `#` before a setting to change it.
# Options and the environment variables named here override this file.
"""


class Statement(NamedTuple):
    """A statement of a file: its first line, the one after its last, and the key it sets."""

    start: int
    end: int
    key: str
    is_table: bool


def iter_statements(text: str) -> Iterator[Statement]:
    """Yield the statements up to the first that is broken."""
    lines, start = _split_lines(text), 0
    table = ""
    while start < len(lines):
        end = start + 1
        while end <= len(lines):
            try:
                found = tomllib.loads("".join(lines[start:end]))
                break
            except tomllib.TOMLDecodeError:
                end += 1
        else:
            return
        if found:
            is_table = lines[start].lstrip().startswith("[")
            table = next(iter(found)) if is_table else table
            yield Statement(start, end, table or next(iter(found)), is_table)
        start = end


def find_line(text: str, key: str) -> int | None:
    """Return the number of the line that sets a key, None if there is none."""
    return next((item.start + 1 for item in iter_statements(text) if item.key == key), None)


def set_key(text: str, key: str, value: Any) -> str:
    """Return the text with a key at its top set to a string, a number or a list of strings."""
    written = f"{key} = {json.dumps(value, ensure_ascii=False)}"
    lines = _split_lines(text)
    statements = list(iter_statements(text))
    for item in statements:
        if item.key == key:
            old = "".join(lines[item.start : item.end])
            lines[item.start : item.end] = [written + _find_comment(old, key)]
            return "".join(lines)
    # After the commented-out default, else before the first table.
    template = re.compile(rf"#\s*{re.escape(key)}\s*=")
    end = next((item.start for item in statements if item.is_table), len(lines))
    place = next((at + 1 for at, line in enumerate(lines[:end]) if template.match(line)), end)
    if place and not lines[place - 1].endswith("\n"):
        lines[place - 1] += "\n"
    lines.insert(place, written + "\n")
    return "".join(lines)


def unset_key(text: str, key: str) -> str:
    """Return the text without what sets a key at its top, or the tables of that name."""
    lines = _split_lines(text)
    for item in reversed(list(iter_statements(text))):
        if item.key == key:
            del lines[item.start : item.end]
    return "".join(lines)


def _split_lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)  # only what ends a line in TOML


def _find_comment(statement: str, key: str) -> str:
    """Return the space and comment behind the value of a statement, or its line end."""
    value = tomllib.loads(statement)[key]
    for found in re.finditer(r"\s*#", statement):
        try:
            if tomllib.loads(statement[: found.start()]) == {key: value}:
                return statement[found.start() :]
        except tomllib.TOMLDecodeError:
            continue
    return statement[len(statement.rstrip("\r\n")) :] or "\n"


def find_setting(key: str) -> Setting:
    """Return the setting of a name."""
    if key not in SETTINGS:
        from difflib import get_close_matches

        near = get_close_matches(key, SETTINGS, n=1)
        hints = [f"did you mean '{near[0]}'?"] if near else []
        raise UserError(f"unknown setting '{key}'", *hints, "`plait config edit` lists them all")
    return SETTINGS[key]


def change_config(change: Callable[[str], str]) -> None:
    """Write the changed text of `config.toml` if it is valid; links to it stay links."""
    from plait.line.output import replace_file

    path = find_config_file()
    old = read_config_text(path)
    new = change(old)
    try:
        parse_config(path, new)
    except (ConfigError, ValueError) as error:
        hints = error.hints if isinstance(error, ConfigError) else ()
        raise UserError(
            f"not changed: {error}", *hints, "`plait config edit` opens the file"
        ) from error
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        replace_file(path.resolve(), new.encode(), mode=mode)
    except OSError as error:
        raise SourceError(f"cannot write '{path}': {error.strerror}") from error


def write_template() -> str:
    """Return a `config.toml` in which every setting is described and commented out."""
    parts = [HEAD]
    # Tables come last: what follows one would belong to it.
    for key, setting in sorted(SETTINGS.items(), key=lambda item: item[1].kind is dict):
        summary = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", setting.summary).replace("`", "")
        variables = f" ({setting.variables})" if setting.variables else ""
        value = json.dumps(setting.choices[0]) if setting.choices else EMPTY.get(setting.kind)
        sample = f"# {key} = {value}" if value else f"# [{key}]"
        parts.append(f"# {summary}{variables}\n{sample}\n")
    return "\n".join(parts)
