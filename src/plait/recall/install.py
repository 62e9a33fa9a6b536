"""The server in the client's configuration: added and removed so that every other byte stays.

user      <configuration>/.claude.json    mcpServers.plait
local     <configuration>/.claude.json    projects.<directory>.mcpServers.plait
project   <directory>/.mcp.json           mcpServers.plait
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from plait.errors import UserError
from plait.record.json_text import insert_value, remove_value, replace_value
from plait.trace.hook_settings import (
    SettingsPlan,
    parse_settings,
    read_settings_text,
    split_bom,
)

NAME = "plait"
Scope: TypeAlias = Literal["user", "project", "local"]


def plan_server(path: Path, where: Sequence[str], entry: Mapping[str, Any] | None) -> SettingsPlan:
    """Return the plan that adds a server below some keys, brings it up to date, or removes it."""
    before = read_settings_text(path)
    mark, text = split_bom(before)
    keys = (*where, "mcpServers", NAME)
    found: Any = parse_settings(path, before)
    depth = 0
    while depth < len(keys):
        if not isinstance(found, dict):
            raise UserError(
                f"cannot add `{keys[depth]}` to '{path}'", "its parent is not an object"
            )
        if keys[depth] not in found:
            break
        found = found[keys[depth]]
        depth += 1
    if entry is None:
        if depth < len(keys):
            return SettingsPlan(path, before, before)
        text = remove_value(text, keys)
        is_empty = text.strip() == "{}" and (before or "").startswith("{\n")
        return SettingsPlan(path, before, None if is_empty else mark + text)
    if depth == len(keys):
        after = before if found == entry else mark + replace_value(text, keys, entry)
        return SettingsPlan(path, before, after)
    value: Any = dict(entry)
    for key in reversed(keys[depth + 1 :]):
        value = {key: value}
    if not text.strip():
        new = json.dumps({keys[0]: value}, indent=2, ensure_ascii=False) + "\n"
        return SettingsPlan(path, before, new)
    return SettingsPlan(path, before, mark + insert_value(text, keys[:depth], value, keys[depth]))
