"""Claude Code's settings file with and without our hooks; every other byte stays.

{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "plait hook stop"}]}]}}
"""

import json
import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from plait.errors import SourceError, UserError
from plait.line import read_regular
from plait.line.output import make_write_error, replace_file
from plait.record.json_text import MARK, JsonPath, insert_value, remove_value, replace_value
from plait.trace.hook_event import EVENTS, SHOWN_EVENT

TIMEOUT = 10
"""Seconds that Claude Code gives the hook; it needs a fraction of a second."""


class HookSet(NamedTuple):
    """Hooks of ours that are installed together."""

    events: Mapping[str, str]
    """Our names of events, and those of Claude Code."""
    arguments: str
    """The arguments of `plait`, with `{}` for our name of the event."""

    @property
    def command_pattern(self) -> re.Pattern[str]:
        """What the commands of these hooks look like."""
        arguments = self.arguments.format(f"(?:{'|'.join(self.events)})")
        return re.compile(rf"(?:^|[\s/\\'\"])plait(?:\.exe)?['\"]? {arguments}(?:\s|$)")


TRACE_HOOKS = HookSet(EVENTS, "hook {}")
KEEP_HOOKS = HookSet({"session-end": "SessionEnd"}, "keep --background")


class SettingsPlan(Struct, frozen=True):
    """A settings file before and after a change; None for no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def is_change(self) -> bool:
        """Whether there is anything to write."""
        return self.after != self.before

    def diff(self) -> str:
        """Return the change as a diff."""
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        return "\n".join(unified_diff(old, new, str(self.path), str(self.path), lineterm=""))


def plan_install(
    path: Path,
    command: str,
    *,
    with_shown_event: bool = False,
    hooks: HookSet = TRACE_HOOKS,
    option: str = "",
) -> SettingsPlan:
    """Return the plan that adds our hooks, or brings them up to date; each with an option.

    The hook that Claude Code shows on the screen is only updated, unless it is asked for.
    """
    before = read_settings_text(path)
    installed = dict(_iter_our_hooks(path, before, hooks))
    groups = {
        name: {
            "hooks": [
                {
                    "type": "command",
                    "command": f"{command} {hooks.arguments.format(event)} {option}".rstrip(),
                    "timeout": TIMEOUT,
                }
            ]
        }
        for event, name in hooks.events.items()
        if event != SHOWN_EVENT or with_shown_event or name in installed
    }
    mark, text = split_bom(before)
    if not text.strip():
        settings = {"hooks": {name: [group] for name, group in groups.items()}}
        new = json.dumps(settings, indent=2, ensure_ascii=False)
        return SettingsPlan(path, before, new + "\n" * (before is None))
    ours = hooks.command_pattern
    for name, group in groups.items():
        known = _get_hooks(path, json.loads(text))
        if not isinstance(known.get(name, []), list):
            raise UserError(f"`hooks.{name}` in '{path}' is not a list", "Claude Code expects one")
        paths = _find_our_paths(known, name, ours)
        if len(paths) == 1:  # there already, perhaps with another command
            old, new_hook = _get_at(known, paths[0][1:]), group["hooks"][0]
            if old | new_hook != old:
                text = replace_value(text, paths[0], old | new_hook)
            continue
        text = _remove_hook_text(text, name, ours)
        settings = json.loads(text)
        if name in settings.get("hooks", {}):
            text = insert_value(text, ("hooks", name), group)
        elif "hooks" in settings:
            text = insert_value(text, ("hooks",), [group], name)
        else:
            text = insert_value(text, (), {name: [group]}, "hooks")
    return SettingsPlan(path, before, mark + text)


def plan_uninstall(path: Path, hooks: HookSet = TRACE_HOOKS) -> SettingsPlan:
    """Return the plan that removes our hooks, and what they leave empty."""
    before = read_settings_text(path)
    installed = dict(_iter_our_hooks(path, before, hooks))
    if not installed:
        return SettingsPlan(path, before, before)
    mark, text = split_bom(before)
    is_compact = text.startswith('{"')  # not written by us
    for name in installed:
        text = _remove_hook_text(text, name, hooks.command_pattern)
    if text.strip() != "{}" or is_compact:
        return SettingsPlan(path, before, mark + text)
    return SettingsPlan(path, before, None if text.endswith("\n") else "")  # all of it was ours


def list_installed_hooks(path: Path, hooks: HookSet = TRACE_HOOKS) -> dict[str, str]:
    """Return our hooks in a settings file: the event and the command of each."""
    return dict(_iter_our_hooks(path, read_settings_text(path), hooks))


def list_other_tracing_hooks(path: Path) -> list[str]:
    """Return the commands of other hooks that seem to send traces."""
    hooks = _get_hooks(path, parse_settings(path, read_settings_text(path)))
    commands = [str(entry.get("command", "")) for _, entry in _iter_hooks(hooks)]
    return [
        command
        for command in commands
        if "langfuse" in command.lower() and not TRACE_HOOKS.command_pattern.search(command)
    ]


def write_settings(plan: SettingsPlan, backup: Path) -> None:
    """Write the settings, unless they have changed since; the old ones are kept as a backup."""
    if read_settings_text(plan.path) != plan.before:
        raise UserError(f"'{plan.path}' changed in the meantime", "run the command again")
    file = plan.path.resolve()  # a link stays a link
    try:
        mode = file.stat().st_mode & 0o777 if plan.before is not None else 0o644
        if not mode & 0o222:
            raise UserError(f"'{plan.path}' is read-only", "another program may manage it")
        if plan.before is not None:
            replace_file(backup, file.read_bytes())
        if plan.after is None:
            file.unlink()
        else:
            replace_file(file, plan.after.encode("utf-8"), mode=mode)
    except OSError as error:
        raise make_write_error(plan.path, error) from error


def read_settings_text(path: Path) -> str | None:
    """Return the text of a settings file; None if there is none."""
    try:
        return read_regular(path).decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise SourceError(f"cannot read '{path}': {reason.lower()}") from error


def split_bom(text: str | None) -> tuple[str, str]:
    """Return the byte order mark of a text, and the rest."""
    text = text or ""
    rest = text.removeprefix(MARK)
    return text[: len(text) - len(rest)], rest


def parse_settings(path: Path, text: str | None) -> dict[str, Any]:
    """Return the settings in the text of a file, {} where there is none."""
    try:
        rest = split_bom(text)[1]
        settings = json.loads(rest) if rest.strip() else {}
    except ValueError as error:
        raise UserError(
            f"'{path}' is not JSON: {error}",
            "correct it first: it must be plain JSON, without comments",
        ) from error
    except RecursionError:
        raise UserError(
            f"'{path}' is nested too deeply", "Claude Code never nests its settings that deeply"
        ) from None
    if not isinstance(settings, dict):
        raise UserError(f"'{path}' contains no settings", "it must be a JSON object")
    return settings


def _get_hooks(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise UserError(f"`hooks` in '{path}' is not an object", "Claude Code expects one")
    return hooks


def _remove_hook_text(text: str, name: str, ours: re.Pattern[str]) -> str:
    """Return settings in which an event has no hook of ours, nor a group that only had ours."""
    while paths := _find_our_paths(json.loads(text).get("hooks", {}), name, ours):
        path = paths[-1]
        is_alone = len(_get_at(json.loads(text), path[:-1])) == 1
        text = remove_value(text, path[:3] if is_alone else path)
    return text


def _find_our_paths(hooks: Mapping[str, Any], name: str, ours: re.Pattern[str]) -> list[JsonPath]:
    groups = hooks.get(name)
    return [
        ("hooks", name, number, "hooks", position)
        for number, group in enumerate(groups if isinstance(groups, list) else ())
        for position, entry in enumerate(_list_group_hooks(group))
        if isinstance(entry, dict) and ours.search(str(entry.get("command", "")))
    ]


def _get_at(value: Any, path: JsonPath) -> Any:
    for step in path:
        value = value[step]
    return value


def _list_group_hooks(group: Any) -> list[Any]:
    """Return the hooks of a group; none if it has another form."""
    entries = group.get("hooks") if isinstance(group, dict) else None
    return entries if isinstance(entries, list) else []


def _iter_hooks(hooks: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, groups in hooks.items():
        for group in groups if isinstance(groups, list) else ():
            for entry in _list_group_hooks(group):
                if isinstance(entry, dict):
                    yield name, entry


def _iter_our_hooks(path: Path, text: str | None, hooks: HookSet) -> Iterator[tuple[str, str]]:
    """Yield our hooks in the text of a settings file: the event and the command of each."""
    for name, entry in _iter_hooks(_get_hooks(path, parse_settings(path, text))):
        if hooks.command_pattern.search(str(entry.get("command", ""))):
            yield name, entry["command"]
