"""Claude Code's settings to those with our hooks in them, or without; every other byte stays.

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
from plait.line.atomic import replace_file
from plait.record.json_text import MARK, Way, put_in, replaced, taken_out
from plait.trace.hook.event import EVENTS, TOLD

TIMEOUT = 10
"""Seconds that Claude Code gives the hook; it needs a fraction of one."""


class HookSet(NamedTuple):
    """Hooks of ours that come and go together."""

    events: Mapping[str, str]
    """Words of ours to the events of Claude Code."""
    call: str
    """What `plait` is called with, with `{}` for the word."""

    @property
    def ours(self) -> re.Pattern[str]:
        """What the command of such a hook looks like."""
        words = self.call.format(f"(?:{'|'.join(self.events)})")
        return re.compile(rf"(?:^|[\s/\\'\"])plait(?:\.exe)?['\"]? {words}(?:\s|$)")


TRACING = HookSet(EVENTS, "hook {}")
KEEPING = HookSet({"session-end": "SessionEnd"}, "keep --background")


class SettingsPlan(Struct, frozen=True):
    """What a settings file holds, and what it will hold; None for no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def is_change(self) -> bool:
        """Tells whether there is anything to write."""
        return self.after != self.before

    def diff(self) -> str:
        """Returns the change as a diff."""
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        return "\n".join(unified_diff(old, new, str(self.path), str(self.path), lineterm=""))


def install_plan(
    path: Path, command: str, *, is_told: bool = False, hooks: HookSet = TRACING
) -> SettingsPlan:
    """Returns the plan that adds our hooks, or brings them up to date; the one that Claude Code
    tells of only where it is there already, or asked for.
    """
    before = _text_of(path)
    known = dict(_ours_in(_hooks_of(path, _settings_in(path, before)), hooks.ours))
    groups = {
        name: _group(f"{command} {hooks.call.format(event)}")
        for event, name in hooks.events.items()
        if event != TOLD or is_told or name in known
    }
    mark, text = _without_mark(before)
    if not text.strip():
        return SettingsPlan(path, before, _new_settings(groups) + "\n" * (before is None))
    for name, group in groups.items():
        text = _with_ours(path, text, name, group, hooks.ours)
    return SettingsPlan(path, before, mark + text)


def uninstall_plan(path: Path, hooks: HookSet = TRACING) -> SettingsPlan:
    """Returns the plan that removes our hooks and what they leave empty."""
    before = _text_of(path)
    names = dict(_ours_in(_hooks_of(path, _settings_in(path, before)), hooks.ours))
    if not names:
        return SettingsPlan(path, before, before)
    mark, text = _without_mark(before)
    for name in names:
        text = _without_ours(text, name, hooks.ours)
    if text.strip() != "{}" or _without_mark(before)[1].startswith('{"'):
        return SettingsPlan(path, before, mark + text)
    return SettingsPlan(path, before, None if text.endswith("\n") else "")  # all of it was ours


def _new_settings(groups: Mapping[str, Any]) -> str:
    hooks = {name: [group] for name, group in groups.items()}
    return json.dumps({"hooks": hooks}, indent=2, ensure_ascii=False)


def installed_hooks(path: Path, hooks: HookSet = TRACING) -> dict[str, str]:
    """Returns our hooks in a settings file: the event and the command."""
    return dict(_ours_in(_hooks_of(path, _settings_in(path, _text_of(path))), hooks.ours))


def other_tracing_hooks(path: Path) -> list[str]:
    """Returns the commands of hooks that seem to send traces, too."""
    hooks = _hooks_of(path, _settings_in(path, _text_of(path)))
    commands = (str(one.get("command", "")) for _, one in _entries_in(hooks))
    return [one for one in commands if "langfuse" in one.lower() and not TRACING.ours.search(one)]


def _text_of(path: Path) -> str | None:
    """Returns the text of a settings file, None where there is none."""
    try:
        return read_regular(path).decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise SourceError(f"cannot read '{path}': {reason.lower()}") from error


def _without_mark(text: str | None) -> tuple[str, str]:
    rest = (text or "").removeprefix(MARK)
    return (text or "")[: len(text or "") - len(rest)], rest


def _settings_in(path: Path, text: str | None) -> dict[str, Any]:
    try:
        rest = _without_mark(text)[1]
        found = json.loads(rest) if rest.strip() else {}
    except ValueError as error:
        raise UserError(
            f"'{path}' is not JSON: {error}",
            "mend it first: it must be plain JSON, without comments",
        ) from error
    except RecursionError:
        raise UserError(
            f"'{path}' is nested too deeply", "no settings of Claude Code are"
        ) from None
    if not isinstance(found, dict):
        raise UserError(f"'{path}' holds no settings", "it should be a JSON object")
    return found


def _hooks_of(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise UserError(f"`hooks` in '{path}' is no object", "Claude Code expects one")
    return hooks


def _group(call: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": call, "timeout": TIMEOUT}]}


def _with_ours(
    path: Path, text: str, name: str, wanted: dict[str, Any], ours: re.Pattern[str]
) -> str:
    hooks = _hooks_of(path, json.loads(text))
    if not isinstance(hooks.get(name, []), list):
        raise UserError(f"`hooks.{name}` in '{path}' is no list", "Claude Code expects one")
    found = _ways_to_ours(hooks, name, ours)
    if len(found) == 1:
        old, new = _value_at(hooks, found[0][1:]), wanted["hooks"][0]
        return text if old | new == old else replaced(text, found[0], old | new)
    text = _without_ours(text, name, ours)
    if name in json.loads(text).get("hooks", {}):
        return put_in(text, ("hooks", name), wanted)
    if "hooks" in json.loads(text):
        return put_in(text, ("hooks",), [wanted], name)
    return put_in(text, (), {name: [wanted]}, "hooks")


def _without_ours(text: str, name: str, ours: re.Pattern[str]) -> str:
    while found := _ways_to_ours(json.loads(text).get("hooks", {}), name, ours):
        way = found[-1]
        is_alone = len(_value_at(json.loads(text), way[:-1])) == 1
        text = taken_out(text, way[:3] if is_alone else way)
    return text


def _ways_to_ours(hooks: Mapping[str, Any], name: str, ours: re.Pattern[str]) -> list[Way]:
    groups = hooks.get(name)
    return [
        ("hooks", name, number, "hooks", place)
        for number, one in enumerate(groups if isinstance(groups, list) else ())
        for place, entry in enumerate(_entries_of(one))
        if isinstance(entry, dict) and _is_ours(entry, ours)
    ]


def _value_at(value: Any, way: Way) -> Any:
    for step in way:
        value = value[step]
    return value


def _entries_of(group: Any) -> list[Any]:
    """Returns the hooks of a group, none where it has an odd form."""
    inner = group.get("hooks") if isinstance(group, dict) else None
    return inner if isinstance(inner, list) else []


def _entries_in(hooks: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, groups in hooks.items():
        for group in groups if isinstance(groups, list) else ():
            yield from ((name, one) for one in _entries_of(group) if isinstance(one, dict))


def _ours_in(hooks: Mapping[str, Any], ours: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    return ((name, one["command"]) for name, one in _entries_in(hooks) if _is_ours(one, ours))


def _is_ours(entry: Mapping[str, Any], ours: re.Pattern[str]) -> bool:
    return bool(ours.search(str(entry.get("command", ""))))


def write_settings(plan: SettingsPlan, backup: Path) -> None:
    """Writes the settings, with a copy of the old ones kept, unless they have changed since."""
    if _text_of(plan.path) != plan.before:
        raise UserError(f"'{plan.path}' has changed meanwhile", "do it again")
    place = plan.path.resolve()  # a link stays a link
    try:
        mode = place.stat().st_mode & 0o777 if plan.before is not None else 0o644
        if not mode & 0o222:
            raise UserError(f"'{plan.path}' is read-only", "somebody else may look after it")
        if plan.before is not None:
            replace_file(backup, place.read_bytes())
        if plan.after is None:
            place.unlink()
        else:
            replace_file(place, plan.after.encode("utf-8"), mode=mode)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot write '{plan.path}': {reason}") from error
