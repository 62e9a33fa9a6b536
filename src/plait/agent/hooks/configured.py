"""Settings files to the hooks that they name, and to what is told of those that are none."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plait.agent.hooks.model import EVENTS, Event, Hook
from plait.agent.settings import ClientSettings, SettingsFile

USUAL, AT_THE_END, MOST = 60.0, 1.5, 3600.0
"""Seconds that a hook may take: as usual, when a session ends, and at most."""
NAMES = re.compile(r"[\w\s|,-]*")
KNOWN_TYPES = ("command",)


@dataclass(frozen=True, slots=True)
class HookBook:
    """All hooks of a session."""

    hooks: tuple[Hook, ...] = ()
    notices: tuple[str, ...] = ()

    def of(self, event: Event, subject: str | None) -> list[Hook]:
        """Returns the hooks of an occasion, each command once."""
        found: dict[tuple[str, str | None], Hook] = {}
        for hook in self.hooks:
            if hook.event == event and is_meant(hook.matcher, subject):
                found.setdefault((hook.command, hook.condition), hook)
        return [*found.values()]


def hook_book(settings: ClientSettings) -> HookBook:
    """Returns the hooks that settings files name; none where one of them says that none is run."""
    if settings.value("disableAllHooks", kind=bool):
        return HookBook()
    hooks: list[Hook] = []
    notices: list[str] = []
    for file in settings.obeyed:
        told = file.value("hooks")
        for event, groups in told.items() if isinstance(told, dict) else ():
            for found in _of_event(file, event, groups):
                (hooks if isinstance(found, Hook) else notices).append(found)  # type: ignore[arg-type]
    return HookBook(tuple(hooks), tuple(notices))


def _of_event(file: SettingsFile, name: str, groups: Any) -> Iterator[Hook | str]:
    event = next((one for one in EVENTS if one == name), None)
    if event is None:
        yield f"hooks of '{name}' in '{file.path}' are left out: nothing here is called so"
        return
    if not isinstance(groups, list):
        yield f"`hooks.{name}` in '{file.path}' is left out: it should be a list"
        return
    for group in groups:
        inner = group.get("hooks") if isinstance(group, dict) else None
        matcher = group.get("matcher", "") if isinstance(group, dict) else ""
        if not isinstance(inner, list) or not isinstance(matcher, str):
            yield f"a hook of {name} in '{file.path}' is left out: it should be an object"
            continue
        for entry in inner:
            yield _hook(event, matcher, entry) or (
                f"a hook of {name} in '{file.path}' is left out: only commands are run"
            )


def _hook(event: Event, matcher: str, entry: Any) -> Hook | None:
    if not isinstance(entry, dict) or entry.get("type", "command") not in KNOWN_TYPES:
        return None
    command, seconds = entry.get("command"), entry.get("timeout")
    if not isinstance(command, str) or not command.strip():
        return None
    usual = AT_THE_END if event == "SessionEnd" else USUAL
    given = seconds if isinstance(seconds, int | float) and not isinstance(seconds, bool) else 0
    condition = entry.get("if")
    return Hook(
        event,
        command,
        matcher,
        min(float(given), MOST) if given > 0 else usual,
        condition if isinstance(condition, str) else None,
    )


def is_meant(matcher: str, subject: str | None) -> bool:
    """Tells whether a matcher means a tool, or an occasion: names, or a regular expression."""
    if subject is None or matcher in ("", "*"):
        return True
    if NAMES.fullmatch(matcher):
        return subject in _names(matcher)
    try:
        return re.search(matcher, subject) is not None
    except (re.error, RecursionError, OverflowError):
        return False


def _names(matcher: str) -> Sequence[str]:
    return [name.strip() for name in re.split(r"[|,]", matcher)]
