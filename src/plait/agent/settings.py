"""Settings files of Claude Code to values, each with the file that says it.

    <configuration>/settings.json            userSettings      the person's own
    <project>/.claude/settings.json          projectSettings   shared with a repository
    <project>/.claude/settings.local.json    localSettings     the person's, for this project

Lists are joined; of all else the nearest file counts. What cannot be read or has the wrong form
is left out, and a notice says so. What a project's files have run counts only where somebody is
to obey them, and what the shared one allows only where the project is trusted; what they forbid
counts always.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from plait.line import read_regular
from plait.record.codec import NotAnObject, object_of

Source: TypeAlias = Literal["userSettings", "projectSettings", "localSettings"]
SETTINGS, LOCAL, FOLDER = "settings.json", "settings.local.json", ".claude"
MOST_BYTES = 4_000_000
BYPASSING = "bypassPermissions"
KINDS: Mapping[type, str] = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What one file says."""

    source: Source
    path: Path
    folder: Path
    """Where paths that begin with one slash begin: the project, or the configuration folder."""
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_own(self) -> bool:
        """Whether it is the person's own, whatever project they stand in."""
        return self.source == "userSettings"

    def value(self, *way: str) -> Any:
        """Returns what stands behind some names, None where nothing does."""
        found: Any = self.values
        for name in way:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found


@dataclass(frozen=True, slots=True)
class Sourced:
    """A value, and the file that says it."""

    value: Any
    file: SettingsFile


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """What all files say, the nearest last."""

    files: tuple[SettingsFile, ...] = ()
    is_trusted: bool = True
    """Whether a person said that the project is to be trusted: its shared file may allow things."""
    is_obeyed: bool = True
    """Whether the project's files may have something run; a program that is told to does so."""
    notices: tuple[str, ...] = ()
    """What a person should know: files and values that were left out."""

    @property
    def obeyed(self) -> tuple[SettingsFile, ...]:
        """The files that may have something run."""
        return tuple(file for file in self.files if file.is_own or self.is_obeyed)

    @property
    def allowing(self) -> tuple[SettingsFile, ...]:
        """The files that may allow something."""
        is_shared = "projectSettings"
        return tuple(one for one in self.obeyed if one.source != is_shared or self.is_trusted)

    def value(self, *way: str, kind: type = object) -> Any:
        """Returns what the nearest file says that may, None where none says it in that form."""
        for file in reversed(self.obeyed):
            found = file.value(*way)
            if found is not None and isinstance(found, kind):
                return found
        return None

    def listed(self, *way: str, is_strict: bool = False) -> Iterator[Sourced]:
        """Yields the texts of a list in all files that may allow; a strict one is in all."""
        for file in self.files if is_strict else self.allowing:
            found = file.value(*way)
            for one in found if isinstance(found, list) else ():
                if isinstance(one, str) and one.strip():
                    yield Sourced(one, file)

    def joined(self, *way: str) -> dict[str, Any]:
        """Returns the members of an object in all files that may; the nearest counts."""
        members: dict[str, Any] = {}
        for file in self.obeyed:
            found = file.value(*way)
            members |= found if isinstance(found, dict) else {}
        return members

    def default_mode(self, known: Collection[str]) -> str | None:
        """Returns the mode that sessions begin in; that nobody is asked is for a person to say."""
        for file in reversed(self.obeyed):
            mode = file.value("permissions", "defaultMode")
            if mode in known and (file.is_own or mode != BYPASSING):
                return str(mode)
        return None

    @property
    def ventures(self) -> tuple[str, ...]:
        """What the project's files would have run, or allow, were they trusted, in words."""
        told: list[str] = []
        for file in self.files:
            if file.is_own:
                continue
            hooks, allowed = file.value("hooks"), file.value("permissions", "allow")
            for event, group in hooks.items() if isinstance(hooks, dict) else ():
                told += [f"{event} runs: {command}" for command in _commands(group)]
            if isinstance(env := file.value("env"), dict) and env:
                told.append(f"commands have in their environment: {', '.join(map(str, env))}")
            if isinstance(allowed, list) and allowed:
                told.append(f"not asked about: {', '.join(map(str, allowed))}")
            others = file.value("permissions", "additionalDirectories")
            if isinstance(others, list) and others:
                told.append(f"worked in as well: {', '.join(map(str, others))}")
        return tuple(told)

    @property
    def environment(self) -> dict[str, str]:
        """What commands have in their environment besides."""
        told = self.joined("env")
        return {name: _spelled(value) for name, value in told.items() if _is_plain(value)}

    @property
    def directories(self) -> tuple[Path, ...]:
        """Further directories that may be worked in, those that are there."""
        named = self.listed("permissions", "additionalDirectories")
        found = (one.file.folder / one.value for one in named)
        return tuple(path for path in found if path.is_dir())


def settings_of(
    configuration: Path, directory: Path, *, is_trusted: bool = True, is_obeyed: bool = True
) -> ClientSettings:
    """Reads the settings that count in a directory."""
    project = directory / FOLDER
    places: tuple[tuple[Source, Path, Path], ...] = (
        ("userSettings", configuration / SETTINGS, configuration),
        ("projectSettings", project / SETTINGS, directory),
        ("localSettings", project / LOCAL, directory),
    )
    files: list[SettingsFile] = []
    notices: list[str] = []
    for source, path, folder in places:
        if files and path.resolve() == files[0].path.resolve():
            continue  # at home the folder of the project is the person's own
        try:
            files.append(SettingsFile(source, path, folder, _read(path)))
        except _Unreadable as error:
            files.append(SettingsFile(source, path, folder))
            notices.append(str(error))
    notices += [notice for file in files for notice in _complaints(file)]
    return ClientSettings(tuple(files), is_trusted, is_obeyed, tuple(notices))


class _Unreadable(Exception):
    """A settings file that says nothing, and why."""


def _read(path: Path) -> Mapping[str, Any]:
    try:
        data = read_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise _Unreadable(f"settings are left out: cannot read '{path}': {reason}") from error
    if len(data) > MOST_BYTES:
        raise _Unreadable(f"settings are left out: '{path}' is too long")
    try:
        return object_of(data) if data.strip() else {}
    except NotAnObject as error:
        raise _Unreadable(f"settings are left out: '{path}' is not JSON: {error}") from error


FORMS: tuple[tuple[tuple[str, ...], type], ...] = (
    (("permissions",), dict),
    (("permissions", "allow"), list),
    (("permissions", "ask"), list),
    (("permissions", "deny"), list),
    (("permissions", "additionalDirectories"), list),
    (("permissions", "defaultMode"), str),
    (("hooks",), dict),
    (("env",), dict),
    (("model",), str),
    (("disableAllHooks",), bool),
)


def _complaints(file: SettingsFile) -> Iterable[str]:
    for way, kind in FORMS:
        found = file.value(*way)
        if found is not None and not isinstance(found, kind):
            yield f"`{'.'.join(way)}` in '{file.path}' is left out: it should be {KINDS[kind]}"


def _commands(groups: object) -> Iterator[str]:
    for group in groups if isinstance(groups, list) else ():
        inner = group.get("hooks") if isinstance(group, dict) else None
        for hook in inner if isinstance(inner, list) else ():
            if isinstance(hook, dict) and isinstance(hook.get("command"), str):
                yield hook["command"]


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float)


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
