"""Claude Code's settings to those with our hooks in them, or without; every other byte stays.

{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "plait hook stop"}]}]}}
"""

import json
import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

from msgspec import Struct

from plait.errors import SourceError, UserError
from plait.line.replace import replace_file
from plait.trace.hook import EVENTS
from plait.trace.json_text import Way, put_in, replaced, taken_out

MARK = "\ufeff"
TIMEOUT = 10
"""Seconds that Claude Code gives the hook; it needs a fraction of one."""
OURS = re.compile(
    r"(?:^|[\s/\\'\"])plait(?:\.exe)?['\"]? hook "
    rf"(?:{'|'.join(EVENTS)})(?:\s|$)"
)


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


def installed(path: Path, command: str) -> SettingsPlan:
    """Returns the plan that adds our hooks, or brings them up to date."""
    before = text_of(path)
    settings_in(path, before)
    mark, text = parted(before)
    if not text.strip():
        return SettingsPlan(path, before, made(command) + "\n" * (before is None))
    for event, name in EVENTS.items():
        text = with_ours(path, text, name, group(command, event))
    return SettingsPlan(path, before, mark + text)


def uninstalled(path: Path) -> SettingsPlan:
    """Returns the plan that removes our hooks and what they leave empty."""
    before = text_of(path)
    names = dict(ours_in(hooks_of(path, settings_in(path, before))))
    if not names:
        return SettingsPlan(path, before, before)
    mark, text = parted(before)
    for name in names:
        text = without_ours(text, name)
    if text.strip() != "{}" or parted(before)[1].startswith('{"'):
        return SettingsPlan(path, before, mark + text)
    return SettingsPlan(path, before, None if text.endswith("\n") else "")  # all of it was ours


def made(command: str) -> str:
    """Returns settings that hold our hooks alone."""
    hooks = {name: [group(command, event)] for event, name in EVENTS.items()}
    return json.dumps({"hooks": hooks}, indent=2, ensure_ascii=False)


def found_in(path: Path) -> dict[str, str]:
    """Returns our hooks in a settings file: the event and the command."""
    return dict(ours_in(hooks_of(path, settings_in(path, text_of(path)))))


def others_in(path: Path) -> list[str]:
    """Returns the commands of hooks that seem to send traces, too."""
    hooks = hooks_of(path, settings_in(path, text_of(path)))
    commands = (str(one.get("command", "")) for _, one in entries_in(hooks))
    return [one for one in commands if "langfuse" in one.lower() and not OURS.search(one)]


def text_of(path: Path) -> str | None:
    """Returns the text of a settings file, None where there is none."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise SourceError(f"cannot read '{path}': {reason.lower()}") from error


def parted(text: str | None) -> tuple[str, str]:
    """Returns the mark that some editors put first, and the rest."""
    rest = (text or "").removeprefix(MARK)
    return (text or "")[: len(text or "") - len(rest)], rest


def settings_in(path: Path, text: str | None) -> dict[str, Any]:
    """Returns the settings, or says what is wrong with the file."""
    try:
        rest = parted(text)[1]
        found = json.loads(rest) if rest.strip() else {}
    except ValueError as error:
        raise UserError(
            f"'{path}' is not JSON: {error}",
            "mend it first: it must be plain JSON, without comments",
        ) from error
    if not isinstance(found, dict):
        raise UserError(f"'{path}' holds no settings", "it should be a JSON object")
    return found


def hooks_of(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the hooks of settings, or says that they have an odd form."""
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise UserError(f"`hooks` in '{path}' is no object", "Claude Code expects one")
    return hooks


def group(command: str, event: str) -> dict[str, Any]:
    """Returns our hook of an event, as Claude Code's settings have it."""
    call = f"{command} hook {event}"
    return {"hooks": [{"type": "command", "command": call, "timeout": TIMEOUT}]}


def with_ours(path: Path, text: str, name: str, wanted: dict[str, Any]) -> str:
    """Returns settings with one hook; the one that is there already is brought up to date."""
    hooks = hooks_of(path, json.loads(text))
    if not isinstance(hooks.get(name, []), list):
        raise UserError(f"`hooks.{name}` in '{path}' is no list", "Claude Code expects one")
    found = ways_to_ours(hooks, name)
    if len(found) == 1:
        old, new = value_at(hooks, found[0][1:]), wanted["hooks"][0]
        return text if old | new == old else replaced(text, found[0], old | new)
    text = without_ours(text, name)
    if name in json.loads(text).get("hooks", {}):
        return put_in(text, ("hooks", name), wanted)
    if "hooks" in json.loads(text):
        return put_in(text, ("hooks",), [wanted], name)
    return put_in(text, (), {name: [wanted]}, "hooks")


def without_ours(text: str, name: str) -> str:
    """Returns settings without our hooks of an event, and without what they leave empty."""
    while found := ways_to_ours(json.loads(text).get("hooks", {}), name):
        way = found[-1]
        is_alone = len(value_at(json.loads(text), way[:-1])) == 1
        text = taken_out(text, way[:3] if is_alone else way)
    return text


def ways_to_ours(hooks: Mapping[str, Any], name: str) -> list[Way]:
    """Returns where our hooks of an event stand; what has an odd form is passed over."""
    groups = hooks.get(name)
    return [
        ("hooks", name, number, "hooks", place)
        for number, one in enumerate(groups if isinstance(groups, list) else ())
        for place, entry in enumerate(entries_of(one))
        if isinstance(entry, dict) and is_ours(entry)
    ]


def value_at(value: Any, way: Way) -> Any:
    """Returns what a way leads to."""
    for step in way:
        value = value[step]
    return value


def entries_of(group: Any) -> list[Any]:
    """Returns the hooks of a group, none where it has an odd form."""
    inner = group.get("hooks") if isinstance(group, dict) else None
    return inner if isinstance(inner, list) else []


def entries_in(hooks: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields every hook with its event; what has an odd form is passed over."""
    for name, groups in hooks.items():
        for group in groups if isinstance(groups, list) else ():
            yield from ((name, one) for one in entries_of(group) if isinstance(one, dict))


def ours_in(hooks: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields our hooks: the event and the command."""
    return ((name, one["command"]) for name, one in entries_in(hooks) if is_ours(one))


def is_ours(entry: Mapping[str, Any]) -> bool:
    """Tells whether a hook is one of ours, wherever `plait` lies."""
    return bool(OURS.search(str(entry.get("command", ""))))


def write_settings(plan: SettingsPlan, backup: Path) -> None:
    """Writes the settings, with a copy of the old ones kept, unless they have changed since."""
    if text_of(plan.path) != plan.before:
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
